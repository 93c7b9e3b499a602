//! Keeps what the model declares of its values true while the values change.

use crate::diag::RuleId;
use crate::diag::known::DECLARED_TYPE;
use crate::edit::{Change, Editor, Site};
use crate::graph::{DeclaredDim, GraphId, TypeKind, ValueId};
use crate::infer::{self, Facts};

/// Takes back what is declared of values and is not true of them any more: a mended graph has other types
/// than it declared. The model's outputs get what is known of them now.
pub fn correct(editor: &mut Editor) {
    let facts = infer::infer(editor.model(), infer::Options::default());
    take_back(editor, &facts, DECLARED_TYPE);
    outputs(editor, editor.model().main, &facts, &|_| true);
}

/// Takes back what is declared of values and is not true of them, or of outputs, declares what is.
pub fn take_back(editor: &mut Editor, facts: &Facts, by: RuleId) {
    for contradiction in &facts.contradictions {
        let (graph, value) = (contradiction.graph, contradiction.value);
        let change = Change::new(by, Site::Value(value), "declared no more: it is something else");
        editor.change(change, |model, _| {
            let declared = &mut model.graphs[graph].value_info;
            let before = declared.len();
            declared.retain(|port| port.value != value);
            declared.len() < before
        });
        outputs(editor, graph, facts, &|other| other == value);
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
    let facts = infer::infer(editor.model(), infer::Options::default());
    for graph in editor.model().graphs.ids().collect::<Vec<_>>() {
        outputs(editor, graph, &facts, &|_| true);
    }
}

/// Declares of some outputs of a graph what is known of them.
fn outputs(editor: &mut Editor, graph: GraphId, facts: &Facts, which: &dyn Fn(ValueId) -> bool) {
    let mut declarer = infer::Declarer::new(facts);
    for at in 0..editor.model().graphs[graph].outputs.len() {
        let mut port = editor.model().graphs[graph].outputs[at].clone();
        if which(port.value) && declarer.declare(&mut port) {
            let change = Change::new(DECLARED_TYPE, Site::Value(port.value), "declared as what it is");
            editor.change(change, |model, _| {
                model.graphs[graph].outputs[at] = port;
                true
            });
        }
    }
}
