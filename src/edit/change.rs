//! What is written down of a change: by what it was made, where, and what it did.

use std::sync::Arc;

use serde::Serialize;

use crate::diag::RuleId;
use crate::graph::{GraphId, NodeId, ValueId};

/// What a change keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// Every bit of every output.
    Exact,
    /// Every output up to rounding.
    Rounding,
    /// May change values, element types or shapes; only on demand.
    Unsafe,
}

/// A rule, or a pass that has a page as rules have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct By {
    /// `OPT101`.
    pub code: Arc<str>,
    /// `double-transpose`.
    pub rule: Arc<str>,
    pub safety: Safety,
}

impl From<RuleId> for By {
    /// A pass: what code does by itself keeps every bit.
    fn from(id: RuleId) -> Self {
        By { code: Arc::from(id.code), rule: Arc::from(id.name), safety: Safety::Exact }
    }
}

/// Where a change was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Site {
    Node(NodeId),
    Value(ValueId),
    Graph(GraphId),
    Model,
}

/// One step of why a new form is equal to the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    pub by: By,
    /// The nodes that the rule saw, each as a line of ONNX text; what it says is of the last.
    pub of: Vec<String>,
    /// What makes the same.
    pub is: Vec<String>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub by: By,
    /// Further rules that had a part in it.
    pub also: Vec<By>,
    pub at: Site,
    /// Other nodes whose place was taken.
    pub with: Vec<NodeId>,
    /// What was done, in a few words that are the same wherever the same was done.
    pub what: String,
    /// What it saved, in units of the prices by which it was chosen (`rules/COSTS.md`): less than 0 where it only pays
    /// together with another change. `None` where nothing was chosen by cost.
    pub saved: Option<i64>,
    /// Why it keeps what it keeps, in the order in which it was found out; only where that was asked for.
    pub proof: Vec<Proof>,
}

impl Change {
    pub fn new(by: impl Into<By>, at: Site, what: impl Into<String>) -> Self {
        let (also, with, proof) = (Vec::new(), Vec::new(), Vec::new());
        Change { by: by.into(), also, at, with, what: what.into(), saved: None, proof }
    }

    /// What all that had a part in it keep.
    pub fn safety(&self) -> Safety {
        self.also.iter().map(|by| by.safety).fold(self.by.safety, Safety::max)
    }
}
