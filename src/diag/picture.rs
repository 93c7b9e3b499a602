//! What formats that draw show of a finding: the graph around it, and what its fix changes.

/// The graph around what a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// What makes values, each after those whose values it takes.
    pub shapes: Vec<Shape>,
    /// Who takes the values of whom.
    pub edges: Vec<Edge>,
    /// The lines that `command` takes out and puts in here, each after its sign, with some around them.
    pub change: Vec<String>,
    /// The call of `onnx-fix` that does it.
    pub command: String,
}

/// A node, or an input or output of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What it is.
    pub kind: ShapeKind,
    /// The operator; of an input or output, its type.
    pub title: String,
    /// Its name; may be empty.
    pub name: String,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeKind {
    /// A node that the finding is about.
    Meant,
    /// Another node.
    Node,
    /// An input of the graph.
    Input,
    /// An output of the graph.
    Output,
}

/// A value on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The index of the shape that makes it.
    pub from: usize,
    /// The index of a shape that takes it.
    pub to: usize,
    /// Its type, as far as it is known.
    pub label: String,
}
