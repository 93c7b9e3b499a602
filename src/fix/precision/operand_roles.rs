//! Which inputs and outputs of a node change their type with it.

use rustc_hash::FxHashMap;

use super::keep_reason::KeepReason;
use super::numbers::Narrow;
use crate::graph::{AttrValue, ElemType, Model, NodeId, ValueId};
use crate::infer::{Fact, Facts};
use crate::schema::{self, Formal, Schema, ValueType};

/// What may become of an input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandRole {
    /// It is left out, or not of float32.
    Other,
    /// It is as its node.
    Follows,
    /// It is float32 whatever its node is.
    Stays,
}

/// What may become of the inputs and outputs of a node.
#[derive(Clone, Debug, Default)]
pub struct OperandRoles {
    pub inputs: Vec<OperandRole>,
    pub outputs: Vec<OperandRole>,
}

/// What may become of the nodes that call operators on float32, or make it; or why they stay.
pub type AllSlots = FxHashMap<NodeId, Result<OperandRoles, KeepReason>>;

/// Whether a value holds elements of float32: as a tensor, or in what it holds.
pub fn is_float(fact: &Fact) -> bool {
    fact.inner_elem() == Some(ElemType::Float)
}

/// What may become of the inputs and outputs of a node that calls an operator.
///
/// # Errors
/// Why all of them stay.
pub fn slots(model: &Model, facts: &Facts, id: NodeId, narrow: Narrow) -> Result<OperandRoles, KeepReason> {
    let node = &model.nodes[id];
    let opset = model.opset(node.graph, node.domain()).and_then(|opset| u16::try_from(opset).ok());
    let schema = opset.and_then(|opset| schema::lookup(node.domain(), &node.op_type, opset));
    let schema = schema.ok_or(KeepReason::Operator)?;
    let is_unknown = |value: &ValueId| facts[*value].inner_elem().is_none();
    if node.inputs.iter().chain(&node.outputs).flatten().any(is_unknown) {
        return Err(KeepReason::Unknown);
    }
    if node.attrs.iter().any(|attr| matches!(attr.value, AttrValue::Ref { .. }) && says_type(&attr.name)) {
        return Err(KeepReason::Unknown);
    }
    // Bits are taken as they are, and attributes of trees have the type of what goes in.
    if node.is("BitCast") || node.domain() == "ai.onnx.ml" {
        return Err(KeepReason::Type);
    }
    if node.is("Constant") && node.attrs.iter().any(|attr| is_out_of_reach(model, &attr.value)) {
        return Err(KeepReason::Type);
    }
    let name = (schema.domain, schema.name);
    if matches!(name, ("", "AffineGrid" | "RoiAlign" | "MaxRoiPool")) {
        return Err(KeepReason::Places);
    }
    let slot = |value: &Option<ValueId>, formal: Option<&Formal>, is_kept: bool| {
        let Some(value) = value.filter(|&value| is_float(&facts[value])) else { return OperandRole::Other };
        match formal {
            Some(formal) if !is_kept && takes(schema, formal, &facts[value], narrow.elem) => {
                OperandRole::Follows
            }
            _ => OperandRole::Stays,
        }
    };
    let inputs = node.inputs.iter().enumerate();
    let outputs = node.outputs.iter().enumerate();
    let slots = OperandRoles {
        inputs: inputs.map(|(at, value)| slot(value, schema.input(at), keeps_input(name, at))).collect(),
        outputs: outputs.map(|(at, value)| slot(value, schema.output(at), keeps_output(name, at))).collect(),
    };
    let all = || slots.inputs.iter().chain(&slots.outputs);
    let has_any = all().any(|slot| *slot != OperandRole::Other);
    if has_any && !all().any(|slot| *slot == OperandRole::Follows) {
        Err(KeepReason::Type)
    } else {
        Ok(slots)
    }
}

/// Attributes that say the type of what comes out.
fn says_type(name: &str) -> bool {
    matches!(name, "to" | "dtype" | "value" | "value_float" | "value_floats" | "type" | "output_datatype")
        || name == "output_dtype"
}

/// A constant whose elements are in another file, or in coordinate form.
fn is_out_of_reach(model: &Model, value: &AttrValue) -> bool {
    match value {
        AttrValue::Tensor(tensor) => model.tensors[*tensor].is_external(),
        AttrValue::SparseTensor(_) => true,
        _ => false,
    }
}

/// Inputs that hold places in an image.
fn keeps_input(name: (&str, &str), at: usize) -> bool {
    matches!((name, at), (("", "Resize"), 1) | (("", "GridSample"), 1))
}

/// Outputs whose type an attribute fixes: the statistics of a normalisation, by its `stash_type`.
fn keeps_output(name: (&str, &str), at: usize) -> bool {
    name.1 == "LayerNormalization" && at > 0
}

/// Whether a formal takes a value if it holds narrow elements.
fn takes(schema: &Schema, formal: &Formal, fact: &Fact, elem: ElemType) -> bool {
    let narrowed = fact.value_type().and_then(|ty| match ty {
        ValueType::Tensor(_) => Some(ValueType::Tensor(elem)),
        ValueType::Sequence(_) => Some(ValueType::Sequence(elem)),
        ValueType::Optional(_) => Some(ValueType::Optional(elem)),
        ValueType::OptionalSequence(_) => Some(ValueType::OptionalSequence(elem)),
        ValueType::SparseTensor(_) => None,
    });
    narrowed.is_some_and(|ty| schema.allowed(formal).has(ty))
}
