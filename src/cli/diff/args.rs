//! The arguments of `onnx-diff`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Says whether two models compute the same, and where they begin to differ.
///
/// Both are put into one e-graph, on the same inputs: what the rules unite there is equal. Names and order of nodes,
/// producers and metadata may differ; inputs and outputs may not.
#[derive(Clone, Debug, Parser)]
#[command(name = "onnx-diff", version, after_help = AFTER_HELP)]
pub struct Args {
    /// The first model
    #[arg(value_name = "A")]
    pub first: PathBuf,

    /// The second model
    #[arg(value_name = "B")]
    pub second: PathBuf,

    /// Also run both on random numbers, in ONNX Runtime where it is found; this proves nothing
    #[arg(long)]
    pub run: bool,

    /// A folder of further rules; may be given more than once
    #[arg(long, value_name = "DIR")]
    pub rules: Vec<PathBuf>,

    /// How the result is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub output_format: Format,

    /// Write the result to a file, instead of standard output (`-`)
    #[arg(short, long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,
}

/// The formats of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

const AFTER_HELP: &str = "\
Exit status: 0 shown to be equal, or to be equal up to rounding; 1 not shown to be equal; 2 the run itself failed.";
