//! The arguments of `onnx-diff`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::cli::VERSION;
use crate::cli::output::Color;

/// Proves that two models are equal, or shows the first differences.
///
/// Both models are loaded into one e-graph with shared inputs; outputs that the rules merge are equal. Names, node order,
/// the producer and metadata may differ; types and order of inputs and outputs may not. Inputs and outputs with other
/// names are paired by position, and the output lists these pairs.
#[derive(Clone, Debug, Parser)]
#[command(name = "onnx-diff", version = VERSION, after_help = AFTER_HELP)]
pub struct Args {
    /// The first model
    #[arg(value_name = "A")]
    pub first: PathBuf,

    /// The second model
    #[arg(value_name = "B")]
    pub second: PathBuf,

    /// Also run both on random inputs, in ONNX Runtime if it is found; agreement is no proof
    #[arg(long)]
    pub run: bool,

    /// Load further rules from this folder; may be repeated
    #[arg(long, value_name = "DIR")]
    pub rules: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub output_format: Format,

    /// Write the result to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,

    #[command(flatten)]
    pub color: Color,
}

/// Output formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for terminals.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

const AFTER_HELP: &str = "\
Exit status: 0 proved equal, or equal up to rounding, with equal interfaces; 1 otherwise; 2 the run failed.";
