//! Attributes of nodes.

use std::sync::Arc;

use bytes::Bytes;

use super::arena::{GraphId, TensorId};
use super::tensor::SparseTensor;
use super::types::Type;

/// The kinds of attribute, by their number in `AttributeProto.AttributeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum AttrKind {
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Graph = 5,
    Floats = 6,
    Ints = 7,
    Strings = 8,
    Tensors = 9,
    Graphs = 10,
    SparseTensor = 11,
    SparseTensors = 12,
    Type = 13,
    Types = 14,
}

impl AttrKind {
    pub const ALL: [AttrKind; 14] = [
        AttrKind::Float,
        AttrKind::Int,
        AttrKind::String,
        AttrKind::Tensor,
        AttrKind::Graph,
        AttrKind::Floats,
        AttrKind::Ints,
        AttrKind::Strings,
        AttrKind::Tensors,
        AttrKind::Graphs,
        AttrKind::SparseTensor,
        AttrKind::SparseTensors,
        AttrKind::Type,
        AttrKind::Types,
    ];

    pub fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|&kind| kind as i32 == number)
    }

    /// The name in ONNX text: `int`, `floats`, `sparse_tensor`, `type_proto`, …
    pub fn name(self) -> &'static str {
        match self {
            AttrKind::Float => "float",
            AttrKind::Int => "int",
            AttrKind::String => "string",
            AttrKind::Tensor => "tensor",
            AttrKind::Graph => "graph",
            AttrKind::Floats => "floats",
            AttrKind::Ints => "ints",
            AttrKind::Strings => "strings",
            AttrKind::Tensors => "tensors",
            AttrKind::Graphs => "graphs",
            AttrKind::SparseTensor => "sparse_tensor",
            AttrKind::SparseTensors => "sparse_tensors",
            AttrKind::Type => "type_proto",
            AttrKind::Types => "type_protos",
        }
    }
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttrValue {
    Float(f32),
    Int(i64),
    /// UTF-8 by convention only.
    String(Bytes),
    Tensor(TensorId),
    Graph(GraphId),
    SparseTensor(Box<SparseTensor>),
    Type(Box<Type>),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
    Strings(Vec<Bytes>),
    Tensors(Vec<TensorId>),
    Graphs(Vec<GraphId>),
    SparseTensors(Vec<SparseTensor>),
    Types(Vec<Type>),
    /// Inside a local function: the value of the function's attribute of this name.
    Ref {
        name: Arc<str>,
        kind: Option<AttrKind>,
    },
    /// No value at all, with the number of the kind as written: a fault of the file, kept as it is.
    Undefined(Option<i32>),
}

impl AttrValue {
    /// `None` for a value that is a fault of the file, and for a reference without a kind.
    pub fn kind(&self) -> Option<AttrKind> {
        Some(match self {
            AttrValue::Float(_) => AttrKind::Float,
            AttrValue::Int(_) => AttrKind::Int,
            AttrValue::String(_) => AttrKind::String,
            AttrValue::Tensor(_) => AttrKind::Tensor,
            AttrValue::Graph(_) => AttrKind::Graph,
            AttrValue::SparseTensor(_) => AttrKind::SparseTensor,
            AttrValue::Type(_) => AttrKind::Type,
            AttrValue::Floats(_) => AttrKind::Floats,
            AttrValue::Ints(_) => AttrKind::Ints,
            AttrValue::Strings(_) => AttrKind::Strings,
            AttrValue::Tensors(_) => AttrKind::Tensors,
            AttrValue::Graphs(_) => AttrKind::Graphs,
            AttrValue::SparseTensors(_) => AttrKind::SparseTensors,
            AttrValue::Types(_) => AttrKind::Types,
            AttrValue::Ref { kind, .. } => return *kind,
            AttrValue::Undefined(_) => return None,
        })
    }

    pub fn as_int(&self) -> Option<i64> {
        if let AttrValue::Int(int) = self { Some(*int) } else { None }
    }

    pub fn as_float(&self) -> Option<f32> {
        if let AttrValue::Float(float) = self { Some(*float) } else { None }
    }

    pub fn as_str(&self) -> Option<&str> {
        if let AttrValue::String(bytes) = self { std::str::from_utf8(bytes).ok() } else { None }
    }

    pub fn as_ints(&self) -> Option<&[i64]> {
        if let AttrValue::Ints(ints) = self { Some(ints) } else { None }
    }

    pub fn as_floats(&self) -> Option<&[f32]> {
        if let AttrValue::Floats(floats) = self { Some(floats) } else { None }
    }

    pub fn as_tensor(&self) -> Option<TensorId> {
        if let AttrValue::Tensor(tensor) = self { Some(*tensor) } else { None }
    }

    /// The graphs it holds: one, many, or none.
    pub fn graphs(&self) -> &[GraphId] {
        match self {
            AttrValue::Graph(graph) => std::slice::from_ref(graph),
            AttrValue::Graphs(graphs) => graphs,
            _ => &[],
        }
    }
}

/// `AttributeProto`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub name: Arc<str>,
    pub value: AttrValue,
    pub doc: Option<Arc<str>>,
    /// Whether the file states the kind: required since IR 2, absent in older files.
    pub typed: bool,
}

impl Attribute {
    pub fn new(name: &str, value: AttrValue) -> Self {
        Attribute { name: Arc::from(name), value, doc: None, typed: true }
    }
}
