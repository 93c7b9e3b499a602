//! Clears up around a rebuilt graph: bodies use the new values, and nothing speaks of what is gone.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::scopes;
use crate::graph::{GraphId, Model, ValueId};

/// Makes the bodies in a graph use other values for those they captured.
pub(super) fn replace_in_bodies(model: &mut Model, graph: GraphId, replaced: &FxHashMap<ValueId, ValueId>) {
    if replaced.is_empty() {
        return;
    }
    for body in scopes::nested(model, graph) {
        if body == graph {
            continue;
        }
        for node in model.graphs[body].nodes.clone() {
            for input in model.nodes[node].inputs.iter_mut().flatten() {
                *input = replaced.get(input).copied().unwrap_or(*input);
            }
        }
        for port in &mut model.graphs[body].outputs {
            port.value = replaced.get(&port.value).copied().unwrap_or(port.value);
        }
    }
}

/// Takes out what nothing refers to any more: initializers, and what was declared of values.
pub(super) fn sweep(model: &mut Model, graph: GraphId, used: &FxHashSet<ValueId>) {
    let mut live: FxHashSet<ValueId> = used.clone();
    let scope = &model.graphs[graph];
    live.extend(scope.inputs.iter().chain(&scope.outputs).map(|port| port.value));
    for &node in &scope.nodes {
        live.extend(model.nodes[node].inputs.iter().chain(&model.nodes[node].outputs).flatten());
        live.extend(scopes::captures_of_node(model, node));
    }
    let names: FxHashSet<Arc<str>> = live.iter().map(|&value| model.values[value].name.clone()).collect();
    let scope = &mut model.graphs[graph];
    scope.initializers.retain(|value| live.contains(value));
    scope.sparse_initializers.retain(|value| live.contains(value));
    scope.value_info.retain(|port| live.contains(&port.value));
    scope.quantization.retain(|note| note.tensor_name.as_ref().is_none_or(|name| names.contains(name)));
}
