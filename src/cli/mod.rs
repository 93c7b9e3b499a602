//! The command-line interface: arguments, configuration, exit status.

pub mod catalog;
pub mod command;
pub mod config;
mod confusion;
pub mod crash;
pub mod diff;
pub mod failure;
pub mod fix;
pub mod generate;
pub mod lint;
pub mod opset;
pub mod output;
pub mod paint;
pub mod paths;
pub mod progress;
pub mod selectors;
pub mod server;
pub mod targets;

pub use failure::{Failure, Status};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The version of the tools, with the commit if `ONNX_LINT_COMMIT` was set in the build.
pub const VERSION: &str = env!("ONNX_LINT_VERSION");

/// Creates the thread pool of `--jobs`, which processes files in parallel.
fn pool(jobs: Option<usize>) -> Result<ThreadPool, Failure> {
    let pool = ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0)).build();
    pool.map_err(|error| Failure::new(format!("--jobs: {error}")))
}
