//! What was done to a model: the content of `--report`, made of what the editor wrote down.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde::Serialize;

use super::precision::{KeepReason, Narrowed};
pub use crate::edit::Safety;
use crate::edit::{self, Change, Changes, Site};
use crate::egraph;
use crate::graph::uses::Uses;
use crate::graph::{Id as _, Model, NodeId};
use crate::lint::locate::{Locator, node_name};
use crate::source::SourceFiles;

/// What was done, rule by rule and place by place. Two runs on equal input give equal reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Opset of the default domain.
    pub opset: Step,
    /// The version of the IR that the file states.
    pub ir_version: Step,
    /// Nodes in all graphs.
    pub nodes: Count,
    /// In how many changes each rule or pass had a part, by its code.
    pub rules: BTreeMap<String, usize>,
    /// All that was done, in the order in which it was.
    pub changes: Vec<Entry>,
    /// The type that takes the place of float32, where one was asked for: `float16`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<&'static str>,
    /// The nodes that stay float32 where another type was asked for, in the order of the file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptNode>,
    /// Limits of the search that were hit, one sentence each: the result is right, but may not be the
    /// smallest.
    pub limits: Vec<String>,
    /// What else there is to know, one sentence each.
    pub notes: Vec<String>,
    /// The codes of rules whose rewrites were refused, since they contradict what is known: `notes` says why.
    #[serde(skip)]
    pub refused: BTreeSet<String>,
    /// What `kept` is made of.
    #[serde(skip)]
    pub(super) narrowed: Narrowed,
}

/// A node that stays float32.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptNode {
    /// The graph, as in `GraphPlace::graph`.
    pub graph: String,
    /// The node, as in `GraphPlace::node`.
    pub node: String,
    /// Its operator.
    pub op: String,
    /// The Python line behind the node, where the export recorded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Line>,
    /// Why it stays.
    pub why: String,
}

/// A version before and after; `None` where the model states none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Step {
    /// As it was given.
    pub from: Option<i64>,
    /// As it is now.
    pub to: Option<i64>,
}

/// A number before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// As it was given.
    pub before: usize,
    /// As it is now.
    pub after: usize,
}

/// One change, in names that the reader knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Code of the rule or pass; where several rules had a part in it, of the first.
    pub code: String,
    /// Its name.
    pub rule: String,
    /// Codes of the other rules that had a part in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// The least that any of the rules keeps that took part.
    pub safety: Safety,
    /// The graph, as in `GraphPlace::graph`.
    pub graph: String,
    /// The node, as in `GraphPlace::node`, or the value; empty where it is about a graph as a whole.
    pub node: String,
    /// Other nodes whose place was taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
    /// The Python line behind the node, where the export recorded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Line>,
    /// What was done, in a few words that are the same wherever the same was done.
    pub summary: String,
    /// What it saved, in units of `rules/COSTS.md` for what was asked for: the nodes and constants that went, less those
    /// that came. Less than 0 where it only pays together with another change; left out where nothing was chosen by cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<i64>,
    /// Why it keeps what it keeps, in the order in which it was found out; only where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proof: Vec<Proof>,
    /// The values that the nodes gave which it is about.
    #[serde(skip)]
    pub values: Vec<Arc<str>>,
}

/// One step of why a new form is equal to the old one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// Code of the rule.
    pub code: String,
    /// Its name.
    pub rule: String,
    /// What it keeps.
    pub safety: Safety,
    /// The nodes that the rule saw, each as a line of ONNX text; what it says is of the last.
    pub of: Vec<String>,
    /// What makes the same.
    pub is: Vec<String>,
}

/// A line of Python, as the export recorded it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// The file.
    pub path: Arc<str>,
    /// 1-based.
    pub line: u32,
}

impl Report {
    /// Changes that may alter values or shapes.
    pub fn unsafe_changes(&self) -> impl Iterator<Item = &Entry> {
        self.changes.iter().filter(|change| change.safety == Safety::Unsafe)
    }

    /// Adds what kept the search from finding more.
    pub(super) fn searched(&mut self, said: egraph::Report) {
        self.refused.extend(said.refused.iter().map(|refused| refused.code.clone()));
        let refused = said.refused.iter().map(|refused| {
            format!(
                "{} was not applied, for it would contradict what is known: {}",
                refused.code, refused.why
            )
        });
        self.notes.extend(refused);
        for limit in said.limits {
            self.limit(format!("the search stopped at its limit of {limit}"));
        }
    }

    /// Adds a limit that was hit, once.
    pub(super) fn limit(&mut self, limit: String) {
        if !self.limits.contains(&limit) {
            self.limits.push(limit);
        }
    }

    /// Takes over what was written down, in names of the model as it was given, or, of what came since, as it is.
    pub(super) fn tell(&mut self, before: &Model, after: &Model, done: Changes) {
        let all = done.changes.iter().flat_map(|change| std::iter::once(&change.by).chain(&change.also));
        for by in all {
            *self.rules.entry(by.code.to_string()).or_default() += 1;
        }
        let (sources, uses) = (SourceFiles::default(), [Uses::new(before), Uses::new(after)]);
        let names = Names {
            before: (before, Locator::new(before, &uses[0], &sources)),
            after: (after, Locator::new(after, &uses[1], &sources)),
        };
        self.changes = done.changes.iter().map(|change| names.entry(change)).collect();
        self.kept = self.narrowed.kept.iter().map(|&(node, why)| names.kept(node, why)).collect();
        let known: FxHashSet<String> = self.notes.iter().cloned().collect();
        self.notes.extend(done.refused.into_iter().filter(|note| !known.contains(note)));
    }
}

/// What places are called, in the model before and after.
struct Names<'m> {
    before: (&'m Model, Locator<'m>),
    after: (&'m Model, Locator<'m>),
}

impl<'m> Names<'m> {
    /// The model that has something, and its places: the one that was given, if it does.
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

    fn entry(&self, change: &Change) -> Entry {
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
            also: change.also.iter().map(|by| by.code.to_string()).collect(),
            safety: change.safety(),
            graph: graph.to_string(),
            node,
            with: change.with.iter().map(|&node| self.node(node)).collect(),
            source: source.map(|source| Line { path: source.file, line: source.line }),
            summary: change.what.clone(),
            saved: change.saved,
            proof: change.proof.iter().map(proof).collect(),
            values: self.values(change),
        }
    }

    /// The values that the nodes gave which a change is about.
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

fn proof(step: &edit::Proof) -> Proof {
    Proof {
        code: step.by.code.to_string(),
        rule: step.by.rule.to_string(),
        safety: step.by.safety,
        of: step.of.clone(),
        is: step.is.clone(),
    }
}
