//! Node attributes.

use std::sync::Arc;

use bytes::Bytes;

use super::arena::{GraphId, TensorId};
use super::tensor::SparseTensor;
use super::types::Type;

/// Attribute kinds, numbered as in `AttributeProto.AttributeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum AttrKind {
    /// `FLOAT`: a 32-bit float.
    Float = 1,
    /// `INT`: a 64-bit integer.
    Int = 2,
    /// `STRING`.
    String = 3,
    /// `TENSOR`.
    Tensor = 4,
    /// `GRAPH`: a subgraph, such as a branch of `If`.
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
    /// All kinds, in numeric order.
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

    /// Returns the kind with this `AttributeType` number.
    /// Returns `None` for 0 (undefined) and for unknown numbers.
    pub fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|&kind| kind as i32 == number)
    }

    /// Returns the name in ONNX text: `int`, `floats`, `sparse_tensor`, `type_proto`, …
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

/// Value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttrValue {
    /// A 32-bit float.
    Float(f32),
    /// A 64-bit integer; booleans are 0 and 1.
    Int(i64),
    /// A string: UTF-8 by convention only.
    String(Bytes),
    /// A tensor in the model's arena.
    Tensor(TensorId),
    /// A subgraph in the model's arena.
    Graph(GraphId),
    /// A sparse tensor in coordinate format.
    SparseTensor(Box<SparseTensor>),
    /// A type.
    Type(Box<Type>),
    /// A list of 32-bit floats.
    Floats(Vec<f32>),
    /// A list of 64-bit integers.
    Ints(Vec<i64>),
    /// A list of strings: UTF-8 by convention only.
    Strings(Vec<Bytes>),
    /// A list of tensors in the model's arena.
    Tensors(Vec<TensorId>),
    /// A list of subgraphs in the model's arena.
    Graphs(Vec<GraphId>),
    /// A list of sparse tensors in coordinate format.
    SparseTensors(Vec<SparseTensor>),
    /// A list of types.
    Types(Vec<Type>),
    /// Reference to an attribute of the enclosing local function.
    Ref {
        /// Name of the function's attribute.
        name: Arc<str>,
        /// Declared kind; `None` if the file declares none.
        kind: Option<AttrKind>,
    },
    /// Missing value (invalid), with the kind number from the file.
    Undefined(Option<i32>),
}

impl AttrValue {
    /// Returns the kind; `None` for a missing value and for a reference without a declared kind.
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

    /// Returns the integer of an `Int`.
    pub fn as_int(&self) -> Option<i64> {
        if let AttrValue::Int(int) = self { Some(*int) } else { None }
    }

    /// Returns the number of a `Float`.
    pub fn as_float(&self) -> Option<f32> {
        if let AttrValue::Float(float) = self { Some(*float) } else { None }
    }

    /// Returns the string of a `String` that is valid UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        if let AttrValue::String(bytes) = self { std::str::from_utf8(bytes).ok() } else { None }
    }

    /// Returns the integers of an `Ints`.
    pub fn as_ints(&self) -> Option<&[i64]> {
        if let AttrValue::Ints(ints) = self { Some(ints) } else { None }
    }

    /// Returns the numbers of a `Floats`.
    pub fn as_floats(&self) -> Option<&[f32]> {
        if let AttrValue::Floats(floats) = self { Some(floats) } else { None }
    }

    /// Returns the id of a dense `Tensor`.
    pub fn as_tensor(&self) -> Option<TensorId> {
        if let AttrValue::Tensor(tensor) = self { Some(*tensor) } else { None }
    }

    /// Returns the subgraphs of a `Graph` or `Graphs`; empty for other kinds.
    pub fn graphs(&self) -> &[GraphId] {
        match self {
            AttrValue::Graph(graph) => std::slice::from_ref(graph),
            AttrValue::Graphs(graphs) => graphs,
            _ => &[],
        }
    }
}

/// Named attribute (`AttributeProto`).
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Name, unique within the node in a valid file.
    pub name: Arc<str>,
    /// Value.
    pub value: AttrValue,
    /// `doc_string`.
    pub doc: Option<Arc<str>>,
    /// Whether the file declares the kind, as it must since IR 2.
    pub typed: bool,
}

impl Attribute {
    /// Creates an attribute with a declared kind and no documentation.
    pub fn new(name: &str, value: AttrValue) -> Self {
        Attribute { name: Arc::from(name), value, doc: None, typed: true }
    }
}
