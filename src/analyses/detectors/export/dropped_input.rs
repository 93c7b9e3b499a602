//! EXP008: unused inputs.

use super::Detector;
use super::reachability::{given, to_outputs};
use crate::analyses::LintContext;
use crate::diag::rule_ids::DROPPED_INPUT;
use crate::diag::{Finding, Sink};
use crate::edit::duplicate_names;
use crate::graph::{Def, Id as _, ValueId};

/// Detector of EXP008.
pub const DETECTOR: Detector = Detector { rules: &[DROPPED_INPUT], run };

fn dropped(cx: &LintContext, input: ValueId) -> Finding {
    let name = cx.name(input);
    let label =
        if cx.uses.of(input).is_empty() { "no node uses it" } else { "no output depends on its users" };
    cx.at_declaration(DROPPED_INPUT, input, format!("input `{name}` is unused: no output depends on it"))
        .label(label)
        .note("this happens if .item(), int() or `if` turned its value into a constant during tracing")
        .help("remove it from `forward`, or keep its value a tensor until it is used")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let main = &cx.model.graphs[cx.model.main];
    // An undefined output may depend on the unused inputs.
    if main.outputs.iter().any(|port| cx.model.values[port.value].def == Def::Missing) {
        return;
    }
    // With duplicate names, it is unclear which value a node uses.
    if !duplicate_names(cx.model).is_empty() {
        return;
    }
    let used = to_outputs(cx.model);
    let unused = given(cx.model).filter(|&input| !used[input.index()]);
    sink.extend(unused.map(|input| dropped(cx, input)));
}
