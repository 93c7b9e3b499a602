//! NUM: constants that lead to NaN or infinity.
//!
//! Only constants whose elements inference knows are checked, because detectors do not read large weights.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::{
    DIVISION_BY_CONSTANT_ZERO, EPSILON_UNDERFLOW, LOG_OR_SQRT_OF_NEGATIVE_CONSTANT, NAN_IN_WEIGHTS,
};
use crate::diag::{Finding, Sink};
use crate::graph::{Def, ElemType, Node, NodeId, ValueId};
use crate::infer::Fact;

/// Detector of NUM001, NUM002, NUM003 and NUM004.
pub const DETECTORS: &[Detector] = &[Detector {
    rules: &[NAN_IN_WEIGHTS, DIVISION_BY_CONSTANT_ZERO, LOG_OR_SQRT_OF_NEGATIVE_CONSTANT, EPSILON_UNDERFLOW],
    run,
}];

fn nan(cx: &LintContext, value: ValueId, count: usize, len: usize) -> Finding {
    let message = format!("`{}` contains NaN: {count} of {len} elements", cx.name(value));
    cx.at_value(NAN_IN_WEIGHTS, value, message)
        .note("results that depend on these elements are NaN, too")
        .help("check whether the loss became NaN in training, or the conversion of the weights overflowed")
}

fn division(cx: &LintContext, node: NodeId) -> Finding {
    let message = format!("`{}` divides by a constant that contains 0", cx.node_name(node));
    cx.at_node(DIVISION_BY_CONSTANT_ZERO, node, Part::Input(1), message)
        .label("the divisor contains 0")
        .note("quotients by 0 are infinite or NaN")
}

fn negative(cx: &LintContext, node: NodeId, number: f64) -> Finding {
    let op = &cx.model.nodes[node].op_type;
    let message = format!("`{op}` of the constant {number} is NaN");
    cx.at_node(LOG_OR_SQRT_OF_NEGATIVE_CONSTANT, node, Part::Input(0), message)
}

fn underflow(cx: &LintContext, node: NodeId, input: usize, user: NodeId) -> Finding {
    let message = format!(
        "`{}` adds 0 in float16 before `{}`: the intended epsilon is too small for float16",
        cx.node_name(node),
        cx.model.nodes[user].op_type
    );
    cx.at_node(EPSILON_UNDERFLOW, node, Part::Input(input), message)
        .label("rounded to 0; the smallest positive float16 is 6e-8")
        .related(
            cx.places.node(user, Part::Whole),
            "the epsilon is meant to keep the input of this node above 0",
        )
        .help("use an epsilon of at least 1e-5, or compute this part in float32")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, value) in cx.model.values.iter() {
        if is_held(cx, id, value.def) {
            sink.extend(nan_count(&cx.facts[id]).map(|(count, len)| nan(cx, id, count, len)));
        }
    }
    for (id, node) in cx.nodes().filter(|(_, node)| node.domain().is_empty()) {
        sink.extend(check(cx, id, node));
    }
}

fn check(cx: &LintContext, id: NodeId, node: &Node) -> Option<Finding> {
    match &*node.op_type {
        // An integer division by 0 violates a constraint of the operator.
        "Div" | "Mod" => {
            let divisor = cx.input(node, 1)?;
            let is_float = divisor.elem().is_some_and(ElemType::is_float);
            (is_float && numbers(divisor)?.contains(&0.0)).then(|| division(cx, id))
        }
        "Log" | "Sqrt" => {
            let negatives = numbers(cx.input(node, 0)?)?.into_iter().filter(|number| *number < 0.0);
            negatives.min_by(f64::total_cmp).map(|number| negative(cx, id, number))
        }
        "Add" => {
            let output = node.output(0).filter(|&value| cx.facts[value].elem() == Some(ElemType::Float16))?;
            let is_zero = |input: &usize| {
                let constant = cx.input(node, *input).and_then(numbers);
                constant.is_some_and(|all| !all.is_empty() && all.iter().all(|number| *number == 0.0))
            };
            let input = [0, 1].into_iter().find(is_zero)?;
            Some(underflow(cx, id, input, guarded_user(cx, output)?))
        }
        _ => None,
    }
}

/// Returns a user that needs a value above 0: a Log, Reciprocal or Sqrt of it, or a Div by it.
fn guarded_user(cx: &LintContext, value: ValueId) -> Option<NodeId> {
    let guards = |one: &&crate::graph::uses::Use| match &*cx.model.nodes[one.node].op_type {
        "Log" | "Reciprocal" | "Sqrt" => true,
        "Div" => one.input == 1,
        _ => false,
    };
    cx.uses.of(value).iter().find(guards).map(|one| one.node)
}

/// Whether the model stores a value: an initializer, an input default, or the output of a Constant.
fn is_held(cx: &LintContext, value: ValueId, def: Def) -> bool {
    match def {
        Def::Initializer => true,
        Def::Node { node, .. } => &*cx.model.nodes[node].op_type == "Constant",
        Def::Input(_) => cx.model.values[value].initial.is_some(),
        Def::Missing => false,
    }
}

fn nan_count(fact: &Fact) -> Option<(usize, usize)> {
    let array = fact.as_const().filter(|array| array.elem().is_float())?;
    let all = array.f64s().ok()?;
    let count = all.iter().filter(|number| number.is_nan()).count();
    (count > 0).then_some((count, all.len()))
}

/// Returns the elements of a float or integer constant.
fn numbers(fact: &Fact) -> Option<Vec<f64>> {
    let array = fact.as_const()?;
    let is_number = array.elem().is_float() || array.elem().is_integer();
    is_number.then(|| array.f64s().ok()).flatten()
}
