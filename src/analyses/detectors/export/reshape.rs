//! EXP001 at a Reshape: its size constraint, and a corrected target shape.

use super::demand::{Demand, Demands, Kind};
use crate::analyses::LintContext;
use crate::graph::Node;
use crate::graph::dim::{Answer, Dim, numel};
use crate::infer::{Fact, Size};

impl Demands<'_> {
    /// Returns the size constraint of a Reshape.
    pub(super) fn reshape(&self, node: &Node) -> Option<Demand> {
        let target = reshape_target(self.cx, node)?;
        let data = self.dims(node, 0)?;
        let from: Vec<Dim> = data.iter().cloned().collect::<Option<_>>()?;
        if target.contains(&Some(Dim::known(-1))) {
            return self.moved(&from, &target).or_else(|| self.flattened(&from, &target));
        }
        let to: Vec<Dim> = target.into_iter().collect::<Option<_>>()?;
        let (size, fixed) = (numel(&from)?, numel(&to)?);
        let is_lost = self.free.lost(&size, &fixed).is_some();
        let open = size.equals(&fixed, &self.cx.facts.bounds) == Answer::Unknown;
        (is_lost && open).then_some(Demand { input: 1, size, fixed, kind: Kind::Elements })
    }

    /// Returns the constraint of a Reshape whose target makes a dynamic size constant before a -1.
    ///
    /// A Reshape of `[batch, 6]` to `{3, -1}` makes the batch size 3.
    fn moved(&self, from: &[Dim], target: &[Size]) -> Option<Demand> {
        let place = target.iter().zip(from).position(|(to, from)| to.as_ref() != Some(from))?;
        let (size, fixed) = (from.get(place)?, target[place].clone()?);
        let number = fixed.as_const().filter(|&number| number > 0)?;
        let free = self.free.lost(size, &fixed)?;
        let takes_up = target[place + 1..].contains(&Some(Dim::known(-1)));
        // Flattening to one row is usually intended, unless the rows are a batch.
        let is_meant = number == 1 && free.axis != 0;
        if !takes_up || place + 1 == from.len() || is_meant {
            return None;
        }
        let rest =
            target.iter().flatten().filter(|dim| dim.as_const() != Some(-1)).cloned().collect::<Vec<_>>();
        let divides = numel(&rest)?.divides(&numel(from)?, &self.cx.facts.bounds);
        let is_batch = free.axis == 0 && free.named;
        let mixes =
            || is_batch.then(|| self.mixing_size(size, &from[place + 1..], &target[place..])).flatten();
        let kind = match mixes() {
            Some(at) => Kind::Mixes { at },
            None if divides == Answer::Always => Kind::Moves,
            None => Kind::Divides,
        };
        Some(Demand { input: 1, size: size.clone(), fixed, kind })
    }

    /// Returns a value of all dynamic sizes at which some block of the result has a part of a row.
    ///
    /// `row` is the shape of a row. The sizes before the -1 in `target` split `rows` into blocks. At the returned
    /// value, neither the number of rows nor the number of blocks divides the other.
    fn mixing_size(&self, rows: &Dim, row: &[Dim], target: &[Size]) -> Option<i64> {
        let inferred = target.iter().position(|size| *size == Some(Dim::known(-1)))?;
        let product = |sizes: &[Size]| numel(&sizes.iter().cloned().collect::<Option<Vec<Dim>>>()?);
        let (blocks, unit) = (product(&target[..inferred])?, product(&target[inferred + 1..])?);
        // Blocks of whole rows can be intended: `{2,-1,5}` splits rows of 5 elements into two blocks.
        if numel(row)?.divides(&unit, &self.cx.facts.bounds) == Answer::Always {
            return None;
        }
        self.free.failing_size([rows, &blocks], |[rows, blocks]| {
            rows > 0 && blocks > 0 && rows % blocks != 0 && blocks % rows != 0
        })
    }

    /// Returns the constraint of a Reshape target with -1 for the batch, and constants for dynamic axes.
    ///
    /// Such targets of `[batch, 3, height, width]` are `{-1, 3, 64}` and `{-1, 192}`: unless height times width is
    /// 64, the -1 is not the batch size.
    ///
    /// The target must keep the channels, or flatten them with at least two dynamic axes. A target that does neither
    /// may be intended: a Reshape of `[batch, length, 8]` to `{-1, 64}` splits the sequence into chunks.
    fn flattened(&self, from: &[Dim], target: &[Size]) -> Option<Demand> {
        let (_, behind) = target.split_first().filter(|(lead, _)| **lead == Some(Dim::known(-1)))?;
        let numbers: Vec<i64> = behind.iter().map(|size| size.as_ref()?.as_const()).collect::<Option<_>>()?;
        let first = from.iter().skip(1).position(|size| size.as_const().is_none())? + 1;
        let channels: Vec<i64> = from[1..first].iter().filter_map(Dim::as_const).collect();
        let is_kept =
            !channels.is_empty() && numbers.len() > channels.len() && numbers.starts_with(&channels);
        let product = |numbers: &[i64]| numbers.iter().try_fold(1i64, |all, &one| all.checked_mul(one));
        let count = product(&channels)?;
        let open = from[first..].iter().filter(|size| size.as_const().is_none()).count();
        let is_flat =
            count > 1 && open > 1 && numbers.len() == 1 && numbers[0] > count && numbers[0] % count == 0;
        let at = match () {
            () if is_kept => first,
            () if is_flat => 1,
            () => return None,
        };
        let (size, fixed) = (Some(numel(&from[at..])?), Some(Dim::known(product(&numbers[at - 1..])?)));
        let batch = self.free.lost(&from[0], &Dim::known(1)).filter(|free| free.axis == 0 && free.named);
        batch.and_then(|_| self.demand(1, &size, &fixed, Kind::Leads))
    }
}

