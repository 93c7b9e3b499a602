//! Keeps the declared types and shapes of a model correct while its values change.

use crate::diag::RuleId;
use crate::diag::rule_ids::DECLARED_TYPE;
use crate::edit::{AnalysisView, Change, Editor, Site};
use crate::graph::{DeclaredDim, GraphId, Model, TypeKind, ValueId};
use crate::infer;
use crate::write::onnx::Encodable;

/// Removes `value_info` that no longer holds, because fixes may change types and shapes.
/// The outputs of the model get their inferred types.
pub fn correct(editor: &mut Editor) {
    take_back(editor, DECLARED_TYPE);
    outputs(editor, editor.model().main, &|_| true);
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
        outputs(editor, graph, &|other| other == value);
    }
}

/// Replaces the declared shapes of computed values by those inferred from the current inputs.
pub fn renew(editor: &mut Editor) {
    let forgotten = Change::new(DECLARED_TYPE, Site::Model, "declared shapes inferred again");
    editor.change(forgotten, |model, _| {
        for (_, graph) in model.graphs.iter_mut() {
            graph.value_info.clear();
            for port in &mut graph.outputs {
                if let Some(TypeKind::Tensor { shape: Some(dims), .. }) =
                    port.info.ty.as_mut().map(|ty| &mut ty.kind)
                {
                    dims.iter_mut().for_each(|dim| dim.dim = DeclaredDim::Absent);
                }
            }
        }
        true
    });
    for graph in editor.model().graphs.ids().collect::<Vec<_>>() {
        outputs(editor, graph, &|_| true);
    }
}

/// Declares all inferred types and shapes if the file does not become larger than that of `source`.
/// ONNX Runtime infers undeclared ones for each new session, which takes up to half of the session creation time.
pub fn tell(editor: &mut Editor, source: &Model) {
    let facts = editor.analyses().facts.clone();
    let mut told = editor.model().clone();
    let is_news = infer::annotate(&mut told, &facts);
    if !is_news || Encodable::new(&told).len() > Encodable::new(source).len() {
        return;
    }
    let change = Change::new(DECLARED_TYPE, Site::Model, "inferred types and shapes declared");
    editor.declare(change, |model| {
        *model = told;
        true
    });
}

/// Declares the inferred type of each output of a graph for which `which` returns true.
fn outputs(editor: &mut Editor, graph: GraphId, which: &dyn Fn(ValueId) -> bool) {
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
