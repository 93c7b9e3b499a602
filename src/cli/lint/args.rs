//! The arguments of `onnx-lint`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Parser, Subcommand};

use crate::cli::VERSION;
use crate::cli::config::Config;
use crate::cli::output::Color;
use crate::cli::paths;
use crate::diag::Level;
use crate::diag::render::Format;
use crate::remote::Limits;

/// Finds faults in ONNX models and in the PyTorch programs behind them.
///
/// Reads models (.onnx, .onnxtxt, .textproto, .json), torch.export archives (.pt2), TorchScript
/// archives (.pt) and graphs (.torchir.txt), export logs (.log) and Python sources (.py, .ipynb).
#[derive(Clone, Debug, Parser)]
#[command(name = "onnx-lint", version = VERSION, after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Files, folders to search, and URIs (https, s3, gs, az, hf); `-` is standard input
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,

    /// Apply only these rules: codes (`EXP001`), prefixes (`EXP`), names (`baked-shape`), or `ALL`
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub select: Option<Vec<String>>,

    /// Do not apply these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub ignore: Vec<String>,

    /// Apply these rules in addition to the selected ones
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub extend_select: Vec<String>,

    /// Apply preview rules, too, which may change in any release
    #[arg(long, help_heading = "Rules")]
    pub preview: bool,

    /// Lowest severity to show: hint, info, warning or error [default: info; hint with selected rules]
    #[arg(long, value_name = "LEVEL", hide_possible_values = true, value_parser = levels(), help_heading = "Rules")]
    pub severity: Option<Level>,

    /// Load further rules from this folder; may be repeated
    #[arg(long, value_name = "DIR", help_heading = "Rules")]
    pub rules: Vec<PathBuf>,

    /// Test the examples of all rules in this folder, or of those that `--select` names; may be repeated
    #[arg(long, value_name = "DIR", help_heading = "Rules")]
    pub test_rules: Vec<PathBuf>,

    /// Upgrade the rule files in this folder to the current rule language; may be repeated
    #[arg(long, value_name = "DIR", help_heading = "Rules")]
    pub upgrade_rules: Vec<PathBuf>,

    /// List the rules that report findings or fix them
    #[arg(long, help_heading = "Rules")]
    pub list_rules: bool,

    /// With `--list-rules`: list all rules, also conversions, lowerings and proofs
    #[arg(long, requires = "list_rules", help_heading = "Rules")]
    pub all: bool,

    /// Explain a rule
    #[arg(long, value_name = "RULE", help_heading = "Rules")]
    pub explain: Option<String>,

    /// Explain why a rule does not match at a node; takes one model
    #[arg(long, num_args = 2, value_names = ["RULE", "NODE"], help_heading = "Rules")]
    pub why_not: Option<Vec<String>>,

    /// Report the nodes that keep an axis of an input static: `images:0=batch`; may be repeated
    ///
    /// `onnx-fix --dynamic` writes no model if there is such a node.
    #[arg(long, value_name = "IN:AXIS=NAME", value_delimiter = ',', help_heading = "Evidence")]
    pub dynamic: Vec<crate::batching::request::FreeDim>,

    /// Report nodes that this opset does not support, or .pt2 operators that have no lowering to this opset
    #[arg(long, value_name = "N", value_parser = crate::cli::opset::parse, help_heading = "Evidence")]
    pub opset: Option<i64>,

    /// Report what these runtimes or devices do not support: `ort=1.17`; without a version, the newest
    /// version
    #[arg(long, value_name = "NAME[=VERSION]", value_delimiter = ',', help_heading = "Targets")]
    pub target: Vec<String>,

    /// Load further targets from this folder; may be repeated
    #[arg(long, value_name = "DIR", help_heading = "Targets")]
    pub targets: Vec<PathBuf>,

    /// List all targets, with their versions and the sources of their data
    #[arg(long, help_heading = "Targets")]
    pub list_targets: bool,

    /// Search this folder for the Python sources of the model; may be repeated
    #[arg(long, value_name = "DIR", help_heading = "Evidence")]
    pub source_root: Vec<PathBuf>,

    /// Replace the prefix FROM of recorded source paths by TO; may be repeated
    #[arg(long, value_name = "FROM=TO", value_parser = path_map, help_heading = "Evidence")]
    pub path_map: Vec<(String, String)>,

    /// Match the messages of this export log to the nodes of the model
    #[arg(long, value_name = "FILE", help_heading = "Evidence")]
    pub export_log: Option<PathBuf>,

    /// File name to report for standard input
    #[arg(long, value_name = "NAME", help_heading = "Evidence")]
    pub stdin_filename: Option<String>,

    /// Output format
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

    #[command(flatten, next_help_heading = "Output")]
    pub color: Color,

    /// Print findings only, without the summary line
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// Print the number of findings of each rule instead of the findings
    #[arg(long, help_heading = "Output")]
    pub statistics: bool,

    /// Exit with status 0 even if there are findings
    #[arg(long, help_heading = "Output")]
    pub exit_zero: bool,

    /// Exit with status 0 if there are no errors and at most N warnings
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub max_warnings: Option<usize>,

    /// Ignore the findings listed in this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub baseline: Option<PathBuf>,

    /// Write the findings to the baseline file instead of printing them
    #[arg(long, help_heading = "Output")]
    pub write_baseline: bool,

    /// Time in which each remote file must be read, in seconds [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Remote files")]
    pub deadline: Option<u64>,

    /// Memory for the parts of each remote file that are read, in MB [default: 512]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..1 << 20), help_heading = "Remote files")]
    pub memory: Option<u64>,

    /// Do not store the downloaded parts of remote files on disk
    #[arg(long, help_heading = "Remote files")]
    pub no_cache: bool,

    /// Known ETags by URI without credentials and query: files that still have them are not linted.
    #[arg(skip)]
    pub known_etags: Vec<(String, String)>,

    /// Use this configuration file instead of the nearest one above each file
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub config: Option<PathBuf>,

    /// Apply the configured exclusions to files named on the command line, too
    #[arg(long, help_heading = "Configuration")]
    pub force_exclude: bool,

    /// Ignore all configuration files
    #[arg(long, conflicts_with = "config", help_heading = "Configuration")]
    pub isolated: bool,

    /// Number of files to lint in parallel [default: number of cores]
    #[arg(long, value_name = "N", help_heading = "Configuration", action = ArgAction::Set)]
    pub jobs: Option<usize>,
}

