//! The arguments of `onnx-lint`.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Parser, Subcommand};

use super::config::Config;
use crate::cli::output::Colour;
use crate::cli::paths;
use crate::diag::Level;
use crate::diag::render::Format;

/// Finds what went wrong when a model was exported to ONNX.
///
/// Reads models (.onnx, .onnxtxt, .textproto, .json) and what led to them: torch.export archives (.pt2),
/// TorchScript graphs (.torchir.txt), what the export printed (.log), and the Python source (.py).
#[derive(Clone, Debug, Parser)]
#[command(name = "onnx-lint", version, after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Files, or folders to search; `-` is standard input
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,

    /// Rules to apply, instead of all: codes, their prefixes (`EXP`), names (`baked-shape`), or `ALL`
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub select: Option<Vec<String>>,

    /// Rules to leave out
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub ignore: Vec<String>,

    /// Rules to apply beside those selected
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub extend_select: Vec<String>,

    /// The least that is shown: hint, info, warning or error [default: info, or hint where rules are selected]
    #[arg(long, value_name = "LEVEL", hide_possible_values = true, value_parser = levels(), help_heading = "Rules")]
    pub severity: Option<Level>,

    /// A folder of further rules; may be given more than once
    #[arg(long, value_name = "DIR", help_heading = "Rules")]
    pub rules: Vec<PathBuf>,

    /// Run the examples of the rules in a folder, at targets of `--targets` too; may be given more than once
    #[arg(long, value_name = "DIR", help_heading = "Rules")]
    pub test_rules: Vec<PathBuf>,

    /// List all rules
    #[arg(long, help_heading = "Rules")]
    pub list_rules: bool,

    /// Explain a rule
    #[arg(long, value_name = "RULE", help_heading = "Rules")]
    pub explain: Option<String>,

    /// Say where the match of a rule fails at a node of the one model that is named
    #[arg(long, num_args = 2, value_names = ["RULE", "NODE"], help_heading = "Rules")]
    pub why_not: Option<Vec<String>>,

    /// Report what keeps an axis of an input from being dynamic: `images:0=batch`; may be given more than once
    ///
    /// What is reported is what `onnx-fix --dynamic` refuses.
    #[arg(long, value_name = "IN:AXIS=NAME", value_delimiter = ',', help_heading = "Evidence")]
    pub dynamic: Vec<crate::batching::request::FreeDim>,

    /// Lint as if bound for this opset
    #[arg(long, value_name = "N", value_parser = crate::cli::opset::parse, help_heading = "Evidence")]
    pub opset: Option<i64>,

    /// Lint as if bound for these runtimes and devices, of a version or the newest: `ort=1.17`
    #[arg(long, value_name = "NAME[=VERSION]", value_delimiter = ',', help_heading = "Targets")]
    pub target: Vec<String>,

    /// A folder of further targets; may be given more than once
    #[arg(long, value_name = "DIR", help_heading = "Targets")]
    pub targets: Vec<PathBuf>,

    /// List all targets, with their versions and what is known of them
    #[arg(long, help_heading = "Targets")]
    pub list_targets: bool,

    /// A folder below which the Python behind the graph stands now; may be given more than once
    #[arg(long, value_name = "DIR", help_heading = "Evidence")]
    pub source_root: Vec<PathBuf>,

    /// Where a folder that the export recorded is now; may be given more than once
    #[arg(long, value_name = "FROM=TO", value_parser = path_map, help_heading = "Evidence")]
    pub path_map: Vec<(String, String)>,

    /// What the export printed: matched to the nodes of the model
    #[arg(long, value_name = "FILE", help_heading = "Evidence")]
    pub export_log: Option<PathBuf>,

    /// The name to give to standard input
    #[arg(long, value_name = "NAME", help_heading = "Evidence")]
    pub stdin_filename: Option<String>,

    /// How findings are written
    #[arg(
        long,
        value_name = "FORMAT",
        env = "ONNX_LINT_OUTPUT_FORMAT",
        default_value = "full",
        value_parser = formats(),
        help_heading = "Output"
    )]
    pub output_format: Format,

    /// Write the findings to a file; `-` is standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output_file: Option<PathBuf>,

    /// When to use colours: auto, always or never
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        hide_possible_values = true,
        hide_default_value = true,
        help_heading = "Output"
    )]
    pub color: Colour,

    /// Show findings alone, without the line that counts them
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// Count the findings of each rule instead of showing them
    #[arg(long, help_heading = "Output")]
    pub statistics: bool,

    /// Exit with 0 whatever was found
    #[arg(long, help_heading = "Output")]
    pub exit_zero: bool,

    /// Exit with 0 if there are no errors, and no more warnings than this
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub max_warnings: Option<usize>,

    /// Leave out the findings that this file lists
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub baseline: Option<PathBuf>,

    /// Write what was found to the baseline
    #[arg(long, help_heading = "Output")]
    pub write_baseline: bool,

    /// The configuration, instead of the nearest one above each file
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub config: Option<PathBuf>,

    /// Leave out what the configuration excludes even where it is named
    #[arg(long, help_heading = "Configuration")]
    pub force_exclude: bool,

    /// Read no configuration
    #[arg(long, conflicts_with = "config", help_heading = "Configuration")]
    pub isolated: bool,

    /// Files to lint at a time [default: one for each core]
    #[arg(long, value_name = "N", help_heading = "Configuration", action = ArgAction::Set)]
    pub jobs: Option<usize>,
}

/// What else there is to do.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Serve an editor: the language server protocol over standard input and output
    Server,
    /// Write the documentation as pages of HTML
    Site {
        /// The folder to write them into
        #[arg(value_name = "DIR")]
        folder: PathBuf,

        /// A folder of further rules, which get pages, too; may be given more than once
        #[arg(long, value_name = "DIR")]
        rules: Vec<PathBuf>,
    },
}

impl Args {
    /// Whether the whole project is linted: what `config` governs, or the repository.
    pub fn is_whole(&self, config: &Config) -> bool {
        let here = Path::new(".");
        let root = match config.folder == Path::new("") {
            true => paths::repository(here).unwrap_or_else(|| paths::absolute(here)),
            false => paths::absolute(&config.folder),
        };
        self.paths.iter().any(|path| path.is_dir() && root.starts_with(paths::absolute(path)))
    }
}

const AFTER_HELP: &str = "\
Exit status: 0 nothing found at level warning or above; 1 something found; 2 the run itself failed.
Configuration: onnx-lint.toml, .onnx-lint.toml, or [tool.onnx-lint] in pyproject.toml.";

fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name))
        .map(|name| Format::ALL.into_iter().find(|format| format.name() == name).unwrap_or_default())
}

fn levels() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(Level::ALL.map(Level::name)).try_map(|name| name.parse::<Level>())
}

fn path_map(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.split_once('=').ok_or("write FROM=TO, as in /app=src")?;
    Ok((from.to_owned(), to.to_owned()))
}
