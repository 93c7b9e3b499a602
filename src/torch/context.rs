//! Shared state of the detectors: a trace, facts derived from it, and its Python sources.

use std::sync::Arc;

use super::argument::{Argument, TensorLiteral};
use super::trace::{Definition, Node, NodeId, Trace, ValueId};
use super::types::{Type, torch_dtype};
use super::view::Views;
use crate::diag::RuleId;
use crate::diag::finding::Anchor;
use crate::diag::{Finding, GraphPlace, Place, SourcePlace, TextPlace};
use crate::graph::syntax::quoted;
use crate::source::{SourceFiles, is_library};

/// Maximum number of characters of a line or node in a finding.
const MAX_SHOWN: usize = 400;

/// A trace with facts that are computed once.
pub struct Context<'a> {
    pub trace: &'a Trace,
    pub sources: &'a SourceFiles,
    pub views: Views,
    /// Whether each value depends on the caller's inputs.
    varies: Vec<bool>,
}

impl<'a> Context<'a> {
    /// Returns the context of a trace, with the Python sources to quote.
    pub fn new(trace: &'a Trace, sources: &'a SourceFiles) -> Self {
        let views = Views::of(trace);
        let varies = varying_values(trace, &views);
        Context { trace, sources, views, varies }
    }

    /// Returns true if a value may depend on a graph input, on the shape of one, or on a missing value.
    pub fn varies(&self, value: ValueId) -> bool {
        self.varies[value.index()]
    }

    /// Returns the constant tensor behind an argument, through operators that preserve its elements.
    pub fn constant_tensor(&self, argument: &'a Argument) -> Option<&'a TensorLiteral> {
        let mut argument = argument;
        loop {
            if let Argument::Tensor(tensor) = self.trace.see(argument) {
                return Some(tensor);
            }
            let node = self.trace.node(self.trace.producer(self.trace.as_value(argument)?)?);
            match node.op.aten()? {
                "to" | "detach" | "detach_" | "lift_fresh" | "clone" | "contiguous" | "alias" => {
                    argument = &node.inputs.first()?.argument;
                }
                _ => return None,
            }
        }
    }

    /// Describes a value by its Python name, or by the operator that computes it.
    pub fn describe(&self, value: ValueId) -> String {
        let name = &*self.trace.value(value).name;
        let base = name.split_once('.').map_or(name, |(base, suffix)| {
            let is_counter = !suffix.is_empty() && suffix.bytes().all(|byte| byte.is_ascii_digit());
            if is_counter { base } else { name }
        });
        if base.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            return format!("`{base}`");
        }
        match self.trace.producer(value) {
            Some(node) => format!("the result of `{}`", self.trace.node(node).op),
            None => format!("`%{name}`"),
        }
    }

    /// Returns the line of the user's code that created a node, if known.
    pub fn user_source(&self, node: &Node) -> Option<SourcePlace> {
        node.source.as_ref().filter(|source| !is_library(&source.file)).map(|source| self.with_code(source))
    }

    fn with_code(&self, source: &SourcePlace) -> SourcePlace {
        let SourcePlace { file, line, column, function, code, .. } = source;
        self.sources.place(file, *line, *column, function.as_deref(), code.as_deref())
    }

    /// Returns the first recorded user line in the outermost `forward`.
    pub fn forward_source(&self) -> Option<SourcePlace> {
        let mut body = self.trace.block(self.trace.body).nodes.iter().map(|&id| self.trace.node(id));
        body.find(|node| {
            node.scope.is_empty() && node.source.as_ref().is_some_and(|it| !is_library(&it.file))
        })
        .and_then(|node| self.user_source(node))
    }

    /// Returns the location of a node: its line in the text, or the node itself if there is no text.
    pub fn place(&self, id: NodeId) -> Place {
        let node = self.trace.node(id);
        if node.line == 0 {
            return Place::Graph(self.graph_place(id));
        }
        let (start, end) = node.span;
        self.text_place(node.line, start, self.trace.text.get(start..end).unwrap_or(""))
    }

    fn text_place(&self, line: u32, start: usize, statement: &str) -> Place {
        let before = &self.trace.text[..start];
        let indent = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        let shown: String = statement.lines().next().unwrap_or("").chars().take(MAX_SHOWN).collect();
        Place::Text(TextPlace {
            line,
            column: indent.chars().count() as u32 + 1,
            width: shown.chars().count() as u32,
            text: Arc::from(format!("{indent}{shown}")),
        })
    }

