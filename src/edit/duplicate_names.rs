//! Names with several definitions in one scope, and whether file order resolves them.
//!
//! Readers resolve a duplicate name in file order: a use refers to the latest definition before it.
//! A sorted graph runs in file order, so renaming the definitions keeps every result. If the graph is not
//! sorted, or two inputs or outputs of the model share the name, a use of the name is ambiguous.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::diag::RuleId;
use crate::diag::rule_ids::{DUPLICATE_INITIALIZER, DUPLICATE_VALUE, SHADOWED_VALUE};
use crate::graph::{Def, GraphId, Model, ValueId, order, scopes};
use crate::infer::Content;

/// Values with the same name that are in scope together.
pub struct Duplicates {
    /// Name that all of the values have.
    pub name: Arc<str>,
    /// Values with the name, in file order; values of a graph precede those of its subgraphs.
    pub values: Vec<ValueId>,
    /// Graphs that define the values.
    pub graphs: FxHashSet<GraphId>,
    /// Two values of one graph that are not ordered: a use may refer to either.
    pub unordered: Option<(ValueId, ValueId)>,
}

impl Duplicates {
    /// Returns the rule that reports these duplicates.
    pub fn rule(&self, model: &Model) -> RuleId {
        let is_initializer = |&value: &ValueId| model.values[value].initial.is_some();
        match self.values.iter().all(is_initializer) {
            true => DUPLICATE_INITIALIZER,
            false if self.graphs.len() > 1 => SHADOWED_VALUE,
            false => DUPLICATE_VALUE,
        }
    }

    /// Returns the reason why the values cannot be renamed, if there is one.
    ///
    /// Either the file does not determine which value a use refers to, or several of the values are inputs
    /// or outputs of the model.
    pub fn obstacle(&self, model: &Model) -> Option<&'static str> {
        if let Some((a, b)) = self.unordered.filter(|&(a, b)| !are_equal(model, a, b)) {
            let is_input = |value: ValueId| matches!(model.values[value].def, Def::Input(_));
            return Some(match (model.values[a].def, model.values[b].def) {
                (Def::Node { .. }, _) => "one node produces both",
                _ if is_input(a) && is_input(b) => "both are inputs",
                _ => return sorted_or_why(model, self),
            });
        }
        let interface: FxHashSet<ValueId> =
            self.values.iter().copied().filter(|&value| is_interface(model, value)).collect();
        if interface.len() > 1 {
            return Some("both are inputs or outputs of the model, which callers address by name");
        }
        sorted_or_why(model, self)
    }

    /// Returns the value that keeps the name: an input or output of the model, else the first value.
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
    let mut groups = Vec::new();
    for (name, mut values) in defined.into_iter().filter(|(_, values)| values.len() > 1) {
        let graphs = clashing_graphs(model, &values);
        if graphs.is_empty() {
            continue;
        }
        values.retain(|&value| graphs.contains(&model.values[value].graph));
        let pairs = values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b)));
        let unordered = pairs.filter(|(a, b)| a < b).find(|&(a, b)| is_unordered(model, a, b));
        groups.push(Duplicates { name, values, graphs, unordered });
    }
    groups
}

/// Returns the graphs of those `values` that are in scope together; all values have the same name.
///
/// Two values are in scope together if they have the same graph, or one graph encloses the other graph.
/// Does not compare all pairs of values, because many sibling subgraphs can repeat a name.
fn clashing_graphs(model: &Model, values: &[ValueId]) -> FxHashSet<GraphId> {
    let mut counts: FxHashMap<GraphId, usize> = FxHashMap::default();
    for &value in values {
        *counts.entry(model.values[value].graph).or_default() += 1;
    }
    let mut clashing = FxHashSet::default();
    for (&graph, &count) in &counts {
        let around = ancestors(model, graph).filter(|other| *other != graph && counts.contains_key(other));
        let outer: Vec<GraphId> = around.collect();
        if count > 1 || !outer.is_empty() {
            clashing.insert(graph);
        }
        clashing.extend(outer);
    }
    clashing
}

/// Returns the values that a graph defines, in file order.
fn definitions(model: &Model, id: GraphId) -> Vec<ValueId> {
    let graph = &model.graphs[id];
    let inputs = graph.inputs.iter().map(|port| port.value);
    let initializers = graph.initializers.iter().chain(&graph.sparse_initializers).copied();
    let made = graph.nodes.iter().flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied());
    let mut seen = FxHashSet::default();
    inputs.chain(initializers).chain(made).filter(|&value| seen.insert(value)).collect()
}

/// Iterates over a graph and those that enclose it.
fn ancestors(model: &Model, graph: GraphId) -> impl Iterator<Item = GraphId> {
    std::iter::successors(Some(graph), |&graph| model.parent(graph))
}

/// Returns true if the file does not determine which of two values of one graph is defined first.
/// The order is undetermined for two outputs of one node, and for two values that are inputs or initializers.
fn is_unordered(model: &Model, a: ValueId, b: ValueId) -> bool {
    let (a, b) = (&model.values[a], &model.values[b]);
    a.graph == b.graph
        && match (a.def, b.def) {
            (Def::Node { node: a, .. }, Def::Node { node: b, .. }) => a == b,
            (Def::Node { .. }, _) | (_, Def::Node { .. }) => false,
            _ => true,
        }
}

/// Returns a reason unless the graphs of the values, and those that enclose them, are sorted.
/// In an unsorted graph, the order of the file is not the order of execution.
fn sorted_or_why(model: &Model, group: &Duplicates) -> Option<&'static str> {
    let mut graphs: FxHashSet<GraphId> = group.graphs.clone();
    graphs.extend(group.graphs.iter().flat_map(|&graph| ancestors(model, graph)));
    let is_sorted = |&graph: &GraphId| {
        order::sorted(model, graph).is_ok_and(|sorted| sorted == model.graphs[graph].nodes)
    };
    (!graphs.iter().all(is_sorted)).then_some("the nodes are not in topological order")
}

/// Returns true for two initializers with equal elements: a use may refer to either.
fn are_equal(model: &Model, a: ValueId, b: ValueId) -> bool {
    match (model.constant(a), model.constant(b)) {
        (Some(a), Some(b)) => Content::of(a).is_some_and(|content| Content::of(b) == Some(content)),
        _ => false,
    }
}

/// Returns true if a value is an input or output of the model, which callers address by name.
fn is_interface(model: &Model, value: ValueId) -> bool {
    let main = &model.graphs[model.main];
    model.values[value].graph == model.main
        && main.inputs.iter().chain(&main.outputs).any(|port| port.value == value)
}
