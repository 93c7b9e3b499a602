//! ONNX text: the language of `onnx.parser` and `onnx.printer`.

pub mod span;

pub use span::{Source, Span};
