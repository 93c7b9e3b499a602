//! Uses of operators by nodes of a graph.

use super::legal::{AttrUse, OpUse, Operand};
use super::model::AttrView;
use super::types::ValueType;
use crate::graph::{Attribute, Node, ValueId};

impl<'a> From<&'a Attribute> for AttrUse<'a> {
    fn from(attr: &'a Attribute) -> Self {
        AttrUse { name: &attr.name, value: AttrView::from(&attr.value) }
    }
}

/// Calls `ask` with the use of an operator by a node, and returns the result of `ask`.
///
/// `ty` returns the type of a value, or `None` if it is unknown or must not be checked.
pub fn with_use<T>(
    node: &Node,
    ty: impl Fn(ValueId) -> Option<ValueType>,
    ask: impl FnOnce(&OpUse) -> T,
) -> T {
    let attrs: Vec<AttrUse> = node.attrs.iter().map(AttrUse::from).collect();
    let operand = |value: &Option<ValueId>| {
        value.map_or(Operand::Absent, |value| Operand::Present { ty: ty(value), negative: false })
    };
    let inputs: Vec<Operand> = node.inputs.iter().map(operand).collect();
    let outputs: Vec<Operand> = node.outputs.iter().map(operand).collect();
    let (domain, name) = (node.domain(), &*node.op_type);
    ask(&OpUse { domain, name, epoch: None, attrs: &attrs, inputs: &inputs, outputs: &outputs })
}
