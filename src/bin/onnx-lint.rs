//! Finds what went wrong when a model was exported to ONNX.

use std::process::ExitCode;

/// Models and rules are many small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    onnx_lint::command::onnx_lint(std::env::args_os()).into()
}
