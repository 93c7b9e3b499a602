//! Validates a patch against the graph that it changes.

use rustc_hash::FxHashSet;

use super::patch::{Item, Patch, PatchOp};
use crate::graph::{Def, GraphId, Model, NodeId, Owner, ValueId};

impl Patch {
    /// Checks whether the patch can be applied to the model.
    ///
    /// # Errors
    /// The inconsistency, which indicates a bug in the rule or pass that made the patch.
    pub fn check(&self, model: &Model) -> Result<(), String> {
        let checked = Checked { model, patch: self, around: around(model, self), loose: loose(self) };
        if self.changes.is_empty() {
            return Err("the patch has no change record".to_owned());
        }
        checked.replaced()?;
        checked.made()?;
        checked.nodes()?;
        checked.redirects()
    }
}

/// Returns the graphs whose values are visible: the graph, its outer graphs, and an inlined subgraph.
fn around(model: &Model, patch: &Patch) -> Vec<GraphId> {
    let outer = std::iter::successors(Some(patch.graph), |&graph| model.parent(graph));
    outer.chain(patch.absorbed).collect()
}

/// Returns the nodes that the patch removes or rewires.
fn loose(patch: &Patch) -> FxHashSet<NodeId> {
    let kept = patch.nodes.iter().filter_map(|node| match node.form {
        PatchOp::Kept(kept) => Some(kept),
        PatchOp::New { .. } => None,
    });
    kept.chain(patch.replaced.iter().copied()).collect()
}

struct Checked<'a> {
    model: &'a Model,
    patch: &'a Patch,
    around: Vec<GraphId>,
    loose: FxHashSet<NodeId>,
}

impl Checked<'_> {
    fn replaced(&self) -> Result<(), String> {
        let is_here = |node: &NodeId| self.model.nodes[*node].graph == self.patch.graph;
        if !self.patch.replaced.iter().all(is_here) {
            return Err("the patch replaces a node of a different graph".to_owned());
        }
        let Some(absorbed) = self.patch.absorbed else { return Ok(()) };
        match self.model.graphs[absorbed].owner {
            Owner::Node(node) if self.patch.replaced.contains(&node) => Ok(()),
            _ => Err("the patch inlines a subgraph, but does not replace its node".to_owned()),
        }
    }

    /// Checks that every new value has one producer, and no existing value gets a second one.
    fn made(&self) -> Result<(), String> {
        let outputs = self.patch.nodes.iter().flat_map(|node| node.outputs.iter().flatten().copied());
        let constants = self.patch.constants.iter().map(|(item, _)| *item);
        let mut made: FxHashSet<Item<ValueId>> = FxHashSet::default();
        for item in outputs.chain(constants) {
            if !made.insert(item) {
                return Err(format!("{} has two producers", self.name(item)));
            }
            if let Item::Old(value) = item {
                self.taken_over(value)?;
            }
        }
        let is_new = |item: &&Item<ValueId>| matches!(item, Item::New(_));
        let count = made.iter().filter(is_new).count();
        if count != self.patch.values.len() {
            return Err("a new value has no producer".to_owned());
        }
        Ok(())
    }

    /// Checks that the producer of a redefined value is removed or rewired.
    fn taken_over(&self, value: ValueId) -> Result<(), String> {
        let is_free = match self.model.values[value].def {
            Def::Node { node, .. } => self.loose.contains(&node),
            Def::Missing => true,
            Def::Input(_) | Def::Initializer => false,
        };
        match is_free {
            true => Ok(()),
            false => Err(format!("{} would be defined twice", self.name(Item::Old(value)))),
        }
    }

    fn nodes(&self) -> Result<(), String> {
        for node in &self.patch.nodes {
            for &item in node.inputs.iter().flatten() {
                self.visible(item)?;
            }
            if let PatchOp::New { attrs, op_type, .. } = &node.form {
                let mut names = FxHashSet::default();
                if let Some(twice) = attrs.iter().find(|attr| !names.insert(&attr.name)) {
                    return Err(format!("a `{op_type}` has two attributes `{}`", twice.name));
                }
            }
        }
        Ok(())
    }

    fn redirects(&self) -> Result<(), String> {
        let mut known = FxHashSet::default();
        for &(from, to) in &self.patch.redirects {
            if Item::Old(from) == to || !known.insert(from) {
                return Err(format!(
                    "the redirection of {} is cyclic or repeated",
                    self.name(Item::Old(from))
                ));
            }
            self.visible(to)?;
        }
        Ok(())
    }

    fn visible(&self, item: Item<ValueId>) -> Result<(), String> {
        let is_visible = match item {
            Item::Old(value) => self.around.contains(&self.model.values[value].graph),
            Item::New(new) => new.0 < self.patch.values.len(),
        };
        match is_visible {
            true => Ok(()),
            false => Err(format!("{} is not visible in the graph", self.name(item))),
        }
    }

    fn name(&self, item: Item<ValueId>) -> String {
        match item {
            Item::Old(value) => format!("`{}`", self.model.values[value].name),
            Item::New(_) => "a new value".to_owned(),
        }
    }
}
