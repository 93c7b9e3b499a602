//! ONNX text: the language of `onnx.parser` and `onnx.printer`.
//!
//! Rule files share the lexer and the node grammar, and add their own names and punctuation for patterns (see
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
pub mod text_spans;
pub mod types;

pub use printer::{
    Line, NodeSpans, Printed, declaration, dims, line, print, print_graph, quoted, tensor_declaration,
};
pub use span::{Source, Span};
pub use text_spans::TextSpans;

use crate::diag::Finding;
use crate::graph::Model;

use cursor::Cursor;

/// Result of parsing a model.
pub struct ParsedModel {
    /// The parsed model; `None` after an error from which the parser cannot recover.
    pub model: Option<Model>,
    /// Spans of the parts of the model.
    pub spans: TextSpans,
    pub findings: Vec<Finding>,
}

/// Parses `source` as a model in ONNX text.
pub fn parse(source: &Source) -> ParsedModel {
    let mut cursor = Cursor::new(source, text::TEXT);
    let (model, spans) = match text::model(&mut cursor) {
        Ok(ast) => {
            let (model, spans) = lower::model(&mut cursor, ast);
            (Some(model), spans)
        }
        Err(cursor::Reported) => (None, TextSpans::new(source)),
    };
    ParsedModel { model, spans, findings: cursor.into_findings() }
}

#[cfg(test)]
mod tests;
