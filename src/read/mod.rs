//! Readers of models, exported programs, printed graphs, weights and arrays.

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
