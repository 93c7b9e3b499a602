//! Keeps what the model declares of its values true while the values change.

use crate::graph::{DeclaredDim, GraphId, Model, TypeKind, ValueId};
use crate::infer::{self, Facts};

/// Takes back what is declared of values and is not true of them any more: a mended graph has other types
/// than it declared. The model's outputs get what is known of them now.
pub fn correct(model: &mut Model) {
    let facts = infer::infer(model, infer::Options::default());
    for contradiction in &facts.contradictions {
        model.graphs[contradiction.graph].value_info.retain(|port| port.value != contradiction.value);
        outputs(model, contradiction.graph, &facts, &|value| value == contradiction.value);
    }
    outputs(model, model.main, &facts, &|_| true);
}

/// Forgets the shapes that the model declares of what it computes, and declares those that follow from its
/// inputs as they are now.
pub fn renew(model: &mut Model) {
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
    let facts = infer::infer(model, infer::Options::default());
    for graph in model.graphs.ids().collect::<Vec<_>>() {
        outputs(model, graph, &facts, &|_| true);
    }
}

/// Declares of some outputs of a graph what is known of them.
fn outputs(model: &mut Model, graph: GraphId, facts: &Facts, which: &dyn Fn(ValueId) -> bool) {
    let mut declarer = infer::Declarer::new(facts);
    for port in model.graphs[graph].outputs.iter_mut().filter(|port| which(port.value)) {
        declarer.declare(port);
    }
}
