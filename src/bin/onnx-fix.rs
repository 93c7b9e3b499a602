//! Mends a model, simplifies it, and converts it to another opset.

use std::process::ExitCode;

use onnx_lint::cli::{crash, failure, fix, generate};

/// Models and rules are many small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    crash::install_hook();
    failure::exit(crash::run("onnx-fix", || fix::run(&generate::arguments())))
}
