//! EXP008 and EXP009: inputs that take no part, outputs that depend on none.

use rustc_hash::FxHashSet;

use super::Detector;
use super::reachability::{Reach, taken};
use crate::diag::rule_ids::{CONSTANT_OUTPUT, DROPPED_INPUT};
use crate::diag::{Finding, Place, Sink};
use crate::graph::{Def, NodeId, ValueId};
use crate::lint::LintContext;
use crate::schema::{self, Determinism};

pub const DETECTOR: Detector = Detector { rules: &[DROPPED_INPUT, CONSTANT_OUTPUT], run };

fn dropped(cx: &LintContext, input: ValueId) -> Finding {
    let name = cx.name(input);
    let label =
        if cx.uses.of(input).is_empty() { "no node takes it" } else { "what takes it leads to no output" };
    let mut finding = DROPPED_INPUT
        .finding(format!("the input `{name}` takes no part: no output depends on it"), cx.places.declaration(input))
        .label(label)
        .note("an input goes unused like this where its value became a constant while tracing: by .item(), int() or if")
        .help("leave it out of `forward`, or keep it a tensor until it is used");
    finding.source = cx.places.source_of_value(input);
    finding.anchor.module = cx.model.values[input].name.clone();
    finding
}

fn constant(cx: &LintContext, output: ValueId) -> Finding {
    let name = cx.name(output);
    let finding = cx
        .at_value(
            CONSTANT_OUTPUT,
            output,
            format!("the output `{name}` is a constant: it depends on no input"),
        )
        .label("the same in every run")
        .note("a value that NumPy, Python or .item() computed while tracing is a constant in the graph")
        .help("compute it from the inputs, or return it apart from the model");
    match cx.places.declaration(output) {
        place @ Place::Graph(_) => finding.related(place, "an output of the model"),
        _ => finding,
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let reach = Reach::new(cx.model);
    let main = &cx.model.graphs[cx.model.main];
    let given = || {
        main.inputs.iter().map(|port| port.value).filter(|&value| cx.model.values[value].initial.is_none())
    };
    // Where an output is made by nothing, what led to it may be all there.
    let whole = main.outputs.iter().all(|port| cx.model.values[port.value].def != Def::Missing);
    let unused = given().filter(|&input| whole && !reach.takes_part(input));
    sink.extend(unused.map(|input| dropped(cx, input)));
    // What takes nothing gives constants by design.
    if given().next().is_none() {
        return;
    }
    let outputs = main.outputs.iter().map(|port| port.value);
    let constants = outputs.filter(|&output| !reach.depends_on_inputs(output) && is_determined(cx, output));
    sink.extend(constants.map(|output| constant(cx, output)));
}

/// Whether nothing random, and nothing unknown, stands behind a value.
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
