//! IDX007: accumulating writes that lose values with duplicate indices.
//!
//! PyTorch's tracing exporter lowers `index_add`, `scatter_add` below opset 16, and `index_put(accumulate=True)` to
//! `x + scatter(zeros, index, values)`. The scatter keeps one of the values with equal indices, whereas PyTorch adds
//! them all.

use super::super::export::dynamic_dims::DynamicDims;
use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::exporter::{is_pytorch, is_torch_export};
use crate::analyses::locate::Part;
use crate::diag::rule_ids::LOST_DUPLICATES;
use crate::diag::{Finding, Level, Sink};
use crate::graph::dim::{Answer, Dim, Symbol};
use crate::graph::{Node, NodeId, Tensor, ValueId};
use crate::infer::{Fact, Size};

/// Detector of IDX007.
pub const DETECTOR: Detector = Detector { rules: &[LOST_DUPLICATES], run };

/// Python code of accumulating writes.
const ADDS: [&str; 4] = ["index_add", "scatter_add", "accumulate=True", "accumulate = True"];

/// Sizes to try for the symbolic dimensions in the number of written values, in ascending order.
const MANY: [i64; 4] = [8, 100, 1_000, 65_536];
/// Size to try for the symbolic dimensions in the number of elements that can be written to.
const FEW: i64 = 3;

/// Proof that two values can have equal indices.
enum Met {
    /// A constant index contains duplicates.
    Always,
    /// At the given input sizes, which are allowed, there are more values than elements to write to.
    Crowded(String),
}

fn lost(cx: &LintContext, add: NodeId, scatter: NodeId, met: &Met) -> Finding {
    let because = match met {
        Met::Always => "the constant index contains duplicates".to_owned(),
        Met::Crowded(sizes) => format!("at {sizes}, there are more values than elements to write to"),
    };
    let message = format!(
        "`{}` keeps only one of the values with equal indices, before they are added",
        cx.node_name(scatter)
    );
    let finding = cx.at_node(LOST_DUPLICATES, scatter, Part::Input(1), message).label(because);
    let finding = finding
        .related(
            cx.places.node(add, Part::Whole),
            "the kept values are added here, but PyTorch adds every value",
        )
        .help("export with dynamo=True, or use scatter_add at opset 16 or later; both add all values");
    // An intended overwrite usually has the same nodes as an accumulation, but not the same Python line.
    let code = finding.source.as_ref().and_then(|source| source.code.as_deref());
    let adds = code.is_some_and(|code| ADDS.iter().any(|call| code.contains(call)));
    let is_certain = adds || code.is_none() && is_lowered(cx, scatter);
    Finding { level: if is_certain { finding.level } else { Level::Info }, ..finding }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes().filter(|(_, node)| node.is("Add")) {
        let scatter = node.inputs.iter().flatten().find_map(|&input| written(cx, input));
        let met = scatter.and_then(|scatter| Some((scatter, met(cx, &cx.model.nodes[scatter])?)));
        sink.extend(met.map(|(scatter, met)| lost(cx, id, scatter, &met)));
    }
}

/// Returns true if the node order shows that the tracing exporter lowered a write to `scatter`.
///
/// The exporter first emits nodes that reshape or expand the index and the values, and then the zeros. If the
/// program itself overwrites a tensor of zeros, the zeros are emitted first.
fn is_lowered(cx: &LintContext, scatter: NodeId) -> bool {
    let node = &cx.model.nodes[scatter];
    let nodes = &cx.model.graphs[node.graph].nodes;
    let place = |id: NodeId| nodes.iter().position(|&other| other == id);
    let made = |input: usize| {
        let (maker, _) = cx.model.producer(node.input(input)?)?;
        Some((&*cx.model.nodes[maker].op_type, place(maker)?))
    };
    let (Some((_, zeros)), Some((of_index, index)), Some((of_values, values))) = (made(0), made(1), made(2))
    else {
        return false;
    };
    let is_adapted = match &*node.op_type {
        "ScatterND" => {
            matches!(of_index, "Unsqueeze" | "Concat") && matches!(of_values, "Reshape" | "Expand")
        }
        _ => of_index == "Expand" && of_values == "Expand",
    };
    let is_traced = is_pytorch(cx.model) && !is_torch_export(cx.model);
    is_traced && is_adapted && zeros > index && zeros > values
}

/// Returns the producer of `value` if it overwrites elements of a zero tensor and has a single user.
fn written(cx: &LintContext, value: ValueId) -> Option<NodeId> {
    let (id, _) = cx.model.producer(value)?;
    let node = &cx.model.nodes[id];
    let is_write = node.is("ScatterElements") || node.is("ScatterND") || node.is("Scatter");
    let replaces = node.attr("reduction").is_none();
    let alone = cx.uses.of(value).len() == 1;
    (is_write && replaces && alone && is_zeros(cx, node.input(0)?)).then_some(id)
}

