//! Locations of nodes and values: their line of ONNX text, and the Python line that created them.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use crate::diag::finding::Anchor;
use crate::diag::{GraphPlace, Place, SourcePlace, TextPlace};
use crate::graph::origin;
use crate::graph::syntax::{self, Span, TextSpans};
use crate::graph::uses::Uses;
use crate::graph::{GraphId, Id, Initial, Model, Node, NodeId, Owner, Tensor, ValueId};
use crate::source::{Frame, SourceFiles, frames, is_library, user_frame};

/// Maximum number of nodes to search for a recorded stack.
const MAX_NEIGHBOURS: usize = 64;

/// Metadata keys of recorded Python stacks, by PyTorch's exporter and by jax2onnx.
const STACK_KEYS: [&str; 2] = ["pkg.torch.onnx.stack_trace", "pkg.jax2onnx.stacktrace"];

/// Part of a node that a finding points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The whole node.
    Whole,
    /// Operator name.
    Op,
    /// Input at this index.
    Input(usize),
    /// Output at this index.
    Output(usize),
    /// Attribute with this name.
    Attr(&'a str),
}

/// Locator of the nodes and values of a model.
pub struct Locator<'a> {
    model: &'a Model,
    uses: &'a Uses,
    sources: &'a SourceFiles,
    /// 1-based position of every node in its graph; 0 if no graph lists the node.
    positions: Vec<u32>,
    /// Spans of the text that `model` was parsed from.
    spans: Option<&'a TextSpans>,
    /// Whether any node has a recorded stack.
    has_stacks: OnceLock<bool>,
}

impl<'a> Locator<'a> {
    /// Creates a locator. `uses` must be those of `model`.
    pub fn new(model: &'a Model, uses: &'a Uses, sources: &'a SourceFiles) -> Self {
        let mut positions = vec![0; model.nodes.len()];
        for (_, graph) in model.graphs.iter() {
            for (index, node) in graph.nodes.iter().enumerate() {
                positions[node.index()] = index as u32 + 1;
            }
        }
        Locator { model, uses, sources, positions, spans: None, has_stacks: OnceLock::new() }
    }

    /// Adds the spans of the text that the model was parsed from, for line and column numbers.
    pub fn within(self, spans: Option<&'a TextSpans>) -> Self {
        Locator { spans, ..self }
    }

    /// Returns the location of a part of a node, or of the whole node if the node lacks the part.
    pub fn node(&self, id: NodeId, part: Part) -> Place {
        let node = &self.model.nodes[id];
        let line = syntax::line(self.model, id);
        let spans = &line.spans;
        let attr_index = |name: &str| node.attrs.iter().position(|attr| &*attr.name == name);
        let span = match part {
            Part::Whole => None,
            Part::Op => Some(spans.op),
            Part::Input(index) => spans.inputs.get(index).copied(),
            Part::Output(index) => spans.outputs.get(index).copied(),
            Part::Attr(name) => attr_index(name).and_then(|index| spans.attrs.get(index).copied()),
        };
        let span = span.unwrap_or(spans.whole);
        Place::Graph(GraphPlace {
            graph: self.graph_path(node.graph),
            node: node_name(self.model, node),
            position: (self.positions[id.index()], self.model.graphs[node.graph].nodes.len() as u32),
            text: Arc::from(line.text.as_str()),
            span: (span.start, span.end),
            at: self.node_in_text(id, part),
        })
    }

    /// Returns the part of a node in the text that the model was parsed from.
    fn node_in_text(&self, id: NodeId, part: Part) -> Option<TextPlace> {
        let spans = self.spans?;
        let parts = spans.of_node(id)?;
        let span = match part {
            Part::Whole => None,
            Part::Op => Some(parts.op),
            Part::Input(index) => parts.inputs.get(index).copied(),
            Part::Output(index) => parts.outputs.get(index).copied(),
            Part::Attr(name) => parts.attr(name),
        };
        // An omitted operand is an empty span.
        Some(spans.place(span.filter(|span| !span.is_empty()).unwrap_or(parts.whole)))
    }

