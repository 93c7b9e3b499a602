//! Input of the detectors: options, model, inferred facts, and constructors of findings.

use std::sync::Arc;

use super::locate::{Locator, Part, node_name};
use crate::batching::request::FreeDim;
use crate::diag::RuleId;
use crate::diag::{Finding, Selection};
use crate::graph::syntax::TextSpans;
use crate::graph::uses::Uses;
use crate::graph::{Graph, GraphId, Id as _, Model, Node, NodeId, ValueId, scopes};
use crate::infer::{Fact, Facts};
use crate::read::external::DataFolders;
use crate::rules::registry::RuleSet;
use crate::source::SourceFiles;
use crate::targets::Profile;

/// Options of linting.
#[derive(Clone, Debug)]
pub struct LintOptions {
    /// Rules whose findings are reported.
    pub selection: Selection,
    /// Pattern rules to match. They also fix findings of built-in detectors; EXP018 depends on these fixes.
    pub rules: Arc<RuleSet>,
    /// Directories of the model's external data; `None` for standard input.
    pub folders: Option<DataFolders>,
    /// Opset of ai.onnx to check compatibility with.
    pub opset: Option<i64>,
    /// Runtimes and devices that the model must be compatible with.
    pub targets: Vec<Arc<Profile>>,
    /// Input axes that must be dynamic; nodes that cannot run with a dynamic axis are reported.
    pub dynamic: Vec<FreeDim>,
    /// Python sources that the graph was exported from.
    pub sources: Arc<SourceFiles>,
}

impl Default for LintOptions {
    /// Returns options with all built-in rules except previews; without a directory, sources or targets.
    fn default() -> Self {
        LintOptions {
            selection: Selection::all(),
            rules: Arc::new(RuleSet::for_linting()),
            folders: None,
            opset: None,
            targets: Vec::new(),
            dynamic: Vec::new(),
            sources: Arc::default(),
        }
    }
}

/// Model and its analyses, with methods that create findings.
pub struct LintContext<'a> {
    /// Model to lint.
    pub model: &'a Model,
    /// Facts inferred for the values of `model`.
    pub facts: &'a Facts,
    /// Uses of the values of `model`.
    pub uses: &'a Uses,
    /// Options of the run.
    pub options: &'a LintOptions,
    /// Graphs that are reachable from the main graph and the local functions.
    graphs: Vec<GraphId>,
    /// Locator of the nodes and values of `model`.
    pub places: Locator<'a>,
}

impl<'a> LintContext<'a> {
    /// Creates a context. `facts` and `uses` must be those of `model`.
    pub fn new(model: &'a Model, facts: &'a Facts, uses: &'a Uses, options: &'a LintOptions) -> Self {
        let mut graphs = scopes::live(model);
        graphs.sort_unstable();
        graphs.dedup();
        let places = Locator::new(model, uses, &options.sources);
        LintContext { model, facts, uses, options, graphs, places }
    }

    /// Adds the spans of the text that the model was parsed from, so that findings have lines and columns.
    pub fn within(self, spans: Option<&'a TextSpans>) -> Self {
        LintContext { places: self.places.within(spans), ..self }
    }

    /// Returns every reachable graph, including subgraphs and the bodies of functions.
    pub fn graphs(&self) -> impl Iterator<Item = (GraphId, &'a Graph)> {
        let model = self.model;
        self.graphs.iter().map(|&id| (id, &model.graphs[id]))
    }

    /// Returns every node of the reachable graphs.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &'a Node)> {
        let model = self.model;
        self.graphs().flat_map(|(_, graph)| &graph.nodes).map(|&id| (id, &model.nodes[id]))
    }

    /// Creates a finding at a part of a node, with the Python line of the node.
    pub fn at_node(&self, rule: RuleId, node: NodeId, part: Part, message: impl Into<String>) -> Finding {
        let mut finding = rule.finding(message, self.places.node(node, part));
        finding.source = self.places.source(node);
        finding.anchor = self.places.anchor(node);
        finding.nodes = vec![number(node)];
        finding
    }

    /// Creates a finding at a value: at its producer, or else at its declaration.
    pub fn at_value(&self, rule: RuleId, value: ValueId, message: impl Into<String>) -> Finding {
        let mut finding = rule.finding(message, self.places.value(value));
        finding.source = self.places.source_of_value(value);
        finding.anchor.module = self.model.values[value].name.clone();
        if let Some((node, _)) = self.model.producer(value) {
            finding.anchor = self.places.anchor(node);
            finding.nodes = vec![number(node)];
        }
        finding
    }

    /// Creates a finding at the declaration of an input or output, with its Python line.
    pub fn at_declaration(&self, rule: RuleId, value: ValueId, message: impl Into<String>) -> Finding {
        let mut finding = rule.finding(message, self.places.declaration(value));
        finding.source = self.places.source_of_value(value);
        finding.anchor.module = self.model.values[value].name.clone();
        finding
    }

    /// Creates a finding at a graph, not at one of its nodes; `text` is the ONNX text at fault.
    pub fn at_graph(
        &self,
        rule: RuleId,
        graph: GraphId,
        text: impl Into<String>,
        message: impl Into<String>,
    ) -> Finding {
        rule.finding(message, self.places.in_graph(graph, text.into()))
    }

    /// Returns the fact of a node input; `None` if the input is absent.
    pub fn input(&self, node: &Node, index: usize) -> Option<&'a Fact> {
        node.input(index).map(|value| &self.facts[value])
    }

    /// Returns the imported version of the node's domain; 1 if there is no import.
    pub fn opset(&self, node: &Node) -> i64 {
        self.model.opset(node.graph, node.domain()).unwrap_or(1)
    }

    /// Returns the name of a value.
    pub fn name(&self, value: ValueId) -> &'a str {
        &self.model.values[value].name
    }

    /// Returns the name of a node for messages: see [`node_name`].
    pub fn node_name(&self, node: NodeId) -> Arc<str> {
        node_name(self.model, &self.model.nodes[node])
    }
}

/// Returns the index of a node, as [`Finding::nodes`] stores it.
pub fn number(node: NodeId) -> u32 {
    u32::try_from(node.index()).unwrap_or(u32::MAX)
}
