//! Adds the contents of patches to the model; [`super::finalize`] performs removals.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::constants::{self, Constants};
use super::names::Names;
use super::patch::{At, Item, Patch, PatchNode, PatchOp, RULE_KEY};
use crate::graph::{
    AttrValue, Attribute, Def, Graph, GraphId, Id, Metadata, Model, Node, NodeId, Owner, TensorId, Value,
    ValueId,
};

/// Changes of a graph by applied patches that [`super::finalize`] still has to complete.
pub(super) struct Pending {
    /// Original position of each node.
    positions: FxHashMap<NodeId, usize>,
    /// Outputs of the graph.
    outputs: FxHashSet<ValueId>,
    /// New nodes, each with the position to insert it before.
    pub came: Vec<(usize, NodeId)>,
    pub redirects: FxHashMap<ValueId, ValueId>,
    /// Replaced nodes.
    pub replaced: Vec<NodeId>,
    /// Former inputs of rewired nodes.
    pub released: Vec<ValueId>,
    /// New and changed nodes.
    pub touched: Vec<NodeId>,
    /// Values that became initializers.
    pub constants: Vec<ValueId>,
}

impl Pending {
    /// Creates the state for a graph without patches.
    pub fn of(model: &Model, graph: GraphId) -> Self {
        let graph = &model.graphs[graph];
        Pending {
            positions: graph.nodes.iter().enumerate().map(|(at, &node)| (node, at)).collect(),
            outputs: graph.outputs.iter().map(|port| port.value).collect(),
            came: Vec::new(),
            redirects: FxHashMap::default(),
            replaced: Vec::new(),
            released: Vec::new(),
            touched: Vec::new(),
            constants: Vec::new(),
        }
    }

    /// Returns the highest original position of `nodes`; 0 if no node has an original position.
    fn position(&self, nodes: &[NodeId]) -> usize {
        nodes.iter().filter_map(|node| self.positions.get(node)).max().copied().unwrap_or(0)
    }
}

/// Patch being applied.
pub(super) struct PatchApplier<'a> {
    pub model: &'a mut Model,
    pub names: &'a mut Names,
    pub constants: Constants,
    pub pending: &'a mut Pending,
    pub graph: GraphId,
    /// Model ids of the new values and tensors.
    values: Vec<ValueId>,
    tensors: Vec<TensorId>,
    first_tensor: usize,
}

impl<'a> PatchApplier<'a> {
    /// Starts applying a patch.
    pub fn new(
        model: &'a mut Model,
        names: &'a mut Names,
        constants: Constants,
        pending: &'a mut Pending,
        graph: GraphId,
    ) -> Self {
        let (values, tensors) = (Vec::new(), Vec::new());
        PatchApplier { model, names, constants, pending, graph, values, tensors, first_tensor: usize::MAX }
    }

    /// Applies a checked patch.
    pub fn place(mut self, patch: Patch) {
        let graph = self.graph;
        let made: FxHashSet<Item<ValueId>> =
            patch.nodes.iter().flat_map(|node| node.outputs.iter().flatten().copied()).collect();
        self.first_tensor = patch.first_tensor;
        self.tensors = patch.tensors.into_iter().map(|tensor| self.model.tensors.push(tensor)).collect();
        for new in &patch.values {
            let name = self.names.fresh(&new.base, new.rule.as_deref());
            let value = Value { name, graph, def: Def::Missing, initial: None };
            self.values.push(self.model.values.push(value));
        }
        for (item, tensor) in patch.constants {
            let value = self.value(item);
            self.retire(value, None);
            let node = constants::make(self.model, self.constants, graph, value, tensor);
            self.pending.came.extend(node.map(|node| (0, node)));
            match node {
                Some(node) => self.pending.touched.push(node),
                None => self.pending.constants.push(value),
            }
        }
        let position = self.pending.position(&patch.replaced);
        if let Some(body) = patch.absorbed {
            self.absorb(body, position);
        }
        for node in patch.nodes {
            self.node(node);
        }
        for (from, to) in patch.redirects {
            let to = self.value(to);
            if self.pending.outputs.contains(&from) && !made.contains(&Item::Old(from)) {
                self.pass_on(to, from, &patch.replaced, position);
            }
            self.pending.redirects.insert(from, to);
        }
        self.pending.replaced.extend(patch.replaced);
    }

    fn value(&self, item: Item<ValueId>) -> ValueId {
        match item {
            Item::Old(value) => value,
            Item::New(new) => self.values[new.0],
        }
    }

