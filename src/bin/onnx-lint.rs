//! Finds what went wrong when a model was exported to ONNX.

use std::process::ExitCode;

use onnx_lint::cli::{crash, failure, generate, lint};

/// Models and rules are many small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    crash::install_hook();
    failure::exit(crash::run("onnx-lint", || lint::run(&generate::arguments())))
}
