//! What detectors are given.

use std::path::PathBuf;
use std::sync::Arc;

use super::locate::{Locator, Part, node_name};
use crate::batching::request::FreeDim;
use crate::diag::RuleId;
use crate::diag::{Finding, Selection};
use crate::graph::uses::Uses;
use crate::graph::{GraphId, Id as _, Model, Node, NodeId, ValueId};
use crate::infer::{Fact, Facts};
use crate::rules::registry::RuleSet;
use crate::source::SourceFiles;
use crate::targets::Profile;

/// How a model is linted.
#[derive(Clone, Debug)]
pub struct LintOptions {
    /// Which rules may report.
    pub selection: Selection,
    /// The rules whose patterns are matched; what code finds does not depend on them.
    pub rules: Arc<RuleSet>,
    /// The folder that the model lies in, where its external data are; `None` for standard input.
    pub folder: Option<PathBuf>,
    /// Lint as if bound for this opset of ai.onnx.
    pub opset: Option<i64>,
    /// The runtimes and devices that are to take the model.
    pub targets: Vec<Arc<Profile>>,
    /// Axes of inputs that are to be dynamic: what keeps them from it is reported.
    pub dynamic: Vec<FreeDim>,
    /// The Python sources behind the graph.
    pub sources: Arc<SourceFiles>,
}

impl Default for LintOptions {
    /// All that is built in, of a model of which only its graph is at hand.
    fn default() -> Self {
        LintOptions {
            selection: Selection::all(),
            rules: Arc::new(RuleSet::for_linting()),
            folder: None,
            opset: None,
            targets: Vec::new(),
            dynamic: Vec::new(),
            sources: Arc::default(),
        }
    }
}

/// A model with what is known of it, and the means to point at its parts.
pub struct LintContext<'a> {
    /// The model that is linted.
    pub model: &'a Model,
    /// What is known of its values.
    pub facts: &'a Facts,
    /// Who uses which of them.
    pub uses: &'a Uses,
    /// What is asked for.
    pub options: &'a LintOptions,
    /// Says where nodes and values are.
    pub places: Locator<'a>,
}

impl<'a> LintContext<'a> {
    /// A context in which `facts` and `uses` are those of `model`.
    pub fn new(model: &'a Model, facts: &'a Facts, uses: &'a Uses, options: &'a LintOptions) -> Self {
        LintContext { model, facts, uses, options, places: Locator::new(model, uses, &options.sources) }
    }

    /// Every node of every graph, bodies and functions included, in the order of the file.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &'a Node)> + use<'a> {
        let model = self.model;
        model.graphs.iter().flat_map(|(_, graph)| &graph.nodes).map(move |&id| (id, &model.nodes[id]))
    }

    /// A finding at a part of a node, with the Python line behind it.
    pub fn at_node(&self, rule: RuleId, node: NodeId, part: Part, message: impl Into<String>) -> Finding {
        let mut finding = rule.finding(message, self.places.node(node, part));
        finding.source = self.places.source(node);
        finding.anchor = self.places.anchor(node);
        finding.nodes = vec![number(node)];
        finding
    }

    /// A finding at a value: the node that makes it, or its declaration.
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

    /// A finding at something of a graph that is no node: `text` says what.
    pub fn at_graph(
        &self,
        rule: RuleId,
        graph: GraphId,
        text: impl Into<String>,
        message: impl Into<String>,
    ) -> Finding {
        rule.finding(message, self.places.in_graph(graph, text.into()))
    }

    /// What is known of the input of a node; `None` for one that is absent.
    pub fn input(&self, node: &Node, index: usize) -> Option<&'a Fact> {
        node.input(index).map(|value| &self.facts[value])
    }

    /// The version of ai.onnx in force for a node, or of its own domain.
    pub fn opset(&self, node: &Node) -> i64 {
        self.model.opset(node.graph, node.domain()).unwrap_or(1)
    }

    /// The name of a value.
    pub fn name(&self, value: ValueId) -> &'a str {
        &self.model.values[value].name
    }

    /// How messages call a node: by its name, or by its first output.
    pub fn node_name(&self, node: NodeId) -> Arc<str> {
        node_name(self.model, &self.model.nodes[node])
    }
}

/// How a finding speaks of a node.
pub fn number(node: NodeId) -> u32 {
    u32::try_from(node.index()).unwrap_or(u32::MAX)
}
