//! Contents of operators that move elements.

use super::blocks::{Block, all_sizes, blocks, product, sizes};
use super::reading::Reading;
use super::{Content, Contents, Key};
use crate::egraph::enode::ENode;
use crate::graph::ElemType;
use crate::graph::dim::Dim;
use crate::infer::eval::{self, Array};
use crate::infer::{self, Fact, Size};

/// The elements `start .. start + len` of each row of a content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    whole: Content,
    /// Number of rows.
    rows: Size,
    /// Number of elements of a row of the whole.
    row: Size,
    start: Dim,
    len: Dim,
}

impl Part {
    fn has_one_row(&self) -> bool {
        self.rows.as_ref().and_then(Dim::as_const) == Some(1)
    }

    fn key(&self) -> Option<Key> {
        let mut numbers = vec![self.start.clone(), self.len.clone()];
        if self.has_one_row() {
            return Some(Key { op: "part".to_owned(), operands: vec![self.whole], sizes: numbers });
        }
        let row = self.row.clone()?;
        if row.as_const().is_none_or(|len| len <= 0) {
            numbers.push(self.rows.clone()?);
        }
        numbers.push(row);
        Some(Key { op: "part of rows".to_owned(), operands: vec![self.whole], sizes: numbers })
    }
}

impl Contents {
    /// Returns the content of an output whose elements are elements of the inputs.
    pub(super) fn moved(&mut self, of: &Reading, op: &str) -> Option<Content> {
        match op {
            "Identity" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" => Some(self.of(of.input(0)?)),
            "Dropout" if of.index == 0 => Some(self.of(of.input(0)?)),
            "Transpose" => {
                let x = of.input(0)?;
                let dims = of.dims(x)?;
                let reversed = || (0..dims.len()).rev().collect();
                let perm: Option<Vec<usize>> = match of.attr("perm").map(|perm| perm.as_ints()) {
                    None => Some(reversed()),
                    Some(perm) => perm?.iter().map(|&axis| eval::index(axis, dims.len())).collect(),
                };
                let x = self.of(x);
                self.transposed(x, dims, &perm?)
            }
            "DepthToSpace" | "SpaceToDepth" => self.shuffled(of, op),
            "Slice" => self.sliced(of),
            "Split" => self.split(of),
            "Gather" => self.gathered(of),
            "ConstantOfShape" => self.of_shape(of),
            "GatherND" => self.gathered_at_tuples(of),
            "Concat" => self.joined(of),
            "Expand" => self.expanded(of),
            "Tile" => self.tiled(of),
            _ => None,
        }
    }

    /// Returns the content of a transposed tensor; neighboring axes that stay together count as one.
    pub(super) fn transposed(&mut self, x: Content, dims: &[Size], perm: &[usize]) -> Option<Content> {
        let one = Dim::known(1);
        if perm.len() != dims.len() {
            return None;
        }
        let moved: Vec<usize> =
            perm.iter().copied().filter(|&axis| dims[axis].as_ref() != Some(&one)).collect();
        let mut kept = moved.clone();
        kept.sort_unstable();
        kept.dedup();
        if kept.len() != moved.len() {
            return None;
        }
        let rank = |axis: usize| kept.binary_search(&axis).ok();
        let moved: Vec<usize> = moved.into_iter().map(rank).collect::<Option<_>>()?;
        // A run of axes that are neighbors before and after is one block, in the order of the result.
        let mut runs: Vec<(usize, Size)> = Vec::new();
        for (at, &axis) in moved.iter().enumerate() {
            let size = &dims[kept[axis]];
            match runs.last_mut().filter(|_| moved[at - 1] + 1 == axis) {
                Some((_, run)) => *run = product([&*run, size]),
                None => runs.push((axis, size.clone())),
            }
        }
        if runs.len() < 2 {
            return Some(x);
        }
        let mut before: Vec<usize> = (0..runs.len()).collect();
        before.sort_by_key(|&run| runs[run].0);
        let mut order = vec![0; runs.len()];
        before.iter().enumerate().for_each(|(at, &run)| order[run] = at);
        let sized = |size: &Size| Block { size: size.clone(), role: () };
        let key = |operand: Content, order: &[usize], blocks: Vec<Block<()>>| -> Option<Key> {
            let mut numbers: Vec<Dim> = order.iter().map(|&at| Dim::known(at as i64)).collect();
            numbers.extend(sizes(&blocks)?);
            let op = format!("transpose {}", order.len());
            Some(Key { op, operands: vec![operand], sizes: numbers })
        };
        let forward = key(x, &order, before.iter().map(|&run| sized(&runs[run].1)).collect())?;
        let result = self.defined(forward);
        // The inverse permutation returns the input.
        if let Some(back) = key(result, &before, runs.iter().map(|(_, size)| sized(size)).collect()) {
            self.define(back, x);
        }
        Some(result)
    }

