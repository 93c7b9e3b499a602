//! Contents of Gather and GatherND.

use std::sync::Arc;

use egg::Id;

use super::blocks::{Block, blocks, product, sizes};
use super::reading::Reading;
use super::{Content, Contents, Key};
use crate::egraph::EGraph;
use crate::egraph::enode::ENode;
use crate::graph::dim::Dim;
use crate::infer::Size;
use crate::infer::eval::{self, Array};

impl Contents {
    /// Returns the content of a Gather.
    pub(super) fn gathered(&mut self, of: &Reading) -> Option<Content> {
        let (x, places) = (of.input(0)?, of.input(1)?);
        let dims = of.dims(x)?;
        let axis = of.axis(0, dims.len())?;
        let content = self.of(x);
        let known = of.fact(places).as_const().and_then(|places| places.as_i64s().ok());
        if let Some(part) = known.and_then(|places| self.consecutive(content, dims, axis, &places)) {
            return Some(part);
        }
        let axes = dims.iter().enumerate().map(|(at, size)| (size.clone(), at.cmp(&axis)));
        let places = self.of(places);
        self.taken(content, places, &blocks(axes))
    }

    /// Returns the content of the elements at consecutive places of an axis.
    fn consecutive(&mut self, whole: Content, dims: &[Size], axis: usize, places: &[i64]) -> Option<Content> {
        let (&first, &last) = (places.first()?, places.last()?);
        let len = i64::try_from(places.len()).ok().filter(|&len| first.checked_add(len).is_some())?;
        let is_next = |pair: &[i64]| pair[0].checked_add(1) == Some(pair[1]);
        if !places.windows(2).all(is_next) || first < 0 && last >= 0 {
            return None;
        }
        let start = if first >= 0 { Some(Dim::known(first)) } else { dims[axis].as_ref()?.add(first) };
        self.part(whole, dims, axis, (&start?, &Dim::known(len)))
    }

    /// Returns the content of the elements at some places of one axis.
    fn taken(
        &mut self,
        whole: Content,
        places: Content,
        blocks: &[Block<std::cmp::Ordering>],
    ) -> Option<Content> {
        let sizes = sizes(blocks)?;
        let roles: String = blocks.iter().map(|block| format!(" {}", block.role as i8)).collect();
        Some(self.defined(Key { op: format!("gather{roles}"), operands: vec![whole, places], sizes }))
    }

    /// Returns the content of a GatherND as that of a Gather from the flattened leading axes.
    pub(super) fn gathered_at_tuples(&mut self, of: &Reading) -> Option<Content> {
        let (x, tuples) = (of.input(0)?, of.input(1)?);
        let dims = of.dims(x)?;
        let count =
            of.dims(tuples)?.last()?.as_ref()?.as_const().and_then(|count| usize::try_from(count).ok())?;
        if of.int("batch_dims", 0) != 0 || count == 0 || count > dims.len() {
            return None;
        }
        // The size of the first axis does not matter: a negative place counts from the end of the flattened axes, too.
        let others: Option<Vec<i64>> = dims[1..count].iter().map(|size| size.as_ref()?.as_const()).collect();
        let others = others?;
        let whole = self.of(x);
        let known = flat_constants(of, tuples, &others);
        let flat: Vec<Size> =
            std::iter::once(product(&dims[..count])).chain(dims[count..].iter().cloned()).collect();
        if let Some(part) = known.as_ref().and_then(|places| self.consecutive(whole, &flat, 0, places)) {
            return Some(part);
        }
        let places = match known {
            Some(places) => self.constant(Array::i64s(vec![places.len()], places).ok()?)?,
            None => self.flat_places(of, tuples, &others)?,
        };
        let axes = dims.iter().enumerate().map(|(at, size)| {
            (size.clone(), if at < count { std::cmp::Ordering::Equal } else { std::cmp::Ordering::Greater })
        });
        self.taken(whole, places, &blocks(axes))
    }

    /// Returns joined tuples of places as places of the flattened axes.
    fn flat_places(&mut self, of: &Reading, tuples: Id, others: &[i64]) -> Option<Content> {
        if others.is_empty() {
            return Some(self.of(tuples));
        }
        let (_, own) = of.dims(tuples)?.split_last()?;
        let parts = of.egraph[tuples].nodes.iter().find_map(|node| {
            let call = node.as_call().filter(|call| op(of.egraph, call) == Some("Concat"))?;
            let join = Reading { egraph: of.egraph, class: tuples, call, index: 0 };
            let axis = eval::index(join.attr("axis")?.as_int()?, own.len() + 1)?;
            join.inputs().filter(|inputs| axis == own.len() && inputs.len() == others.len() + 1)
        })?;
        let one = Some(Dim::known(1));
        let (mut place, mut in_place): (Option<Content>, Vec<Size>) = (None, Vec::new());
        for (index, &part) in parts.iter().enumerate() {
            let dims = of.dims(part)?;
            if dims.last() != Some(&one) || index > 0 && !is_nonnegative(of.egraph, part, 0) {
                return None;
            }
            let (content, dims) = self.before_expand(of.egraph, part)?;
            let dims = dims[..dims.len().checked_sub(1)?].to_vec();
            place = match place {
                None => {
                    in_place = dims;
                    Some(content)
                }
                Some(first) => {
                    let size = self.constant(Array::i64s(Vec::new(), vec![others[index - 1]]).ok()?)?;
                    let own_of_first = in_place.clone();
                    let scaled = self.broadcast(
                        "Mul",
                        vec![(first, in_place), (size, Vec::new())],
                        Some(&own_of_first),
                        true,
                    )?;
                    in_place = own.to_vec();
                    self.broadcast("Add", vec![(scaled, own_of_first), (content, dims)], Some(own), true)
                }
            };
        }
        place
    }

