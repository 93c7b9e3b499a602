//! The one way to a model that changes.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashSet;

use super::analysis::Analysis;
use super::change::{Change, Site};
use super::constants::Constants;
use super::copy::{self, Call};
use super::names::Names;
use super::patch::Patch;
use super::place::{Pending, Placing};
use super::settle::{Settled, settle};
use super::splice::splice;
use super::sweep;
use crate::diag::known::{DEAD_NODE, UNSORTED_NODES, UNUSED_INITIALIZER};
use crate::graph::uses::Uses;
use crate::graph::{GraphId, Model, NodeId, Owner, order, scopes};
use crate::infer::Facts;

/// What is said of a node that nothing needs.
pub const LEFT_OUT: &str = "removed dead node";

/// A model that changes, with what is written down of it.
pub struct Editor {
    model: Model,
    names: Names,
    /// Where new constants go.
    pub constants: Constants,
    done: Changes,
    analysis: Analysis,
}

/// What was done to a model.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub changes: Vec<Change>,
    /// Patches that did not fit, one sentence each: faults of a rule or pass.
    pub refused: Vec<String>,
}

/// A model as it is, with what is known of it.
#[derive(Clone, Copy)]
pub struct Known<'e> {
    pub model: &'e Model,
    pub facts: &'e Facts,
    pub uses: &'e Uses,
}

impl Editor {
    pub fn new(model: Model) -> Self {
        let names = Names::of(&model);
        let (constants, done, analysis) = (Constants::default(), Changes::default(), Analysis::default());
        Editor { model, names, constants, done, analysis }
    }

    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What was done so far.
    pub fn done(&self) -> &Changes {
        &self.done
    }

    pub fn into_parts(self) -> (Model, Changes) {
        (self.model, self.done)
    }

