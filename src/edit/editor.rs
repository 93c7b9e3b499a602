//! Editor of a model: passes change the model only through it.

use std::cmp::Reverse;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashSet;

use super::analysis::Analysis;
use super::apply::{PatchApplier, Pending};
use super::change::{Change, Site};
use super::constants::Constants;
use super::copy::{self, Call};
use super::dead_code;
use super::finalize::{Finalized, finalize};
use super::names::Names;
use super::patch::Patch;
use super::splice::splice;
use crate::diag::rule_ids::{DEAD_NODE, UNSORTED_NODES, UNUSED_INITIALIZER};
use crate::graph::uses::Uses;
use crate::graph::{GraphId, Model, NodeId, Owner, order, scopes};
use crate::infer::Facts;

/// Description of the removal of an unused node.
pub const REMOVED: &str = "removed dead node";

/// Model under modification, with the record of its changes.
pub struct Editor {
    model: Model,
    names: Names,
    /// Storage of new constants.
    pub constants: Constants,
    done: Changes,
    analysis: Analysis,
}

/// Record of the changes of a model.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Applied changes, in order.
    pub changes: Vec<Change>,
    /// Invalid patches, one sentence each; they indicate a bug in a rule or pass.
    pub refused: Vec<String>,
}

/// View of the model with its current analyses.
#[derive(Clone, Copy)]
pub struct AnalysisView<'e> {
    pub model: &'e Model,
    pub facts: &'e Facts,
    pub uses: &'e Uses,
}

impl Editor {
    /// Creates an editor for a model.
    pub fn new(model: Model) -> Self {
        let names = Names::of(&model);
        let (constants, done, analysis) = (Constants::default(), Changes::default(), Analysis::default());
        Editor { model, names, constants, done, analysis }
    }

    /// Returns the model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the changes so far.
    pub fn done(&self) -> &Changes {
        &self.done
    }

    /// Returns the model and its changes.
    pub fn into_parts(self) -> (Model, Changes) {
        (self.model, self.done)
    }

