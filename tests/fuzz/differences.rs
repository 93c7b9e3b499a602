//! Accepted differences between our evaluator and ONNX Runtime: the table in DIFFERENCES.md.

use onnx_lint::graph::{AttrValue, ElemType, GraphId, Model, Node, NodeId};
use onnx_lint::infer::eval::{Array, Val};

use crate::case::Ran;
use crate::same::tolerance;

/// Returns true if the table in DIFFERENCES.md has a row for `op`, an operator with its condition.
pub fn is_known(op: &str) -> bool {
    let mut rows = include_str!("DIFFERENCES.md").lines().filter_map(|line| line.strip_prefix("| "));
    rows.any(|row| row.split(" |").next() == Some(op))
}

/// Returns the operator that causes a difference at this node.
///
/// For a node with subgraphs or a call of a local function, returns an inner operator that is in the table of
/// DIFFERENCES.md, if there is one.
pub fn about(model: &Model, id: NodeId, run: &Ran) -> String {
    let node = &model.nodes[id];
    within(model, id).unwrap_or_else(|| node.op_name() + narrowed(node, run))
}

/// Returns the condition of the table row for a node, such as ` of float16`; empty for no condition.
fn narrowed(node: &Node, run: &Ran) -> &'static str {
    let first = node.inputs.first().copied().flatten().and_then(|input| run.values.get(&input));
    let Some(Val::Tensor(array)) = first else { return "" };
    match &*node.op_type {
        _ if array.elem() == ElemType::String => " of strings",
        "Attention" if node.attr("softcap").and_then(AttrValue::as_float).is_some_and(|cap| cap < 0.0) => {
            " with negative softcap"
        }
        "Attention" if array.shape().len() == 4 && node.attr("q_num_heads").is_some() => " of rank 4",
        "ArgMax" | "ArgMin" if array.elem() == ElemType::Float16 => " of float16",
        op if factors(op).is_some_and(|factors| is_mixed(node, run, factors)) => MIXED,
        "LRN" if node.attr("bias").and_then(AttrValue::as_float) == Some(0.0) => " without bias",
        "MeanVarianceNormalization" if array.elem() == ElemType::Float16 => " of float16",
        "Resize" if array.elem() == ElemType::Float16 && is_smoothed(node) => " of antialiased float16",
        "GroupNormalization" | "InstanceNormalization" | "MeanVarianceNormalization"
            if is_nearly_one(node, array) =>
        {
            " of nearly equal elements"
        }
        _ => "",
    }
}

fn is_smoothed(node: &Node) -> bool {
    node.attr("antialias").and_then(AttrValue::as_int) == Some(1)
}

/// Condition of the table rows for operators whose [factors] have mixed signedness.
const MIXED: &str = " of mixed signedness";

/// Returns the inputs whose elements an operator multiplies as 8-bit integers.
fn factors(op: &str) -> Option<[usize; 2]> {
    match op {
        "ConvInteger" | "MatMulInteger" => Some([0, 1]),
        "QLinearConv" | "QLinearMatMul" => Some([0, 3]),
        _ => None,
    }
}

/// Returns true if some of these inputs are signed and others unsigned.
fn is_mixed(node: &Node, run: &Ran, factors: [usize; 2]) -> bool {
    let given = factors.into_iter().filter_map(|at| run.values.get(&node.input(at)?));
    let signs = given.filter_map(|val| match val {
        Val::Tensor(array) => Some(array.elem().is_signed_integer()),
        _ => None,
    });
    let signs: Vec<bool> = signs.collect();
    signs.contains(&true) && signs.contains(&false)
}

/// Returns true if a normalized group has a variance much smaller than its squared mean.
fn is_nearly_one(node: &Node, array: &Array) -> bool {
    nearness(node, array) > 1e2
}

/// Returns true if a normalization subtracts a mean whose rounding error changes the result.
/// A rounded mean changes a normalized element by the rounding error divided by the deviation.
pub fn subtracts_rounded_mean(model: &Model, run: &Ran) -> bool {
    model.graphs[model.main].nodes.iter().map(|&node| &model.nodes[node]).any(|node| {
        let Some(Val::Tensor(array)) = node.input(0).and_then(|input| run.values.get(&input)) else {
            return false;
        };
        let digit = match array.elem() {
            ElemType::Float16 => 1e-3,
            ElemType::Bfloat16 => 8e-3,
            // Runtimes compute the mean and variance of doubles in float, too.
            _ => 1.2e-7,
        };
        NORMALIZATIONS.contains(&&*node.op_type)
            && digit * nearness(node, array).sqrt() > tolerance(array.elem()) / 4.0
    })
}

/// Operators that subtract the mean of a group of elements, and divide by the standard deviation.
const NORMALIZATIONS: [&str; 4] =
    ["GroupNormalization", "InstanceNormalization", "LayerNormalization", "MeanVarianceNormalization"];

/// Returns the largest ratio of the squared mean of a normalized group to its variance.
fn nearness(node: &Node, array: &Array) -> f64 {
    let all = array.f64s().unwrap_or_default();
    let size = |axis: usize| array.shape().get(axis).copied().unwrap_or(1).max(1);
    let int = |name: &str| node.attr(name).and_then(AttrValue::as_int);
    let parts = match int("num_groups") {
        Some(groups) => size(0) * usize::try_from(groups).unwrap_or(1).max(1),
        None if node.is("InstanceNormalization") => size(0) * size(1),
        None if node.is("LayerNormalization") => {
            let (rank, axis) = (array.rank(), int("axis").unwrap_or(-1));
            let axis = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
            array.shape().iter().take(usize::try_from(axis).unwrap_or(0)).product::<usize>().max(1)
        }
        None => size(0),
    };
    let ratio = |sample: &[f64]| {
        let mean = |of: &dyn Fn(f64) -> f64| sample.iter().map(|&x| of(x)).sum::<f64>() / sample.len() as f64;
        let middle = mean(&|x| x);
        let variance = mean(&|x| (x - middle).powi(2));
        if middle == 0.0 { 0.0 } else { middle.powi(2) / variance }
    };
    all.chunks((all.len() / parts).max(1)).map(ratio).fold(0.0, f64::max)
}

fn within(model: &Model, id: NodeId) -> Option<String> {
    let called = model.callee(id).map(|function| model.functions[function].body);
    let bodies: Vec<GraphId> = model.nodes[id].graphs().chain(called).collect();
    let mut nodes = bodies.iter().flat_map(|&graph| &model.graphs[graph].nodes);
    nodes.find_map(|&inner| {
        let node = &model.nodes[inner];
        // The inputs of nodes in a subgraph are unknown: assume mixed signedness.
        let op = node.op_name() + if factors(&node.op_type).is_some() { MIXED } else { "" };
        if is_known(&op) { Some(op) } else { within(model, inner) }
    })
}