    /// Returns the location of a value: its producer, or else its declaration.
    pub fn value(&self, id: ValueId) -> Place {
        match self.model.producer(id) {
            Some((node, output)) => self.node(node, Part::Output(output as usize)),
            None => self.declaration(id),
        }
    }

    /// Returns the location where a value is declared: `float[batch,4] x`.
    pub fn declaration(&self, id: ValueId) -> Place {
        let value = &self.model.values[id];
        let graph = &self.model.graphs[value.graph];
        let mut ports = graph.inputs.iter().chain(&graph.outputs).chain(&graph.value_info);
        let text = match (ports.find(|port| port.value == id), &value.initial) {
            (Some(port), _) => syntax::declaration(self.model, port),
            (None, Some(Initial::Dense(tensor))) => {
                syntax::tensor_declaration(&self.model.tensors[*tensor], &value.name)
            }
            (None, _) => value.name.to_string(),
        };
        let at = self.spans.and_then(|spans| spans.of_value(id));
        self.in_graph_at(value.graph, text, at)
    }

    /// Returns the location of a tensor that is not a value, such as a tensor attribute.
    pub fn tensor(&self, graph: GraphId, tensor: &Tensor) -> Place {
        self.in_graph(graph, syntax::tensor_declaration(tensor, tensor.name.as_deref().unwrap_or("")))
    }

    /// Returns the location of a graph, or of an element of the graph with the ONNX text `text`.
    pub fn in_graph(&self, graph: GraphId, text: String) -> Place {
        self.in_graph_at(graph, text, None)
    }

    /// Creates a location in a graph; `at` is the text location, by default that of the graph's name.
    fn in_graph_at(&self, graph: GraphId, text: String, at: Option<TextPlace>) -> Place {
        let span = Span::new(0, text.len());
        Place::Graph(GraphPlace {
            graph: self.graph_path(graph),
            node: Arc::from(""),
            position: (0, 0),
            text: Arc::from(text),
            span: (span.start, span.end),
            at: at.or_else(|| self.spans?.of_graph(graph)),
        })
    }

    /// Returns the path of a graph, with the nodes that contain it: `main/If_3.then_branch`.
    pub fn graph_path(&self, graph: GraphId) -> Arc<str> {
        match self.model.graphs[graph].owner {
            Owner::Model => named(self.model.graphs[graph].name.as_ref(), "main"),
            Owner::Function(index) => named(self.model.functions[index].name.as_ref(), "function"),
            Owner::Node(owner) => {
                let node = &self.model.nodes[owner];
                let holds = |attr: &&crate::graph::Attribute| attr.value.graphs().contains(&graph);
                let attr = node.attrs.iter().find(holds).map_or("body", |attr| &attr.name);
                let name = node_name(self.model, node);
                format!("{}/{}.{attr}", self.graph_path(node.graph), name.trim_start_matches('/')).into()
            }
        }
    }

    /// Returns the Python line that created a node.
    ///
    /// Nodes that the exporter added have no stack. A node without a stack gets the line of the nearest user,
    /// or else of the nearest producer of an input.
    pub fn source(&self, node: NodeId) -> Option<SourcePlace> {
        let users = |node: NodeId| {
            let outputs = self.model.nodes[node].outputs.iter().flatten();
            outputs.flat_map(|&output| self.uses.of(output)).map(|one| one.node).collect()
        };
        let makers = |node: NodeId| {
            let inputs = self.model.nodes[node].inputs.iter().flatten();
            inputs.filter_map(|&input| self.model.producer(input)).map(|(maker, _)| maker).collect()
        };
        self.nearest(node, &users).or_else(|| self.nearest(node, &makers))
    }

    /// Returns the Python line of a value: of its producer, or else of a user.
    ///
    /// A graph output without producer and users gets the line of another output, because one statement returns both.
    pub fn source_of_value(&self, value: ValueId) -> Option<SourcePlace> {
        if let Some(source) = self.model.producer(value).and_then(|(node, _)| self.source(node)) {
            return Some(source);
        }
        let users = self.uses.of(value).iter().take(MAX_NEIGHBOURS);
        users.map(|one| one.node).find_map(|node| self.source(node)).or_else(|| {
            let outputs = &self.model.graphs[self.model.values[value].graph].outputs;
            let is_output = outputs.iter().any(|port| port.value == value);
            let others = outputs.iter().filter(|port| is_output && port.value != value);
            others.filter_map(|port| self.model.producer(port.value)).find_map(|(node, _)| self.source(node))
        })
    }