/// Subcommands.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Run the language server on standard input and output
    Server,
}

impl Args {
    /// Returns the limits on each remote file.
    pub fn limits(&self) -> Limits {
        let known = Limits::default();
        Limits {
            deadline: self.deadline.map_or(known.deadline, Duration::from_secs),
            memory: self.memory.map_or(known.memory, |megabytes| megabytes << 20),
            cache: !self.no_cache,
        }
    }

    /// Returns true if the run covers the whole project.
    /// The project is the folder of the configuration file; if there is none, it is the Git repository, or
    /// else the current folder.
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
Exit status: 0 no finding at level warning or above; 1 findings; 2 the run failed.
Suppressions: `# onnx-lint: ignore[EXP001]: reason` at the end of a line of Python or ONNX text, or on the line before a \
statement; without `[…]`, all rules; `ignore-file[EXP001]` for the whole file. Unused ones are reported (SUP001).
Configuration: onnx-lint.toml, .onnx-lint.toml, or [tool.onnx-lint] in pyproject.toml.";

fn formats() -> impl TypedValueParser<Value = Format> {
    let all = || Format::ALL.into_iter().chain(Format::TABLES);
    PossibleValuesParser::new(all().map(Format::name).collect::<Vec<_>>())
        .map(move |name| all().find(|format| format.name() == name).unwrap_or_default())
}

fn levels() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(Level::ALL.map(Level::name)).try_map(|name| name.parse::<Level>())
}

fn path_map(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.split_once('=').ok_or("write FROM=TO, as in /app=src")?;
    Ok((from.to_owned(), to.to_owned()))
}
