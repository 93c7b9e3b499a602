//! Writers: the binary form and ONNX text.

pub mod external;
pub mod file;
pub mod onnx;
pub mod text;
