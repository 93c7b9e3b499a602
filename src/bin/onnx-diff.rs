//! Says whether two models compute the same.

use std::process::ExitCode;

/// Models and rules are many small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    onnx_lint::command::onnx_diff(std::env::args_os()).into()
}
