//! Finds problems in models that were exported to ONNX.

use std::process::ExitCode;

/// mimalloc, because models and rules consist of many small allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    onnx_lint::command::onnx_lint(std::env::args_os()).into()
}
