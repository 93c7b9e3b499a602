//! Syntax tree of ONNX text, with spans. Types and tensors are those of [`crate::graph`].

use std::sync::Arc;

use crate::graph::{AttrKind, OpsetImport, Tensor, Type};

pub use super::cursor::Name;
use super::span::Span;

/// Header of a model or function: `<ir_version: 10, opset_import: ["" : 21]>`.
#[derive(Clone, Debug, Default)]
pub struct Header {
    pub ir_version: Option<i64>,
    pub opsets: Vec<OpsetImport>,
    pub producer_name: Option<Arc<str>>,
    pub producer_version: Option<Arc<str>>,
    pub domain: Option<Arc<str>>,
    pub overload: Option<Arc<str>>,
    pub model_version: Option<i64>,
    pub doc: Option<Arc<str>>,
    pub metadata: crate::graph::Metadata,
}

/// A model.
#[derive(Clone, Debug)]
pub struct Model {
    pub header: Header,
    pub graph: Graph,
    pub functions: Vec<Function>,
}

/// A declared value: `x`, `float[N,3] x`, or `float[2] w = {1,2}` with a tensor.
#[derive(Clone, Debug)]
pub struct Declared {
    pub ty: Option<Type>,
    pub name: Name,
    pub tensor: Option<Tensor>,
    /// Span of the type and the name, without the elements of the tensor.
    pub span: Span,
}

/// A graph or subgraph.
#[derive(Clone, Debug)]
pub struct Graph {
    pub name: Name,
    pub inputs: Vec<Declared>,
    pub outputs: Vec<Declared>,
    /// Initializers, which have a tensor, and value infos, which have none.
    pub values: Vec<Declared>,
    pub nodes: Vec<Node<AttrSyntax>>,
    pub span: Span,
}

/// A local function.
#[derive(Clone, Debug)]
pub struct Function {
    pub header: Header,
    pub name: Name,
    /// Attributes without a default.
    pub attributes: Vec<Name>,
    pub defaults: Vec<Attr<AttrSyntax>>,
    pub inputs: Vec<Declared>,
    pub outputs: Vec<Declared>,
    pub values: Vec<Declared>,
    pub nodes: Vec<Node<AttrSyntax>>,
    pub span: Span,
}

/// A node: `[name] y = com.microsoft.Op:overload <a = 1> (x)`.
/// `V` is the dialect's syntax for attribute values.
#[derive(Clone, Debug)]
pub struct Node<V> {
    pub name: Option<Name>,
    pub outputs: Vec<Operand>,
    pub call: Call<V>,
    pub span: Span,
}

/// A node without its name and outputs; `I` is the dialect's syntax for inputs.
#[derive(Clone, Debug)]
pub struct Call<V, I = Operand> {
    pub op: Op,
    pub attrs: Vec<Attr<V>>,
    /// `..` or `..@rest`, in rules only.
    pub rest: Option<Rest>,
    pub inputs: Vec<I>,
    pub span: Span,
}

/// An operator: domain, name, version and overload.
#[derive(Clone, Debug)]
pub struct Op {
    /// "" if omitted.
    pub domain: Arc<str>,
    pub name: Name,
    /// `@13`, in rules and target files only.
    pub epoch: Option<(i64, Span)>,
    pub overload: Option<Name>,
    /// Operator variable `@op` or `@op in [Add, Sub]`, in rules only; its name is also stored in `name`.
    pub var: Option<Box<OpVar>>,
    pub span: Span,
}

/// An operator variable: `@op`, or `@op in [Add, Sub]`.
#[derive(Clone, Debug)]
pub struct OpVar {
    /// Name without the `@`.
    pub name: Name,
    pub among: Option<Vec<Op>>,
}

/// Number of values that an operand matches; always one in ONNX text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Many {
    One,
    /// `b?`.
    Optional,
    /// `xs...`.
    Any,
}

/// An input or output of a node; absent if its name is empty.
#[derive(Clone, Debug)]
pub struct Operand {
    pub name: Name,
    pub many: Many,
    pub span: Span,
}

/// Further attributes, `..` or `..@rest`.
#[derive(Clone, Debug)]
pub struct Rest {
    pub keep: Option<Name>,
    pub span: Span,
}

/// An attribute: `axis: int = 1`.
#[derive(Clone, Debug)]
pub struct Attr<V> {
    pub name: Name,
    pub kind: Option<AttrKind>,
    pub value: V,
    pub span: Span,
}

/// The value of an attribute in text.
#[derive(Clone, Debug)]
pub enum AttrSyntax {
    Int(i64),
    Float(f32),
    String(Arc<str>),
    Tensor(Box<Tensor>),
    Graph(Box<Graph>),
    Type(Box<Type>),
    /// A list; if it is empty, the attribute must declare its kind.
    List(Vec<AttrSyntax>),
    /// `@name`: an attribute of the enclosing function.
    Ref(Name),
}
