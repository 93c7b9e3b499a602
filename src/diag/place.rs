//! Places a finding can point at: a line of source, a node of a graph, a span of a text.

use std::sync::Arc;

/// A line of the Python that made a node, or that is itself linted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourcePlace {
    /// As the exporter recorded it; `--path-map` is applied when it is read or shown.
    pub file: Arc<str>,
    /// 1-based.
    pub line: u32,
    /// 1-based; 0 when only the line is known.
    pub column: u32,
    /// Columns that the construct spans; 0 when only its start is known.
    pub width: u32,
    /// The text of the line, where it was stored or could be read.
    pub code: Option<Arc<str>>,
    /// The Python function the line stands in, where recorded.
    pub function: Option<Arc<str>>,
}

/// A node, value or attribute of a model, shown through its ONNX text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GraphPlace {
    /// Name of the graph, as a path through the nodes that own it (`main/If_3.then_branch`).
    pub graph: Arc<str>,
    /// Name of the node, or its first output in quotes where it has none.
    pub node: Arc<str>,
    /// 1-based position of the node in its graph, and how many there are; (0, 0) for what is no node.
    pub position: (u32, u32),
    /// The node as one line of ONNX text, long constants shortened.
    pub text: Arc<str>,
    /// The part of `text` that is meant, in bytes.
    pub span: (u32, u32),
}

/// A span of the file itself: a rule, ONNX text, a log, TorchScript IR.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextPlace {
    /// 1-based.
    pub line: u32,
    /// 1-based, in characters.
    pub column: u32,
    /// In characters; 0 where only the start is known.
    pub width: u32,
    /// The whole line.
    pub text: Arc<str>,
}

/// Where a finding, or a related remark, points.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A byte offset of a binary file.
    Offset(u64),
    /// A line of Python.
    Source(SourcePlace),
    /// A node, or something else of a graph.
    Graph(GraphPlace),
    /// A line of a text, or a part of one.
    Text(TextPlace),
}

impl Place {
    /// The Python line, if that is what this is.
    pub fn source(&self) -> Option<&SourcePlace> {
        match self {
            Place::Source(source) => Some(source),
            _ => None,
        }
    }

    /// The node, if that is what this is.
    pub fn graph(&self) -> Option<&GraphPlace> {
        match self {
            Place::Graph(graph) => Some(graph),
            _ => None,
        }
    }
}
