//! What is to become of a part of a graph.

use std::sync::Arc;

use super::change::Change;
use super::check::check;
use crate::graph::{Attribute, GraphId, Model, NodeId, Tensor, ValueId};
use crate::infer::eval::Array;

/// The key of the metadata entry that names the rule which made a node.
pub const RULE_KEY: &str = "pkg.onnx_lint.rule";

/// A value: one that is there, or one that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item<V> {
    Old(V),
    New(NewId),
}

impl<V> Item<V> {
    /// The value that is there; `None` for a new one, which nothing uses yet.
    pub fn old(self) -> Option<V> {
        match self {
            Item::Old(value) => Some(value),
            Item::New(_) => None,
        }
    }
}

/// A value that is to be made: an index into [`Patch::values`], or into those of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NewId(pub usize);

/// A change of one graph, in terms of the model as it was when the change was planned.
#[derive(Clone, Debug)]
pub struct Patch {
    pub graph: GraphId,
    pub values: Vec<NewValue>,
    /// Tensors in attributes of new nodes.
    pub tensors: Vec<Tensor>,
    /// From this number on, attributes of new nodes mean `tensors`; below it, those of the model.
    pub first_tensor: usize,
    /// Nodes that are new, or wired in another way. One that gives a value that is there takes it over.
    pub nodes: Vec<PatchNode>,
    /// Values that become constants; the nodes that made them are in `replaced`.
    pub constants: Vec<(Item<ValueId>, Arc<Array>)>,
    /// What reads a value, here or in a body, reads another one. An output of the graph keeps its name: an `Identity`
    /// gives it.
    pub redirects: Vec<(ValueId, Item<ValueId>)>,
    /// The nodes that it takes the place of. Those go that nothing needs any more, and what made what they read.
    pub replaced: Vec<NodeId>,
    /// The body of one of them, whose contents move to where the node stands.
    pub absorbed: Option<GraphId>,
    /// Whether every value that stays is what it was: what is known of it holds. Not so where a fault is mended.
    pub keeps_values: bool,
    /// What is written down of it: at least one.
    pub changes: Vec<Change>,
}

impl Patch {
    /// One that changes nothing yet.
    pub fn new(graph: GraphId) -> Self {
        Patch {
            graph,
            values: Vec::new(),
            tensors: Vec::new(),
            first_tensor: usize::MAX,
            nodes: Vec::new(),
            constants: Vec::new(),
            redirects: Vec::new(),
            replaced: Vec::new(),
            absorbed: None,
            keeps_values: true,
            changes: Vec::new(),
        }
    }

    /// Whether it changes nothing of the graph.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
            && self.constants.is_empty()
            && self.redirects.is_empty()
            && self.replaced.is_empty()
    }

    /// Whether it says what `value` is from then on.
    pub fn gives(&self, value: ValueId) -> bool {
        let made = self.nodes.iter().flat_map(|node| node.outputs.iter().flatten());
        let constants = self.constants.iter().map(|(item, _)| item);
        made.chain(constants).any(|item| *item == Item::Old(value))
            || self.redirects.iter().any(|(from, _)| *from == value)
    }

    /// Whether it may be applied to the model as it is.
    ///
    /// # Errors
    /// What would not hang together: a fault of the rule or pass that made it.
    pub fn check(&self, model: &Model) -> Result<(), String> {
        check(model, self)
    }

    /// Adds a value that is to be made.
    pub fn new_value(&mut self, base: Arc<str>, rule: Option<Arc<str>>) -> Item<ValueId> {
        self.values.push(NewValue { base, rule });
        Item::New(NewId(self.values.len() - 1))
    }
}

/// A value that is to be made.
#[derive(Clone, Debug)]
pub struct NewValue {
    /// What its name is derived from.
    pub base: Arc<str>,
    /// The code of the rule that makes it.
    pub rule: Option<Arc<str>>,
}

/// A node as it is to be.
#[derive(Clone, Debug)]
pub struct PatchNode {
    pub form: Form,
    pub inputs: Vec<Option<Item<ValueId>>>,
    pub outputs: Vec<Option<Item<ValueId>>>,
    pub at: At,
    /// The nodes that it stands for: it inherits their metadata, and its name is derived from that of the last.
    pub origin: Vec<NodeId>,
    /// The code of the rule that makes it.
    pub rule: Option<Arc<str>>,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Form {
    /// One that is there, with other inputs or outputs.
    Kept(NodeId),
    New {
        domain: Arc<str>,
        op_type: Arc<str>,
        attrs: Vec<Attribute>,
    },
}

impl Form {
    pub fn identity() -> Self {
        Form::New { domain: Arc::from(""), op_type: Arc::from("Identity"), attrs: Vec::new() }
    }
}

/// Where in the graph a new node comes, as far as what it reads lets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Before the last node of its origin.
    Origin,
    End,
}
