//! Value numbering for calls that are opaque to the e-graph: equal numbers mean equal computations.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::egraph::is_opaque;
use crate::graph::{
    Attribute, Def, GraphId, Id as _, Initial, Model, Node, NodeId, TensorId, ValueId, normal_domain, order,
    trimmed,
};
use crate::infer;
use crate::schema::{AttrView, Schema, lookup};

/// Key of a value for numbering.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Absent,
    /// Value of the main graph, by its class.
    Outer(usize),
    /// Input of a subgraph, by nesting depth and position.
    Input(usize, u32),
    /// Small constant, by its type, shape and elements.
    Elements(Vec<u8>),
    /// Other constant.
    Tensor(TensorId),
    Call(Box<CallKey>),
    Output(usize, usize),
    /// Subgraph, by its number of inputs and the numbers of its outputs.
    Body(usize, Vec<usize>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct CallKey {
    op: (String, Arc<str>, String),
    /// Version that began the current semantics of the operator (its epoch).
    since: Option<u16>,
    attrs: Vec<String>,
    inputs: Vec<usize>,
    outputs: usize,
    bodies: Vec<usize>,
    /// Counter that distinguishes calls of random or unknown operators.
    nth: usize,
}

/// Value numbers, valid across two combined models.
#[derive(Default)]
pub struct Numbers {
    known: FxHashMap<Key, usize>,
    /// Number of occurrences of each random or unknown call in the call that is being numbered.
    drawn: FxHashMap<CallKey, usize>,
}

/// Classes of the values of the main graph.
pub type Classes<'a> = &'a dyn Fn(ValueId) -> Option<usize>;

/// State while a call is numbered.
struct Scope<'a> {
    model: &'a Model,
    outer: Classes<'a>,
    inner: FxHashMap<ValueId, usize>,
}

impl Numbers {
    /// Returns the value number of a call in the main graph; `classes` are those of the graph's values.
    /// Equal numbers mean equal results. Random calls inside subgraphs are matched by their order.
    pub fn of_call(&mut self, model: &Model, classes: Classes, node: NodeId) -> usize {
        let mut scope = Scope { model, outer: classes, inner: FxHashMap::default() };
        self.drawn.clear();
        let key = self.call(&mut scope, node, 0);
        self.number(Key::Call(Box::new(key)))
    }

    fn number(&mut self, key: Key) -> usize {
        let next = self.known.len();
        *self.known.entry(key).or_insert(next)
    }

    fn call(&mut self, scope: &mut Scope, id: NodeId, depth: usize) -> CallKey {
        let model = scope.model;
        let node = &model.nodes[id];
        let schema = schema(model, node);
        let inputs = trimmed(&node.inputs).iter().map(|&input| self.value(scope, input)).collect();
        let is_stated = |attr: &&Attribute| {
            let spec = schema.and_then(|schema| schema.attr(&attr.name));
            attr.value.graphs().is_empty()
                && !spec.is_some_and(|spec| spec.is_default(AttrView::from(&attr.value)))
        };
        let mut attrs: Vec<String> = node
            .attrs
            .iter()
            .filter(is_stated)
            .map(|attr| format!("{} {:?}", attr.name, attr.value))
            .collect();
        attrs.sort();
        let mut with_bodies: Vec<&Attribute> =
            node.attrs.iter().filter(|attr| !attr.value.graphs().is_empty()).collect();
        with_bodies.sort_by(|a, b| a.name.cmp(&b.name));
        let bodies: Vec<GraphId> =
            with_bodies.iter().flat_map(|attr| attr.value.graphs().iter().copied()).collect();
        attrs.extend(with_bodies.iter().map(|attr| format!("{} {}", attr.name, attr.value.graphs().len())));
        CallKey {
            op: (
                normal_domain(node.domain.as_deref()).to_owned(),
                node.op_type.clone(),
                node.overload.as_deref().unwrap_or("").to_owned(),
            ),
            since: schema.map(|schema| schema.epoch),
            attrs,
            inputs,
            outputs: node.outputs.len(),
            bodies: bodies.into_iter().map(|body| self.body(scope, body, depth + 1)).collect(),
            nth: 0,
        }
    }

    /// Numbers a subgraph. The recursion is bounded, because the reader limits the nesting depth.
    fn body(&mut self, scope: &mut Scope, body: GraphId, depth: usize) -> usize {
        let model = scope.model;
        let graph = &model.graphs[body];
        for (index, port) in (0u32..).zip(&graph.inputs) {
            let number = self.number(Key::Input(depth, index));
            scope.inner.insert(port.value, number);
        }
        for node in order::sorted_or_file(model, body) {
            let mut key = self.call(scope, node, depth);
            if is_drawn(model, node) {
                let nth = self.drawn.entry(key.clone()).or_insert(0);
                key.nth = *nth;
                *nth += 1;
            }
            let call = self.number(Key::Call(Box::new(key)));
            for (index, output) in model.nodes[node].outputs.iter().enumerate() {
                if let Some(output) = *output {
                    let number = self.number(Key::Output(call, index));
                    scope.inner.insert(output, number);
                }
            }
        }
        let outputs = graph.outputs.iter().map(|port| self.value(scope, Some(port.value))).collect();
        self.number(Key::Body(graph.inputs.len(), outputs))
    }

    fn value(&mut self, scope: &Scope, value: Option<ValueId>) -> usize {
        let Some(value) = value else { return self.number(Key::Absent) };
        if let Some(&number) = scope.inner.get(&value) {
            return number;
        }
        let model = scope.model;
        let key = match ((scope.outer)(value), constant(model, value)) {
            (Some(class), _) => Key::Outer(class),
            (None, Some(tensor)) => match infer::array(&model.tensors[tensor])
                .filter(|array| array.len() <= infer::MAX_ELEMENTS)
            {
                Some(array) if array.to_raw().is_some() => Key::Elements(
                    format!("{} {:?} {:?}", array.elem(), array.shape(), array.to_raw()).into_bytes(),
                ),
                _ => Key::Tensor(tensor),
            },
            // Unknown values are distinct from all others.
            (None, None) => Key::Output(usize::MAX, value.index()),
        };
        self.number(key)
    }
}

fn constant(model: &Model, value: ValueId) -> Option<TensorId> {
    match (&model.values[value].initial, model.values[value].def) {
        (Some(Initial::Dense(tensor)), Def::Initializer) => Some(*tensor),
        _ => None,
    }
}

fn schema(model: &Model, node: &Node) -> Option<&'static Schema> {
    let opset = model.opset(node.graph, node.domain())?;
    lookup(node.domain(), &node.op_type, u16::try_from(opset).ok()?)
}

/// Returns true if equal calls may have different results,
/// because the operator, or one in its subgraphs, is random or unknown.
pub fn is_drawn(model: &Model, node: NodeId) -> bool {
    let has_bodies = model.nodes[node].graphs().next().is_some();
    is_opaque(model, node) && !(has_bodies && is_known(model, node))
        || model.nodes[node]
            .graphs()
            .any(|body| model.graphs[body].nodes.iter().any(|&node| is_drawn(model, node)))
}

/// Returns true if the operator has a schema.
fn is_known(model: &Model, node: NodeId) -> bool {
    schema(model, &model.nodes[node]).is_some()
}