    /// What is known of the model: found out once, and anew only where changes reach.
    pub fn know(&mut self) -> Known<'_> {
        let (facts, uses) = self.analysis.of_all(&self.model);
        Known { model: &self.model, facts, uses }
    }

    /// What is known of a graph and the bodies in it; of the rest, what was known before, which is true still.
    pub fn know_graph(&mut self, graph: GraphId) -> Known<'_> {
        let (facts, uses) = self.analysis.of_graph(&self.model, graph);
        Known { model: &self.model, facts, uses }
    }

    /// What was known when that was asked last. While a model is converted, its nodes are of two versions, and nothing
    /// more can be inferred.
    pub fn knew(&mut self) -> Known<'_> {
        let (facts, uses) = self.analysis.as_it_was(&self.model);
        Known { model: &self.model, facts, uses }
    }

    /// How often a node was looked at for that.
    pub fn looked_at(&self) -> usize {
        self.analysis.looked_at()
    }

    /// Applies patches that were planned on the model as it is, each as a whole or not at all: not where one before it
    /// took the place of a node that it is about, nor where it does not hang together. Gives how many were.
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
            Placing::new(&mut self.model, &mut self.names, self.constants, pending, graph).place(patch);
            applied += 1;
        }
        for (graph, pending) in pending {
            let Settled { touched, constants, swept } = settle(&mut self.model, graph, pending);
            self.analysis.note(&self.model, touched);
            self.analysis.note_constants(&self.model, constants);
            self.done.changes.extend(swept.into_iter().map(left_out));
        }
        if !keeps_values {
            self.analysis.forget();
        }
        applied
    }

    fn refuse(&mut self, patch: &Patch, why: &str) {
        let by = patch.changes.first().map_or("a patch", |change| &change.by.code);
        let refused = format!("{by} was not applied: {why}");
        if !self.done.refused.contains(&refused) {
            self.done.refused.push(refused);
        }
    }

    /// Does what no patch says: to what is declared, to versions, to a graph as a whole. Written down if `edit` says
    /// that it did something.
    pub fn change(&mut self, change: Change, edit: impl FnOnce(&mut Model, &mut Names) -> bool) -> bool {
        self.change_all(vec![change], edit)
    }

    /// As [`Editor::change`], of several things at once.
    pub fn change_all(
        &mut self,
        changes: Vec<Change>,
        edit: impl FnOnce(&mut Model, &mut Names) -> bool,
    ) -> bool {
        self.rework(|model, names| if edit(model, names) { changes } else { Vec::new() })
    }

    /// As [`Editor::change_all`], where `edit` says what it did; whether that was anything.
    pub fn rework(&mut self, edit: impl FnOnce(&mut Model, &mut Names) -> Vec<Change>) -> bool {
        let mut changes = edit(&mut self.model, &mut self.names);
        let is_changed = !changes.is_empty();
        if is_changed {
            self.done.changes.append(&mut changes);
            self.analysis.forget();
        }
        is_changed
    }

    /// As [`Editor::change`], where what is known of values holds as before: what is declared of them is what is known,
    /// or the same is said in another version.
    pub fn declare(&mut self, change: Change, edit: impl FnOnce(&mut Model) -> bool) {
        if edit(&mut self.model) {
            self.done.changes.push(change);
        }
    }

    /// Leaves out attributes of a node, which mean the same when they are not there.
    pub fn drop_attributes(&mut self, node: NodeId, names: &[Arc<str>], change: Change) {
        self.model.nodes[node].attrs.retain(|attr| !names.contains(&attr.name));
        self.done.changes.push(change);
    }

    /// A patch that puts the body of the function that `node` calls in the place of the call.
    pub fn written_out(&mut self, node: NodeId, function: usize, change: Change) -> Patch {
        let (body, results) = copy::copy(&mut self.model, &mut self.names, Call { node, function });
        splice(&self.model, node, body, &results, change)
    }

    /// Puts the nodes of every graph where they come after what they need, if they can be.
    pub fn put_in_order(&mut self) {
        for graph in scopes::live(&self.model) {
            let Ok(sorted) = order::sorted(&self.model, graph) else { continue };
            if sorted != self.model.graphs[graph].nodes {
                self.model.graphs[graph].nodes = sorted;
                let change = Change::new(UNSORTED_NODES, Site::Graph(graph), "nodes put in order");
                self.done.changes.push(change);
            }
        }
    }

    /// Takes out every node that no output needs, and every initializer that nothing reads; whether there were any.
    pub fn sweep(&mut self) -> bool {
        let dead = sweep::dead_nodes(&self.model);
        let live = scopes::live(&self.model);
        let mut is_changed = !dead.is_empty();
        self.analysis.note_lost();
        for &graph in live.iter().filter(|_| !dead.is_empty()) {
            let nodes = std::mem::take(&mut self.model.graphs[graph].nodes);
            let (gone, left): (Vec<NodeId>, Vec<NodeId>) =
                nodes.into_iter().partition(|node| dead.contains(node));
            self.model.graphs[graph].nodes = left;
            // What stands in a node that goes is not worth a word.
            if !matches!(self.model.graphs[graph].owner, Owner::Node(owner) if dead.contains(&owner)) {
                self.done.changes.extend(gone.into_iter().map(left_out));
            }
        }
        let uses = Uses::new(&self.model);
        for graph in live {
            let unused: FxHashSet<_> =
                sweep::unused_initializers(&self.model, &uses, graph).into_iter().collect();
            if unused.is_empty() {
                continue;
            }
            is_changed = true;
            let listed = self.model.graphs[graph].initializers.iter().filter(|value| unused.contains(value));
            let change =
                |&value| Change::new(UNUSED_INITIALIZER, Site::Value(value), "left out: nothing reads it");
            self.done.changes.extend(listed.map(change));
            self.model.graphs[graph].initializers.retain(|value| !unused.contains(value));
        }
        is_changed
    }
}

fn left_out(node: NodeId) -> Change {
    Change::new(DEAD_NODE, Site::Node(node), LEFT_OUT)
}
