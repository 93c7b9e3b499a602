//! Nodes of the e-graph.

use egg::{Id, Language};

use super::EGraph;
use crate::graph::{NodeId, ValueId};

/// An operator of an epoch, interned in [`super::Tables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub(super) u32);

/// A set of attributes, interned in [`super::Tables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttrsId(pub(super) u32);

/// A small constant, interned by content in [`super::Tables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstId(pub(super) u32);

/// One form of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ENode {
    /// An optional input that is left out.
    Absent,
    /// A value that is there anyway: an input, an initializer, a `Constant`, a value of a graph around.
    Leaf(ValueId),
    Const(ConstId),
    Call(Call),
    /// One output of a call.
    Output {
        index: u16,
        call: [Id; 1],
    },
}

/// An operator applied to inputs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Call {
    pub op: OpId,
    pub attrs: AttrsId,
    /// How many outputs are asked for.
    pub outputs: u16,
    /// How many children are inputs; the others are what the bodies of the node capture.
    pub inputs: u16,
    /// The node of the graph that alone this may be, for what must not be shared.
    pub token: Option<NodeId>,
    pub children: Box<[Id]>,
}

impl ENode {
    pub fn as_call(&self) -> Option<&Call> {
        if let ENode::Call(call) = self { Some(call) } else { None }
    }
}

/// A form as the e-graph has it now: with the classes that its children are in.
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
