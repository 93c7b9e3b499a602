//! Conversion between our arrays and ONNX Runtime tensors.

use std::path::Path;

use half::{bf16, f16};
use ort::session::Session;
use ort::value::{DynValue, Tensor, TensorElementType, ValueType};

use super::{library, open};
use crate::graph::{ElemType, Model};
use crate::infer::eval::{Array, Buffer, Val};
use crate::rule_tests::run::Loaded;

/// Loads a model into a session without optimizations.
///
/// # Errors
/// ONNX Runtime is not available, or rejects the model.
pub fn load(model: &Model) -> Result<Loaded, String> {
    let environment = library::load().map_err(|failure| failure.message().to_owned())?;
    let mut session = open(&environment, Path::new("."), model)?;
    Ok(Box::new(move |inputs| {
        let feeds: Vec<(&str, &Array)> = inputs.iter().map(|(name, array)| (&**name, array)).collect();
        let outputs = run(&mut session, &feeds)?;
        let unread = || "an output has an unsupported type".to_owned();
        outputs.into_iter().map(|array| array.map(Val::from).ok_or_else(unread)).collect()
    }))
}

/// Returns the outputs for the inputs `feeds`, in model order.
///
/// An output is `None` if it is not a tensor of a supported type.
///
/// # Errors
/// An input has an unsupported type, or ONNX Runtime fails.
pub fn run(session: &mut Session, feeds: &[(&str, &Array)]) -> Result<Vec<Option<Array>>, String> {
    let mut inputs: Vec<(&str, DynValue)> = Vec::with_capacity(feeds.len());
    for (name, array) in feeds {
        inputs.push((name, given(array).ok_or("an input has an unsupported type")?));
    }
    let order: Vec<String> = session.outputs().iter().map(|output| output.name().to_owned()).collect();
    // An output may alias an input, so the inputs must outlive the outputs.
    let inputs: Vec<(&str, &DynValue)> = inputs.iter().map(|(name, value)| (*name, value)).collect();
    let outputs = session.run(inputs).map_err(|error| error.message().replace('\n', " "))?;
    Ok(order.iter().map(|name| outputs.get(name).and_then(taken)).collect())
}

/// Converts an array to a runtime value; `None` if the element type is not supported.
fn given(array: &Array) -> Option<DynValue> {
    let shape = array.shape().to_vec();
    macro_rules! tensor {
        ($data:expr) => {
            Tensor::from_array((shape, $data.clone())).ok()?.into_dyn()
        };
    }
    Some(match array.data() {
        Buffer::F32(data) => tensor!(data),
        Buffer::F64(data) => tensor!(data),
        Buffer::F16(data) => tensor!(data),
        Buffer::Bf16(data) => tensor!(data),
        Buffer::I8(data) if array.elem() == ElemType::Int8 => tensor!(data),
        Buffer::I16(data) => tensor!(data),
        Buffer::I32(data) => tensor!(data),
        Buffer::I64(data) => tensor!(data),
        Buffer::U8(data) if array.elem() == ElemType::Uint8 => tensor!(data),
        Buffer::U16(data) => tensor!(data),
        Buffer::U32(data) => tensor!(data),
        Buffer::U64(data) => tensor!(data),
        Buffer::Bool(data) => tensor!(data),
        Buffer::Str(data) => {
            let texts: Option<Vec<String>> =
                data.iter().map(|bytes| String::from_utf8(bytes.clone()).ok()).collect();
            Tensor::from_string_array((shape, &texts?[..])).ok()?.into_dyn()
        }
        _ => return None,
    })
}

/// Converts a runtime value to an array; `None` unless the value is a tensor of a supported type.
fn taken(value: &DynValue) -> Option<Array> {
    let ValueType::Tensor { ty, shape, .. } = value.dtype() else { return None };
    let shape: Vec<usize> = shape.iter().map(|&size| size as usize).collect();
    // The runtime may return a null data pointer for an empty tensor, so no slice can be taken.
    let is_empty = shape.contains(&0);
    macro_rules! array {
        ($type:ty, $elem:ident, $buffer:ident) => {{
            let data = match is_empty {
                true => Vec::new(),
                false => value.try_extract_tensor::<$type>().ok()?.1.to_vec(),
            };
            Array::new(ElemType::$elem, shape, Buffer::$buffer(data))
        }};
    }
    let array = match ty {
        TensorElementType::Float32 => array!(f32, Float, F32),
        TensorElementType::Float64 => array!(f64, Double, F64),
        TensorElementType::Float16 => array!(f16, Float16, F16),
        TensorElementType::Bfloat16 => array!(bf16, Bfloat16, Bf16),
        TensorElementType::Int8 => array!(i8, Int8, I8),
        TensorElementType::Int16 => array!(i16, Int16, I16),
        TensorElementType::Int32 => array!(i32, Int32, I32),
        TensorElementType::Int64 => array!(i64, Int64, I64),
        TensorElementType::Uint8 => array!(u8, Uint8, U8),
        TensorElementType::Uint16 => array!(u16, Uint16, U16),
        TensorElementType::Uint32 => array!(u32, Uint32, U32),
        TensorElementType::Uint64 => array!(u64, Uint64, U64),
        TensorElementType::Bool => array!(bool, Bool, Bool),
        TensorElementType::String => {
            let texts = if is_empty { Vec::new() } else { value.try_extract_strings().ok()?.1 };
            Array::strings(shape, texts.into_iter().map(String::into_bytes).collect())
        }
        _ => return None,
    };
    array.ok()
}
