//! Says whether two models compute the same.

use std::process::ExitCode;

use onnx_lint::cli::{crash, diff, failure, generate};

/// Models and rules are many small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    crash::install_hook();
    failure::exit(crash::run("onnx-diff", || diff::run(&generate::arguments())))
}