    fn graph_place(&self, id: NodeId) -> GraphPlace {
        let node = self.trace.node(id);
        let siblings = &self.trace.block(node.block).nodes;
        let position = siblings.binary_search(&id).map_or(0, |at| at as u32 + 1);
        let text = self.render(node);
        let name = node.outputs.first().map_or("", |&output| &*self.trace.value(output).name);
        GraphPlace {
            graph: Arc::from("main"),
            node: Arc::from(format!("\"{name}\"")),
            position: (position, siblings.len() as u32),
            span: (0, text.len() as u32),
            text: Arc::from(text),
            at: None,
        }
    }

    /// Renders a node, such as `y = aten::reshape(x, [n, 12])`.
    fn render(&self, node: &Node) -> String {
        let names = node.outputs.iter().map(|&output| &*self.trace.value(output).name).collect::<Vec<_>>();
        let inputs =
            node.inputs.iter().map(|input| self.render_argument(&input.argument)).collect::<Vec<_>>();
        let text = format!("{} = {}({})", names.join(", "), node.op, inputs.join(", "));
        text.chars().take(MAX_SHOWN).collect()
    }

    fn render_argument(&self, argument: &Argument) -> String {
        match argument {
            Argument::Value(value) => self.trace.value(*value).name.to_string(),
            Argument::Int(int) => int.to_string(),
            Argument::Float(float) => float.to_string(),
            Argument::Complex(real, imaginary) => format!("{real}{imaginary:+}j"),
            Argument::Bool(bool) => bool.to_string(),
            Argument::Str(text) => quoted(text),
            Argument::None => "None".to_owned(),
            Argument::List(members) => {
                format!(
                    "[{}]",
                    members.iter().map(|it| self.render_argument(it)).collect::<Vec<_>>().join(", ")
                )
            }
            Argument::Tensor(_) => "<tensor>".to_owned(),
            Argument::Elem(elem) => torch_dtype(*elem).to_owned(),
            Argument::Other(text) => text.to_string(),
        }
    }

    /// Creates a finding at a node, with its Python line.
    pub fn finding(&self, rule: RuleId, id: NodeId, message: impl Into<String>) -> Finding {
        let node = self.trace.node(id);
        let mut finding = rule.finding(message, self.place(id)).source(self.user_source(node));
        finding.anchor = Anchor { module: node.scope.clone(), op: Arc::from(node.op.to_string()) };
        finding
    }

    /// Creates a finding at the head of the graph, with a line of the outermost `forward`.
    pub fn interface_finding(&self, rule: RuleId, message: impl Into<String>) -> Finding {
        let place = if self.trace.text.is_empty() { Place::File } else { self.header_place() };
        rule.finding(message, place).source(self.forward_source())
    }

    fn header_place(&self) -> Place {
        let first = self.trace.nodes.first();
        let above = first.map_or(1, |node| self.trace.text[..node.span.0].matches('\n').count() as u32);
        let line = first.map_or(1, |node| node.line.saturating_sub(above).max(1));
        self.text_place(line, 0, &self.trace.text)
    }
}

/// Returns, for each value, whether it may depend on a graph input or on a missing value.
fn varying_values(trace: &Trace, views: &Views) -> Vec<bool> {
    let mut varies: Vec<bool> =
        trace.values.iter().map(|value| value.definition == Definition::Missing).collect();
    for input in trace.inputs() {
        varies[input.index()] = true;
    }
    // Indexed by memory root: a write through one view is visible through all others.
    let mut written = vec![false; trace.values.len()];
    for node in &trace.nodes {
        let read = trace.values_read(node);
        let is_varying = |value: &ValueId| varies[value.index()] || written[views.root(*value).index()];
        // The results of a loop or branch may depend on all values that its blocks use.
        if node.blocks.is_empty() && !read.iter().any(is_varying) {
            continue;
        }
        let inner = node.blocks.iter().flat_map(|&block| &trace.block(block).inputs);
        for value in node.outputs.iter().chain(inner) {
            varies[value.index()] = true;
        }
        // A tensor depends on the values written into it, and a list on the values added to it. A node with unknown
        // side effects may write to all values that it reads.
        let is_anywhere = node.is_opaque().is_some() && !node.is_check();
        let changed = read.iter().filter(|_| is_anywhere).copied();
        for value in changed.chain(trace.receiver(node).filter(|_| node.op.changes_first())) {
            varies[value.index()] = true;
            written[views.root(value).index()] = true;
        }
    }
    let through_views =
        |(value, varies): (usize, bool)| varies || written[views.root(ValueId(value as u32)).index()];
    varies.into_iter().enumerate().map(through_views).collect()
}

/// Returns true if a type is a tensor, or a list or tuple that contains one.
pub fn holds_tensor(ty: &Type) -> bool {
    match ty {
        Type::Tensor(_) => true,
        Type::List(element) => holds_tensor(element),
        Type::Tuple(members) => members.iter().any(holds_tensor),
        _ => false,
    }
}
