//! Checks whether two models are equivalent.

use std::process::ExitCode;

/// mimalloc, because models and rules consist of many small allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    onnx_lint::command::onnx_diff(std::env::args_os()).into()
}
