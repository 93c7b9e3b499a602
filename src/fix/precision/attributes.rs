//! Attributes that determine the dtype of node outputs.

use std::sync::Arc;

use super::numbers::Narrow;
use crate::graph::{AttrValue, Attribute, ElemType, Model, NodeId, Tensor, TensorData, Type, TypeKind};

/// Changes the attributes of a node to the narrow type.
pub fn narrow(model: &mut Model, id: NodeId, narrow: Narrow) {
    let attrs = std::mem::take(&mut model.nodes[id].attrs);
    let mut narrowed: Vec<Attribute> =
        attrs.into_iter().map(|attr| Attribute { value: value(model, &attr, narrow), ..attr }).collect();
    if model.nodes[id].is("Constant") {
        narrowed.iter_mut().for_each(|attr| attr.name = Arc::from("value"));
    }
    let op = model.nodes[id].op_type.clone();
    let unsaid = implied(&op).filter(|name| narrowed.iter().all(|attr| &*attr.name != *name));
    if let Some(name) = unsaid.filter(|_| model.nodes[id].domain().is_empty()) {
        let said = match name {
            "value" => {
                let zero = Tensor::from_raw(narrow.elem, vec![1], vec![0; 2]);
                AttrValue::Tensor(model.tensors.push(zero))
            }
            _ => AttrValue::Int(i64::from(narrow.elem.number())),
        };
        narrowed.push(Attribute::new(name, said));
    }
    model.nodes[id].attrs = narrowed;
}

/// Returns the attribute that sets the output type of an operator that outputs float32 by default.
fn implied(op: &str) -> Option<&'static str> {
    Some(match op {
        "ConstantOfShape" => "value",
        "RandomNormal" | "RandomUniform" | "SequenceEmpty" => "dtype",
        "HannWindow" | "HammingWindow" | "BlackmanWindow" | "MelWeightMatrix" => "output_datatype",
        _ => return None,
    })
}

/// Returns the narrowed value of an attribute, or the value itself if it is not affected.
fn value(model: &mut Model, attr: &Attribute, narrow: Narrow) -> AttrValue {
    let is_float = |number: i64| number == i64::from(ElemType::Float.number());
    let held = |tensor: &Tensor| narrow.tensor(tensor);
    let made = match (&*attr.name, &attr.value) {
        ("to" | "dtype" | "output_datatype" | "output_dtype", AttrValue::Int(number))
            if is_float(*number) =>
        {
            Some(AttrValue::Int(i64::from(narrow.elem.number())))
        }
        ("value", AttrValue::Tensor(tensor)) => {
            let made = held(&model.tensors[*tensor]);
            made.map(|made| AttrValue::Tensor(model.tensors.push(made)))
        }
        ("value_float", AttrValue::Float(number)) => numbers(model, vec![], &[*number], narrow),
        ("value_floats", AttrValue::Floats(floats)) => {
            numbers(model, vec![floats.len() as i64], floats, narrow)
        }
        ("type", AttrValue::Type(ty)) => {
            let mut ty = ty.clone();
            declare(&mut ty, narrow.elem);
            Some(AttrValue::Type(ty))
        }
        _ => None,
    };
    made.unwrap_or_else(|| attr.value.clone())
}

/// Returns a narrow tensor with the given elements.
fn numbers(model: &mut Model, dims: Vec<i64>, floats: &[f32], narrow: Narrow) -> Option<AttrValue> {
    let tensor = Tensor::new(ElemType::Float, dims, TensorData::Floats(floats.to_vec()));
    Some(AttrValue::Tensor(model.tensors.push(narrow.tensor(&tensor)?)))
}

/// Changes the element type of a declared type.
pub fn declare(ty: &mut Type, to: ElemType) {
    match &mut ty.kind {
        TypeKind::Tensor { elem, .. } => *elem = Some(to.number()),
        TypeKind::Sequence(inner) | TypeKind::Optional(inner) => {
            inner.iter_mut().for_each(|inner| declare(inner, to));
        }
        TypeKind::Undefined
        | TypeKind::SparseTensor { .. }
        | TypeKind::Map { .. }
        | TypeKind::Opaque { .. } => {}
    }
}
