//! Nodes that take single elements from an axis, as the steps of an unrolled loop do.

use crate::torch::argument::Argument;
use crate::torch::trace::{Node, NodeId, Trace, ValueId};

/// An element that a node takes from an axis by its index.
pub struct Element {
    pub index: i64,
    /// The node that takes the element.
    pub taken_by: NodeId,
    pub value: ValueId,
}

/// The axis of a tensor that a loop iterates over.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Axis {
    pub base: ValueId,
    pub axis: i64,
}

impl Axis {
    /// Returns the length that the axis had during the trace.
    pub fn length(self, trace: &Trace) -> Option<i64> {
        let shape = trace.value(self.base).ty.shape()?;
        let axis = if self.axis < 0 { self.axis + i64::try_from(shape.len()).ok()? } else { self.axis };
        shape.get(usize::try_from(axis).ok()?)?.traced()
    }
}

/// Returns the elements that a node takes from an axis, such as one for `select` and all for `unbind`.
pub fn elements_taken(trace: &Trace, id: NodeId, node: &Node) -> Vec<(Axis, Element)> {
    let one = |base, axis, index| match node.outputs.first() {
        Some(&value) => {
            vec![(Axis { base: whole_of(trace, base), axis }, Element { index, taken_by: id, value })]
        }
        None => Vec::new(),
    };
    let Some(base) = trace.receiver(node) else { return Vec::new() };
    let int = |position, name| trace.argument(node, position, name).and_then(|argument| trace.int(argument));
    match (&*node.op.namespace, &*node.op.name) {
        ("aten", "select") => match (int(1, "dim"), int(2, "index")) {
            (Some(axis), Some(index)) => one(base, axis, index),
            _ => Vec::new(),
        },
        ("aten", "slice") => match (int(1, "dim"), int(2, "start"), int(3, "end")) {
            (Some(axis), Some(start), Some(end)) if start.checked_add(1) == Some(end) => {
                one(base, axis, start)
            }
            _ => Vec::new(),
        },
        ("onnx", "Gather") => {
            match (node.attributes.iter().find(|(name, _)| &**name == "axis"), scalar_index(trace, node)) {
                (Some((_, Argument::Int(axis))), Some(index)) => one(base, *axis, index),
                _ => Vec::new(),
            }
        }
        ("prim", "ListUnpack") => unbound(trace, id, node, base),
        _ => Vec::new(),
    }
}

fn scalar_index(trace: &Trace, gather: &Node) -> Option<i64> {
    let index = &gather.inputs.get(1)?.argument;
    let rank = trace.value(trace.as_value(index)?).ty.tensor()?.rank()?;
    trace.int(index).filter(|_| rank == 0)
}

/// Returns the outputs of a `prim::ListUnpack` if each is one element of an axis; else an empty list.
///
/// The list comes from `unbind`, or from a `split` or `chunk` into as many parts as the axis has elements.
fn unbound(trace: &Trace, id: NodeId, unpack: &Node, list: ValueId) -> Vec<(Axis, Element)> {
    let Some(cut) = trace.producer(list).map(|id| trace.node(id)) else { return Vec::new() };
    let Some(base) = trace.receiver(cut) else { return Vec::new() };
    let int = |position, name| trace.argument(cut, position, name).and_then(|argument| trace.int(argument));
    let (axis, may_be_wider) = match cut.op.aten() {
        Some("unbind") => (int(1, "dim"), false),
        Some("split" | "chunk" | "split_with_sizes" | "unsafe_split" | "unsafe_chunk") => {
            (int(2, "dim"), true)
        }
        _ => return Vec::new(),
    };
    let axis = Axis { base: whole_of(trace, base), axis: axis.unwrap_or(0) };
    let count = i64::try_from(unpack.outputs.len()).ok();
    if may_be_wider && axis.length(trace) != count {
        return Vec::new();
    }
    let outputs = unpack.outputs.iter().zip(0..);
    outputs.map(|(&value, index)| (axis, Element { index, taken_by: id, value })).collect()
}

/// Skips slices that take a whole axis; returns their input, such as `x` in `x[:, t]`.
fn whole_of(trace: &Trace, mut value: ValueId) -> ValueId {
    while let Some(node) = trace.producer(value).map(|id| trace.node(id)) {
        let int = |position, name, default| match trace.argument(node, position, name).map(|it| trace.see(it))
        {
            None | Some(Argument::None) => Some(default),
            Some(argument) => trace.int(argument),
        };
        let takes_all = node.op.is("aten", "slice")
            && int(2, "start", 0) == Some(0)
            && int(3, "end", i64::MAX) == Some(i64::MAX)
            && int(4, "step", 1) == Some(1);
        match trace.receiver(node) {
            Some(base) if takes_all => value = base,
            _ => break,
        }
    }
    value
}
