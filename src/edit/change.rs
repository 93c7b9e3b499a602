//! Change records: the rule or pass that made a change, its location, and its effect.

use std::sync::Arc;

use serde::Serialize;

use crate::diag::RuleId;
use crate::graph::{GraphId, NodeId, ValueId};

/// Guarantee of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// Outputs are bit-exact.
    Exact,
    /// Outputs are equal up to rounding.
    Rounding,
    /// Outputs may change in value, element type or shape; only applied on request.
    Unsafe,
}

/// Rule, or pass with a documentation page like those of rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct By {
    /// `OPT101`.
    pub code: Arc<str>,
    /// `double-transpose`.
    pub rule: Arc<str>,
    pub safety: Safety,
}

impl From<RuleId> for By {
    /// Attributes a change to a pass, which is always exact.
    fn from(id: RuleId) -> Self {
        By { code: Arc::from(id.code), rule: Arc::from(id.name), safety: Safety::Exact }
    }
}

/// Location of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Site {
    Node(NodeId),
    Value(ValueId),
    Graph(GraphId),
    Model,
}

/// Step in the proof that a rewrite preserves values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    pub by: By,
    /// Matched nodes, each as a line of ONNX text; the last one is the rewritten root.
    pub of: Vec<String>,
    /// Replacement, as lines of ONNX text.
    pub is: Vec<String>,
}

/// Change of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub by: By,
    /// Further rules that contributed to it.
    pub also: Vec<By>,
    pub at: Site,
    /// Other nodes that were replaced.
    pub with: Vec<NodeId>,
    /// Short description, identical for changes of the same kind.
    pub what: String,
    /// Saving, in units of the objective (`rules/COSTS.md`).
    /// It is negative if the change only lowers the total cost together with another one. It is `None`
    /// without cost-based extraction.
    pub saved: Option<i64>,
    /// Proof that the values are preserved, in order of discovery; only present on request.
    pub proof: Vec<Proof>,
}

impl Change {
    /// Creates a change by one rule or pass.
    pub fn new(by: impl Into<By>, at: Site, what: impl Into<String>) -> Self {
        let (also, with, proof) = (Vec::new(), Vec::new(), Vec::new());
        Change { by: by.into(), also, at, with, what: what.into(), saved: None, proof }
    }

    /// Returns the weakest guarantee of all contributing rules.
    pub fn safety(&self) -> Safety {
        self.also.iter().map(|by| by.safety).fold(self.by.safety, Safety::max)
    }
}
