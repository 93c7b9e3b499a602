//! Change records: the rule or pass that made a change, its location, and its effect.

use std::sync::Arc;

use serde::Serialize;

use crate::diag::RuleId;
use crate::diag::rule_ids::{
    ADAPTED_FORM, CONSTANT_RESULT, DEAD_NODE, DECIDED_BRANCH, DECLARED_TYPE, DYNAMIC_AXIS,
    EQUAL_INITIALIZERS, INLINED_FUNCTION, LIFTED_CONSTANT, MOVED_CONSTANT, NARROWED_NUMBERS,
    RELABELLED_VERSION, REPEATED_NODE, REPEATED_WEIGHT, REQUESTED_SHAPE, UNUSED_FUNCTION, UNUSED_INITIALIZER,
    UNUSED_OUTPUT,
};
use crate::graph::{GraphId, NodeId, ValueId};

/// Guarantee about the outputs of a model after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// Outputs are bit-exact.
    Exact,
    /// Outputs are equal up to rounding.
    Rounding,
    /// Outputs may change in value, element type or shape. Unsafe changes are only made on request.
    Unsafe,
}

/// Kind of a change. Reports group changes by kind, in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A fault was fixed.
    Repaired,
    /// A node or an opset import was changed for the target opset, runtime or element type.
    Converted,
    /// Nodes were replaced with a larger number of nodes, or a PyTorch operator was lowered.
    Decomposed,
    /// A subgraph or function moved into the graph that uses it.
    Inlined,
    /// A node was rewritten to compute each sample of a dynamic batch.
    Batched,
    /// A node was replaced with a constant.
    Folded,
    /// A node or weight was replaced with an equal one.
    Merged,
    /// A node, output or initializer was removed, because it was unused or redundant.
    Removed,
    /// Several nodes were replaced with one.
    Fused,
    /// Nodes were replaced with a cheaper equivalent.
    Simplified,
    /// A constant became an initializer or graph input, or was moved to another graph.
    Moved,
    /// A declared type or shape was changed.
    Declared,
}

impl Kind {
    /// Returns the name of the kind, as in the JSON report.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Repaired => "repaired",
            Kind::Converted => "converted",
            Kind::Decomposed => "decomposed",
            Kind::Inlined => "inlined",
            Kind::Batched => "batched",
            Kind::Folded => "folded",
            Kind::Merged => "merged",
            Kind::Removed => "removed",
            Kind::Fused => "fused",
            Kind::Simplified => "simplified",
            Kind::Moved => "moved",
            Kind::Declared => "declared",
        }
    }

    /// Returns the kind of a replacement of `removed` nodes with `added` nodes.
    ///
    /// `self` is the kind of the rule.
    #[must_use]
    pub fn of_replacement(self, removed: usize, added: usize) -> Kind {
        match self {
            Kind::Converted | Kind::Simplified if added > removed => Kind::Decomposed,
            Kind::Converted | Kind::Simplified if added == 1 && removed > 1 => Kind::Fused,
            kind => kind,
        }
    }
}

impl From<RuleId> for Kind {
    /// Returns the kind of the changes of a pass. Passes that `KINDS` does not list repair faults.
    fn from(pass: RuleId) -> Kind {
        const KINDS: &[(Kind, &[RuleId])] = &[
            (Kind::Converted, &[ADAPTED_FORM, RELABELLED_VERSION, NARROWED_NUMBERS]),
            (Kind::Inlined, &[INLINED_FUNCTION, DECIDED_BRANCH]),
            (Kind::Batched, &[DYNAMIC_AXIS]),
            (Kind::Folded, &[CONSTANT_RESULT]),
            (Kind::Merged, &[REPEATED_NODE, REPEATED_WEIGHT, EQUAL_INITIALIZERS]),
            (Kind::Removed, &[DEAD_NODE, UNUSED_FUNCTION, UNUSED_INITIALIZER, UNUSED_OUTPUT]),
            (Kind::Moved, &[LIFTED_CONSTANT, MOVED_CONSTANT]),
            (Kind::Declared, &[REQUESTED_SHAPE, DECLARED_TYPE]),
        ];
        let listed = KINDS.iter().find(|(_, passes)| passes.iter().any(|listed| listed.code == pass.code));
        listed.map_or(Kind::Repaired, |(kind, _)| *kind)
    }
}

/// Rule or pass that made a change. Passes have codes and documentation pages, as rules do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct By {
    /// Code, such as `OPT101`.
    pub code: Arc<str>,
    /// Name, such as `double-transpose`.
    pub rule: Arc<str>,
    pub safety: Safety,
    /// Kind of the changes of the rule or pass, unless a change has another kind.
    pub kind: Kind,
}

impl From<RuleId> for By {
    /// Converts the id of a pass. The changes of the pass are assumed to be exact.
    fn from(id: RuleId) -> Self {
        let (code, rule) = (Arc::from(id.code), Arc::from(id.name));
        By { code, rule, safety: Safety::Exact, kind: Kind::from(id) }
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
    pub kind: Kind,
    /// Further rules that contributed to the change.
    pub also: Vec<By>,
    pub at: Site,
    /// Nodes that were replaced together with the node at `at`.
    pub with: Vec<NodeId>,
    /// Short description; reports count changes with equal descriptions together.
    pub what: String,
    /// Saving, in units of the objective (`rules/COSTS.md`).
    /// The saving is negative if the change only lowers the total cost together with another change. The
    /// saving is `None` without cost-based extraction.
    pub saved: Option<i64>,
    /// Proof that the values are preserved, in order of discovery; only present on request.
    pub proof: Vec<Proof>,
}

impl Change {
    /// Creates a change by one rule or pass.
    pub fn new(by: impl Into<By>, at: Site, what: impl Into<String>) -> Self {
        let (also, with, proof) = (Vec::new(), Vec::new(), Vec::new());
        let by = by.into();
        Change { kind: by.kind, by, also, at, with, what: what.into(), saved: None, proof }
    }

    /// Returns the weakest guarantee of all contributing rules.
    pub fn safety(&self) -> Safety {
        self.also.iter().map(|by| by.safety).fold(self.by.safety, Safety::max)
    }
}
