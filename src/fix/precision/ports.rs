//! Dtype constraints of subgraphs and calls: inputs, loop-carried values and outputs must agree.

use rustc_hash::FxHashMap;

use super::operand_roles::is_float;
use crate::graph::{GraphId, Model, NodeId, ValueId, scopes};
use crate::infer::Facts;

/// Use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reader {
    /// Input of a node, by index.
    Input(NodeId, usize),
    /// Output of a graph, by index.
    Result(GraphId, usize),
}

/// Values and uses that must have the same dtype.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// Inputs of subgraphs and of functions, and outputs of nodes with subgraphs and of calls.
    pub values: Vec<ValueId>,
    /// Uses whose values are passed to `values`.
    pub readers: Vec<Reader>,
}

impl Link {
    /// Returns the values that are passed to `values`.
    pub fn sources<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = ValueId> + 'a {
        self.readers.iter().filter_map(|reader| match *reader {
            Reader::Input(node, at) => model.nodes[node].input(at),
            Reader::Result(graph, at) => Some(model.graphs[graph].outputs.get(at)?.value),
        })
    }
}

/// Calls of local functions, with the index of the called function.
pub type Calls = FxHashMap<NodeId, usize>;

/// Returns the calls of local functions in a model.
pub fn calls(model: &Model) -> Calls {
    if model.functions.is_empty() {
        return Calls::default();
    }
    let live = scopes::live(model);
    let nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes);
    let mut known: FxHashMap<(&str, &str, Option<&str>), Option<usize>> = FxHashMap::default();
    let callee = |&id: &NodeId| {
        let node = &model.nodes[id];
        let key = (node.domain(), &*node.op_type, node.overload.as_deref());
        let function = *known.entry(key).or_insert_with(|| model.callee(id));
        function.map(|function| (id, function))
    };
    nodes.filter_map(callee).collect()
}

/// Returns the links of a model, and for each link whether its dtype can change.
pub fn links(model: &Model, facts: &Facts, calls: &Calls) -> Vec<(Link, bool)> {
    let mut links = Links { model, calls, found: Vec::new(), functions: FxHashMap::default() };
    for graph in scopes::live(model) {
        for &node in &model.graphs[graph].nodes {
            links.node(node);
        }
    }
    let is_whole = |(link, is_known): (Link, bool)| {
        let sources = link.sources(model).all(|value| is_float(&facts[value]));
        let is_free = is_known && sources && link.values.iter().all(|&value| is_float(&facts[value]));
        (link, is_free)
    };
    links.found.into_iter().map(is_whole).collect()
}

/// Collector of links.
struct Links<'m> {
    model: &'m Model,
    calls: &'m Calls,
    found: Vec<(Link, bool)>,
    /// Index in `found`, by function, direction (true for an input), and position of the input or output.
    functions: FxHashMap<(usize, bool, usize), usize>,
}

