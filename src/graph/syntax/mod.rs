//! ONNX text: the language of `onnx.parser` and `onnx.printer`.
//!
//! Rule files share the lexer and the node grammar, and add their own names and signs for patterns (see
//! [`node::Dialect`]).

pub mod ast;
pub mod cursor;
pub mod lexer;
pub mod lower;
pub mod node;
pub mod number;
pub mod printer;
pub mod span;
pub mod suggest;
pub mod text;
pub mod types;

pub use printer::{Line, NodeSpans, Printed, declaration, line, print, print_graph, tensor_declaration};
pub use span::{Source, Span};

use crate::diag::Finding;
use crate::graph::{Model, NodeId};

use cursor::Cursor;

/// Result of parsing a model.
pub struct ParsedModel {
    /// The parsed model; `None` if no graph was found.
    pub model: Option<Model>,
    /// Spans of the nodes.
    pub nodes: Vec<(NodeId, Span)>,
    pub findings: Vec<Finding>,
}

/// Parses `source` as a model in ONNX text.
pub fn parse(source: &Source) -> ParsedModel {
    let mut cursor = Cursor::new(source, text::TEXT);
    let (model, nodes) = match text::model(&mut cursor) {
        Ok(ast) => {
            let (model, nodes) = lower::model(&mut cursor, ast);
            (Some(model), nodes)
        }
        Err(cursor::Reported) => (None, Vec::new()),
    };
    ParsedModel { model, nodes, findings: cursor.into_findings() }
}

#[cfg(test)]
mod tests;
