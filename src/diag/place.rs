//! Locations of findings: files, byte offsets, Python lines, nodes of graphs, and spans of text.

use std::sync::Arc;

/// Python line that produced a node, or that is itself linted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourcePlace {
    /// Path as recorded by the exporter; `--path-map` is applied when the path is used or shown.
    pub file: Arc<str>,
    /// 1-based line.
    pub line: u32,
    /// 1-based column of the construct; 0 if unknown.
    pub column: u32,
    /// Width of the construct in columns; 0 if unknown.
    pub width: u32,
    /// Text of the line, if it was stored or could be read.
    pub code: Option<Arc<str>>,
    /// Python function that contains the line, if recorded.
    pub function: Option<Arc<str>>,
    /// Cell that contains the line, if the file is a notebook. `column` refers to the line of the cell.
    pub cell: Option<Cell>,
}

/// Line of a code cell in a notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// 1-based number among the code cells.
    pub number: u32,
    /// 1-based line in the cell.
    pub line: u32,
}

impl SourcePlace {
    /// Returns the location as text: `net.py:7:4`, or `net.ipynb:cell 3:7:4`.
    /// An unknown column is omitted.
    pub fn locus(&self) -> String {
        let column = if self.column > 0 { format!(":{}", self.column) } else { String::new() };
        match self.cell {
            Some(cell) => format!("{}:cell {}:{}{column}", self.file, cell.number, cell.line),
            None => format!("{}:{}{column}", self.file, self.line),
        }
    }
}

/// Node, value or attribute of a model, shown as ONNX text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GraphPlace {
    /// Name of the graph, as a path through the nodes that own it (`main/If_3.then_branch`).
    pub graph: Arc<str>,
    /// Name of the node, else its first output in quotes, else its operator; empty without a node.
    pub node: Arc<str>,
    /// 1-based position of the node in its graph, and the number of nodes; (0, 0) without a node.
    pub position: (u32, u32),
    /// Node or declaration as a line of ONNX text, with long constants shortened.
    pub text: Arc<str>,
    /// Relevant part of `text`, in bytes.
    pub span: (u32, u32),
    /// Location of `span` in the file, if the model was read from ONNX text.
    ///
    /// The `text` of this location is empty if the line is long.
    pub at: Option<TextPlace>,
}

/// Span of the file itself: a rule, ONNX text, a log, TorchScript IR.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextPlace {
    /// 1-based line.
    pub line: u32,
    /// 1-based column, in characters.
    pub column: u32,
    /// Width in characters; 0 if unknown.
    pub width: u32,
    /// Text of the line.
    pub text: Arc<str>,
}

/// Location of a finding, or of a related message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Whole file.
    File,
    /// Byte offset in a binary file.
    Offset(u64),
    /// Python line.
    Source(SourcePlace),
    /// Node, or another part of a graph.
    Graph(GraphPlace),
    /// Line of a text, or a part of it.
    Text(TextPlace),
}

impl Place {
    /// Returns the Python line of a [`Place::Source`].
    pub fn source(&self) -> Option<&SourcePlace> {
        match self {
            Place::Source(source) => Some(source),
            _ => None,
        }
    }

    /// Returns the graph location of a [`Place::Graph`].
    pub fn graph(&self) -> Option<&GraphPlace> {
        match self {
            Place::Graph(graph) => Some(graph),
            _ => None,
        }
    }
}
