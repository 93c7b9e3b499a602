//! What ONNX text says, piece by piece, each with its span. Types and tensors are those of the graph.

use std::sync::Arc;

use crate::graph::{AttrKind, OpsetImport, Tensor, Type};

pub use super::cursor::Name;
use super::span::Span;

/// The header of a model or function: `<ir_version: 10, opset_import: ["" : 21]>`.
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

#[derive(Clone, Debug)]
pub struct Model {
    pub header: Header,
    pub graph: Graph,
    pub functions: Vec<Function>,
}

/// A value with its type: `float[N,3] x`, and its tensor: `float[2] w = {1,2}`.
#[derive(Clone, Debug)]
pub struct Declared {
    pub ty: Option<Type>,
    pub name: Name,
    pub tensor: Option<Tensor>,
}

#[derive(Clone, Debug)]
pub struct Graph {
    pub name: Name,
    pub inputs: Vec<Declared>,
    pub outputs: Vec<Declared>,
    /// Value infos, and initializers where they have a tensor.
    pub values: Vec<Declared>,
    pub nodes: Vec<Node<AttrSyntax>>,
    pub span: Span,
}

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

/// `[name] y = com.microsoft.Op:overload <a = 1> (x)`; `V` is what the language takes for the value of
/// an attribute.
#[derive(Clone, Debug)]
pub struct Node<V> {
    pub name: Option<Name>,
    pub outputs: Vec<Operand>,
    pub call: Call<V>,
    pub span: Span,
}

/// A node without its name and outputs; `I` is what the language takes for an input.
#[derive(Clone, Debug)]
pub struct Call<V, I = Operand> {
    pub op: Op,
    pub attrs: Vec<Attr<V>>,
    /// `..` or `..@rest`, in rules only.
    pub rest: Option<Rest>,
    pub inputs: Vec<I>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Op {
    /// "" where none is written.
    pub domain: Arc<str>,
    pub name: Name,
    /// `@13`, in rules only.
    pub epoch: Option<(i64, Span)>,
    pub overload: Option<Name>,
    /// `@op`, in rules only: it stands for an operator, and `name` is its own.
    pub var: Option<Box<OpVar>>,
    pub span: Span,
}

/// `@op in [Add, Sub]`, or `@op` for the one that was met.
#[derive(Clone, Debug)]
pub struct OpVar {
    /// Without the `@`.
    pub name: Name,
    pub among: Option<Vec<Op>>,
}

/// How many values an operand stands for; in text always one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Many {
    One,
    /// `b?`.
    Optional,
    /// `xs...`.
    Any,
}

/// An input or output of a node; absent where its name is empty.
#[derive(Clone, Debug)]
pub struct Operand {
    pub name: Name,
    pub many: Many,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Rest {
    pub keep: Option<Name>,
    pub span: Span,
}

/// `axis: int = 1`.
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
    /// Its items are of one kind; `None` for an empty list, whose kind the attribute states.
    List(Vec<AttrSyntax>),
    /// `@name`, in the body of a function.
    Ref(Name),
}
