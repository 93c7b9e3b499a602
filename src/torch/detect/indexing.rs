//! IDX001 to IDX005: tensor indexing beyond the capabilities of ONNX or the tracing exporter.

use crate::diag::rule_ids::{
    BOOLEAN_MASK, INDEX_PUT_BROADCAST, INDEX_PUT_NON_CONSECUTIVE, INDEX_PUT_RANK, NEGATIVE_INDEX,
};
use crate::diag::{Finding, Level};
use crate::graph::ElemType;
use crate::graph::syntax::dims;
use crate::torch::argument::Argument;
use crate::torch::context::Context;
use crate::torch::trace::{Node, NodeId, Origin, Trace, ValueId};

/// Reports tensor indexing that exports incorrectly, not at all, or with a data-dependent size.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    for (id, node) in trace.nodes() {
        let Some(name) = node.op.aten() else { continue };
        match name {
            "index" => read(context, id, node, out),
            "index_put" | "index_put_" => write(context, id, node, out),
            "masked_select" | "nonzero" | "nonzero_numpy" | "argwhere" => out.push(boolean_mask(context, id)),
            _ => {}
        }
    }
}

fn read(context: &Context, id: NodeId, node: &Node, out: &mut Vec<Finding>) {
    let Some(indices) = Indices::of(context, node) else { return };
    if indices.any_mask() {
        out.push(boolean_mask(context, id));
    } else if context.trace.origin == Origin::TorchScript
        && let Some(index) = indices.negative(context)
    {
        out.push(negative_read(context, id, index, indices.tensors.len()));
    }
}

fn write(context: &Context, id: NodeId, node: &Node, out: &mut Vec<Finding>) {
    let Some(indices) = Indices::of(context, node).filter(|indices| !indices.any_mask()) else { return };
    if context.trace.origin != Origin::TorchScript {
        return;
    }
    if let Some(index) = indices.negative(context) {
        out.push(negative_write(context, id, index));
    }
    // Each of these three faults makes the export or the exported model fail, so only the first is reported.
    let refused = non_consecutive(context, id, node, &indices)
        .or_else(|| broadcast(context, id, node, &indices))
        .or_else(|| rank(context, id, &indices));
    out.extend(refused);
}

/// The index tensors of `x[i, :, j]`.
struct Indices<'a> {
    /// Each index tensor with its axis.
    tensors: Vec<(usize, &'a Argument)>,
    trace: &'a Trace,
}

impl<'a> Indices<'a> {
    fn of(context: &'a Context, node: &'a Node) -> Option<Self> {
        let trace = context.trace;
        let members = trace.list(trace.argument(node, 1, "indices")?)?;
        let present =
            members.iter().enumerate().filter(|(_, member)| !matches!(trace.see(member), Argument::None));
        let tensors: Vec<_> = present.collect();
        (!tensors.is_empty()).then_some(Indices { tensors, trace })
    }

    fn values(&self) -> impl Iterator<Item = ValueId> {
        self.tensors.iter().filter_map(|(_, index)| self.trace.as_value(index))
    }

    fn any_mask(&self) -> bool {
        self.values()
            .any(|value| matches!(self.trace.value(value).ty.elem(), Some(ElemType::Bool | ElemType::Uint8)))
    }

    /// Returns a negative constant index and its axis.
    fn negative(&self, context: &Context) -> Option<(usize, i64)> {
        self.tensors.iter().find_map(|&(axis, index)| {
            let elements = context.constant_tensor(index)?.elements.as_ref()?;
            elements.iter().find(|&&element| element < 0.0).map(|&element| (axis, element as i64))
        })
    }

    fn ranks(&self) -> Option<Vec<usize>> {
        self.values().map(|value| self.trace.value(value).ty.tensor()?.rank()).collect()
    }
}

fn negative_read(context: &Context, id: NodeId, (axis, index): (usize, i64), tensors: usize) -> Finding {
    let linearised = tensors > 1;
    let level = if linearised { Level::Error } else { Level::Hint };
    let finding = context
        .finding(NEGATIVE_INDEX.at(level), id, format!("the index {index} of axis {axis} is negative"))
        .label("indexed with constants")
        .help(format!("use a nonnegative index, or `i % x.shape[{axis}]`"));
    if linearised {
        finding.note(
            "with several index tensors, the tracing exporter computes positions in the flattened tensor, where a \
             negative index selects another element: the exported model silently reads wrong elements",
        )
    } else {
        finding.note("ONNX Runtime supports negative indices; some other runtimes do not")
    }
}

fn negative_write(context: &Context, id: NodeId, (axis, index): (usize, i64)) -> Finding {
    context
        .finding(NEGATIVE_INDEX.at(Level::Info), id, format!("the index {index} of axis {axis} is negative"))
        .label("assigned through constant indices")
        .note("the index becomes an input of ScatterND, where not every runtime supports negative indices")
        .help(format!("use a nonnegative index, or `i % x.shape[{axis}]`"))
}