    /// Returns the Python line of the nearest node for which the exporter recorded a line.
    ///
    /// The search is breadth-first from `start` along `next`.
    fn nearest(&self, start: NodeId, next: &dyn Fn(NodeId) -> Vec<NodeId>) -> Option<SourcePlace> {
        let has_stack = |(_, node): (NodeId, &Node)| stack(node).is_some();
        if !self.has_stacks.get_or_init(|| self.model.nodes.iter().any(has_stack)) {
            return None;
        }
        let mut queue = VecDeque::from([start]);
        let mut seen = vec![start];
        while let Some(node) = queue.pop_front() {
            if let Some(place) = self.own_source(node) {
                return Some(place);
            }
            for next in next(node) {
                if seen.len() < MAX_NEIGHBOURS && !seen.contains(&next) {
                    seen.push(next);
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// Returns the Python line that the exporter recorded for the node itself.
    pub fn own_source(&self, node: NodeId) -> Option<SourcePlace> {
        let frame = user_frame(stack(&self.model.nodes[node])?)?;
        Some(self.sources.frame_place(&frame))
    }

    /// Returns the recorded Python frames of a node, innermost first, without library frames.
    pub fn frames(&self, node: NodeId) -> impl Iterator<Item = Frame> {
        let all = stack(&self.model.nodes[node]).map(frames).unwrap_or_default();
        all.into_iter().filter(|frame| !is_library(&frame.file))
    }

    /// Returns the properties of a node that are stable across exports.
    pub fn anchor(&self, node: NodeId) -> Anchor {
        let node = &self.model.nodes[node];
        Anchor { module: origin::module_path(node).into(), op: node.op_name().into() }
    }
}

/// Returns the recorded Python stack of a node, in either format that [`frames`] parses.
pub fn stack(node: &Node) -> Option<&str> {
    let recorded = STACK_KEYS.iter().find_map(|key| node.metadata(key)).filter(|stack| !stack.is_empty());
    recorded.or(node.doc.as_deref()).filter(|stack| !stack.is_empty())
}

/// Returns the name of a node, or else its first output in quotes, or else its operator.
pub fn node_name(model: &Model, node: &Node) -> Arc<str> {
    let quoted = || {
        let output = node.outputs.iter().flatten().next();
        output
            .map_or_else(|| node.op_type.clone(), |&value| format!("\"{}\"", model.values[value].name).into())
    };
    node.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(quoted)
}

fn named(name: Option<&Arc<str>>, otherwise: &str) -> Arc<str> {
    name.filter(|name| !name.is_empty()).cloned().unwrap_or_else(|| Arc::from(otherwise))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::syntax::Source;

    fn model(text: &str) -> Model {
        let parsed = syntax::parse(&Source::new("test", text));
        assert_eq!(parsed.findings, []);
        parsed.model.unwrap_or_default()
    }

    fn set_stack(model: &mut Model, node: &str, stack: &str) {
        let is_meant = |(_, found): &(NodeId, &mut Node)| found.name.as_deref() == Some(node);
        if let Some((_, node)) = model.nodes.iter_mut().find(is_meant) {
            node.doc = Some(Arc::from(stack));
        }
    }

    #[test]
    fn nodes_without_a_stack_get_the_line_of_their_user() {
        let mut model = model(
            r#"<ir_version: 8, opset_import: ["" : 17]>
            g (float[N] x) => (float[N] y) {
              [c] k = Constant <value = float {2.0}> ()
              [m] p = Mul (x, k)
              [a] y = Add (p, x)
            }"#,
        );
        set_stack(&mut model, "m", "/app/net.py(7): forward\n");
        let uses = Uses::new(&model);
        let sources = SourceFiles::default();
        let places = Locator::new(&model, &uses, &sources);
        let line = |node: usize| places.source(NodeId::from_index(node)).map(|place| place.line);
        assert_eq!((line(0), line(1), line(2)), (Some(7), Some(7), Some(7)));
    }
}
