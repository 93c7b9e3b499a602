//! What a person and a CI see of the two tools: arguments, configuration, exit status.

pub mod catalogue;
pub mod crash;
pub mod failure;
pub mod fix;
pub mod generate;
pub mod lint;
pub mod opset;
pub mod output;
pub mod paths;
pub mod selectors;
pub mod server;

pub use failure::{Failure, Status};
