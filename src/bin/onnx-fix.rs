//! Fixes and simplifies a model, and converts it to another opset.

use std::process::ExitCode;

/// mimalloc, because models and rules consist of many small allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    onnx_lint::command::onnx_fix(std::env::args_os()).into()
}
