//! Patches: planned changes of a graph.

use std::sync::Arc;

use super::change::Change;
use crate::graph::{Attribute, GraphId, NodeId, Tensor, ValueId};
use crate::infer::{self, Array};

/// Metadata key for the rule that created a node.
pub const RULE_KEY: &str = "pkg.onnx_lint.rule";

/// Existing or new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item<V> {
    Old(V),
    New(NewId),
}

impl<V> Item<V> {
    /// Returns the existing value; `None` for a new value.
    pub fn old(self) -> Option<V> {
        match self {
            Item::Old(value) => Some(value),
            Item::New(_) => None,
        }
    }
}

/// Id of a new value: an index into [`Patch::values`], or into the values of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NewId(pub usize);

/// Planned change of one graph. All ids in a patch refer to the model at planning time.
#[derive(Clone, Debug)]
pub struct Patch {
    pub graph: GraphId,
    /// New values.
    pub values: Vec<NewValue>,
    /// Tensors in attributes of new nodes.
    pub tensors: Vec<Tensor>,
    /// First tensor id that refers to `tensors`; lower ids refer to the model.
    pub first_tensor: usize,
    /// New and rewired nodes. If an output is an existing value, the node becomes its producer.
    pub nodes: Vec<PatchNode>,
    /// New values, or outputs of replaced nodes, that become constants.
    pub constants: Vec<(Item<ValueId>, Tensor)>,
    /// Uses of values, also in subgraphs, to redirect to other values.
    /// If an output of the graph is redirected and no patch node produces it, an `Identity` keeps its name.
    pub redirects: Vec<(ValueId, Item<ValueId>)>,
    /// Nodes to replace.
    /// Replaced nodes without remaining uses are removed, as are nodes of the graph that only they use.
    pub replaced: Vec<NodeId>,
    /// Subgraph of a replaced node whose contents move into the graph of the patch.
    pub absorbed: Option<GraphId>,
    /// Whether remaining values, and thus their facts, are unchanged; false for fixes of faults.
    pub keeps_values: bool,
    /// Change records, at least one.
    pub changes: Vec<Change>,
}

impl Patch {
    /// Creates an empty patch.
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

    /// Returns true if the patch does not change the graph.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
            && self.constants.is_empty()
            && self.redirects.is_empty()
            && self.replaced.is_empty()
    }

    /// Returns true if the patch redefines or redirects `value`.
    pub fn gives(&self, value: ValueId) -> bool {
        let made = self.nodes.iter().flat_map(|node| node.outputs.iter().flatten());
        let constants = self.constants.iter().map(|(item, _)| item);
        made.chain(constants).any(|item| *item == Item::Old(value))
            || self.redirects.iter().any(|(from, _)| *from == value)
    }

    /// Makes a value constant: a new one, or an output of a replaced node.
    pub fn constant(&mut self, value: Item<ValueId>, array: &Array) {
        self.constants.push((value, infer::tensor_of(array)));
    }

    /// Adds a new value.
    pub fn new_value(&mut self, base: Arc<str>, rule: Option<Arc<str>>) -> Item<ValueId> {
        self.values.push(NewValue { base, rule });
        Item::New(NewId(self.values.len() - 1))
    }
}

/// New value.
#[derive(Clone, Debug)]
pub struct NewValue {
    /// Base of the generated name.
    pub base: Arc<str>,
    /// Code of the rule that creates the value.
    pub rule: Option<Arc<str>>,
}

/// New or rewired node.
#[derive(Clone, Debug)]
pub struct PatchNode {
    pub form: PatchOp,
    pub inputs: Vec<Option<Item<ValueId>>>,
    pub outputs: Vec<Option<Item<ValueId>>>,
    pub at: At,
    /// Source nodes that this node replaces.
    /// The new node inherits the metadata of all source nodes, and derives its name from the last one.
    pub origin: Vec<NodeId>,
    /// Code of the rule that creates the node.
    pub rule: Option<Arc<str>>,
}

/// Operator of a patch node.
#[derive(Clone, Debug)]
pub enum PatchOp {
    /// Existing node, with new inputs or outputs.
    Kept(NodeId),
    New {
        domain: Arc<str>,
        op_type: Arc<str>,
        attrs: Vec<Attribute>,
    },
}

impl PatchOp {
    /// Creates an `Identity`.
    pub fn identity() -> Self {
        PatchOp::New { domain: Arc::from(""), op_type: Arc::from("Identity"), attrs: Vec::new() }
    }
}

/// Preferred position of a new node; dependencies take precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Position before the last of the nodes that the new node replaces.
    Origin,
    End,
}