    fn node(&mut self, new: PatchNode) {
        let inputs = new.inputs.iter().map(|input| input.map(|item| self.value(item))).collect();
        let outputs: Vec<Option<ValueId>> =
            new.outputs.iter().map(|output| output.map(|item| self.value(item))).collect();
        let id = match new.form {
            PatchOp::Kept(id) => {
                let node = &mut self.model.nodes[id];
                let before = std::mem::replace(&mut node.inputs, inputs);
                self.pending.released.extend(before.into_iter().flatten());
                node.outputs = outputs.clone();
                id
            }
            PatchOp::New { domain, op_type, attrs } => {
                let attrs = attrs.into_iter().map(|attr| self.attribute(attr)).collect();
                let base = new.origin.last().and_then(|&node| self.model.nodes[node].name.clone());
                let base = base.filter(|name| !name.is_empty());
                let name = base.map(|base| self.names.fresh(&base, new.rule.as_deref()));
                let node = Node {
                    domain: (!domain.is_empty()).then_some(domain),
                    name,
                    inputs,
                    outputs: outputs.clone(),
                    attrs,
                    doc: new.origin.iter().find_map(|&node| self.model.nodes[node].doc.clone()),
                    metadata: inherited(self.model, &new.origin, new.rule.as_ref()),
                    ..Node::new(self.graph, op_type)
                };
                let position = match new.at {
                    At::Origin => self.pending.position(&new.origin),
                    At::End => usize::MAX,
                };
                self.come(node, position)
            }
        };
        self.pending.touched.push(id);
        self.define(id, &outputs);
    }

    /// Adds a new node at a position.
    fn come(&mut self, node: Node, position: usize) -> NodeId {
        let id = self.model.nodes.push(node);
        let bodies: Vec<GraphId> = self.model.nodes[id].graphs().collect();
        for body in bodies {
            self.model.graphs[body].owner = Owner::Node(id);
        }
        self.pending.came.push((position, id));
        id
    }

    /// Sets a node as the producer of its outputs.
    fn define(&mut self, id: NodeId, outputs: &[Option<ValueId>]) {
        for (output, value) in (0u32..).zip(outputs) {
            if let Some(value) = *value {
                self.retire(value, Some(id));
                self.model.values[value].def = Def::Node { node: id, output };
            }
        }
    }

    /// Removes a value from the outputs of its previous producer, unless that is the new producer `by`.
    fn retire(&mut self, value: ValueId, by: Option<NodeId>) {
        let Def::Node { node, output } = self.model.values[value].def else { return };
        let slot = self.model.nodes[node].outputs.get_mut(output as usize);
        if let Some(slot) = slot.filter(|slot| **slot == Some(value) && by != Some(node)) {
            *slot = None;
        }
    }

    fn attribute(&self, attr: Attribute) -> Attribute {
        let owned = |id: TensorId| match id.index().checked_sub(self.first_tensor) {
            Some(index) => self.tensors.get(index).copied().unwrap_or(id),
            None => id,
        };
        let value = match attr.value {
            AttrValue::Tensor(id) => AttrValue::Tensor(owned(id)),
            AttrValue::Tensors(ids) => AttrValue::Tensors(ids.into_iter().map(owned).collect()),
            other => other,
        };
        Attribute { value, ..attr }
    }

    /// Adds an `Identity` that copies `from` to the graph output `to`, so that `to` keeps its name.
    fn pass_on(&mut self, from: ValueId, to: ValueId, origin: &[NodeId], position: usize) {
        let node = Node {
            inputs: vec![Some(from)],
            outputs: vec![Some(to)],
            doc: origin.iter().find_map(|&node| self.model.nodes[node].doc.clone()),
            metadata: inherited(self.model, origin, None),
            ..Node::new(self.graph, "Identity")
        };
        let id = self.come(node, position);
        self.pending.touched.push(id);
        self.define(id, &[Some(to)]);
    }

    /// Moves the contents of a subgraph into the graph.
    fn absorb(&mut self, body: GraphId, position: usize) {
        let (model, around) = (&mut *self.model, self.graph);
        let body = std::mem::replace(&mut model.graphs[body], Graph::new(Owner::Model));
        let made = body.nodes.iter().flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied());
        let moved: Vec<ValueId> =
            made.chain(body.initializers.iter().chain(&body.sparse_initializers).copied()).collect();
        for value in moved {
            self.names.move_value(model, value, around);
        }
        for &node in &body.nodes {
            self.names.move_node(model, node, around);
            self.pending.came.push((position, node));
            self.pending.touched.push(node);
        }
        let graph = &mut model.graphs[around];
        graph.initializers.extend(body.initializers);
        graph.sparse_initializers.extend(body.sparse_initializers);
        graph.value_info.extend(body.value_info);
        graph.quantization.extend(body.quantization);
    }
}

/// Merges the metadata of source nodes, the first entry of each key winning, and records the rule.
fn inherited(model: &Model, origin: &[NodeId], rule: Option<&Arc<str>>) -> Metadata {
    let mut merged = Metadata::new();
    for &node in origin {
        merge(&mut merged, &model.nodes[node].metadata);
    }
    merged.retain(|(key, _)| &**key != RULE_KEY);
    merged.extend(rule.map(|rule| (Arc::from(RULE_KEY), rule.clone())));
    merged
}

/// Adds entries with new keys.
pub(super) fn merge(metadata: &mut Metadata, more: &Metadata) {
    for (key, value) in more {
        if !metadata.iter().any(|(known, _)| known == key) {
            metadata.push((key.clone(), value.clone()));
        }
    }
}
