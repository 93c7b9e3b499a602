//! Justification of rewrites, step by step in ONNX text, for `--explain-rewrite`.

use std::collections::BTreeSet;

use egg::Id;
use rustc_hash::FxHashMap;

use super::chosen::Chosen;
use crate::edit::Proof;
use crate::egraph::{Call, ENode, Step, canonical};
use crate::graph::syntax::{Line, line};
use crate::graph::{Def, GraphId, Initial, Model, Node, NodeId, Value, ValueId};
use crate::infer::eval::Array;
use crate::infer::tensor_of;

/// Renders steps with the value names of a graph; unnamed values get fresh names.
pub(super) struct ProofWriter<'a, 'm> {
    chosen: &'a Chosen<'a, 'm>,
    /// Copy of the model, extended by the nodes and values that only the e-graph has.
    model: Model,
    graph: GraphId,
    /// Fresh values for classes without a value of the graph.
    made: FxHashMap<Id, ValueId>,
    /// Outputs of the node that the current step rewrites, by class.
    own: FxHashMap<Id, ValueId>,
}

impl<'a, 'm> ProofWriter<'a, 'm> {
    /// Creates a renderer for the steps of a graph.
    pub fn new(model: &Model, graph: GraphId, chosen: &'a Chosen<'a, 'm>) -> Self {
        let mut model = model.clone();
        for tensor in chosen.egraph.analysis.tables.new_tensors() {
            model.tensors.push(tensor.clone());
        }
        ProofWriter { chosen, model, graph, made: FxHashMap::default(), own: FxHashMap::default() }
    }

    /// Renders the steps in order.
    pub fn proof(&mut self, steps: &BTreeSet<usize>) -> Vec<Proof> {
        steps.iter().filter_map(|&at| self.step(self.chosen.provenance.step(at))).collect()
    }

    fn step(&mut self, step: &Step) -> Option<Proof> {
        let by = (self.chosen.rule)(&step.code)?;
        self.own.clear();
        let of = step.matched.iter().map(|form| self.form(form)).collect();
        let root = step.matched.last().and_then(|form| self.original(form));
        for value in root.into_iter().flat_map(|node| self.model.nodes[node].outputs.clone()).flatten() {
            if let Some(&class) = self.chosen.class_of.get(&value) {
                self.own.insert(self.chosen.egraph.find(class), value);
            }
        }
        let mut is: Vec<String> = step.added.iter().map(|form| self.form(form)).collect();
        if is.is_empty() {
            is.extend(step.joined.iter().map(|&class| self.joined(class)));
        }
        Some(Proof { by, of, is })
    }

    /// Renders the equal value or constant that a class was merged with.
    fn joined(&mut self, class: Id) -> String {
        let class = self.chosen.egraph.find(class);
        let own = self.value(class);
        self.own.clear();
        let other = match self.constant(class) {
            Some(constant) => Some(self.new_value("", Some(constant))),
            None => self.value(class),
        };
        let node = Node { inputs: vec![other], outputs: vec![own], ..Node::new(self.graph, "Identity") };
        let written = self.line(node);
        written.spans.inputs.first().map_or_else(String::new, |span| written.text[span.range()].to_owned())
    }

    /// Renders a call: the original node, or a new one.
    fn form(&mut self, form: &ENode) -> String {
        if let Some(node) = self.original(form) {
            return line(&self.model, node).text;
        }
        let ENode::Call(call) = form else { return String::new() };
        let tables = &self.chosen.egraph.analysis.tables;
        let (key, attrs) = (tables.op(call.op).clone(), tables.attrs(call.attrs).to_vec());
        let inputs =
            call.children[..usize::from(call.inputs)].iter().map(|&child| self.value(child)).collect();
        let outputs = self.outputs(form, call);
        let domain = Some(key.domain).filter(|domain| !domain.is_empty());
        self.line(Node { domain, attrs, inputs, outputs, ..Node::new(self.graph, key.name) }).text
    }

    fn line(&mut self, node: Node) -> Line {
        let node = self.model.nodes.push(node);
        line(&self.model, node)
    }

    fn outputs(&mut self, form: &ENode, call: &Call) -> Vec<Option<ValueId>> {
        let egraph = self.chosen.egraph;
        let Some(class) = egraph.lookup(canonical(self.chosen.egraph, form)) else { return Vec::new() };
        if egraph.analysis.tables.is_single(call) {
            return vec![self.value(class)];
        }
        let output = |index| egraph.lookup(ENode::Output { index, call: [class] });
        (0..call.outputs).map(|index| self.value(output(index)?)).collect()
    }

    /// Returns a value for a class; `None` for an omitted input.
    fn value(&mut self, class: Id) -> Option<ValueId> {
        let class = self.chosen.egraph.find(class);
        let data = &self.chosen.egraph[class];
        let known =
            self.own.get(&class).or_else(|| data.data.values.first()).or_else(|| self.made.get(&class));
        if known.is_some() || data.nodes.contains(&ENode::Absent) {
            return known.copied();
        }
        let name = format!("t{}", self.made.len() + 1);
        let value = self.new_value(&name, self.constant(class));
        self.made.insert(class, value);
        Some(value)
    }

    /// Returns the constant of a class, if it is one.
    fn constant(&self, class: Id) -> Option<&'a Array> {
        let egraph = self.chosen.egraph;
        egraph[class].nodes.iter().find_map(|form| match form {
            ENode::Const(id) => Some(&**egraph.analysis.tables.constant(*id)),
            _ => None,
        })
    }

    fn new_value(&mut self, name: &str, constant: Option<&Array>) -> ValueId {
        let initial = constant.map(|array| Initial::Dense(self.model.tensors.push(tensor_of(array))));
        let def = if initial.is_some() { Def::Initializer } else { Def::Missing };
        self.model.values.push(Value { name: name.into(), graph: self.graph, def, initial })
    }

    fn original(&self, form: &ENode) -> Option<NodeId> {
        self.chosen.original.get(&canonical(self.chosen.egraph, form)).copied()
    }
}
