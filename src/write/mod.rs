//! Writers: the binary form and ONNX text.

pub mod onnx;
pub mod text;