    /// Returns the content of a constant.
    pub(super) fn constant(&mut self, array: Array) -> Option<Content> {
        let number = self.constants.intern(Arc::new(array))?;
        Some(self.defined(Key {
            op: "constant".to_owned(),
            operands: Vec::new(),
            sizes: vec![number.into()],
        }))
    }

    /// Returns the content of a class and its dimensions, before an Expand if there is one.
    pub(super) fn before_expand(&mut self, egraph: &EGraph, class: Id) -> Option<(Content, Vec<Size>)> {
        let found = unexpanded(egraph, class).or_else(|| {
            let dims = egraph[class].data.fact().dims()?;
            let mut views = egraph[class].nodes.iter().filter_map(ENode::as_call).filter(|call| {
                matches!(op(egraph, call), Some("Unsqueeze" | "Squeeze" | "Reshape" | "Flatten"))
            });
            views.find_map(|view| {
                let viewed = egraph.find(*view.children.first()?);
                let (from, small) = unexpanded(egraph, viewed)?;
                Some((from, with_axes_of(dims, egraph[viewed].data.fact().dims()?, &small)?))
            })
        });
        match found {
            Some((from, dims)) => Some((self.of(from), dims)),
            None => Some((self.of(class), egraph[class].data.fact().dims()?.to_vec())),
        }
    }
}

/// Returns the operand of an Expand in a class, and its dimensions, as many as those of the class.
///
/// Each is 1 or the size of the class: an Expand can enlarge an axis of unknown size, which may be 1.
fn unexpanded(egraph: &EGraph, class: Id) -> Option<(Id, Vec<Size>)> {
    let own = egraph[class].data.fact().dims()?;
    let one = Some(Dim::known(1));
    let mut expands = egraph[class].nodes.iter().filter_map(ENode::as_call);
    expands.find_map(|call| {
        let from = egraph.find(*call.children.first().filter(|_| op(egraph, call) == Some("Expand"))?);
        let dims = egraph[from].data.fact().dims()?;
        let missing = own.len().checked_sub(dims.len()).filter(|_| from != class)?;
        let dims: Vec<Size> = std::iter::repeat_n(&one, missing).chain(dims).cloned().collect();
        let is_told = dims.iter().zip(own).all(|(size, own)| *size == one || size.is_some() && size == own);
        is_told.then_some((from, dims))
    })
}

/// Returns the dimensions of a view that differs in axes of size 1 only, with sizes from `small`.
fn with_axes_of(view: &[Size], viewed: &[Size], small: &[Size]) -> Option<Vec<Size>> {
    let one = Some(Dim::known(1));
    let mut left = viewed.iter().zip(small).filter(|(size, _)| **size != one);
    let mut dims = Vec::with_capacity(view.len());
    for size in view {
        if *size == one {
            dims.push(one.clone());
            continue;
        }
        let (same, small) = left.next()?;
        dims.push(small.clone());
        if size.is_none() || size != same {
            return None;
        }
    }
    left.next().is_none().then_some(dims)
}

/// Returns the operator of a call of ai.onnx.
fn op<'e>(egraph: &'e EGraph, call: &crate::egraph::Call) -> Option<&'e str> {
    let key = egraph.analysis.tables.op(call.op);
    key.domain.is_empty().then_some(&*key.name)
}

/// Returns true if no element of an integer tensor is negative.
fn is_nonnegative(egraph: &EGraph, class: Id, depth: usize) -> bool {
    const DEEPEST: usize = 8;
    let class = egraph.find(class);
    let least = |id: &Id| egraph[egraph.find(*id)].data.fact().as_const()?.as_i64s().ok()?.into_iter().min();
    if let Some(least) = least(&class) {
        return least >= 0;
    }
    depth < DEEPEST
        && egraph[class].nodes.iter().filter_map(ENode::as_call).any(|call| match op(egraph, call) {
            Some(
                "Expand" | "Unsqueeze" | "Squeeze" | "Reshape" | "Flatten" | "Transpose" | "Identity"
                | "Tile",
            ) => call.children.first().is_some_and(|&moved| is_nonnegative(egraph, moved, depth + 1)),
            Some("Range") => matches!(&*call.children, [first, _, step]
                if least(first) >= Some(0) && least(step) >= Some(1)),
            Some("Shape") => true,
            _ => false,
        })
}

/// Returns the position along the flattened axes for each tuple of a constant index tensor.
fn flat_constants(of: &Reading, tuples: Id, others: &[i64]) -> Option<Vec<i64>> {
    let tuples = of.fact(tuples).as_const()?.as_i64s().ok()?;
    let mut places = Vec::new();
    for tuple in tuples.chunks(others.len() + 1) {
        let mut place = *tuple.first()?;
        for (&at, &size) in tuple[1..].iter().zip(others) {
            place = place.checked_mul(size)?.checked_add(if at < 0 { at + size } else { at })?;
        }
        places.push(place);
    }
    Some(places)
}