    /// Returns the content of DepthToSpace and SpaceToDepth, which transpose six axes.
    fn shuffled(&mut self, of: &Reading, op: &str) -> Option<Content> {
        let x = of.input(0)?;
        let [n, c, h, w] = of.dims(x)? else { return None };
        let block = of.int("blocksize", 0);
        let b = Some(Dim::known(block));
        let split = |size: &Size, by: i64| size.as_ref()?.div_exact(by);
        let is_by_column = of.attr("mode").and_then(|mode| mode.as_str()) == Some("CRD");
        let (n, h, w) = (n.clone(), h.clone(), w.clone());
        let (dims, perm) = if op == "SpaceToDepth" {
            let dims = [n, c.clone(), split(&h, block), b.clone(), split(&w, block), b];
            (dims, [0, 3, 5, 1, 2, 4])
        } else if is_by_column {
            ([n, split(c, block.checked_mul(block)?), b.clone(), b, h, w], [0, 1, 4, 2, 5, 3])
        } else {
            ([n, b.clone(), b, split(c, block.checked_mul(block)?), h, w], [0, 3, 4, 1, 5, 2])
        };
        if block < 1 || dims.iter().any(Option::is_none) {
            return None;
        }
        let x = self.of(x);
        self.transposed(x, &dims, &perm)
    }

    /// Returns the content of the elements from `start` on along an axis, `len` of them.
    pub(super) fn part(
        &mut self,
        whole: Content,
        dims: &[Size],
        axis: usize,
        (start, len): (&Dim, &Dim),
    ) -> Option<Content> {
        if dims[axis].as_ref() == Some(len) && start.as_const() == Some(0) {
            return Some(whole);
        }
        let inner = product(&dims[axis + 1..])?;
        let row = dims[axis].as_ref().and_then(|size| inner.mul(size));
        let rows = product(&dims[..axis]);
        self.cut(Part { whole, rows, row, start: inner.mul(start)?, len: inner.mul(len)? })
    }

    fn cut(&mut self, part: Part) -> Option<Content> {
        let result = self.defined(part.key()?);
        // A part of a part is a part of the whole.
        let whole = self.find(part.whole);
        for outer in self.parts.get(&whole).cloned().unwrap_or_default() {
            let is_nested = match (outer.has_one_row(), part.has_one_row()) {
                (true, true) => true,
                (false, false) => part.row.as_ref() == Some(&outer.len),
                _ => false,
            };
            if let (true, Some(start)) = (is_nested, outer.start.add(&part.start)) {
                let part = Part { whole: self.find(outer.whole), start, len: part.len.clone(), ..outer };
                if let Some(key) = part.key() {
                    self.define(key, result);
                    self.remember(result, part);
                }
            }
        }
        self.remember(result, part);
        Some(self.find(result))
    }

    fn remember(&mut self, content: Content, part: Part) {
        const MOST: usize = 4;
        let content = self.find(content);
        let known = self.parts.entry(content).or_default();
        if known.len() < MOST && !known.contains(&part) {
            known.push(part);
        }
    }

