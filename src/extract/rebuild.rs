//! Writes a planned graph into the model.
//!
//! Values that the graph had keep their names, and nodes that were not touched stay the nodes they were.
//! A new node comes where the first node that it replaces was, and inherits their metadata.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::names::Names;
use super::planned::{NewNode, Plan, Slot};
use super::sweep::{replace_in_bodies, sweep};
use crate::graph::{
    AttrValue, Attribute, Def, GraphId, Initial, Metadata, Model, Node, NodeId, Tensor, Value, ValueId,
};
use crate::infer::{self, eval::Array};

/// The key of the metadata entry that names the rule which made a node.
pub const RULE_KEY: &str = "pkg.onnx_lint.rule";

/// Where new constants go. Local functions have no initializers, so that there they are always nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constants {
    Initializers,
    /// Before IR version 4, initializers would have to be inputs too.
    Nodes,
}

/// Puts a planned graph into the model. Nodes and values that are no longer needed stay in the arenas,
/// but in no graph.
///
/// Says whether the graph is another one now.
pub fn rebuild(model: &mut Model, plan: Plan, names: &mut Names, constants: Constants) -> bool {
    let before = wiring(model, plan.graph);
    for tensor in plan.tensors {
        model.tensors.push(tensor);
    }
    let as_nodes = constants == Constants::Nodes || model.function_of(plan.graph).is_some();
    let mut added = Vec::new();
    let mut values = Vec::with_capacity(plan.values.len());
    for new in &plan.values {
        let name = names.fresh(&new.base, new.rule.as_deref());
        let value = Value { name, graph: plan.graph, def: Def::Missing, initial: None };
        let value = model.values.push(value);
        if let Some(array) = &new.constant {
            added.push((value, array.clone()));
        }
        values.push(value);
    }
    let resolve = |slot: Slot| match slot {
        Slot::Old(value) => value,
        Slot::New(index) => values[index],
    };
    let order = topological(&plan.nodes);
    let mut nodes: Vec<Option<NewNode>> = plan.nodes.into_iter().map(Some).collect();
    let mut ids = Vec::with_capacity(nodes.len());
    if as_nodes {
        ids.extend(added.drain(..).map(|(value, array)| constant_node(model, plan.graph, value, &array)));
    }
    for (value, array) in added {
        initializer(model, plan.graph, value, &array);
    }
    for at in order {
        if let Some(node) = nodes[at].take() {
            ids.push(place_node(model, plan.graph, node, &resolve, names));
        }
    }
    let graph = plan.graph;
    model.graphs[graph].nodes = ids;
    for (port, slot) in plan.outputs.iter().enumerate() {
        model.graphs[plan.graph].outputs[port].value = resolve(*slot);
    }
    let replaced: FxHashMap<ValueId, ValueId> =
        plan.replaced.into_iter().map(|(old, slot)| (old, resolve(slot))).collect();
    replace_in_bodies(model, plan.graph, &replaced);
    sweep(model, graph, &plan.used);
    wiring(model, graph) != before
}

/// What tells one form of a graph from another: its nodes with their inputs and outputs, and what of
/// its initializers there is.
fn wiring(model: &Model, graph: GraphId) -> impl PartialEq + use<> {
    let scope = &model.graphs[graph];
    let node = |&id: &NodeId| (id, model.nodes[id].inputs.clone(), model.nodes[id].outputs.clone());
    let nodes: Vec<_> = scope.nodes.iter().map(node).collect();
    (nodes, scope.initializers.clone(), scope.sparse_initializers.len())
}

