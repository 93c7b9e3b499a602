//! Builds the e-graph of a graph.

use std::sync::Arc;

use egg::Id;
use rustc_hash::FxHashMap;

use super::EGraph;
use super::analysis::Scope;
use super::enode::{Call, ENode};
use super::rebuild::rebuild;
use super::tables::{OpKey, Tables};
use crate::graph::scopes::captures_of_node;
use crate::graph::uses::Uses;
use crate::graph::{AttrValue, GraphId, Model, NodeId, ValueId, order, trimmed};
use crate::infer::{Fact, Facts};
use crate::schema::{self, Determinism, Schema};

/// E-graph of a graph.
pub struct Built<'m> {
    pub egraph: EGraph<'m>,
    /// Class of each input and output of the graph, and of each value that its nodes use or produce.
    pub class_of: FxHashMap<ValueId, Id>,
    /// E-node of each node that became a call, in topological order.
    pub calls: Vec<(NodeId, ENode)>,
}

/// Builds the e-graph of one graph of the model.
///
/// If `merges` is set, equal constants are merged, and equal nodes that are not [opaque](is_opaque).
///
/// # Errors
/// The graph has a cycle.
pub fn build<'m>(
    model: &'m Model,
    graph: GraphId,
    facts: &Facts,
    uses: &Uses,
    merges: bool,
) -> Result<Built<'m>, order::Cycle> {
    let nodes = order::sorted(model, graph)?;
    let scope = Scope::new(Tables::new(model, graph), graph, facts.bounds.clone());
    let mut builder = Builder {
        model,
        facts,
        uses,
        merges,
        built: Built { egraph: EGraph::new(scope), class_of: FxHashMap::default(), calls: Vec::new() },
    };
    let ports = model.graphs[graph].inputs.iter().chain(&model.graphs[graph].outputs);
    for value in model.graphs[graph].inputs.iter().map(|port| port.value) {
        builder.value(value);
    }
    for node in nodes {
        builder.node(node);
    }
    for value in ports.map(|port| port.value) {
        builder.value(value);
    }
    let claimed = facts.claimed(model, graph).into_iter();
    let claims = claimed.filter_map(|(value, fact)| Some((*builder.built.class_of.get(&value)?, fact)));
    builder.built.egraph.analysis.claims = claims.collect();
    rebuild(&mut builder.built.egraph);
    Ok(builder.built)
}

struct Builder<'m, 'a> {
    model: &'m Model,
    facts: &'a Facts,
    uses: &'a Uses,
    /// Whether equal constants, and equal nodes that are not opaque, are merged.
    merges: bool,
    built: Built<'m>,
}

impl Builder<'_, '_> {
    /// Returns the class of a value, adding a leaf if the value has no class yet.
    fn value(&mut self, value: ValueId) -> Id {
        if let Some(&class) = self.built.class_of.get(&value) {
            return class;
        }
        let class = self.add(ENode::Leaf(value), vec![self.facts[value].clone()]);
        self.name(value, class);
        if let Some(array) = self.facts[value].as_const().cloned()
            && self.is_constant(value)
        {
            self.constant(class, &array);
        }
        class
    }

    /// Returns true if a value has the same elements in every run, unlike the default of an input.
    fn is_constant(&self, value: ValueId) -> bool {
        self.facts[value].is_const()
    }

    fn constant(&mut self, class: Id, array: &Arc<crate::infer::eval::Array>) {
        if let Some(id) = self.built.egraph.analysis.tables.intern_const(array)
            && (self.merges || self.built.egraph.lookup(ENode::Const(id)).is_none())
        {
            let constant = self.built.egraph.add(ENode::Const(id));
            self.built.egraph.union(class, constant);
        }
    }

    fn add(&mut self, enode: ENode, facts: Vec<Fact>) -> Id {
        self.built.egraph.analysis.seed = Some(facts);
        let class = self.built.egraph.add(enode);
        self.built.egraph.analysis.seed = None;
        class
    }

