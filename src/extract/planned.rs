//! A planned graph, before it is put into the model.

use std::sync::Arc;

use egg::Id;
use rustc_hash::FxHashSet;

use crate::graph::{Attribute, GraphId, NodeId, Tensor, ValueId};
use crate::infer::eval::Array;

/// The graph as it is to be, in terms of the model's arenas; [`super::rebuild()`] puts it there.
pub struct Plan {
    pub(super) graph: GraphId,
    pub(super) nodes: Vec<NewNode>,
    pub(super) values: Vec<NewValue>,
    pub(super) tensors: Vec<Tensor>,
    /// What bodies are to use in the place of values that they capture.
    pub(super) replaced: Vec<(ValueId, Slot)>,
    /// Initializers that are still needed.
    pub(super) used: FxHashSet<ValueId>,
    pub(super) outputs: Vec<Slot>,
    /// The classes that an `Identity` gives the name of an output.
    pub(super) renamed: Vec<Id>,
}

/// A node that a rule puts in the place of another.
pub struct Replacement<'p> {
    /// The code of the rule.
    pub rule: &'p str,
    /// The node of the source that it stands for; where it stands for several, the last of them.
    pub origin: NodeId,
    /// Its operator.
    pub op: &'p str,
}

impl Plan {
    /// The nodes that rules made, in the order in which they were planned.
    pub fn replacements(&self) -> impl Iterator<Item = Replacement<'_>> {
        self.nodes.iter().filter(|node| node.kept.is_none()).filter_map(|node| {
            let origin = *node.origin.last()?;
            Some(Replacement { rule: node.rule.as_deref()?, origin, op: &node.name })
        })
    }
}

/// A value that is there, or one that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Slot {
    Old(ValueId),
    New(usize),
}

/// A value that is to be made.
pub(super) struct NewValue {
    /// What its name is derived from.
    pub base: Arc<str>,
    pub rule: Option<String>,
    pub constant: Option<Arc<Array>>,
}

/// A node of the result.
pub(super) struct NewNode {
    /// The node of the source that this is, untouched but for the names of its inputs.
    pub kept: Option<NodeId>,
    /// Where in the source it belongs.
    pub place: usize,
    pub domain: Arc<str>,
    pub name: Arc<str>,
    pub attrs: Vec<Attribute>,
    pub inputs: Vec<Option<Slot>>,
    pub outputs: Vec<Option<Slot>>,
    /// What its bodies capture.
    pub captures: Vec<Slot>,
    /// The nodes of the source that it stands for.
    pub origin: Vec<NodeId>,
    pub rule: Option<String>,
}
