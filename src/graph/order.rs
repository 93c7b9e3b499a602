//! Topological order of the nodes of a graph.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::arena::{GraphId, NodeId};
use super::model::Model;
use super::scopes;

/// A dependency cycle: each node uses an output of the previous one.
/// The first node uses an output of the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The nodes in dependency order; never empty.
    pub nodes: Vec<NodeId>,
}

/// Sorts the nodes of `graph` topologically, counting values captured by subgraphs as uses.
/// Ties keep the file order, so the order of a sorted graph does not change.
///
/// # Errors
/// Returns a cycle if the graph has one. The search starts at the first node that cannot be sorted.
pub fn sorted(model: &Model, graph: GraphId) -> Result<Vec<NodeId>, Cycle> {
    let nodes = &model.graphs[graph].nodes;
    let needs = Needs::of(model, graph);
    if needs.keep_file_order() {
        return Ok(nodes.clone());
    }
    let mut open: Vec<usize> = needs.of_node.iter().map(Vec::len).collect();
    let mut needed_by = vec![Vec::new(); nodes.len()];
    for (node, needed) in needs.of_node.iter().enumerate() {
        needed.iter().for_each(|&other| needed_by[other].push(node));
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..nodes.len()).filter(|&node| open[node] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(node)) = ready.pop() {
        order.push(nodes[node]);
        for &user in &needed_by[node] {
            open[user] -= 1;
            if open[user] == 0 {
                ready.push(Reverse(user));
            }
        }
    }
    if order.len() == nodes.len() {
        return Ok(order);
    }
    let cycle = needs.cycle(&open);
    Err(Cycle { nodes: cycle.into_iter().map(|node| nodes[node]).collect() })
}

/// Like [`sorted`], but falls back to the file order if the graph has a cycle.
pub fn sorted_or_file(model: &Model, graph: GraphId) -> Vec<NodeId> {
    sorted(model, graph).unwrap_or_else(|_| model.graphs[graph].nodes.clone())
}

/// Numbers the strongly connected components of `count` vertices.
/// Two vertices that reach each other along `edges` get equal numbers.
pub fn components(count: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<u32> {
    let mut graph = petgraph::graph::DiGraph::<(), ()>::with_capacity(count, edges.size_hint().0);
    let vertices: Vec<_> = (0..count).map(|_| graph.add_node(())).collect();
    for (from, to) in edges {
        graph.add_edge(vertices[from], vertices[to], ());
    }
    let mut component = vec![0; count];
    for (number, members) in petgraph::algo::tarjan_scc(&graph).into_iter().enumerate() {
        for member in members {
            component[member.index()] = number as u32;
        }
    }
    component
}

/// Dependencies between the nodes of a graph, as indexes into its node list.
struct Needs {
    of_node: Vec<Vec<usize>>,
}

impl Needs {
    fn of(model: &Model, graph: GraphId) -> Self {
        let nodes = &model.graphs[graph].nodes;
        let place: FxHashMap<NodeId, usize> =
            nodes.iter().enumerate().map(|(place, &node)| (node, place)).collect();
        let of_node = nodes.iter().map(|&id| {
            let node = &model.nodes[id];
            let has_body = node.graphs().next().is_some();
            let captured = if has_body { scopes::captures_of_node(model, id) } else { Vec::new() };
            let used = node.inputs.iter().flatten().copied().chain(captured);
            let makers = used.filter_map(|value| model.producer(value));
            let mut needed: Vec<usize> = makers.filter_map(|(maker, _)| place.get(&maker).copied()).collect();
            needed.sort_unstable();
            needed.dedup();
            needed
        });
        Needs { of_node: of_node.collect() }
    }

    fn keep_file_order(&self) -> bool {
        self.of_node.iter().enumerate().all(|(node, needed)| needed.iter().all(|&other| other < node))
    }

    /// Finds a cycle among the nodes with a nonzero number of `open` dependencies.
    /// A cycle exists, because each node with open dependencies depends on such a node, possibly on itself.
    fn cycle(&self, open: &[usize]) -> Vec<usize> {
        let mut path: Vec<usize> = Vec::new();
        let mut place_in_path = vec![None; open.len()];
        let mut current = open.iter().position(|&open| open > 0);
        while let Some(node) = current {
            if let Some(start) = place_in_path[node] {
                let mut cycle = path.split_off(start);
                cycle.reverse();
                return cycle;
            }
            place_in_path[node] = Some(path.len());
            path.push(node);
            current = self.of_node[node].iter().copied().find(|&other| open[other] > 0);
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::graph::{AttrValue, Attribute, Def, Graph, Id, Node, Owner, Value, ValueId};

    fn value(model: &mut Model, graph: GraphId) -> ValueId {
        let name = Arc::from(format!("v{}", model.values.len()));
        model.values.push(Value { name, graph, def: Def::Missing, initial: None })
    }

    fn node(model: &mut Model, graph: GraphId, inputs: &[ValueId], output: ValueId) -> NodeId {
        let id = model.nodes.push(Node {
            inputs: inputs.iter().copied().map(Some).collect(),
            outputs: vec![Some(output)],
            ..Node::new(graph, "Op")
        });
        model.values[output].def = Def::Node { node: id, output: 0 };
        model.graphs[graph].nodes.push(id);
        id
    }

    /// Checks the order of nodes, given as (inputs, output) with values numbered 0 to 9.
    /// `expected` contains file positions: the sorted order, or a cycle.
    fn check(nodes: &[(&[usize], usize)], expected: Result<&[usize], &[usize]>) {
        let mut model = Model::new();
        let main = model.main;
        let values: Vec<ValueId> = (0..10).map(|_| value(&mut model, main)).collect();
        for (inputs, output) in nodes {
            let inputs: Vec<ValueId> = inputs.iter().map(|&input| values[input]).collect();
            node(&mut model, main, &inputs, values[*output]);
        }
        let places = |nodes: Vec<NodeId>| nodes.into_iter().map(Id::index).collect::<Vec<_>>();
        let found = sorted(&model, main).map(places).map_err(|cycle| places(cycle.nodes));
        assert_eq!(found, expected.map(<[usize]>::to_vec).map_err(<[usize]>::to_vec));
    }

    #[test]
    fn sorted_keeps_file_order_where_possible() {
        check(&[(&[0], 1), (&[0], 2), (&[1, 2], 3)], Ok(&[0, 1, 2]));
        check(&[(&[2, 1], 3), (&[0], 2), (&[0], 1), (&[3], 4)], Ok(&[1, 2, 0, 3]));
    }

    #[test]
    fn cycle_is_reported_as_path() {
        check(&[(&[1], 1)], Err(&[0]));
        check(&[(&[0], 1), (&[1, 4], 2), (&[2], 3), (&[3], 4), (&[4], 5)], Err(&[2, 3, 1]));
    }

    #[test]
    fn captures_are_dependencies() {
        let mut model = Model::new();
        let main = model.main;
        let (x, y, z) = (value(&mut model, main), value(&mut model, main), value(&mut model, main));
        let outer = node(&mut model, main, &[], z);
        let maker = node(&mut model, main, &[x], y);
        let body = model.graphs.push(Graph::new(Owner::Node(outer)));
        let inner = value(&mut model, body);
        node(&mut model, body, &[y], inner);
        model.nodes[outer].attrs.push(Attribute::new("body", AttrValue::Graph(body)));
        assert_eq!(scopes::captures(&model, body), [y]);
        assert_eq!(scopes::captures(&model, main), []);
        assert_eq!(sorted(&model, main), Ok(vec![maker, outer]));
    }
}
