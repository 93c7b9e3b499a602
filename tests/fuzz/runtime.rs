//! ONNX Runtime, where it is found: what it makes of a model that was drawn.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use half::{bf16, f16};
use onnx_lint::cli::fix::verify::{self, library};
use onnx_lint::graph::{ElemType, Model, Port, ValueId, ValueInfo};
use onnx_lint::infer::eval::{Array, Buffer, Val};
use ort::environment::Environment;
use ort::session::Session;
use ort::value::{DynValue, Tensor, TensorElementType, ValueType};

use crate::case::{Feeds, Ran};
use crate::draft::tensor_type;

/// A model that ONNX Runtime has loaded, as it is written: nothing is optimised.
pub struct Loaded(Session);

fn environment() -> Option<&'static Environment> {
    static FOUND: OnceLock<Option<Environment>> = OnceLock::new();
    FOUND.get_or_init(|| library::load().ok()).as_ref()
}

static IS_ASKED: AtomicBool = AtomicBool::new(true);

/// Whether it is asked from here on: a graph on which it ends the process is tried without it.
pub fn set_asked(is_asked: bool) {
    IS_ASKED.store(is_asked, Ordering::Relaxed);
}

/// Loads a model; why it is not taken.
pub fn load(model: &Model) -> Result<Loaded, String> {
    if !IS_ASKED.load(Ordering::Relaxed) {
        return Err("ONNX Runtime is not asked".to_owned());
    }
    let environment = environment().ok_or("ONNX Runtime was not found")?;
    verify::open(environment, Path::new("."), model).map(Loaded)
}

/// Whether a refusal is no more than that there is no kernel for these types, or not yet for this version.
pub fn is_missing(refusal: &str) -> bool {
    const SAID: [&str; 7] = [
        "Failed to find kernel for",
        "Could not find an implementation",
        "NOT_IMPLEMENTED",
        "is under development and support for this is limited",
        "Unsupported model IR version",
        "not supported yet",
        "is not a registered function/op",
    ];
    SAID.iter().any(|said| refusal.contains(said))
}

impl Loaded {
    /// The outputs on these inputs, in the order of the model; `None` of what is no tensor.
    pub fn run(&mut self, feeds: &Feeds) -> Result<Vec<Option<Val>>, String> {
        let mut inputs: Vec<(String, DynValue)> = Vec::new();
        for (name, val) in feeds {
            inputs.push((name.to_string(), given(val).ok_or("an input of a type that is not made here")?));
        }
        let order: Vec<String> = self.0.outputs().iter().map(|output| output.name().to_owned()).collect();
        // An output may lie where an input does: those live until it is read.
        let inputs: Vec<(&str, &DynValue)> = inputs.iter().map(|(name, val)| (name.as_str(), val)).collect();
        let outputs = self.0.run(inputs).map_err(|error| error.message().replace('\n', " "))?;
        Ok(order.iter().map(|name| outputs.get(name).and_then(taken)).collect())
    }
}

/// A model that gives every tensor of its main graph, and those values in the order in which they are made.
pub fn widened(model: &Model, ran: &Ran) -> (Model, Vec<ValueId>) {
    let mut wide = model.clone();
    let main = wide.main;
    let made = model.graphs[main].nodes.iter().flat_map(|&node| model.nodes[node].outputs.iter().flatten());
    let values: Vec<(ValueId, ElemType)> = made
        .filter_map(|value| match ran.values.get(value)? {
            Val::Tensor(array) => Some((*value, array.elem())),
            _ => None,
        })
        .collect();
    let port = |&(value, elem): &(ValueId, ElemType)| Port {
        value,
        info: ValueInfo { ty: Some(tensor_type(elem, None)), ..ValueInfo::default() },
    };
    wide.graphs[main].outputs = values.iter().map(port).collect();
    (wide, values.into_iter().map(|(value, _)| value).collect())
}

fn given(val: &Val) -> Option<DynValue> {
    let Val::Tensor(array) = val else { return None };
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

fn taken(value: &DynValue) -> Option<Val> {
    let ValueType::Tensor { ty, shape, .. } = value.dtype() else { return None };
    let shape: Vec<usize> = shape.iter().map(|&size| size as usize).collect();
    // Where there is no element, it is in no place: no slice can be made of that.
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
    array.ok().map(Val::from)
}
