//! Converts bfloat16 to float32, as the first step from bfloat16 to float16.
//!
//! Float32 represents every bfloat16 value. Values that would overflow in
//! float16 stay in float32.

use crate::diag::rule_ids::NARROWED_NUMBERS;
use crate::edit::{Change, Editor, Site};
use crate::graph::{AttrValue, ElemType, Id as _, Model, Tensor, TensorData, TensorId, Type, TypeKind};

/// Attributes that set the element type of a result.
const TYPES: [&str; 4] = ["to", "dtype", "output_datatype", "output_dtype"];

/// Converts all bfloat16 values of a model to float32.
///
/// Returns false if the elements of a tensor are not available.
pub fn widen(editor: &mut Editor) -> bool {
    let change = Change::new(NARROWED_NUMBERS, Site::Model, "bfloat16 converted to float32");
    editor.change(change, |model, _| {
        let Some(tensors) = widened(model) else { return false };
        for (id, tensor) in tensors {
            model.tensors[id] = tensor;
        }
        for (_, node) in model.nodes.iter_mut() {
            for attr in &mut node.attrs {
                match &mut attr.value {
                    AttrValue::Int(number) if TYPES.contains(&&*attr.name) && is_bfloat(*number) => {
                        *number = i64::from(ElemType::Float.number());
                    }
                    AttrValue::Type(ty) => retype(ty),
                    _ => {}
                }
            }
        }
        for (_, graph) in model.graphs.iter_mut() {
            let ports = graph.inputs.iter_mut().chain(&mut graph.outputs).chain(&mut graph.value_info);
            ports.filter_map(|port| port.info.ty.as_mut()).for_each(retype);
        }
        true
    })
}

/// Returns the bfloat16 tensors of a model in float32.
/// Returns `None` if the elements of a tensor are not available.
fn widened(model: &Model) -> Option<Vec<(TensorId, Tensor)>> {
    let ids = (0..model.tensors.len()).map(TensorId::from_index);
    let of_type = ids.filter(|&id| model.tensors[id].elem() == Some(ElemType::Bfloat16));
    of_type.map(|id| Some((id, wide(&model.tensors[id])?))).collect()
}

/// Returns a bfloat16 tensor in float32: the same bits, followed by 16 zeros.
fn wide(tensor: &Tensor) -> Option<Tensor> {
    let packed = tensor.packed()?;
    let (halves, _) = packed.as_chunks::<2>();
    let raw: Vec<u8> = halves.iter().flat_map(|&[low, high]| [0, 0, low, high]).collect();
    let (data_type, data) = (Some(ElemType::Float.number()), TensorData::Raw(raw.into()));
    Some(Tensor { data_type, data, location: None, ..tensor.clone() })
}

fn is_bfloat(number: i64) -> bool {
    number == i64::from(ElemType::Bfloat16.number())
}

fn retype(ty: &mut Type) {
    match &mut ty.kind {
        TypeKind::Tensor { elem, .. } | TypeKind::SparseTensor { elem, .. }
            if *elem == Some(ElemType::Bfloat16.number()) =>
        {
            *elem = Some(ElemType::Float.number());
        }
        TypeKind::Sequence(inner) | TypeKind::Optional(inner) => {
            if let Some(inner) = inner.as_deref_mut() {
                retype(inner);
            }
        }
        _ => {}
    }
}
