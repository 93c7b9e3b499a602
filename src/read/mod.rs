//! Readers of models, exported programs, printed graphs, archives, weights and arrays.

pub mod any;
pub mod external;
pub mod file;
pub mod jit;
pub mod npz;
pub mod onnx;
mod pickle;
pub mod pt2;
mod rebuild;
pub mod sniff;
pub mod state;
mod storage;
pub mod text;
pub mod torchscript;
mod zipped;
