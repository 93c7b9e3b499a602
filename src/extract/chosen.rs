//! The selection of one graph, with the data that a plan is made from.

use egg::Id;
use rustc_hash::FxHashMap;

use super::Selection;
use super::cost::CostModel;
use super::provenance::Provenance;
use crate::edit::By;
use crate::egraph::{EGraph, ENode};
use crate::graph::{NodeId, ValueId};

/// Inputs of planning: an e-graph, the selection, and their relation to the source graph.
pub struct Chosen<'a, 'm> {
    pub egraph: &'a EGraph<'m>,
    pub choice: &'a Selection,
    /// Original calls, each with its node.
    pub original: &'a FxHashMap<ENode, NodeId>,
    /// Source nodes that became calls, each with the uncanonicalized e-node that was added for it.
    pub calls: &'a [(NodeId, ENode)],
    /// Provenance of the e-nodes that are not original.
    pub provenance: &'a Provenance<'a, 'm>,
    pub class_of: &'a FxHashMap<ValueId, Id>,
    /// Resolves the code of a rule.
    pub rule: &'a dyn Fn(&str) -> Option<By>,
    /// Whether changes include their proofs.
    pub explains: bool,
    /// Outputs of the dead nodes; empty if the cleanup removes dead nodes.
    pub dead: &'a [ValueId],
    /// Whether unused optional outputs of nodes are removed.
    pub drops_outputs: bool,
    /// Cost model, if the selection was made by cost.
    pub pricing: Option<&'a CostModel>,
}
