//! Operand roles: the inputs and outputs of a node that change their dtype with it.

use rustc_hash::FxHashMap;

use super::keep_reason::KeepReason;
use super::numbers::Narrow;
use crate::graph::{AttrValue, ElemType, Model, NodeId, ValueId};
use crate::infer::{Fact, Facts};
use crate::schema::{self, Formal, Schema, ValueType};

/// Role of an input or output in the precision conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandRole {
    /// The operand is absent, or not float32.
    Other,
    /// The operand has the same dtype as its node.
    Follows,
    /// The operand always remains float32.
    Stays,
}

/// Roles of the inputs and outputs of a node.
#[derive(Clone, Debug, Default)]
pub struct OperandRoles {
    /// Role of each input.
    pub inputs: Vec<OperandRole>,
    /// Role of each output.
    pub outputs: Vec<OperandRole>,
}

/// Roles of the operands of nodes with float32 inputs or outputs, or the reason why a node is kept.
pub type AllSlots = FxHashMap<NodeId, Result<OperandRoles, KeepReason>>;

/// Returns true if a value is float32: a tensor, or a sequence or optional of tensors.
pub fn is_float(fact: &Fact) -> bool {
    fact.inner_elem() == Some(ElemType::Float)
}

/// Returns the roles of the inputs and outputs of an operator call.
///
/// # Errors
/// The reason why the node is kept in float32.
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
    // Keep BitCast, which depends on the width, and operators of ai.onnx.ml, which depend on the dtype.
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

/// Returns true for attributes that determine the dtype of an output.
fn says_type(name: &str) -> bool {
    matches!(name, "to" | "dtype" | "value" | "value_float" | "value_floats" | "type" | "output_datatype")
        || name == "output_dtype"
}

/// Returns true for a constant with external data, or in sparse format.
fn is_out_of_reach(model: &Model, value: &AttrValue) -> bool {
    match value {
        AttrValue::Tensor(tensor) => model.tensors[*tensor].is_external(),
        AttrValue::SparseTensor(_) => true,
        _ => false,
    }
}

/// Returns true for inputs that hold image coordinates or scales.
fn keeps_input(name: (&str, &str), at: usize) -> bool {
    matches!((name, at), (("", "Resize"), 1) | (("", "GridSample"), 1))
}

/// Returns true for outputs whose dtype `stash_type` determines: normalization statistics.
fn keeps_output(name: (&str, &str), at: usize) -> bool {
    name.1 == "LayerNormalization" && at > 0
}

/// Returns true if a formal parameter supports a value after narrowing.
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
