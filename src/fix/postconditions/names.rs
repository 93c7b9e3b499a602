//! Duplicate names: of values, also across nested graphs, and of attributes.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::{GraphId, Model, ValueId};

/// Returns a fault for each duplicate name of a value or attribute.
pub(super) fn faults(model: &Model) -> Vec<String> {
    let mut faults = Vec::new();
    let functions = model.functions.iter().map(|function| function.body);
    for root in functions.chain([model.main]) {
        let mut scopes = Scopes::default();
        scopes.graph(model, root, &mut faults);
    }
    faults
}

/// Names defined in the current graph and in the enclosing graphs, with their values.
#[derive(Default)]
struct Scopes {
    given: FxHashMap<Arc<str>, ValueId>,
}

impl Scopes {
    /// Adds the faults of a graph and of its subgraphs.
    fn graph(&mut self, model: &Model, id: GraphId, faults: &mut Vec<String>) {
        let graph = &model.graphs[id];
        let inputs: FxHashSet<ValueId> = graph.inputs.iter().map(|port| port.value).collect();
        let defaults = graph.initializers.iter().chain(&graph.sparse_initializers);
        let own = graph.inputs.iter().map(|port| port.value);
        let own = own.chain(defaults.copied().filter(|value| !inputs.contains(value)));
        let made = graph.nodes.iter().flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied());
        let mut here = Vec::new();
        for value in own.chain(made) {
            let name = &model.values[value].name;
            match self.given.insert(name.clone(), value) {
                None => here.push(name.clone()),
                Some(_) => faults.push(format!("the name `{name}` is defined twice")),
            }
        }
        for &node in &graph.nodes {
            let node = &model.nodes[node];
            let mut names = FxHashSet::default();
            for attr in node.attrs.iter().filter(|attr| !names.insert(&attr.name)) {
                faults.push(format!("a `{}` has the attribute `{}` twice", node.op_name(), attr.name));
            }
            node.graphs().for_each(|body| self.graph(model, body, faults));
        }
        for name in here {
            self.given.remove(&name);
        }
    }
}
