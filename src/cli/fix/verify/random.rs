//! Finds outputs that depend on random numbers, which differ between runs.

use rustc_hash::FxHashSet;

use crate::graph::{Model, NodeId, ValueId, order, scopes};
use crate::schema::{self, Determinism};

/// Returns the names of outputs that depend on an unseeded random node outside of local functions.
pub fn drawn(model: &Model) -> FxHashSet<String> {
    let main = &model.graphs[model.main];
    let mut drawn: FxHashSet<ValueId> = FxHashSet::default();
    for id in order::sorted_or_file(model, model.main) {
        let node = &model.nodes[id];
        let mut read = node.inputs.iter().flatten().copied().chain(scopes::captures_of_node(model, id));
        if draws(model, id) || read.any(|value| drawn.contains(&value)) {
            drawn.extend(node.outputs.iter().flatten().copied());
        }
    }
    let outputs = main.outputs.iter().filter(|port| drawn.contains(&port.value));
    outputs.map(|port| model.values[port.value].name.to_string()).collect()
}

/// Returns true if a node or a node in its subgraphs is random and has no seed.
fn draws(model: &Model, id: NodeId) -> bool {
    let node = &model.nodes[id];
    let has_seed = node.attrs.iter().any(|attr| &*attr.name == "seed");
    let is_random = schema::lookup(node.domain(), &node.op_type, u16::MAX)
        .is_some_and(|schema| schema.determinism == Determinism::NonDeterministic);
    // `Dropout` is random only in training mode. Its outputs are then skipped without this check, because they
    // differ between two runs of the input model.
    let itself = is_random && !has_seed && !node.is("Dropout");
    itself || node.graphs().flat_map(|body| &model.graphs[body].nodes).any(|&inner| draws(model, inner))
}
