//! Rewrites the nodes of a graph and of its subgraphs, in order.

use super::cx::{Cx, Scope};
use super::layout::Layout;
use super::obstacle::{Obstacle, Reason};
use super::{Batched, finish, rules};
use crate::graph::{NodeId, ValueId, order, scopes};

impl Cx<'_> {
    /// Plans the rewrite of the main graph and its subgraphs.
    pub fn run(mut self) -> std::result::Result<Batched, Vec<Obstacle>> {
        self.nodes();
        let outputs = finish::outputs(&mut self);
        if !self.obstacles.is_empty() {
            return Err(self.obstacles);
        }
        let scope = std::mem::replace(&mut self.scope, Scope::new(self.model, self.model.main));
        self.done.push(finish::patch(&self, scope));
        let patches = self.done.into_iter().filter(|patch| !patch.is_empty()).collect();
        let carried = self.layouts.iter().filter(|(_, layout)| layout.is_carried());
        let mut carried: Vec<(ValueId, Layout)> = carried.map(|(&value, &layout)| (value, layout)).collect();
        carried.sort_unstable_by_key(|(value, _)| *value);
        Ok(Batched { patches, outputs, carried })
    }

    /// Rewrites the nodes of the current graph.
    pub fn nodes(&mut self) {
        for node in order::sorted_or_file(self.model, self.scope.graph) {
            self.scope.node = Some(node);
            if let Err(why) = self.node(node) {
                if let Some(why) = why.filter(|why| !why.text.is_empty()) {
                    let Reason { kind, text } = why;
                    self.obstacles.push(Obstacle { node: Some(node), value: None, kind, why: text });
                }
                let outputs = self.model.nodes[node].outputs.iter().flatten();
                self.lost.extend(outputs.copied());
            }
        }
    }

    /// Rewrites a node.
    /// The error is `None` if a previous obstacle left a value that the node reads without a layout.
    fn node(&mut self, id: NodeId) -> std::result::Result<(), Option<Reason>> {
        let model = self.model;
        let node = &model.nodes[id];
        let captured = scopes::captures_of_node(model, id);
        let read: Vec<ValueId> = node.inputs.iter().flatten().copied().chain(captured).collect();
        if read.iter().any(|value| self.lost.contains(value)) {
            return Err(None);
        }
        if !read.iter().any(|&value| self.layout(value).is_carried()) {
            return rules::shared(node).map_err(Some);
        }
        if self.constant_outputs(id) {
            return Ok(());
        }
        rules::apply(self, id).map_err(Some)
    }

    /// Replaces the outputs by constants if the elements of all of them are inferred; returns true if so.
    fn constant_outputs(&mut self, id: NodeId) -> bool {
        let outputs: Vec<ValueId> = self.model.nodes[id].outputs.iter().flatten().copied().collect();
        let facts = self.facts;
        if outputs.is_empty() || !outputs.iter().all(|&value| facts[value].as_const().is_some()) {
            return false;
        }
        for value in outputs {
            if let Some(array) = facts[value].as_const() {
                let item = self.new_item(value);
                self.scope.patch.constant(item, array);
                self.scope.items.insert(value, item);
            }
        }
        self.scope.patch.replaced.push(id);
        self.scope.emitted.insert(id);
        true
    }
}