/// Reports index tensors that are separated by an axis without an index tensor.
fn non_consecutive(context: &Context, id: NodeId, node: &Node, indices: &Indices) -> Option<Finding> {
    let axes = axes_of_base(context.trace, context.trace.receiver(node)?, indices);
    let (first, last) = (*axes.first()?, *axes.last()?);
    (last - first + 1 != axes.len()).then(|| {
        let listed: Vec<String> = axes.iter().map(usize::to_string).collect();
        context
            .finding(INDEX_PUT_NON_CONSECUTIVE, id, format!("axes {} are indexed by tensors, but axes between them are not", listed.join(" and ")))
            .label("assigned through non-consecutive index tensors")
            .note("the tracing exporter rejects this: \"Only consecutive 1-d tensor indices are supported\"")
            .help("make the indexed axes adjacent first (`x.transpose(…)`, and back), or export with `dynamo=True`")
    })
}

/// Returns the indexed axes, numbered as in the tensor of which the receiver is a slice or selection.
fn axes_of_base(trace: &Trace, receiver: ValueId, indices: &Indices) -> Vec<usize> {
    let mut axes: Vec<usize> = indices.tensors.iter().map(|&(axis, _)| axis).collect();
    let mut value = receiver;
    while let Some(node) = trace.producer(value).map(|id| trace.node(id)) {
        match (node.op.aten(), trace.receiver(node)) {
            (Some("slice"), Some(base)) => value = base,
            (Some("select"), Some(base)) => {
                let rank = trace.value(base).ty.tensor().and_then(|ty| ty.rank()).unwrap_or(0) as i64;
                let selected = trace.argument(node, 1, "dim").and_then(|it| trace.int(it)).unwrap_or(0);
                let selected =
                    usize::try_from(if selected < 0 { selected + rank } else { selected }).unwrap_or(0);
                axes.iter_mut().filter(|axis| **axis >= selected).for_each(|axis| *axis += 1);
                value = base;
            }
            _ => break,
        }
    }
    axes
}

/// Reports values that an indexed assignment has to broadcast.
///
/// The exporter reshapes the values instead of broadcasting them, which fails if the number of elements
/// differs. Only 0-d tensors are expanded.
fn broadcast(context: &Context, id: NodeId, node: &Node, indices: &Indices) -> Option<Finding> {
    let trace = context.trace;
    let values = trace.argument(node, 2, "values").and_then(|it| trace.as_value(it))?;
    let given = trace.value(values).ty.tensor()?;
    let wanted = written_shape(trace, trace.receiver(node)?, indices)?;
    let count: i64 = wanted.iter().product();
    (given.rank()? > 0 && given.traced_len()? != count).then(|| {
        let given: Vec<String> = given.shape.iter().flatten().map(ToString::to_string).collect();
        context
            .finding(
                INDEX_PUT_BROADCAST.at(Level::Warning),
                id,
                format!("an indexed assignment broadcasts values of shape [{}] to {}", given.join(","), dims(&wanted)),
            )
            .label("assigned through index tensors")
            .note("the tracing exporter reshapes the values instead of broadcasting them: the exported model fails at run time")
            .help("expand the values first: `x[i] = v.expand(…)` with the shape of the indexed elements")
    })
}

/// Returns the shape of an indexed part such as `x[:, i, j]`, whose index tensors are adjacent.
fn written_shape(trace: &Trace, receiver: ValueId, indices: &Indices) -> Option<Vec<i64>> {
    let base: Vec<i64> =
        trace.value(receiver).ty.shape()?.iter().map(|size| size.traced()).collect::<Option<_>>()?;
    let mut indexed: Vec<i64> = Vec::new();
    for value in indices.values() {
        let sizes: Vec<i64> =
            trace.value(value).ty.shape()?.iter().map(|size| size.traced()).collect::<Option<_>>()?;
        let longer = sizes.len().max(indexed.len());
        let from_end = |sizes: &[i64], at: usize| sizes.len().checked_sub(at + 1).map_or(1, |at| sizes[at]);
        indexed = (0..longer).rev().map(|at| from_end(&sizes, at).max(from_end(&indexed, at))).collect();
    }
    let (first, count) = (indices.tensors.first()?.0, indices.tensors.len());
    let rest = base.get(first + count..)?;
    Some([base.get(..first)?, &indexed, rest].concat())
}

/// Reports several index tensors if one of them has more than one axis.
fn rank(context: &Context, id: NodeId, indices: &Indices) -> Option<Finding> {
    let ranks = indices.ranks()?;
    let highest = ranks.iter().copied().max().filter(|&rank| rank > 1 && ranks.len() > 1)?;
    Some(
        context
            .finding(INDEX_PUT_RANK, id, format!("an indexed assignment uses {} index tensors, one of rank {highest}", ranks.len()))
            .label("assigned through index tensors with more than one axis")
            .note("the tracing exporter fails if a slice precedes these index tensors, and in some versions always")
            .help("flatten the indices and the values (`i.reshape(-1)`, after `torch.broadcast_tensors`), or export with `dynamo=True`"),
    )
}

fn boolean_mask(context: &Context, id: NodeId) -> Finding {
    let op = &context.trace.node(id).op;
    let label = match op.aten() {
        Some("nonzero" | "nonzero_numpy" | "argwhere") => "one index for each nonzero element",
        _ => "one element for each true entry of the mask",
    };
    context
        .finding(BOOLEAN_MASK, id, format!("the result size of `{op}` depends on the data"))
        .label(label)
        .note("the export uses NonZero, which static-shape runtimes (TensorRT, NPUs) reject or run slowly")
        .help(
            "if the result is summed or written back, use `torch.where(mask, x, 0)`, which has a static size",
        )
}
