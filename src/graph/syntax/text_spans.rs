//! Spans of the parts of a model in the ONNX text that it was parsed from.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::diag::TextPlace;
use crate::graph::{GraphId, NodeId, ValueId};

use super::ast::{AttrSyntax, Node};
use super::span::{LineSpan, Source, Span};

/// Maximum length in bytes of a line copied into a place; a line of weights can have many megabytes.
const MAX_LINE: usize = 4096;

/// Spans of the nodes, declarations and graphs of a parsed model.
///
/// The ids are those of the parsed model; nodes and values added later have no spans.
#[derive(Clone, Debug)]
pub struct TextSpans {
    source: Source,
    /// Ids and spans of the nodes, in text order.
    order: Vec<(NodeId, Span)>,
    nodes: FxHashMap<NodeId, NodeParts>,
    /// The first declaration of each value: as an input, initializer, value info or output.
    values: FxHashMap<ValueId, Span>,
    /// The names of the graphs and functions.
    graphs: FxHashMap<GraphId, Span>,
}

/// Spans of a node and of its operator, outputs, inputs and attributes.
#[derive(Clone, Debug)]
pub struct NodeParts {
    pub whole: Span,
    /// The operator with its domain.
    pub op: Span,
    /// One span per output, including absent ones.
    pub outputs: Vec<Span>,
    /// One span per input, including absent ones.
    pub inputs: Vec<Span>,
    /// Names and spans of the attributes.
    pub attrs: Vec<(Arc<str>, Span)>,
}

impl NodeParts {
    /// Returns the spans of a parsed node.
    pub fn of(node: &Node<AttrSyntax>) -> Self {
        NodeParts {
            whole: node.span,
            op: node.call.op.span,
            outputs: node.outputs.iter().map(|output| output.span).collect(),
            inputs: node.call.inputs.iter().map(|input| input.span).collect(),
            attrs: node.call.attrs.iter().map(|attr| (attr.name.text.clone(), attr.span)).collect(),
        }
    }

    /// Returns the span of the attribute `name`.
    pub fn attr(&self, name: &str) -> Option<Span> {
        self.attrs.iter().find(|(attr, _)| &**attr == name).map(|(_, span)| *span)
    }
}

impl TextSpans {
    /// Creates a table without spans for `source`.
    pub fn new(source: &Source) -> Self {
        TextSpans {
            source: source.clone(),
            order: Vec::new(),
            nodes: FxHashMap::default(),
            values: FxHashMap::default(),
            graphs: FxHashMap::default(),
        }
    }

    /// Adds a node.
    pub(super) fn node(&mut self, id: NodeId, parts: NodeParts) {
        self.order.push((id, parts.whole));
        self.nodes.insert(id, parts);
    }

    /// Adds the declaration of a value, unless it has one.
    pub(super) fn value(&mut self, id: ValueId, span: Span) {
        self.values.entry(id).or_insert(span);
    }

    /// Adds the name of a graph.
    pub(super) fn graph(&mut self, id: GraphId, span: Span) {
        self.graphs.insert(id, span);
    }

    /// Iterates over the nodes and their spans in text order.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, Span)> {
        self.order.iter().copied()
    }

    /// Returns the spans of the parts of a node; `None` for a node that is not in the text.
    pub fn of_node(&self, id: NodeId) -> Option<&NodeParts> {
        self.nodes.get(&id)
    }

    /// Returns the place of a span, without the text of a line that is too long to show.
    pub fn place(&self, span: Span) -> TextPlace {
        let LineSpan { line, column, width, text } = self.source.line_span(span);
        let text = if text.len() > MAX_LINE { "" } else { text };
        TextPlace { line, column, width, text: Arc::from(text) }
    }

    /// Returns the place of the declaration of a value.
    pub fn of_value(&self, id: ValueId) -> Option<TextPlace> {
        self.values.get(&id).map(|span| self.place(*span))
    }

    /// Returns the place of the name of a graph.
    pub fn of_graph(&self, id: GraphId) -> Option<TextPlace> {
        self.graphs.get(&id).map(|span| self.place(*span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::syntax::parse;

    const TEXT: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[N] x) => (float[N] y) {\n  \
        [a] y = Clip <k = 1> (x, , x)\n}\n";

    #[test]
    fn parts_of_a_node_have_their_own_spans() {
        let source = Source::new("", TEXT);
        let parsed = parse(&source);
        let (id, whole) = parsed.spans.nodes().next().expect("a node");
        let parts = parsed.spans.of_node(id).expect("a node");
        let text = |span: Span| source.slice(span).to_owned();
        assert_eq!(text(whole), "[a] y = Clip <k = 1> (x, , x)");
        assert_eq!((text(parts.op), text(parts.outputs[0])), ("Clip".to_owned(), "y".to_owned()));
        assert_eq!(parts.attr("k").map(text).as_deref(), Some("k = 1"));
        assert_eq!(parts.attr("j"), None);
        let inputs: Vec<String> = parts.inputs.iter().map(|span| text(*span)).collect();
        assert_eq!(inputs, ["x", "", "x"]);
    }

    #[test]
    fn declarations_and_graphs_have_lines() {
        let parsed = parse(&Source::new("", TEXT));
        let model = parsed.model.expect("a model");
        let input = model.graphs[model.main].inputs[0].value;
        let place = parsed.spans.of_value(input).expect("a declaration");
        assert_eq!((place.line, place.column, place.width), (2, 4, 10));
        let place = parsed.spans.of_graph(model.main).expect("a name");
        assert_eq!((place.line, place.column, place.width), (2, 1, 1));
    }

    #[test]
    fn long_lines_are_not_copied() {
        let name = "x".repeat(MAX_LINE);
        let text = format!("<ir_version: 8>\ng (float[N] {name}) => () {{ y = Neg ({name}) }}\n");
        let parsed = parse(&Source::new("", &text));
        let (_, span) = parsed.spans.nodes().next().expect("a node");
        let place = parsed.spans.place(span);
        assert_eq!((place.line, place.column, &*place.text), (2, 23 + MAX_LINE as u32, ""));
    }
}
