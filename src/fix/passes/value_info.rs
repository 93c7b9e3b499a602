//! Corrects declared types and shapes that repairs have made stale.

use super::{interface, withdraw_weights};
use crate::diag::RuleId;
use crate::diag::rule_ids::DECLARED_TYPE;
use crate::edit::{AnalysisView, Change, Editor, Site};
use crate::fix::context::Context;
use crate::fix::pass::{Need, Pass};
use crate::fix::record::PassRun;
use crate::graph::{GraphId, ValueId};
use crate::infer;

/// The pass.
pub const PASS: Pass = Pass {
    id: "value-info",
    summary: "Corrects declared types and shapes that changed.",
    codes: &[DECLARED_TYPE],
    phases: &[],
    need: Need::Required,
    is_enabled: |cx| cx.options.dynamic.is_empty(),
    run: |editor, cx| Ok(run(editor, cx)),
};

/// Passes that change only declarations, and no value.
const DECLARING: [&str; 2] = [withdraw_weights::PASS.id, interface::PASS.id];

/// Corrects declarations, if they may be stale; returns true if there were any.
fn run(editor: &mut Editor, cx: &mut Context) -> bool {
    // Rewriting keeps declarations valid, so the first run decides.
    let is_change = |run: &PassRun| run.changes > 0 && !DECLARING.contains(&run.id);
    let is_changed = cx.record.passes().iter().any(is_change);
    let before = editor.done().changes.len();
    if *cx.has_stale_types.get_or_insert(is_changed) {
        correct(editor);
    }
    editor.done().changes.len() > before
}

/// Removes `value_info` that no longer holds, because fixes may change types and shapes.
/// The outputs of the model get their inferred types.
fn correct(editor: &mut Editor) {
    take_back(editor, DECLARED_TYPE);
    declare_outputs(editor, editor.model().main, &|_| true);
}

/// Removes contradicted `value_info`, and corrects the declared types of outputs.
pub fn take_back(editor: &mut Editor, by: RuleId) {
    let contradictions = editor.analyses().facts.contradictions.iter();
    let found: Vec<(GraphId, ValueId)> = contradictions.map(|one| (one.graph, one.value)).collect();
    for (graph, value) in found {
        let change = Change::new(by, Site::Value(value), "stale value_info removed");
        editor.declare(change, |model| {
            let declared = &mut model.graphs[graph].value_info;
            let before = declared.len();
            declared.retain(|port| port.value != value);
            declared.len() < before
        });
        declare_outputs(editor, graph, &|other| other == value);
    }
}

/// Declares the inferred type of each output of a graph for which `which` returns true.
pub fn declare_outputs(editor: &mut Editor, graph: GraphId, which: &dyn Fn(ValueId) -> bool) {
    let AnalysisView { model, facts, .. } = editor.analyses();
    let mut declarer = infer::Declarer::of(model, graph, facts);
    let mut ports = model.graphs[graph].outputs.clone();
    let mut changed = Vec::new();
    for (at, port) in ports.iter_mut().enumerate().filter(|(_, port)| which(port.value)) {
        if declarer.declare(port) {
            changed.push((at, port.clone()));
        }
    }
    for (at, port) in changed {
        let change = Change::new(DECLARED_TYPE, Site::Value(port.value), "declared type corrected");
        editor.declare(change, |model| {
            model.graphs[graph].outputs[at] = port;
            true
        });
    }
}
