//! The report of changes (`--report`), built from the record of the editor.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde::Serialize;

use super::precision::{KeepReason, Narrowed};
pub use super::record::PassRun;
use super::record::Record;
use super::size;
use crate::analyses::locate::{Locator, node_name};
use crate::edit::{self, Change, Changes, Site};
pub use crate::edit::{Kind, Safety};
use crate::egraph;
use crate::graph::uses::Uses;
use crate::graph::{Id as _, Model, NodeId};
use crate::source::SourceFiles;

/// Changes of a model, by rule and by location. Reports are deterministic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Opset of the default domain.
    pub opset: Step,
    /// IR version of the file.
    pub ir_version: Step,
    /// Number of nodes in all graphs.
    pub nodes: Count,
    /// Number of initializers in all graphs, if [measured](Report::measure).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initializers: Option<Count>,
    /// Size in bytes of the binary ONNX file, plus the external data of initializers, if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Count>,
    /// Number of changes to which each rule or pass contributed, by code.
    pub rules: BTreeMap<String, usize>,
    /// Passes that ran, in order, with the number of their changes.
    pub passes: Vec<PassRun>,
    /// All changes, in order.
    pub changes: Vec<Entry>,
    /// Type that replaces float32, if requested: `float16`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<&'static str>,
    /// Nodes kept in float32 although a 16-bit type was requested, in file order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptNode>,
    /// Limits that were reached, one sentence each.
    ///
    /// If a limit was reached, the fixed model is valid, but fixes or rewrites may be missing.
    pub limits: Vec<String>,
    /// Notes besides the limits, one sentence each.
    pub notes: Vec<String>,
    /// Codes of rules whose rewrites were refused as invalid; `notes` has the reasons.
    #[serde(skip)]
    pub refused: BTreeSet<String>,
    /// Result of the precision conversion, from which `kept` is derived.
    #[serde(skip)]
    pub(super) narrowed: Narrowed,
}

/// Node kept in float32.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptNode {
    /// Graph, as in `GraphPlace::graph`.
    pub graph: String,
    /// Node, as in `GraphPlace::node`.
    pub node: String,
    /// Operator.
    pub op: String,
    /// Python line that the exporter recorded for the node or for a node near it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Line>,
    /// Reason why the node is kept in float32.
    pub why: String,
}

/// Version before and after the run; `None` if the model has no version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Version in the source model.
    pub from: Option<i64>,
    /// Version in the fixed model.
    pub to: Option<i64>,
}

/// Count before and after the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Count in the source model.
    pub before: usize,
    /// Count in the fixed model.
    pub after: usize,
}

impl Count {
    /// Returns a count that is unchanged.
    fn same(count: usize) -> Self {
        Count { before: count, after: count }
    }
}

/// One change, with names instead of ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Code of the rule or pass; the code of the first rule if several rules contributed.
    pub code: String,
    /// Name of the rule, or of the page of the pass.
    pub rule: String,
    /// Pass that made the change: `rewrite`.
    pub pass: &'static str,
    /// Kind of the change.
    pub kind: Kind,
    /// Codes of the rules that contributed besides the rule `code`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Weakest safety of the rules that contributed.
    pub safety: Safety,
    /// Graph, as in `GraphPlace::graph`.
    pub graph: String,
    /// Node, as in `GraphPlace::node`, or value; empty for changes of a whole graph or model.
    pub node: String,
    /// Operator of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Nodes that were replaced together with `node`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
    /// Python line that the exporter recorded for the node or for a node near it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Line>,
    /// Short description of the change.
    pub summary: String,
    /// Saved cost, in units of `rules/COSTS.md`: removed nodes and constants minus new ones.
    /// Negative if the change reduces the cost only together with another change; `None` if the change was
    /// not selected by cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<i64>,
    /// Rewrite chain that justifies the change, in order; only if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proof: Vec<Proof>,
    /// Names of the outputs of the affected nodes.
    #[serde(skip)]
    pub values: Vec<Arc<str>>,
}

/// One step of a rewrite chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// Code of the rule.
    pub code: String,
    /// Name of the rule.
    pub rule: String,
    /// Safety of the rule.
    pub safety: Safety,
    /// Matched nodes, each as a line of ONNX text; the last one is the root of the match.
    pub of: Vec<String>,
    /// Replacement nodes, each as a line of ONNX text.
    pub is: Vec<String>,
}

/// Line of Python source, as recorded by the exporter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Path of the file.
    pub path: Arc<str>,
    /// Line number, 1-based.
    pub line: u32,
}

impl Report {
    /// Measures the initializers and bytes of both models.
    ///
    /// Measuring encodes all nodes, so [`fix`](crate::fix::fix) does not measure.
    pub fn measure(&mut self, before: &Model, after: &Model) {
        let count = |of: fn(&Model) -> usize| Some(Count { before: of(before), after: of(after) });
        (self.initializers, self.bytes) = (count(size::initializers), count(size::bytes));
    }

    /// Creates the report of an unchanged model.
    pub(super) fn of(model: &Model) -> Self {
        let opset = model.opset(model.main, "");
        Report {
            opset: Step { from: opset, to: opset },
            ir_version: Step { from: model.ir_version, to: model.ir_version },
            nodes: Count::same(size::nodes(model)),
            ..Report::default()
        }
    }

    /// Returns the changes that may alter values or shapes.
    pub fn unsafe_changes(&self) -> impl Iterator<Item = &Entry> {
        self.changes.iter().filter(|change| change.safety == Safety::Unsafe)
    }

