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
    /// `FLOAT`, of 32 bits.
    Float = 1,
    /// `INT`, of 64 bits.
    Int = 2,
    /// `STRING`.
    String = 3,
    /// `TENSOR`.
    Tensor = 4,
    /// `GRAPH`: a body, of a branch or a loop.
    Graph = 5,
    /// `FLOATS`.
    Floats = 6,
    /// `INTS`.
    Ints = 7,
    /// `STRINGS`.
    Strings = 8,
    /// `TENSORS`.
    Tensors = 9,
    /// `GRAPHS`.
    Graphs = 10,
    /// `SPARSE_TENSOR`.
    SparseTensor = 11,
    /// `SPARSE_TENSORS`.
    SparseTensors = 12,
    /// `TYPE_PROTO`.
    Type = 13,
    /// `TYPE_PROTOS`.
    Types = 14,
}

impl AttrKind {
    /// Every kind, in the order of its number.
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

    /// The kind of this number of `AttributeType`; `None` for 0 (undefined) and numbers of no release.
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
    /// One number of 32 bits.
    Float(f32),
    /// One integer of 64 bits; truth values are 0 and 1.
    Int(i64),
    /// UTF-8 by convention only.
    String(Bytes),
    /// A tensor, in the arena of the model.
    Tensor(TensorId),
    /// A body, in the arena of the model.
    Graph(GraphId),
    /// A tensor in coordinate form.
    SparseTensor(Box<SparseTensor>),
    /// A type.
    Type(Box<Type>),
    /// A list of numbers of 32 bits.
    Floats(Vec<f32>),
    /// A list of integers.
    Ints(Vec<i64>),
    /// A list of strings, UTF-8 by convention only.
    Strings(Vec<Bytes>),
    /// A list of tensors, in the arena of the model.
    Tensors(Vec<TensorId>),
    /// A list of bodies, in the arena of the model.
    Graphs(Vec<GraphId>),
    /// A list of tensors in coordinate form.
    SparseTensors(Vec<SparseTensor>),
    /// A list of types.
    Types(Vec<Type>),
    /// Inside a local function: the value of the function's attribute of this name.
    Ref {
        /// The name of the attribute of the function.
        name: Arc<str>,
        /// The kind that is stated; `None` where the file states none.
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

    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        if let AttrValue::Int(int) = self { Some(*int) } else { None }
    }

    /// The number, if it is one float.
    pub fn as_float(&self) -> Option<f32> {
        if let AttrValue::Float(float) = self { Some(*float) } else { None }
    }

    /// The string, if it is one, and is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        if let AttrValue::String(bytes) = self { std::str::from_utf8(bytes).ok() } else { None }
    }

    /// The integers, if it is a list of them.
    pub fn as_ints(&self) -> Option<&[i64]> {
        if let AttrValue::Ints(ints) = self { Some(ints) } else { None }
    }

    /// The numbers, if it is a list of floats.
    pub fn as_floats(&self) -> Option<&[f32]> {
        if let AttrValue::Floats(floats) = self { Some(floats) } else { None }
    }

    /// The tensor, if it is a dense one.
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
    /// Unique among the attributes of a node, unless the file is at fault.
    pub name: Arc<str>,
    /// What it holds.
    pub value: AttrValue,
    /// `doc_string`.
    pub doc: Option<Arc<str>>,
    /// Whether the file states the kind: required since IR 2, absent in older files.
    pub typed: bool,
}

impl Attribute {
    /// One without documentation, whose kind the file will state.
    pub fn new(name: &str, value: AttrValue) -> Self {
        Attribute { name: Arc::from(name), value, doc: None, typed: true }
    }
}
