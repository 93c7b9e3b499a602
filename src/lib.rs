//! Lints ONNX models and mends them.

#[cfg(feature = "tools")]
pub mod cli;
pub mod diag;
pub mod egraph;
#[cfg(feature = "evidence")]
pub mod evidence;
#[cfg(feature = "evidence")]
pub mod export_log;
pub mod extract;
pub mod fix;
pub mod graph;
pub mod infer;
pub mod lint;
#[cfg(feature = "evidence")]
pub mod python;
pub mod read;
pub mod rules;
pub mod schema;
pub mod source;
pub mod torch;
pub mod trial;
pub mod write;

/// The messages of `proto/onnx.proto`, as prost generates them.
pub mod proto {
    #![allow(missing_docs, clippy::all, rustdoc::all)]
    include!(concat!(env!("OUT_DIR"), "/onnx.rs"));
}