    /// Records that a class holds this value.
    fn name(&mut self, value: ValueId, class: Id) {
        self.built.class_of.insert(value, class);
        let data = &mut self.built.egraph[class].data;
        if let Err(at) = data.values.binary_search(&value) {
            data.values.insert(at, value);
            data.uses += self.uses.count(value);
            data.is_output |= self.uses.is_output(value);
        }
    }

    fn node(&mut self, id: NodeId) {
        let node = &self.model.nodes[id];
        if node.is("Constant") && node.outputs.len() == 1 {
            node.outputs.iter().flatten().for_each(|&output| {
                let class = self.value(output);
                self.built.egraph[class].data.origin = vec![id];
            });
            return;
        }
        let call = self.call(id);
        let single = self.built.egraph.analysis.tables.is_single(&call);
        let facts =
            node.outputs.iter().map(|output| output.map_or(Fact::Unknown, |value| self.facts[value].clone()));
        let enode = ENode::Call(call);
        self.built.calls.push((id, enode.clone()));
        let class = self.add(enode, facts.collect());
        let origin = &mut self.built.egraph[class].data.origin;
        if origin.is_empty() {
            origin.push(id);
        }
        for (index, output) in node.outputs.iter().enumerate() {
            let Some(value) = *output else { continue };
            let class = if single {
                class
            } else {
                let fact = vec![self.facts[value].clone()];
                let projection = ENode::Output { index: index as u16, call: [class] };
                let projected = self.add(projection, fact);
                self.built.egraph[projected].data.origin = vec![id];
                projected
            };
            self.name(value, class);
        }
    }

    fn call(&mut self, id: NodeId) -> Call {
        let node = &self.model.nodes[id];
        let schema = schema_of(self.model, id);
        let key = OpKey {
            domain: Arc::from(node.domain()),
            name: node.op_type.clone(),
            overload: node.overload.clone().unwrap_or_default(),
            epoch: schema.map(|schema| schema.epoch),
        };
        let mut children: Vec<Id> = Vec::with_capacity(node.inputs.len());
        for input in trimmed(&node.inputs) {
            let child = match input {
                Some(value) => self.value(*value),
                None => self.add(ENode::Absent, vec![Fact::Unknown]),
            };
            children.push(child);
        }
        let inputs = children.len() as u16;
        children.extend(captures_of_node(self.model, id).into_iter().map(|value| self.value(value)));
        let tables = &mut self.built.egraph.analysis.tables;
        Call {
            op: tables.intern_op(key),
            attrs: tables.intern_attrs(node.attrs.clone(), schema),
            outputs: node.outputs.len() as u16,
            inputs,
            token: (!self.merges || needs_token(self.model, id, schema)).then_some(id),
            children: children.into(),
        }
    }
}

/// Returns true if the e-graph must never merge a node with an identical one.
/// The outputs of an opaque node are not a function of its e-graph representation.
pub fn is_opaque(model: &Model, id: NodeId) -> bool {
    needs_token(model, id, schema_of(model, id))
}

/// Returns the schema of a node that calls an operator, not a local function.
fn schema_of(model: &Model, id: NodeId) -> Option<&'static Schema> {
    let node = &model.nodes[id];
    let opset = model.opset(node.graph, node.domain()).and_then(|opset| u16::try_from(opset).ok());
    let schema = opset.and_then(|opset| schema::lookup(node.domain(), &node.op_type, opset));
    schema.filter(|_| model.callee(id).is_none())
}

/// Returns true if a node must not be merged with an identical one.
fn needs_token(model: &Model, id: NodeId, schema: Option<&'static Schema>) -> bool {
    let node = &model.nodes[id];
    let is_function = schema.is_some_and(|schema| schema.determinism == Determinism::Deterministic);
    let has_bodies = node.attrs.iter().any(|attr| !attr.value.graphs().is_empty());
    // Since opset 7, Dropout is random only in training mode, which its third input selects.
    let is_new = schema.is_some_and(|schema| schema.since >= 7);
    let inference = node.is("Dropout") && is_new && node.input(2).is_none();
    let is_ref = |value: &AttrValue| matches!(value, AttrValue::Ref { .. } | AttrValue::Undefined(_));
    !(is_function || inference) || has_bodies || node.attrs.iter().any(|attr| is_ref(&attr.value))
}
