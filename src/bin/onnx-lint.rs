//! Finds what went wrong when a model was exported to ONNX.

use std::process::ExitCode;

use clap::Parser;
use onnx_lint::cli::{crash, failure, lint};

fn main() -> ExitCode {
    crash::install_hook();
    failure::exit(lint::run(&lint::args::Args::parse()))
}