    fn sliced(&mut self, of: &Reading) -> Option<Content> {
        let x = of.input(0)?;
        let (mut dims, own) = (of.dims(x)?.to_vec(), of.own_dims()?);
        let numbers = |name: &str, input: usize| -> Option<Vec<Size>> {
            match of.attr(name).and_then(|ints| ints.as_ints()) {
                Some(ints) => Some(ints.iter().map(|&int| Some(Dim::known(int))).collect()),
                None => of.fact(of.input(input)?).as_ints(),
            }
        };
        let (starts, ends) = (numbers("starts", 1)?, numbers("ends", 2)?);
        let axes = of.list("axes", 3)?.unwrap_or_else(|| (0..starts.len() as i64).collect());
        let steps = of.list("", 4)?.unwrap_or_default();
        if own.len() != dims.len() || axes.len() != starts.len() || ends.len() != starts.len() {
            return None;
        }
        let mut cuts: Vec<(usize, usize)> = Vec::new();
        for (at, &axis) in axes.iter().enumerate() {
            cuts.push((eval::index(axis, dims.len())?, at));
        }
        cuts.sort_unstable();
        if cuts.windows(2).any(|pair| pair[0].0 == pair[1].0) || steps.iter().any(|&step| step != 1) {
            return None;
        }
        let mut content = self.of(x);
        for (axis, at) in cuts {
            let len = own[axis].clone()?;
            if dims[axis].as_ref() == Some(&len) {
                continue;
            }
            let start = start(&starts[at], &ends[at], &dims[axis], &len)?;
            content = self.part(content, &dims, axis, (&start, &len))?;
            dims[axis] = Some(len);
        }
        Some(content)
    }

    fn split(&mut self, of: &Reading) -> Option<Content> {
        let x = of.input(0)?;
        let dims = of.dims(x)?;
        let axis = of.axis(0, dims.len())?;
        let tuple = of.egraph[of.class].nodes.iter().find_map(|node| match node {
            ENode::Output { index, call } if usize::from(*index) == of.index => Some(call[0]),
            _ => None,
        })?;
        let tuple = of.egraph.find(tuple);
        let facts = &of.egraph[tuple].data.facts;
        let len = |fact: &Fact| fact.dims()?.get(axis)?.clone();
        let starts = self.starts.entry((tuple, axis)).or_insert_with(|| {
            let mut next = Some(Dim::known(0));
            let place = |fact| {
                let start = next.clone();
                next = next.take().and_then(|at| at.add(len(fact)?));
                start
            };
            facts.iter().map(place).collect()
        });
        let start = starts.get(of.index)?.clone()?;
        let len = of.own_dims()?.get(axis)?.clone().or_else(|| len(facts.get(of.index)?))?;
        let x = self.of(x);
        self.part(x, dims, axis, (&start, &len))
    }

    fn joined(&mut self, of: &Reading) -> Option<Content> {
        let inputs = of.inputs()?;
        let own = of.own_dims()?;
        let axis = eval::index(of.attr("axis")?.as_int()?, own.len())?;
        let outer = product(&own[..axis]);
        let is_one_row = outer.as_ref().and_then(Dim::as_const) == Some(1);
        let operands: Vec<Content> = inputs.iter().map(|&input| self.of(input)).collect();
        if let [only] = operands[..] {
            return Some(only);
        }
        let mut numbers = Vec::new();
        let inner = product(&own[axis + 1..]);
        for &input in &inputs {
            numbers.push(of.dims(input)?.get(axis)?.as_ref().zip(inner.as_ref()).and_then(|(a, b)| a.mul(b)));
        }
        let lens: Option<Vec<Dim>> = numbers.into_iter().collect();
        if let Some(whole) = lens.as_ref().and_then(|lens| self.rejoined(&operands, lens, is_one_row)) {
            return Some(whole);
        }
        if is_one_row {
            return Some(self.defined(Key { op: "join".to_owned(), operands, sizes: Vec::new() }));
        }
        let mut sizes = lens?;
        if !sizes.iter().any(|len| len.as_const().is_some_and(|len| len > 0)) {
            sizes.push(outer?);
        }
        Some(self.defined(Key { op: "join rows".to_owned(), operands, sizes }))
    }

