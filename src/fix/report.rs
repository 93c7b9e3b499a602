//! What was done to a model: the content of `--report`.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::graph::{Model, NodeId};
use crate::rules::registry::RuleSet;
use crate::rules::rule::{self, Rule};
use crate::{egraph, extract};

/// What was done, rule by rule and node by node. Two runs on equal input give equal reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Opset of the default domain.
    pub opset: Step,
    /// The version of the IR that the file states.
    pub ir_version: Step,
    /// Nodes in all graphs.
    pub nodes: Count,
    /// How often each rule was applied, by its code: where it made nodes, those in the result count.
    pub rules: BTreeMap<String, usize>,
    /// What was mended, then what was put in the place of other nodes, graph by graph.
    pub changes: Vec<Change>,
    /// Limits of the search that were hit, one sentence each: the result is right, but may not be the
    /// smallest.
    pub limits: Vec<String>,
    /// What else there is to know, one sentence each.
    pub notes: Vec<String>,
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

/// One rewrite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Code of the rule; where several made what stands there now, of the first.
    pub code: String,
    /// Name of the rule.
    pub rule: String,
    /// The least that any of the rules keeps that took part.
    pub safety: Safety,
    /// The graph, as in `GraphPlace::graph`.
    pub graph: String,
    /// The node that was replaced, as in `GraphPlace::node`.
    pub node: String,
    /// What was done, in a few words that are the same wherever the same was done.
    pub summary: String,
}

/// What a change keeps; the same grades as those of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// Every bit of every output.
    Exact,
    /// Every output up to rounding.
    Rounding,
    /// May change values, element types or shapes: made on demand only.
    Unsafe,
}

impl Report {
    /// Adds one change.
    pub(super) fn add(&mut self, change: Change) {
        *self.rules.entry(change.code.clone()).or_default() += 1;
        self.changes.push(change);
    }

    /// Changes that may alter values or shapes.
    pub fn unsafe_changes(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.safety == Safety::Unsafe)
    }
}

impl From<rule::Safety> for Safety {
    fn from(safety: rule::Safety) -> Self {
        match safety {
            rule::Safety::Exact => Safety::Exact,
            rule::Safety::Rounding => Safety::Rounding,
            rule::Safety::Unsafe => Safety::Unsafe,
        }
    }
}

/// Adds what a fix did at `node`.
pub(super) fn mended(report: &mut Report, model: &Model, rule: &Rule, node: NodeId) {
    report.add(Change {
        code: rule.code.to_string(),
        rule: rule.name.to_string(),
        safety: rule.safety.into(),
        graph: graph_name(model, node),
        node: node_name(model, node),
        summary: format!("mended `{}`", model.nodes[node].op_name()),
    });
}

/// Adds what is put in the place of the nodes of a graph, and what kept the search from finding more.
pub(super) fn planned(
    report: &mut Report,
    model: &Model,
    plan: &extract::Plan,
    said: egraph::Report,
    rules: &RuleSet,
) {
    let mut replaced: IndexMap<NodeId, (IndexSet<&str>, IndexSet<&str>)> = IndexMap::new();
    for made in plan.replacements() {
        let (codes, ops) = replaced.entry(made.origin).or_default();
        codes.insert(made.rule);
        ops.insert(made.op);
    }
    for (&origin, (codes, ops)) in &replaced {
        for &code in codes {
            *report.rules.entry(code.to_owned()).or_default() += 1;
        }
        let Some(rule) = codes.first().and_then(|code| rules.get(code)) else { continue };
        report.changes.push(Change {
            code: rule.code.to_string(),
            rule: rule.name.to_string(),
            safety: weakest(codes.iter().filter_map(|code| rules.get(code))),
            graph: graph_name(model, origin),
            node: node_name(model, origin),
            summary: summary(&model.nodes[origin].op_name(), ops),
        });
    }
    let makes_nodes: FxHashSet<String> = said.added.into_iter().map(|(_, code)| code).collect();
    for (code, count) in said.applied.into_iter().filter(|(code, _)| !makes_nodes.contains(code)) {
        *report.rules.entry(code).or_default() += count;
    }
    let refused = said.refused.iter().map(|refused| {
        format!("{} was not applied, for it would contradict what is known: {}", refused.code, refused.why)
    });
    report.notes.extend(refused);
    for limit in said.limits {
        let limit = format!("the search stopped at its limit of {limit}");
        if !report.limits.contains(&limit) {
            report.limits.push(limit);
        }
    }
}

/// What all of some rules keep.
fn weakest<'r>(rules: impl Iterator<Item = &'r Rule>) -> Safety {
    rules.map(|rule| rule.safety.into()).max().unwrap_or(Safety::Exact)
}

/// What became of a node of the operator `from`.
fn summary(from: &str, to: &IndexSet<&str>) -> String {
    match to.len() {
        1 if to[0] == from => format!("`{from}` in another form"),
        1 => format!("`{from}` as `{}`", to[0]),
        _ => format!("`{from}` written out"),
    }
}

pub(super) fn graph_name(model: &Model, node: NodeId) -> String {
    let graph = &model.graphs[model.nodes[node].graph];
    graph.name.as_deref().unwrap_or("main").to_owned()
}

/// The name of a node; its first output where it has none.
pub(super) fn node_name(model: &Model, node: NodeId) -> String {
    let node = &model.nodes[node];
    let named = node.name.as_deref().filter(|name| !name.is_empty()).map(str::to_owned);
    let output = || node.outputs.iter().flatten().next().map(|&value| model.values[value].name.to_string());
    named.or_else(output).unwrap_or_else(|| node.op_name())
}
