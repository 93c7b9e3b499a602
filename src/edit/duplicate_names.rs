//! Names that several values in scope have, and whether the values can be told apart.
//!
//! Readers resolve such a name in the order of the file: a use means the latest definition before it. That is the order in
//! which the nodes of a sorted graph run, so that renaming the definitions keeps every result. Where the graph is not
//! sorted, or two inputs or outputs of the model share the name, the file does not say which value a use means.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::diag::RuleId;
use crate::diag::known::{DUPLICATE_INITIALIZER, DUPLICATE_VALUE, SHADOWED_VALUE};
use crate::graph::{Def, GraphId, Model, ValueId, order, scopes};
use crate::infer::Content;

/// Values that are called the same where all of them are in scope.
pub struct Duplicates {
    /// The name that they share.
    pub name: Arc<str>,
    /// In the order of the file, those of a graph before those of the graphs in it.
    pub values: Vec<ValueId>,
    /// The graphs that define them.
    pub graphs: FxHashSet<GraphId>,
    /// Two values of one graph of which none is defined after the other.
    pub unordered: Option<(ValueId, ValueId)>,
}

impl Duplicates {
    /// The rule that reports them.
    pub fn rule(&self, model: &Model) -> RuleId {
        let is_initializer = |&value: &ValueId| model.values[value].initial.is_some();
        match self.values.iter().all(is_initializer) {
            true => DUPLICATE_INITIALIZER,
            false if self.graphs.len() > 1 => SHADOWED_VALUE,
            false => DUPLICATE_VALUE,
        }
    }

    /// Returns why the values cannot be renamed, if they cannot: the file does not say which of them a use means.
    pub fn obstacle(&self, model: &Model) -> Option<&'static str> {
        why(model, self)
    }

    /// The value that keeps the name: one that a caller of the model knows, else the first.
    pub fn kept(&self, model: &Model) -> Option<ValueId> {
        let known = self.values.iter().find(|&&value| is_interface(model, value));
        known.or(self.values.first()).copied()
    }
}

/// Returns the names that several values have in one scope, each with its values.
pub fn duplicate_names(model: &Model) -> Vec<Duplicates> {
    let functions = model.functions.iter().map(|function| function.body);
    functions.chain([model.main]).flat_map(|root| groups_below(model, root)).collect()
}

fn groups_below(model: &Model, root: GraphId) -> Vec<Duplicates> {
    let mut defined: IndexMap<Arc<str>, Vec<ValueId>> = IndexMap::new();
    let graphs = scopes::nested(model, root);
    for &graph in &graphs {
        for value in definitions(model, graph) {
            defined.entry(model.values[value].name.clone()).or_default().push(value);
        }
    }
    let around: FxHashMap<GraphId, FxHashSet<GraphId>> =
        graphs.iter().map(|&graph| (graph, ancestors(model, graph))).collect();
    let mut groups = Vec::new();
    for (name, values) in defined.into_iter().filter(|(_, values)| values.len() > 1) {
        let graph = |value: ValueId| model.values[value].graph;
        let clash = |a: ValueId, b: ValueId| a != b && around[&graph(b)].contains(&graph(a));
        let clashes: Vec<ValueId> =
            values.iter().copied().filter(|&a| values.iter().any(|&b| clash(a, b) || clash(b, a))).collect();
        if clashes.is_empty() {
            continue;
        }
        let pairs = clashes.iter().flat_map(|&a| clashes.iter().map(move |&b| (a, b)));
        let unordered = pairs.filter(|(a, b)| a < b).find(|&(a, b)| is_unordered(model, a, b));
        let graphs = clashes.iter().map(|&value| graph(value)).collect();
        groups.push(Duplicates { name, values: clashes, graphs, unordered });
    }
    groups
}

/// The values that a graph defines, in the order of the file.
fn definitions(model: &Model, id: GraphId) -> Vec<ValueId> {
    let graph = &model.graphs[id];
    let inputs = graph.inputs.iter().map(|port| port.value);
    let initializers = graph.initializers.iter().chain(&graph.sparse_initializers).copied();
    let made = graph.nodes.iter().flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied());
    let mut seen = FxHashSet::default();
    inputs.chain(initializers).chain(made).filter(|&value| seen.insert(value)).collect()
}

/// A graph and those around it.
fn ancestors(model: &Model, graph: GraphId) -> FxHashSet<GraphId> {
    std::iter::successors(Some(graph), |&graph| model.parent(graph)).collect()
}

/// Whether none of two values of one graph is defined after the other.
fn is_unordered(model: &Model, a: ValueId, b: ValueId) -> bool {
    let (a, b) = (&model.values[a], &model.values[b]);
    a.graph == b.graph
        && match (a.def, b.def) {
            (Def::Node { node: a, .. }, Def::Node { node: b, .. }) => a == b,
            (Def::Node { .. }, _) | (_, Def::Node { .. }) => false,
            _ => true,
        }
}

/// Why the file does not say which of the definitions a use means, or why they cannot be renamed.
fn why(model: &Model, group: &Duplicates) -> Option<&'static str> {
    if let Some((a, b)) = group.unordered.filter(|&(a, b)| !are_equal(model, a, b)) {
        let is_input = |value: ValueId| matches!(model.values[value].def, Def::Input(_));
        return Some(match (model.values[a].def, model.values[b].def) {
            (Def::Node { .. }, _) => "one node makes both",
            _ if is_input(a) && is_input(b) => "both are inputs",
            _ if is_input(a) || is_input(b) => "one is an input, the other an initializer",
            _ => return sorted_or_why(model, group),
        });
    }
    let interface: FxHashSet<ValueId> =
        group.values.iter().copied().filter(|&value| is_interface(model, value)).collect();
    if interface.len() > 1 {
        return Some("both are inputs or outputs of the model, whose names a caller uses");
    }
    sorted_or_why(model, group)
}

/// In graphs that are not sorted, the order of the file is not the order of execution.
fn sorted_or_why(model: &Model, group: &Duplicates) -> Option<&'static str> {
    let mut graphs: FxHashSet<GraphId> = group.graphs.clone();
    graphs.extend(group.graphs.iter().flat_map(|&graph| ancestors(model, graph)));
    let is_sorted = |&graph: &GraphId| {
        order::sorted(model, graph).is_ok_and(|sorted| sorted == model.graphs[graph].nodes)
    };
    (!graphs.iter().all(is_sorted)).then_some("the nodes are not in topological order")
}

/// Two initializers that hold the same: it is all one which of them a use means.
fn are_equal(model: &Model, a: ValueId, b: ValueId) -> bool {
    match (model.constant(a), model.constant(b)) {
        (Some(a), Some(b)) => Content::of(a).is_some_and(|content| Content::of(b) == Some(content)),
        _ => false,
    }
}

/// Whether a caller of the model knows a value by its name.
fn is_interface(model: &Model, value: ValueId) -> bool {
    let main = &model.graphs[model.main];
    model.values[value].graph == model.main
        && main.inputs.iter().chain(&main.outputs).any(|port| port.value == value)
}