/// The nodes in an order in which every value is made before it is used, as close to that of the source
/// as can be.
fn topological(nodes: &[NewNode]) -> Vec<usize> {
    let mut maker: FxHashMap<Slot, usize> = FxHashMap::default();
    for (at, node) in nodes.iter().enumerate() {
        maker.extend(node.outputs.iter().flatten().map(|&slot| (slot, at)));
    }
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut open: Vec<usize> = vec![0; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        let needed: FxHashSet<usize> = node
            .inputs
            .iter()
            .flatten()
            .chain(&node.captures)
            .filter_map(|slot| maker.get(slot).copied())
            .collect();
        for other in needed {
            users[other].push(at);
            open[at] += 1;
        }
    }
    let key = |at: usize| Reverse((nodes[at].place, at));
    let mut ready: BinaryHeap<_> = (0..nodes.len()).filter(|&at| open[at] == 0).map(key).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse((_, at))) = ready.pop() {
        order.push(at);
        for &user in &users[at] {
            open[user] -= 1;
            if open[user] == 0 {
                ready.push(key(user));
            }
        }
    }
    order
}

fn place_node(
    model: &mut Model,
    graph: GraphId,
    new: NewNode,
    resolve: &dyn Fn(Slot) -> ValueId,
    names: &mut Names,
) -> NodeId {
    let inputs = new.inputs.iter().map(|slot| slot.map(resolve)).collect();
    let outputs: Vec<Option<ValueId>> = new.outputs.iter().map(|slot| slot.map(resolve)).collect();
    let id = match new.kept {
        Some(id) => {
            model.nodes[id].inputs = inputs;
            model.nodes[id].outputs = outputs.clone();
            id
        }
        None => {
            let base = new.origin.last().and_then(|&node| model.nodes[node].name.clone());
            let name =
                base.filter(|name| !name.is_empty()).map(|base| names.fresh(&base, new.rule.as_deref()));
            let node = Node {
                graph,
                domain: (!new.domain.is_empty()).then(|| new.domain.clone()),
                op_type: new.name.clone(),
                overload: None,
                name,
                inputs,
                outputs: outputs.clone(),
                attrs: new.attrs,
                doc: new.origin.iter().find_map(|&node| model.nodes[node].doc.clone()),
                metadata: inherited(model, &new.origin, new.rule.as_deref()),
                device_configurations: Vec::new(),
            };
            model.nodes.push(node)
        }
    };
    for (index, value) in outputs.iter().enumerate() {
        if let Some(value) = *value {
            model.values[value].def = Def::Node { node: id, output: index as u32 };
        }
    }
    id
}

/// The metadata of the nodes that a new one replaces, the first to say something counts; and the rule.
fn inherited(model: &Model, origin: &[NodeId], rule: Option<&str>) -> Metadata {
    let mut merged = Metadata::new();
    for (key, value) in origin.iter().flat_map(|&node| &model.nodes[node].metadata) {
        if &**key != RULE_KEY && !merged.iter().any(|(known, _)| known == key) {
            merged.push((key.clone(), value.clone()));
        }
    }
    if let Some(rule) = rule {
        merged.push((Arc::from(RULE_KEY), Arc::from(rule)));
    }
    merged
}

/// Makes an initializer of a value that nothing makes any more.
pub fn initializer(model: &mut Model, graph: GraphId, value: ValueId, array: &Array) {
    let tensor = Tensor { name: Some(model.values[value].name.clone()), ..infer::tensor_of(array) };
    let tensor = model.tensors.push(tensor);
    model.values[value].initial = Some(Initial::Dense(tensor));
    model.values[value].def = Def::Initializer;
    model.graphs[graph].initializers.push(value);
}

/// A new `Constant` node, in no graph yet, for a value that nothing makes any more.
pub fn constant_node(model: &mut Model, graph: GraphId, value: ValueId, array: &Array) -> NodeId {
    let tensor = model.tensors.push(infer::tensor_of(array));
    let node = model.nodes.push(Node {
        graph,
        domain: None,
        op_type: Arc::from("Constant"),
        overload: None,
        name: None,
        inputs: Vec::new(),
        outputs: vec![Some(value)],
        attrs: vec![Attribute::new("value", AttrValue::Tensor(tensor))],
        doc: None,
        metadata: Metadata::new(),
        device_configurations: Vec::new(),
    });
    model.values[value].def = Def::Node { node, output: 0 };
    node
}