    /// Adds the refused rules, the notes and the reached limits of a saturation.
    pub(super) fn searched(&mut self, said: egraph::Report) {
        self.refused.extend(said.refused.iter().map(|refused| refused.code.clone()));
        let named = |one: &egraph::Refused| format!("{} {}", one.code, one.name).trim_end().to_owned();
        let refused = said.refused.iter();
        self.notes.extend(refused.map(|one| format!("the rewrite {} was skipped: {}", named(one), one.why)));
        for one in &said.vetoed {
            self.note(format!("rule {} matches, but was not applied: {}", named(one), one.why));
        }
        for limit in said.limits {
            self.limit(format!("the search reached its limit of {limit}: the model may be suboptimal"));
        }
    }

    /// Adds a note, unless it is already present.
    pub(super) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds a reached limit, unless it is already present.
    pub(super) fn limit(&mut self, limit: String) {
        if !self.limits.contains(&limit) {
            self.limits.push(limit);
        }
    }

    /// Adds the versions and node count of the fixed model, and the recorded changes.
    /// Existing nodes are reported by their names in the source model, new nodes by those in the fixed model.
    pub(super) fn tell(&mut self, before: &Model, after: &Model, done: Changes, record: &Record) {
        self.opset.to = after.opset(after.main, "");
        self.ir_version.to = after.ir_version;
        self.nodes.after = size::nodes(after);

        let all = done.changes.iter().flat_map(|change| std::iter::once(&change.by).chain(&change.also));
        for by in all {
            *self.rules.entry(by.code.to_string()).or_default() += 1;
        }
        let (sources, uses) = (SourceFiles::default(), [Uses::new(before), Uses::new(after)]);
        let names = Names {
            before: (before, Locator::new(before, &uses[0], &sources)),
            after: (after, Locator::new(after, &uses[1], &sources)),
        };
        let pass = |at| record.pass_of(at).unwrap_or_default();
        let entries = done.changes.iter().enumerate().map(|(at, change)| names.entry(change, pass(at)));
        self.changes = entries.collect();
        self.passes = record.passes().to_vec();
        self.kept = self.narrowed.kept.iter().map(|&(node, why)| names.kept(node, why)).collect();
        let known: FxHashSet<String> = self.notes.iter().cloned().collect();
        self.notes.extend(done.refused.into_iter().filter(|note| !known.contains(note)));
    }
}

/// The source model and the fixed model, each with its locations.
struct Names<'m> {
    before: (&'m Model, Locator<'m>),
    after: (&'m Model, Locator<'m>),
}

impl<'m> Names<'m> {
    /// Returns the source model (if `is_before`) or the fixed model, with its locations.
    fn of(&self, is_before: bool) -> &(&'m Model, Locator<'m>) {
        if is_before { &self.before } else { &self.after }
    }

    fn of_node(&self, node: NodeId) -> &(&'m Model, Locator<'m>) {
        self.of(node.index() < self.before.0.nodes.len())
    }

    fn node(&self, node: NodeId) -> String {
        let (model, _) = self.of_node(node);
        node_name(model, &model.nodes[node]).to_string()
    }

    fn kept(&self, id: NodeId, why: KeepReason) -> KeptNode {
        let (model, places) = self.of_node(id);
        let node = &model.nodes[id];
        KeptNode {
            graph: places.graph_path(node.graph).to_string(),
            node: self.node(id),
            op: node.op_name(),
            source: places.source(id).map(|source| Line { path: source.file, line: source.line }),
            why: why.to_string(),
        }
    }

    fn entry(&self, change: &Change, pass: &'static str) -> Entry {
        let (graph, node, source) = match change.at {
            Site::Node(node) => {
                let (model, places) = self.of_node(node);
                (places.graph_path(model.nodes[node].graph), self.node(node), places.source(node))
            }
            Site::Value(value) => {
                let (model, places) = self.of(value.index() < self.before.0.values.len());
                let found = &model.values[value];
                (places.graph_path(found.graph), found.name.to_string(), places.source_of_value(value))
            }
            Site::Graph(graph) => {
                let (_, places) = self.of(graph.index() < self.before.0.graphs.len());
                (places.graph_path(graph), String::new(), None)
            }
            Site::Model => (Arc::from(""), String::new(), None),
        };
        Entry {
            code: change.by.code.to_string(),
            rule: change.by.rule.to_string(),
            pass,
            kind: change.kind,
            also: change.also.iter().map(|by| by.code.to_string()).collect(),
            safety: change.safety(),
            graph: graph.to_string(),
            node,
            op: match change.at {
                Site::Node(node) => Some(self.of_node(node).0.nodes[node].op_name()),
                _ => None,
            },
            with: change.with.iter().map(|&node| self.node(node)).collect(),
            source: source.map(|source| Line { path: source.file, line: source.line }),
            summary: change.what.clone(),
            saved: change.saved,
            proof: change.proof.iter().map(proof).collect(),
            values: self.values(change),
        }
    }

    /// Returns the names of the outputs of the affected nodes.
    fn values(&self, change: &Change) -> Vec<Arc<str>> {
        let nodes = match change.at {
            Site::Node(node) => [&[node], &*change.with].concat(),
            _ => Vec::new(),
        };
        let outputs = |node| {
            let (model, _) = self.of_node(node);
            model.nodes[node].outputs.iter().flatten().map(|&value| model.values[value].name.clone())
        };
        nodes.into_iter().flat_map(outputs).collect()
    }
}

/// Converts one step of a rewrite chain.
fn proof(step: &edit::Proof) -> Proof {
    Proof {
        code: step.by.code.to_string(),
        rule: step.by.rule.to_string(),
        safety: step.by.safety,
        of: step.of.clone(),
        is: step.is.clone(),
    }
}
