//! Who uses a value.

use rustc_hash::{FxHashMap, FxHashSet};

use super::arena::{GraphId, Id, NodeId, ValueId};
use super::model::Model;

/// One use: the input of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Use {
    /// The node, of whichever graph.
    pub node: NodeId,
    /// Which of the node's inputs it is.
    pub input: u32,
}

/// The uses of every value of a model: the inputs of nodes, those inside of bodies included, and the
/// outputs of graphs.
///
/// A list for each value, all behind one another: `of(value)` is `uses[starts[value]..starts[value + 1]]`.
#[derive(Clone, Debug)]
pub struct Uses {
    starts: Vec<u32>,
    uses: Vec<Use>,
    /// How many outputs of graphs each value is.
    outputs: Vec<u32>,
    /// What of it was counted anew since: the uses, and how many outputs it is.
    newer: FxHashMap<ValueId, (Vec<Use>, u32)>,
}

impl Uses {
    /// Counts the nodes that a graph holds; nodes of the arena that no graph holds do not count.
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

    /// Counts anew the values of some graphs, which are all that the nodes of one of them are in.
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

    /// The uses as input of a node: by graph, in each in the order of the file. None of a value that came later.
    pub fn of(&self, value: ValueId) -> &[Use] {
        if let Some((uses, _)) = self.newer.get(&value) {
            return uses;
        }
        let index = value.index();
        let range = self.starts.get(index).zip(self.starts.get(index + 1));
        range.map_or(&[], |(&start, &end)| &self.uses[start as usize..end as usize])
    }

    /// How often a value is used, as input of a node or output of a graph.
    pub fn count(&self, value: ValueId) -> usize {
        self.of(value).len() + self.as_output(value)
    }

    /// Whether a value is an output of a graph: its own, or (captured) that of a body.
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
