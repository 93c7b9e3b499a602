//! Decides whether a difference is rounding, by perturbing the last digits of values.

use onnx_lint::graph::{ElemType, Model, Node, NodeId, ValueId};
use onnx_lint::infer::eval::{Array, Val};
use onnx_lint::infer::execute::Executor;
use onnx_lint::schema::operator::{Work, operator};
use rustc_hash::FxHashMap;

use crate::case::{LIMITS, Ran, run_with};
use crate::check::Before;
use crate::differences;
use crate::same::{Claim, difference, differs};

/// Returns true if rounding of the inputs explains why an output of a node differs from ONNX Runtime.
///
/// Rounding explains the difference if our evaluator computes the output of ONNX Runtime from the values in
/// `its`, the results of ONNX Runtime. Rounding also explains the difference if changing the last digits of
/// the inputs changes the output: near 0 or a pole, a last digit may cause a large difference.
pub fn is_a_last_digit(
    model: &Model,
    node: NodeId,
    output: ValueId,
    run: &Ran,
    its: &FxHashMap<ValueId, Val>,
) -> bool {
    let on_its = with(model, node, output, run, None, |id, ours| its.get(&id).unwrap_or(ours).clone());
    let part = |a: &Option<Val>, b: Option<&Val>| Some(differs(a.as_ref()?, b?).is_some());
    part(&on_its, its.get(&output)) == Some(false)
        || [1.0, -1.0].into_iter().any(|way| {
            let nudge = |id, ours: &Val| match is_rounded(model, id, ours) {
                true => nudged(
                    ours,
                    way,
                    model.producer(id).is_some_and(|(maker, _)| is_sum(&model.nodes[maker])),
                ),
                false => ours.clone(),
            };
            let on_next = with(model, node, output, run, Some(way), nudge);
            part(&on_next, run.values.get(&output)) == Some(true)
        })
}

/// Returns true if changing the last digits of values changes the outputs by more than `claim` allows.
///
/// Also returns true if the change makes the run fail, or if a normalization subtracts a mean from nearly
/// equal elements, because the last digits of that mean matter.
pub fn is_unsteady(model: &Model, before: &Before, claim: Claim) -> bool {
    if differences::subtracts_rounded_mean(model, &before.ran) {
        return true;
    }
    let is_float = |val: &Val| matches!(val, Val::Tensor(array) if array.elem().is_float());
    [1.0, -1.0].into_iter().any(|way| {
        let another = |node: &Node, val: &Val| is_float(val).then(|| nudged(val, way, is_sum(node)));
        let Ok(found) = run_with(model, &before.feeds, another) else { return true };
        let mut outputs = before.ran.outputs.iter().zip(&found.outputs);
        outputs.any(|(wanted, found)| difference(wanted, found, claim).is_some())
    })
}

/// Computes an output of a node from the values of a run, after `given` has mapped each of them.
/// If `node` is an `If` and `way` is given, also changes the last digits of the values in its branch.
fn with(
    model: &Model,
    node: NodeId,
    output: ValueId,
    run: &Ran,
    way: Option<f64>,
    given: impl Fn(ValueId, &Val) -> Val,
) -> Option<Val> {
    let mut executor = Executor::new(model, LIMITS);
    for (value, val) in run.values.iter().filter(|(value, _)| **value != output) {
        executor.give(*value, given(*value, val));
    }
    match way.filter(|_| model.nodes[node].is("If")) {
        Some(way) => run_branch(model, &mut executor, node, way)?,
        None => executor.run(node).ok()?,
    }
    executor.value(output)
}

/// Runs the selected branch of an `If`, and changes the last digits of the values in it.
fn run_branch(model: &Model, executor: &mut Executor, id: NodeId, way: f64) -> Option<()> {
    let node = &model.nodes[id];
    let Val::Tensor(condition) = executor.value(node.input(0)?)? else { return None };
    let name = if condition.ints().ok()?.first() == Some(&0) { "else_branch" } else { "then_branch" };
    let branch = &model.graphs[*node.attr(name)?.graphs().first()?];
    for &inner in &branch.nodes {
        match model.nodes[inner].is("If") {
            true => run_branch(model, executor, inner, way)?,
            false => executor.run(inner).ok()?,
        }
        for &output in model.nodes[inner].outputs.iter().flatten() {
            let val = executor.value(output)?;
            if matches!(&val, Val::Tensor(array) if array.elem().is_float()) {
                executor.give(output, nudged(&val, way, is_sum(&model.nodes[inner])));
            }
        }
    }
    for (output, port) in node.outputs.iter().zip(&branch.outputs) {
        let val = executor.value(port.value)?;
        executor.give((*output)?, val);
    }
    Some(())
}

/// Returns true if ONNX Runtime may round a value differently than our evaluator.
///
/// Returns true for float tensors that a node computes, and for all float16 tensors.
/// Without a float16 kernel, ONNX Runtime computes in float and rounds once at the end. Model inputs that are
/// not float16 are equal in our evaluator and in ONNX Runtime.
fn is_rounded(model: &Model, id: ValueId, val: &Val) -> bool {
    let Val::Tensor(array) = val else { return false };
    array.elem() == ElemType::Float16 || array.elem().is_float() && model.producer(id).is_some()
}

/// Returns true if the outputs of a node are sums, whose rounding error depends on their largest term.
fn is_sum(node: &Node) -> bool {
    const OF_PARTS: [&str; 6] = ["BlackmanWindow", "GRU", "HammingWindow", "HannWindow", "LSTM", "RNN"];
    let known = operator(node.domain(), &node.op_type);
    OF_PARTS.contains(&&*node.op_type)
        || known.is_some_and(|known| matches!(known.work, Work::Product | Work::Reduction))
}

/// Returns true if the number at a position is changed upward, and false if downward.
///
/// The highest bit of the position times the golden ratio decides, so about half of the positions change
/// upward, without a period.
fn is_up(at: usize) -> bool {
    (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 0
}

/// Changes the last digits of numbers: some upward and the others downward.
///
/// `way` is 1, or -1 to swap the directions. For sums, the step is the last digit of the largest term.
fn nudged(val: &Val, way: f64, is_sum: bool) -> Val {
    let Val::Tensor(array) = val else { return val.clone() };
    // The step relative to a number, and the minimum step, which subnormal numbers need. The largest term of
    // a sum is assumed to be at least 1.
    let (digit, least) = match array.elem() {
        ElemType::Float16 => (1e-3, 6e-8),
        ElemType::Bfloat16 => (8e-3, 1e-40),
        ElemType::Float => (1.2e-7, 1.5e-45),
        _ => (2.3e-16, 5e-324),
    };
    let all = array.f64s().unwrap_or_default();
    let terms = all.iter().chain(&[1.0]).filter(|x| is_sum && x.is_finite());
    let least = terms.fold(least, |least: f64, x| least.max(x.abs() * digit));
    let moved = |(at, x): (usize, f64)| {
        // float16 underflows to 0 where float does not.
        let is_nothing = x == 0.0 && array.elem() != ElemType::Float16 && !is_sum;
        let step = if is_nothing { 0.0 } else { way * (x.abs() * digit).max(least) };
        x + if is_up(at) { step } else { -step }
    };
    let all = all.into_iter().enumerate().map(moved).collect();
    let array = Array::from_f64s(array.elem(), array.shape().to_vec(), all);
    array.map_or_else(|_| val.clone(), Val::from)
}
