//! EXP008 and EXP009: unused inputs, and constant outputs.

use rustc_hash::FxHashSet;

use super::Detector;
use super::reachability::{Reach, taken};
use crate::analyses::LintContext;
use crate::diag::rule_ids::{CONSTANT_OUTPUT, DROPPED_INPUT};
use crate::diag::{Finding, Place, Sink};
use crate::graph::{Def, NodeId, ValueId};
use crate::schema::{self, Determinism};

/// Detector of EXP008 and EXP009.
pub const DETECTOR: Detector = Detector { rules: &[DROPPED_INPUT, CONSTANT_OUTPUT], run };

fn dropped(cx: &LintContext, input: ValueId) -> Finding {
    let name = cx.name(input);
    let label =
        if cx.uses.of(input).is_empty() { "no node uses it" } else { "no output depends on its users" };
    let mut finding = DROPPED_INPUT
        .finding(format!("input `{name}` is unused: no output depends on it"), cx.places.declaration(input))
        .label(label)
        .note("this happens if .item(), int() or `if` turned its value into a constant during tracing")
        .help("remove it from `forward`, or keep its value a tensor until it is used");
    finding.source = cx.places.source_of_value(input);
    finding.anchor.module = cx.model.values[input].name.clone();
    finding
}

fn constant(cx: &LintContext, output: ValueId) -> Finding {
    let name = cx.name(output);
    let finding = cx
        .at_value(CONSTANT_OUTPUT, output, format!("output `{name}` is constant: it depends on no input"))
        .label("equal in every run")
        .note("a value that NumPy, Python or .item() computed during tracing is a constant in the graph")
        .help("compute it from the inputs, or return it outside of the model");
    match cx.places.declaration(output) {
        place @ Place::Graph(_) => finding.related(place, "model output"),
        _ => finding,
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let reach = Reach::new(cx.model);
    let main = &cx.model.graphs[cx.model.main];
    let given = || {
        main.inputs.iter().map(|port| port.value).filter(|&value| cx.model.values[value].initial.is_none())
    };
    // An undefined output may depend on the unused inputs.
    let whole = main.outputs.iter().all(|port| cx.model.values[port.value].def != Def::Missing);
    let unused = given().filter(|&input| whole && !reach.takes_part(input));
    sink.extend(unused.map(|input| dropped(cx, input)));
    // The outputs of a model without inputs are constant by design.
    if given().next().is_none() {
        return;
    }
    let outputs = main.outputs.iter().map(|port| port.value);
    let constants = outputs.filter(|&output| !reach.depends_on_inputs(output) && is_determined(cx, output));
    sink.extend(constants.map(|output| constant(cx, output)));
}

/// Whether a value depends only on deterministic, known operators.
fn is_determined(cx: &LintContext, value: ValueId) -> bool {
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        let Some((id, _)) = cx.model.producer(value) else { continue };
        if !seen.insert(id) {
            continue;
        }
        let node = &cx.model.nodes[id];
        let opset = u16::try_from(cx.opset(node)).unwrap_or(1);
        let schema = schema::lookup(node.domain(), &node.op_type, opset);
        if !schema.is_some_and(|schema| schema.determinism == Determinism::Deterministic) {
            return false;
        }
        open.extend(taken(cx.model, id));
    }
    true
}
