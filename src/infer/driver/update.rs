//! Incremental inference: updates facts for the parts of a model that a change affects.
//!
//! The change must preserve the contents of existing values, so that their old facts stay valid.

use rustc_hash::FxHashSet;

use super::declarations::Declarations;
use super::{Driver, Facts, MAX_NESTING, Options};
use crate::graph::{GraphId, Id, Model, Node, NodeId, ValueId};
use crate::infer::fact::Fact;

/// Changes in a graph and its subgraphs.
#[derive(Clone, Debug, Default)]
pub struct News {
    /// Nodes that are new or have different inputs.
    pub nodes: FxHashSet<NodeId>,
    /// Values whose facts changed.
    pub values: FxHashSet<ValueId>,
}

/// Updates the facts of `root` and its subgraphs; adds values with changed facts to `news`.
/// `root` must not be in a local function.
pub fn update(model: &Model, known: Facts, root: GraphId, news: &mut News) -> Facts {
    let mut driver = Driver::new(model, Options::default(), known);
    driver.functions.resume();
    for holder in model.holders(root) {
        driver.nesting += 1;
        driver.guarded += 1;
        driver.loops += usize::from(!model.nodes[holder].is("If"));
    }
    driver.update(root, news);
    driver.finish()
}

impl<'m> Driver<'m> {
    fn update(&mut self, id: GraphId, news: &mut News) {
        let graph = &self.model.graphs[id];
        for &value in &graph.initializers {
            let is_new = matches!(self.facts[value.index()], Fact::Unknown) || news.values.contains(&value);
            if is_new {
                self.initializer(value, &graph.inputs);
                news.values.insert(value);
            }
        }
        let declared = self.declared_types(id);
        let opset = self.model.opset(id, "").unwrap_or(1);
        for node in crate::graph::order::sorted_or_file(self.model, id) {
            self.update_node(node, opset, &declared, news);
        }
        for port in graph.outputs.iter().filter(|port| news.values.contains(&port.value)) {
            self.compare(port, id);
        }
    }

    fn update_node(&mut self, id: NodeId, opset: i64, declared: &Declarations<'m>, news: &mut News) {
        let node = &self.model.nodes[id];
        let reads_news = node.inputs.iter().flatten().any(|input| news.values.contains(input));
        let mut bodies = node.graphs().peekable();
        if news.nodes.contains(&id) || bodies.peek().is_none() || self.functions.callee(node).is_some() {
            if news.nodes.contains(&id) || reads_news {
                self.renewed(node, news, |driver| driver.node(id, opset, declared));
            }
            return;
        }
        if self.nesting >= MAX_NESTING {
            return;
        }
        let is_loop = usize::from(!node.is("If"));
        self.nesting += 1;
        self.guarded += 1;
        self.loops += is_loop;
        // Facts of subgraph inputs hold in every run, so the subgraph can be updated in isolation.
        let mut gives_news = false;
        for body in bodies {
            self.update(body, news);
            // If an output has a new producer, infer the node again, too: if the producer passes a state
            // through unchanged, more can be inferred about the loop.
            let is_made_anew =
                |value| self.model.producer(value).is_some_and(|(node, _)| news.nodes.contains(&node));
            let mut outputs = self.model.graphs[body].outputs.iter().map(|port| port.value);
            gives_news |= outputs.any(|value| news.values.contains(&value) || is_made_anew(value));
        }
        self.nesting -= 1;
        self.guarded -= 1;
        self.loops -= is_loop;
        if !reads_news && !gives_news {
            return;
        }
        self.renewed(node, news, |driver| match is_loop {
            0 => driver.rejoin(id, node, declared),
            _ => driver.node(id, opset, declared),
        });
    }

    /// Updates the outputs of an `If` from the facts of its branches.
    fn rejoin(&mut self, id: NodeId, node: &'m Node, declared: &Declarations<'m>) {
        self.looked_at += 1;
        self.faults.remove(&id);
        let facts = self.joined(id, node).unwrap_or_default();
        for (output, fact) in node.outputs.iter().zip(facts) {
            let Some(value) = *output else { continue };
            let fact = self.checked(fact, value, node.graph, declared);
            self.seed(value, fact);
        }
    }

    /// Runs `look`, and adds the outputs of `node` whose facts changed to `news`.
    fn renewed(&mut self, node: &'m Node, news: &mut News, look: impl FnOnce(&mut Self)) {
        let outputs = || node.outputs.iter().flatten().copied();
        let before: Vec<Fact> = outputs().map(|value| self.facts[value.index()].clone()).collect();
        look(self);
        let changed = outputs().zip(before).filter(|(value, before)| self.facts[value.index()] != *before);
        news.values.extend(changed.map(|(value, _)| value));
    }
}
