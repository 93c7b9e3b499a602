//! Declared types and shapes that contradict inferred facts.

use crate::diag::RuleId;
use crate::diag::rule_ids::DECLARED_TYPE;
use crate::edit::{AnalysisView, Change, Editor, Site};
use crate::graph::{GraphId, ValueId};
use crate::infer;

/// Removes `value_info` that inference contradicts, and corrects contradicted declarations of outputs.
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
