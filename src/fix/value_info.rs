//! Keeps what the model declares of its values true while the values change.

use crate::diag::RuleId;
use crate::diag::rule_ids::DECLARED_TYPE;
use crate::edit::{AnalysisView, Change, Editor, Site};
use crate::graph::{DeclaredDim, GraphId, Model, TypeKind, ValueId};
use crate::infer;
use crate::write::onnx::Encodable;

/// Takes back what is declared of values and is not true of them any more: a mended graph has other types
/// than it declared. The model's outputs get what is known of them now.
pub fn correct(editor: &mut Editor) {
    take_back(editor, DECLARED_TYPE);
    outputs(editor, editor.model().main, &|_| true);
}

/// Takes back what is declared of values and is not true of them, or of outputs, declares what is.
pub fn take_back(editor: &mut Editor, by: RuleId) {
    let contradictions = editor.analyses().facts.contradictions.iter();
    let found: Vec<(GraphId, ValueId)> = contradictions.map(|one| (one.graph, one.value)).collect();
    for (graph, value) in found {
        let change = Change::new(by, Site::Value(value), "declared no more: it is something else");
        editor.declare(change, |model| {
            let declared = &mut model.graphs[graph].value_info;
            let before = declared.len();
            declared.retain(|port| port.value != value);
            declared.len() < before
        });
        outputs(editor, graph, &|other| other == value);
    }
}

/// Forgets the shapes that the model declares of what it computes, and declares those that follow from its
/// inputs as they are now.
pub fn renew(editor: &mut Editor) {
    let forgotten = Change::new(DECLARED_TYPE, Site::Model, "declared shapes found anew");
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

/// Declares every type and shape that is inferred, where the file stays no larger than that of `source`: ONNX Runtime
/// looks for those that it is not told each time it makes a session, which takes up to half of its time.
pub fn tell(editor: &mut Editor, source: &Model) {
    let facts = editor.analyses().facts.clone();
    let mut told = editor.model().clone();
    let is_news = infer::annotate(&mut told, &facts);
    if !is_news || Encodable::new(&told).len() > Encodable::new(source).len() {
        return;
    }
    let change = Change::new(DECLARED_TYPE, Site::Model, "what was inferred declared");
    editor.declare(change, |model| {
        *model = told;
        true
    });
}

/// Declares of some outputs of a graph what is known of them.
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
        let change = Change::new(DECLARED_TYPE, Site::Value(port.value), "declared as what it is");
        editor.declare(change, |model| {
            model.graphs[graph].outputs[at] = port;
            true
        });
    }
}
