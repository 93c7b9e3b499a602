//! Writers of models: protobuf formats, ONNX text, external data.

pub mod external;
pub mod file;
pub mod onnx;
mod platform;
pub mod text;
