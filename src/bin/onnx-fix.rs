//! Mends a model, simplifies it, and converts it to another opset.

use std::process::ExitCode;

/// Models and rules are many small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    onnx_lint::command::onnx_fix(std::env::args_os()).into()
}