    /// Returns the analyses of the whole model, updated where changes affect them.
    pub fn analyses(&mut self) -> AnalysisView<'_> {
        let (facts, uses) = self.analysis.of_all(&self.model);
        AnalysisView { model: &self.model, facts, uses }
    }

    /// Returns the analyses, updated for a graph and its subgraphs.
    /// Facts of other graphs, and of local functions that changed often, are true but may be outdated.
    pub fn graph_analyses(&mut self, graph: GraphId) -> AnalysisView<'_> {
        let (facts, uses) = self.analysis.of_graph(&self.model, graph);
        AnalysisView { model: &self.model, facts, uses }
    }

    /// Returns the last computed analyses without updating them, or computes them if they were discarded.
    /// Opset conversion uses stale analyses, because inference of a model with nodes of two opsets is wrong.
    pub fn stale_analyses(&mut self) -> AnalysisView<'_> {
        let (facts, uses) = self.analysis.as_it_was(&self.model);
        AnalysisView { model: &self.model, facts, uses }
    }

    /// Returns the number of node inferences so far.
    pub fn looked_at(&self) -> usize {
        self.analysis.looked_at()
    }

    /// Applies patches that were planned on the current model; returns how many were applied.
    /// A patch is skipped if it is empty or replaces a node that an earlier patch replaces.
    /// An invalid patch is rejected.
    pub fn apply(&mut self, patches: Vec<Patch>) -> usize {
        let mut pending: IndexMap<GraphId, Pending> = IndexMap::new();
        let mut taken: FxHashSet<NodeId> = FxHashSet::default();
        let (mut applied, mut keeps_values) = (0, true);
        for mut patch in patches {
            if patch.is_empty() || patch.replaced.iter().any(|node| taken.contains(node)) {
                continue;
            }
            if let Err(why) = patch.check(&self.model) {
                self.refuse(&patch, &why);
                continue;
            }
            let graph = patch.graph;
            keeps_values &= patch.keeps_values;
            taken.extend(patch.replaced.iter().copied());
            self.done.changes.append(&mut patch.changes);
            let pending = pending.entry(graph).or_insert_with(|| Pending::of(&self.model, graph));
            PatchApplier::new(&mut self.model, &mut self.names, self.constants, pending, graph).place(patch);
            applied += 1;
        }
        // A redirection in a graph must also reach the new nodes of its subgraphs.
        pending.sort_by_cached_key(|&graph, _| Reverse(self.model.holders(graph).count()));
        for (graph, pending) in pending {
            let Finalized { touched, constants, removed } = finalize(&mut self.model, graph, pending);
            self.analysis.note(&self.model, touched);
            self.analysis.note_constants(&self.model, constants);
            self.done.changes.extend(removed.into_iter().map(left_out));
        }
        if !keeps_values {
            self.analysis.forget();
        }
        applied
    }

    fn refuse(&mut self, patch: &Patch, why: &str) {
        let by = patch.changes.first().map_or("a patch", |change| &change.by.code);
        let refused = format!("{by} was skipped: {why}");
        if !self.done.refused.contains(&refused) {
            self.done.refused.push(refused);
        }
    }

    /// Applies an edit that cannot be expressed as a patch (declared types, opset versions, whole graphs).
    /// The change is recorded if `edit` returns true.
    pub fn change(&mut self, change: Change, edit: impl FnOnce(&mut Model, &mut Names) -> bool) -> bool {
        self.change_all(vec![change], edit)
    }

    /// Like [`Editor::change`], with several change records.
    pub fn change_all(
        &mut self,
        changes: Vec<Change>,
        edit: impl FnOnce(&mut Model, &mut Names) -> bool,
    ) -> bool {
        self.rework(|model, names| if edit(model, names) { changes } else { Vec::new() })
    }

    /// Like [`Editor::change_all`], with the records returned by `edit`; returns true if there are any.
    pub fn rework(&mut self, edit: impl FnOnce(&mut Model, &mut Names) -> Vec<Change>) -> bool {
        let mut changes = edit(&mut self.model, &mut self.names);
        let is_changed = !changes.is_empty();
        if is_changed {
            self.done.changes.append(&mut changes);
            self.analysis.forget();
        }
        is_changed
    }

    /// Like [`Editor::change`], for edits that keep all inferred facts valid.
    /// For example, `edit` declares inferred types, or replaces nodes with equivalent ones of another opset.
    pub fn declare(&mut self, change: Change, edit: impl FnOnce(&mut Model) -> bool) {
        if edit(&mut self.model) {
            self.done.changes.push(change);
        }
    }

    /// Removes the named attributes of a node, which must have their default values.
    pub fn drop_attributes(&mut self, node: NodeId, names: &[Arc<str>], change: Change) {
        self.model.nodes[node].attrs.retain(|attr| !names.contains(&attr.name));
        self.done.changes.push(change);
    }

    /// Creates a patch that inlines the function that `node` calls.
    pub fn written_out(&mut self, node: NodeId, function: usize, change: Change) -> Patch {
        let (body, results) = copy::copy(&mut self.model, &mut self.names, Call { node, function });
        splice(&self.model, node, body, &results, change)
    }

    /// Sorts the nodes of every acyclic graph topologically; returns true if one was not sorted.
    pub fn put_in_order(&mut self) -> bool {
        let before = self.done.changes.len();
        for graph in scopes::live(&self.model) {
            let Ok(sorted) = order::sorted(&self.model, graph) else { continue };
            if sorted != self.model.graphs[graph].nodes {
                self.model.graphs[graph].nodes = sorted;
                let change = Change::new(UNSORTED_NODES, Site::Graph(graph), "nodes sorted topologically");
                self.done.changes.push(change);
            }
        }
        self.done.changes.len() > before
    }

    /// Removes dead nodes and unused initializers; returns true if there were any.
    pub fn remove_dead_code(&mut self) -> bool {
        let is_changed = self.remove_dead_nodes();
        self.remove_unused_initializers() || is_changed
    }

    /// Removes dead nodes; returns true if there were any.
    pub fn remove_dead_nodes(&mut self) -> bool {
        let dead = dead_code::dead_nodes(&self.model);
        self.analysis.note_lost();
        for graph in scopes::live(&self.model).into_iter().filter(|_| !dead.is_empty()) {
            let nodes = std::mem::take(&mut self.model.graphs[graph].nodes);
            let (gone, left): (Vec<NodeId>, Vec<NodeId>) =
                nodes.into_iter().partition(|node| dead.contains(node));
            self.model.graphs[graph].nodes = left;
            // Do not report nodes inside a removed node's subgraphs.
            if !matches!(self.model.graphs[graph].owner, Owner::Node(owner) if dead.contains(&owner)) {
                self.done.changes.extend(gone.into_iter().map(left_out));
            }
        }
        !dead.is_empty()
    }

    /// Removes unused initializers; returns true if there were any.
    pub fn remove_unused_initializers(&mut self) -> bool {
        let uses = Uses::new(&self.model);
        self.analysis.note_lost();
        let mut is_changed = false;
        for graph in scopes::live(&self.model) {
            let unused: FxHashSet<_> =
                dead_code::unused_initializers(&self.model, &uses, graph).into_iter().collect();
            if unused.is_empty() {
                continue;
            }
            is_changed = true;
            let listed = self.model.graphs[graph].initializers.iter().filter(|value| unused.contains(value));
            let change =
                |&value| Change::new(UNUSED_INITIALIZER, Site::Value(value), "removed unused initializer");
            self.done.changes.extend(listed.map(change));
            self.model.graphs[graph].initializers.retain(|value| !unused.contains(value));
        }
        is_changed
    }
}

fn left_out(node: NodeId) -> Change {
    Change::new(DEAD_NODE, Site::Node(node), REMOVED)
}