impl Links<'_> {
    /// Adds the links of a node with subgraphs, or of a call.
    fn node(&mut self, id: NodeId) {
        let node = &self.model.nodes[id];
        if let Some(&function) = self.calls.get(&id) {
            return self.call(id, function);
        }
        let bodies: Vec<GraphId> = node.graphs().collect();
        let Some(&body) = bodies.first() else { return };
        let scope = &self.model.graphs[body];
        let count = |name: &str| match node.attr(name) {
            Some(crate::graph::AttrValue::Int(count)) => usize::try_from(*count).unwrap_or(0),
            _ => 0,
        };
        let is_known = node.domain().is_empty();
        match &*node.op_type {
            "If" if is_known => {
                for at in 0..node.outputs.len() {
                    self.tie(&[], node.output(at), bodies.iter().map(|&body| Reader::Result(body, at)), true);
                }
            }
            "Loop" if is_known => {
                let carried = scope.inputs.len().saturating_sub(2);
                for at in 0..scope.outputs.len().saturating_sub(1) {
                    let result = Reader::Result(body, at + 1);
                    match at < carried {
                        true => {
                            let inside = scope.inputs[at + 2].value;
                            self.tie(&[inside], node.output(at), [Reader::Input(id, at + 2), result], true);
                        }
                        false => self.tie(&[], node.output(at), [result], true),
                    }
                }
            }
            // Scan of opset 8 is excluded, because it has an additional first input.
            "Scan" if is_known && node.inputs.len() == scope.inputs.len() => {
                let states = scope.inputs.len().saturating_sub(count("num_scan_inputs"));
                for (at, port) in scope.inputs.iter().enumerate() {
                    let given = Reader::Input(id, at);
                    match at < states {
                        true => {
                            self.tie(&[port.value], node.output(at), [given, Reader::Result(body, at)], true)
                        }
                        false => self.tie(&[port.value], None, [given], true),
                    }
                }
                for at in states..scope.outputs.len() {
                    self.tie(&[], node.output(at), [Reader::Result(body, at)], true);
                }
            }
            "SequenceMap" if is_known => {
                for (at, port) in scope.inputs.iter().enumerate() {
                    self.tie(&[port.value], None, [Reader::Input(id, at)], true);
                }
                for at in 0..scope.outputs.len() {
                    self.tie(&[], node.output(at), [Reader::Result(body, at)], true);
                }
            }
            _ => self.all(id, &bodies),
        }
    }

    /// Adds links that keep the dtype of all operands of an unknown operator and of its subgraphs.
    fn all(&mut self, id: NodeId, bodies: &[GraphId]) {
        let node = &self.model.nodes[id];
        for at in 0..node.inputs.len() {
            self.tie(&[], None, [Reader::Input(id, at)], false);
        }
        for &output in node.outputs.iter().flatten() {
            self.tie(&[output], None, [], false);
        }
        for &body in bodies {
            for port in &self.model.graphs[body].inputs {
                self.tie(&[port.value], None, [], false);
            }
            for at in 0..self.model.graphs[body].outputs.len() {
                self.tie(&[], None, [Reader::Result(body, at)], false);
            }
        }
    }

    /// Adds the inputs and outputs of a call to the links of the called function.
    fn call(&mut self, id: NodeId, function: usize) {
        let model = self.model;
        let (node, body) = (&model.nodes[id], &model.graphs[model.functions[function].body]);
        let of_function = |at: usize, is_input: bool| {
            let key = (function, is_input, at);
            let ports = if is_input { &body.inputs } else { &body.outputs };
            ports.get(at).map(|port| (key, port.value))
        };
        for (at, _) in node.inputs.iter().enumerate().filter(|(_, input)| input.is_some()) {
            let Some((key, value)) = of_function(at, true) else { continue };
            let link = *self.functions.entry(key).or_insert_with(|| {
                self.found.push((Link { values: vec![value], readers: Vec::new() }, true));
                self.found.len() - 1
            });
            self.found[link].0.readers.push(Reader::Input(id, at));
        }
        for (at, output) in node.outputs.iter().enumerate() {
            let (Some(output), Some((key, _))) = (*output, of_function(at, false)) else { continue };
            let result = Reader::Result(model.functions[function].body, at);
            let link = *self.functions.entry(key).or_insert_with(|| {
                self.found.push((Link { values: Vec::new(), readers: vec![result] }, true));
                self.found.len() - 1
            });
            self.found[link].0.values.push(output);
        }
    }

    /// Adds a link; `is_known` is false if the dtype of the link must not change.
    fn tie(
        &mut self,
        inside: &[ValueId],
        output: Option<ValueId>,
        readers: impl IntoIterator<Item = Reader>,
        is_known: bool,
    ) {
        let link = Link {
            values: inside.iter().copied().chain(output).collect(),
            readers: readers.into_iter().collect(),
        };
        self.found.push((link, is_known));
    }
}