    /// Returns the content whose consecutive parts are joined.
    fn rejoined(&mut self, operands: &[Content], lens: &[Dim], is_one_row: bool) -> Option<Content> {
        let (&first, others) = operands.split_first()?;
        let of = |all: &Self, content: Content| all.parts.get(&content).cloned().unwrap_or_default();
        'start: for start in of(self, first) {
            if start.has_one_row() != is_one_row || start.len != lens[0] {
                continue;
            }
            let mut end = start.start.add(&start.len)?;
            for (&other, len) in others.iter().zip(&lens[1..]) {
                let parts = of(self, other);
                let next = parts.iter().find(|part| {
                    (part.whole, &part.rows, &part.row) == (start.whole, &start.rows, &start.row)
                        && part.start == end
                        && part.len == *len
                });
                let Some(next) = next else { continue 'start };
                end = end.add(&next.len)?;
            }
            let len = end.sub(&start.start)?;
            let is_all = start.row.as_ref() == Some(&len);
            if is_all && start.start.as_const() == Some(0) {
                return Some(self.find(start.whole));
            }
            return self.cut(Part { len, ..start });
        }
        None
    }

    fn expanded(&mut self, of: &Reading) -> Option<Content> {
        let x = of.input(0)?;
        let (dims, own) = (of.dims(x)?, of.own_dims()?);
        let missing = own.len().checked_sub(dims.len())?;
        let one = Some(Dim::known(1));
        let mut axes: Vec<(Size, bool)> = Vec::new();
        for (axis, size) in own.iter().enumerate() {
            let from = axis.checked_sub(missing).map_or(&one, |axis| &dims[axis]);
            if *from != one && (from.is_none() || from != size) {
                return None;
            }
            axes.push((size.clone(), *from == one));
        }
        let content = self.of(x);
        self.repeated(content, axes)
    }

    fn tiled(&mut self, of: &Reading) -> Option<Content> {
        let x = of.input(0)?;
        let repeats = of.fact(of.input(1)?).as_ints()?;
        let dims = of.dims(x)?;
        if repeats.len() != dims.len() {
            return None;
        }
        let axes =
            repeats.into_iter().zip(dims).flat_map(|(times, size)| [(times, true), (size.clone(), false)]);
        let axes = axes.collect();
        let content = self.of(x);
        self.repeated(content, axes)
    }

    /// Returns the content of this many equal elements.
    pub(super) fn filled(&mut self, scalar: Content, count: Dim) -> Content {
        let key = Key { op: "fill".to_owned(), operands: vec![scalar], sizes: vec![count] };
        let content = self.defined(key);
        self.fills.insert(content, scalar);
        content
    }

    /// Returns the content of a ConstantOfShape.
    fn of_shape(&mut self, of: &Reading) -> Option<Content> {
        let count = product(of.own_dims()?)?;
        let scalar = match of.attr("value") {
            Some(value) => infer::array(of.egraph.analysis.tables.tensor(value.as_tensor()?))?,
            None => Array::zeros(ElemType::Float, Vec::new()).ok()?,
        };
        let scalar = self.constant(scalar)?;
        Some(self.filled(scalar, count))
    }

    /// Returns a content whose elements are repeated along the marked axes.
    fn repeated(&mut self, content: Content, axes: Vec<(Size, bool)>) -> Option<Content> {
        let blocks = blocks(axes);
        if blocks.iter().all(|block| !block.role) {
            return Some(content);
        }
        if let Some(&scalar) = self.fills.get(&content) {
            let count = product(blocks.iter().map(|block| &block.size))?;
            return Some(self.filled(scalar, count));
        }
        // The number of elements determines no size of a new axis.
        let sizes = match blocks.first().filter(|first| !first.role) {
            Some(_) => sizes(&blocks)?,
            None => all_sizes(&blocks)?,
        };
        let roles: String = blocks.iter().map(|block| if block.role { '+' } else { '=' }).collect();
        Some(self.defined(Key { op: format!("repeat {roles}"), operands: vec![content], sizes }))
    }
}

/// Returns the first index of a Slice with step 1 that keeps `len` elements of an axis.
fn start(start: &Size, end: &Size, size: &Size, len: &Dim) -> Option<Dim> {
    const FAR: i64 = i32::MAX as i64;
    let start = start.as_ref()?;
    match start.as_const() {
        Some(first) if first >= 0 => Some(start.clone()),
        Some(first) => {
            let size = size.as_ref()?;
            let is_to_end = end.as_ref().is_some_and(|end| end == size || end.as_const() >= Some(FAR));
            match size.as_const() {
                _ if is_to_end => size.sub(len),
                Some(size) => Some(Dim::known((size + first).max(0))),
                None => None,
            }
        }
        None => None,
    }
}
