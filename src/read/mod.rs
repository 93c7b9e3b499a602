//! Readers, one per kind of evidence.
//!
//! Each returns the parsed content and findings for unreadable parts.

pub mod any;
pub mod external;
pub mod file;
pub mod npz;
pub mod onnx;
mod pickle;
pub mod pt2;
pub mod sniff;
pub mod state;
mod storage;
pub mod text;
pub mod torchscript;
mod zipped;
