//! What was done to a model: the content of `--report`.

use std::collections::BTreeMap;

use serde::Serialize;

/// What was done, rule by rule and node by node. Two runs on equal input give equal reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Opset of the default domain.
    pub opset: Step,
    pub ir_version: Step,
    /// Nodes in all graphs.
    pub nodes: Count,
    /// How often each rule was applied, by its code.
    pub rules: BTreeMap<String, usize>,
    /// In the order of the graph that was written.
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
    pub from: Option<i64>,
    pub to: Option<i64>,
}

/// A number before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    pub before: usize,
    pub after: usize,
}

/// One rewrite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Code of the rule.
    pub code: String,
    /// Name of the rule.
    pub rule: String,
    pub safety: Safety,
    /// The graph, as in `GraphPlace::graph`.
    pub graph: String,
    /// The node that was replaced, as in `GraphPlace::node`.
    pub node: String,
    /// What was done, in a few words.
    pub summary: String,
}

/// What a change keeps; the same grades as those of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    Exact,
    Rounding,
    Unsafe,
}

impl Report {
    /// Changes that may alter values or shapes.
    pub fn unsafe_changes(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.safety == Safety::Unsafe)
    }
}
