//! Nodes with the name of another node of their graph.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::{GraphId, Model, NodeId, scopes};

/// Node with the name of an earlier node of its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedName {
    /// The earlier node.
    pub first: NodeId,
    /// The node to rename.
    pub second: NodeId,
    /// Whether ONNX Runtime rejects the model because both nodes have the same name.
    ///
    /// ONNX Runtime accepts repeated names of `Constant` nodes, which it converts to initializers, and
    /// repeated names in functions that no node calls.
    pub is_refused: bool,
}

/// Returns the nodes that share their names with earlier nodes, in file order.
pub fn repeated_node_names(model: &Model) -> Vec<RepeatedName> {
    let run = run_graphs(model);
    let mut repeated = Vec::new();
    for graph in scopes::live(model) {
        // For each name, the first node, and the first node that is not a `Constant`.
        let mut seen: FxHashMap<&str, (NodeId, Option<NodeId>)> = FxHashMap::default();
        for &id in &model.graphs[graph].nodes {
            let node = &model.nodes[id];
            let Some(name) = node.name.as_deref().filter(|name| !name.is_empty()) else { continue };
            let counts = !node.is("Constant");
            let Some((first, first_counted)) = seen.get_mut(name) else {
                seen.insert(name, (id, counts.then_some(id)));
                continue;
            };
            let is_refused = counts && first_counted.is_some() && run.contains(&graph);
            let first = first_counted.filter(|_| is_refused).unwrap_or(*first);
            repeated.push(RepeatedName { first, second: id, is_refused });
            if counts {
                first_counted.get_or_insert(id);
            }
        }
    }
    repeated
}

/// Returns the graphs that can run: the main graph, the functions that are called, and their subgraphs.
fn run_graphs(model: &Model) -> FxHashSet<GraphId> {
    let mut found = FxHashSet::default();
    let mut pending = vec![model.main];
    while let Some(root) = pending.pop() {
        for graph in scopes::nested(model, root) {
            if !found.insert(graph) || model.functions.is_empty() {
                continue;
            }
            let called = model.graphs[graph].nodes.iter().filter_map(|&node| model.callee(node));
            let bodies = called.map(|function| model.functions[function].body);
            pending.extend(bodies.filter(|body| !found.contains(body)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// Checks the output of each node to rename, and whether ONNX Runtime rejects the original name.
    #[track_caller]
    fn check(graph: &str, expected: &[(&str, bool)]) {
        let text = format!("<ir_version: 10, opset_import: [\"\" : 21, \"f\" : 1]> {graph}");
        let model = read::text::read(&text).0.expect("a model");
        let output = |node: NodeId| model.nodes[node].output(0).map(|value| &*model.values[value].name);
        let found: Vec<(&str, bool)> = repeated_node_names(&model)
            .iter()
            .map(|repeated| (output(repeated.second).expect("an output"), repeated.is_refused))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn names_are_unique_within_one_graph() {
        check(
            "g (float[N] x) => (float[N] y) { [n] a = Abs (x)  [n] b = Neg (a)  [n] y = Abs (b) }",
            &[("b", true), ("y", true)],
        );
        check(
            "g (float[N] x, bool c) => (float[N] y) { [n] z = Relu (x)
               y = If (c) <then_branch = t () => (float[N] p) { [n] p = Neg (z) },
                           else_branch = e () => (float[N] r) { [n] s = Abs (z) [n] r = Neg (s) }> }",
            &[("r", true)],
        );
    }

    #[test]
    fn constants_and_uncalled_functions_are_not_refused() {
        let constant = "Constant <value_float = 1.0> ()";
        check(
            &format!(
                "g (float[N] x) => (float[N] y) {{ [n] a = {constant}  [n] b = Add (x, a)  [n] y = Abs (b) }}"
            ),
            &[("b", false), ("y", true)],
        );
        let function =
            "<domain: \"f\", opset_import: [\"\" : 21]> F (p) => (q) { [n] t = Abs (p)  [n] q = Neg (t) }";
        check(&format!("g (float[N] x) => (float[N] y) {{ y = f.F (x) }} {function}"), &[("q", true)]);
        check(&format!("g (float[N] x) => (float[N] y) {{ y = Abs (x) }} {function}"), &[("q", false)]);
    }
}
