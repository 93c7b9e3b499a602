//! Uses of values (use lists).

use rustc_hash::{FxHashMap, FxHashSet};

use super::arena::{GraphId, Id, NodeId, ValueId};
use super::model::Model;

/// One use of a value as a node input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Use {
    /// The using node, in any graph.
    pub node: NodeId,
    /// 0-based input index.
    pub input: u32,
}

/// Use lists of all values: node inputs, including those in subgraphs, and graph outputs.
///
/// The lists share one vector: `of(value)` is `uses[starts[value]..starts[value + 1]]`, unless `newer` has
/// the list.
#[derive(Clone, Debug)]
pub struct Uses {
    starts: Vec<u32>,
    uses: Vec<Use>,
    /// Number of graph outputs for each value.
    outputs: Vec<u32>,
    /// Updated uses and output counts, which override the vectors above.
    newer: FxHashMap<ValueId, (Vec<Use>, u32)>,
}

impl Uses {
    /// Collects the node inputs and graph outputs of all graphs. Nodes that no graph lists do not count.
    pub fn new(model: &Model) -> Self {
        let mut counts = vec![0u32; model.values.len() + 1];
        each_use(model, |value, _| counts[value.index() + 1] += 1);
        for index in 1..counts.len() {
            counts[index] += counts[index - 1];
        }
        let starts = counts.clone();
        let mut next = counts;
        let total = starts.last().map_or(0, |&last| last as usize);
        let mut uses = vec![Use { node: NodeId::from_index(0), input: 0 }; total];
        each_use(model, |value, one| {
            let slot = &mut next[value.index()];
            uses[*slot as usize] = one;
            *slot += 1;
        });
        let mut outputs = vec![0; model.values.len()];
        for port in model.graphs.iter().flat_map(|(_, graph)| &graph.outputs) {
            outputs[port.value.index()] += 1;
        }
        Uses { starts, uses, outputs, newer: FxHashMap::default() }
    }

    /// Updates the use lists of all values of `graphs`.
    /// `graphs` must contain every graph that can use these values.
    pub fn renew(&mut self, model: &Model, graphs: &[GraphId]) {
        let within: FxHashSet<GraphId> = graphs.iter().copied().collect();
        let is_own = |value: ValueId| within.contains(&model.values[value].graph);
        for &graph in graphs {
            let graph = &model.graphs[graph];
            let made =
                graph.nodes.iter().flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied());
            let given = graph.inputs.iter().map(|port| port.value).chain(graph.initializers.iter().copied());
            self.newer.extend(made.chain(given).map(|value| (value, (Vec::new(), 0))));
        }
        for &graph in graphs {
            let graph = &model.graphs[graph];
            for &node in &graph.nodes {
                for (input, value) in (0u32..).zip(&model.nodes[node].inputs) {
                    if let Some(value) = value.filter(|&value| is_own(value)) {
                        self.newer.entry(value).or_default().0.push(Use { node, input });
                    }
                }
            }
            for value in graph.outputs.iter().map(|port| port.value).filter(|&value| is_own(value)) {
                self.newer.entry(value).or_default().1 += 1;
            }
        }
    }

    /// Returns the uses as node input, ordered by graph and file position.
    /// The use list of a value that was added after the last update is empty.
    pub fn of(&self, value: ValueId) -> &[Use] {
        if let Some((uses, _)) = self.newer.get(&value) {
            return uses;
        }
        let index = value.index();
        let range = self.starts.get(index).zip(self.starts.get(index + 1));
        range.map_or(&[], |(&start, &end)| &self.uses[start as usize..end as usize])
    }

    /// Returns the number of uses as node input or graph output.
    pub fn count(&self, value: ValueId) -> usize {
        self.of(value).len() + self.as_output(value)
    }

    /// Returns true if the value is an output of its own graph or of a subgraph that captures it.
    pub fn is_output(&self, value: ValueId) -> bool {
        self.as_output(value) > 0
    }

    fn as_output(&self, value: ValueId) -> usize {
        let newer = self.newer.get(&value).map(|(_, outputs)| outputs);
        newer.or_else(|| self.outputs.get(value.index())).map_or(0, |&count| count as usize)
    }
}

fn each_use(model: &Model, mut visit: impl FnMut(ValueId, Use)) {
    for &id in model.graphs.iter().flat_map(|(_, graph)| &graph.nodes) {
        for (input, value) in model.nodes[id].inputs.iter().enumerate() {
            if let Some(value) = *value {
                visit(value, Use { node: id, input: input as u32 });
            }
        }
    }
}
