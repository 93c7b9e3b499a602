//! E-nodes.

use egg::{Id, Language};

use super::EGraph;
use crate::graph::{NodeId, ValueId};

/// Operator in a range of versions with equal semantics, interned in [`super::Tables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub(super) u32);

/// Set of attributes, interned in [`super::Tables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttrsId(pub(super) u32);

/// Small constant, interned by content in [`super::Tables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstId(pub(super) u32);

/// E-node: one way to compute a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ENode {
    /// Omitted optional input.
    Absent,
    /// Value that needs no computation here: an input, an initializer, a `Constant`, a captured value.
    Leaf(ValueId),
    Const(ConstId),
    Call(Call),
    /// Output of a call whose class is a tuple of outputs.
    Output {
        index: u16,
        call: [Id; 1],
    },
}

/// Operator applied to inputs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Call {
    pub op: OpId,
    pub attrs: AttrsId,
    /// Number of outputs.
    pub outputs: u16,
    /// Number of children that are inputs; the others are captured by subgraphs of the node.
    pub inputs: u16,
    /// Node that this call represents, if it must not be merged with others.
    pub token: Option<NodeId>,
    pub children: Box<[Id]>,
}

impl ENode {
    /// Returns the call, if the e-node is a call.
    pub fn as_call(&self) -> Option<&Call> {
        if let ENode::Call(call) = self { Some(call) } else { None }
    }
}

/// Returns an e-node with the current classes of its children.
pub fn canonical(egraph: &EGraph, form: &ENode) -> ENode {
    form.clone().map_children(|child| egraph.find(child))
}

impl Language for ENode {
    type Discriminant = (std::mem::Discriminant<ENode>, Option<OpId>);

    fn discriminant(&self) -> Self::Discriminant {
        (std::mem::discriminant(self), self.as_call().map(|call| call.op))
    }

    fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (ENode::Call(a), ENode::Call(b)) => {
                let form = |call: &Call| (call.op, call.attrs, call.outputs, call.inputs, call.token);
                form(a) == form(b) && a.children.len() == b.children.len()
            }
            (ENode::Output { index: a, .. }, ENode::Output { index: b, .. }) => a == b,
            _ => self == other,
        }
    }

    fn children(&self) -> &[Id] {
        match self {
            ENode::Absent | ENode::Leaf(_) | ENode::Const(_) => &[],
            ENode::Call(call) => &call.children,
            ENode::Output { call, .. } => call,
        }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        match self {
            ENode::Absent | ENode::Leaf(_) | ENode::Const(_) => &mut [],
            ENode::Call(call) => &mut call.children,
            ENode::Output { call, .. } => call,
        }
    }
}
