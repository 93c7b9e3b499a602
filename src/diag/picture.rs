//! Pictures of findings: the surrounding graph, and the effect of a fix.

/// Graph around a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Inputs, then nodes in the order of the file, then outputs.
    pub shapes: Vec<Shape>,
    /// Edges from producers to users.
    pub edges: Vec<Edge>,
    /// Diff lines of the change made by `command`, with some context.
    pub change: Vec<String>,
    /// Call of `onnx-fix` that makes the change.
    pub command: String,
}

/// Node, input or output of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Kind of shape.
    pub kind: ShapeKind,
    /// Operator; for an input or output, its type.
    pub title: String,
    /// Name; may be empty.
    pub name: String,
}

/// Kind of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeKind {
    /// Node that the finding is about.
    Meant,
    /// Another node.
    Node,
    /// Input of the graph.
    Input,
    /// Output of the graph.
    Output,
}

/// Value that flows between two shapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Index of the shape that produces the value.
    pub from: usize,
    /// Index of a shape that uses the value.
    pub to: usize,
    /// Type of the value, as far as known; empty if `from` is an input, which shows its type itself.
    pub label: String,
}
