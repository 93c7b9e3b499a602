//! EXP009: constant outputs.

use rustc_hash::FxHashSet;

use super::Detector;
use super::reachability::{Reach, given, taken};
use crate::analyses::LintContext;
use crate::diag::rule_ids::CONSTANT_OUTPUT;
use crate::diag::{Finding, Place, Sink};
use crate::graph::{NodeId, ValueId};
use crate::schema::{self, Determinism};

/// Detector of EXP009.
pub const DETECTOR: Detector = Detector { rules: &[CONSTANT_OUTPUT], run };

fn constant(cx: &LintContext, output: ValueId) -> Finding {
    let name = cx.name(output);
    let finding = cx
        .at_value(CONSTANT_OUTPUT, output, format!("output `{name}` is constant: it depends on no input"))
        .label("equal in every run")
        .note("a value that NumPy, Python or .item() computed during tracing is a constant in the graph")
        .help("compute it from the inputs, or remove it from the outputs");
    match cx.places.declaration(output) {
        place @ Place::Graph(_) => finding.related(place, "model output"),
        _ => finding,
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    // The outputs of a model without inputs are constant by design.
    if given(cx.model).next().is_none() {
        return;
    }
    let reach = Reach::new(cx.model);
    let outputs = cx.model.graphs[cx.model.main].outputs.iter().map(|port| port.value);
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