/// Returns the target shape of a Reshape with its zeros resolved; `None` if the target is unknown.
pub fn reshape_target(cx: &LintContext, node: &Node) -> Option<Vec<Size>> {
    let from_input = cx.input(node, 1).and_then(Fact::as_ints);
    let from_attr = || {
        let ints = node.attr("shape")?.as_ints()?;
        Some(ints.iter().map(|&int| Some(Dim::known(int))).collect::<Vec<Size>>())
    };
    let target = from_input.or_else(from_attr)?;
    let keeps_zero = node.attr("allowzero").and_then(|allow| allow.as_int()) == Some(1);
    let data = cx.input(node, 0)?.dims()?;
    let resolve = |(index, size): (usize, Size)| match size.as_ref().and_then(Dim::as_const) {
        Some(0) if !keeps_zero => data.get(index).cloned().flatten(),
        _ => size,
    };
    Some(target.into_iter().enumerate().map(resolve).collect())
}

/// Returns, as text, a Reshape target in which 0 replaces a hard-coded dynamic size.
///
/// Returns `None` unless the new target is proved to work at every size.
pub fn mended_target(cx: &LintContext, node: &Node) -> Option<String> {
    if &*node.op_type != "Reshape" {
        return None;
    }
    let target = reshape_target(cx, node)?;
    let data: Vec<Dim> = cx.input(node, 0)?.dims()?.iter().cloned().collect::<Option<_>>()?;
    let numbers: Vec<i64> =
        target.iter().map(|size: &Size| size.as_ref()?.as_const()).collect::<Option<_>>()?;
    let fits = |place: usize| {
        let mut dims: Vec<Dim> = numbers.iter().map(|&number| Dim::known(number)).collect();
        dims[place] = data[place].clone();
        let (before, after) = (numel(&data), numel(&dims));
        before.zip(after).is_some_and(|(a, b)| a.equals(&b, &cx.facts.bounds) == Answer::Always)
    };
    let is_free = |place: usize| data[place].as_const().is_none();
    let places = 0..numbers.len().min(data.len());
    let place = places.into_iter().find(|&place| is_free(place) && !numbers.contains(&-1) && fits(place))?;
    let text =
        |(index, number): (usize, &i64)| if index == place { "0".to_owned() } else { number.to_string() };
    let elements: Vec<String> = numbers.iter().enumerate().map(text).collect();
    Some(format!("{{{}}}", elements.join(",")))
}

/// Returns the target of a Reshape as text.
pub fn target_text(cx: &LintContext, node: &Node) -> String {
    let sizes = reshape_target(cx, node).unwrap_or_default();
    let text = |size: &Size| size.as_ref().map_or("?".to_owned(), Dim::to_string);
    format!("{{{}}}", sizes.iter().map(text).collect::<Vec<_>>().join(","))
}