fn is_zeros(cx: &LintContext, value: ValueId) -> bool {
    let all_zero = |fact: &Fact| {
        fact.as_const()
            .and_then(|array| array.f64s().ok())
            .is_some_and(|all| all.iter().all(|one| *one == 0.0))
    };
    if all_zero(&cx.facts[value]) {
        return true;
    }
    let maker = cx.model.producer(value).map(|(maker, _)| &cx.model.nodes[maker]);
    maker.is_some_and(|node| {
        let filled = node.attr("value").and_then(|value| value.as_tensor());
        let is_zero = filled.is_none_or(|tensor| holds_zero(&cx.model.tensors[tensor]));
        node.is("ConstantOfShape") && is_zero
    })
}

fn holds_zero(tensor: &Tensor) -> bool {
    tensor.small_floats(1).is_some_and(|all| all == [0.0])
        || tensor.small_ints(1).is_some_and(|all| all == [0])
}

/// Returns a proof that two values of a write can have equal indices, if there is one.
fn met(cx: &LintContext, node: &Node) -> Option<Met> {
    let (data, index) = (cx.input(node, 0)?.dims()?, cx.input(node, 1)?);
    let sizes = index.dims()?;
    let (values, places) = if node.is("ScatterND") {
        let (depth, lead) = sizes.split_last()?;
        let depth = usize::try_from(depth.as_ref()?.as_const()?).ok()?;
        (product(lead)?, product(data.get(..depth)?)?)
    } else {
        let axis = node.attr("axis").and_then(|axis| axis.as_int()).unwrap_or(0);
        let axis = if axis < 0 { axis + i64::try_from(data.len()).ok()? } else { axis };
        let axis = usize::try_from(axis).ok()?;
        let written = before_expand(cx, node, sizes.len(), axis).or_else(|| sizes.get(axis)?.clone());
        (written?, data.get(axis)?.clone()?)
    };
    if let Some(repeats) = repeats(index, sizes.len()) {
        return repeats.then_some(Met::Always);
    }
    if places.at_least(&values, &cx.facts.bounds) == Answer::Always {
        return None;
    }
    crowded(cx, &values, &places).map(Met::Crowded)
}

/// Returns the dynamic size of an axis of the index, if an Expand produces the index.
///
/// The size is that of the input of the Expand: a lower bound of the number of values along the axis.
fn before_expand(cx: &LintContext, scatter: &Node, rank: usize, axis: usize) -> Option<Dim> {
    let (maker, _) = cx.model.producer(scatter.input(1)?)?;
    let expand = Some(&cx.model.nodes[maker]).filter(|node| node.is("Expand"))?;
    let sizes = cx.input(expand, 0)?.dims().filter(|sizes| sizes.len() == rank)?;
    sizes[axis].clone().filter(|size| size.as_const().is_none())
}

fn product(sizes: &[Size]) -> Option<Dim> {
    sizes.iter().try_fold(Dim::known(1), |all, size| all.mul(size.as_ref()?.clone()))
}

/// Returns whether an index contains duplicates; `None` unless the index is constant and of rank 1.
fn repeats(index: &Fact, rank: usize) -> Option<bool> {
    let all: Option<Vec<i64>> =
        index.as_ints()?.iter().map(|one| one.as_ref().and_then(Dim::as_const)).collect();
    let mut all = all.filter(|_| rank == 1)?;
    all.sort_unstable();
    Some(all.windows(2).any(|pair| pair[0] == pair[1]))
}

/// Returns, as text, input sizes at which there are more values than elements to write to.
fn crowded(cx: &LintContext, values: &Dim, places: &Dim) -> Option<String> {
    let free = DynamicDims::new(cx.model, cx.facts);
    if !free.covers(values) || !free.covers(places) {
        return None;
    }
    let symbols = || {
        let others = places.symbols().filter(|symbol| !values.contains(symbol));
        values.symbols().chain(others)
    };
    MANY.into_iter().find_map(|many| {
        let size = |symbol: &Symbol| {
            let size = if places.contains(symbol) { FEW } else { many };
            cx.facts.bounds.of(symbol).contains(size).then_some(size)
        };
        let are_more = values.eval(&size)? > places.eval(&size)?;
        let sizes: Option<Vec<String>> =
            symbols().map(|symbol| Some(format!("{symbol} = {}", size(symbol)?))).collect();
        sizes.filter(|sizes| are_more && !sizes.is_empty()).map(|sizes| sizes.join(", "))
    })
}
