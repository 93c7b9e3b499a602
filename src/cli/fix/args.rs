//! The arguments of `onnx-fix`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgGroup, Parser, ValueEnum};

use super::calibrate;
use crate::cli::VERSION;
use crate::cli::catalog::Catalog;
use crate::cli::config::Config;
use crate::cli::output::{Color, When};
use crate::cli::{Failure, selectors, targets};
use crate::diag::Selection;
use crate::extract::{CostModel, Objective};
use crate::fix::options::{DEFAULT_FOLD_LIMIT, FixedShape, FreeDim, Options, Progress};
use crate::fix::precision::Precision;
use crate::graph::ElemType;
use crate::graph::dim::Dim;
use crate::import::InputShape;
use crate::remote::Limits;
use crate::write::external::DEFAULT_THRESHOLD;

/// Repairs and optimizes ONNX models, changes their opset, and converts PyTorch programs to ONNX.
#[derive(Clone, Debug, Parser)]
#[command(name = "onnx-fix", version = VERSION, after_help = AFTER_HELP)]
#[command(group = ArgGroup::new("mode").required(true).multiple(true).args(["output", "output_dir", "in_place", "diff", "check", "explain_rewrite", "report"]))]
pub struct Args {
    /// Models, archives of `torch.export.save` or `torch.jit.save`, or TorchScript graphs in text form.
    /// Paths, or URIs (https, s3, gs, az, hf); `-` is standard input. Several inputs run in parallel
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,

    /// Weights of a TorchScript graph in text form: a state dict (`.pt`), a TorchScript archive,
    /// `.safetensors` or `.npz`
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,

    /// Write the result to this file; `-` is standard output
    #[arg(short, long, value_name = "OUTPUT", conflicts_with_all = ["in_place", "check"], help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Write each result to this folder, under the name of its input; programs become `.onnx`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "in_place", "check"], help_heading = "Output")]
    pub output_dir: Option<PathBuf>,

    /// Replace the input file by the result
    #[arg(long, conflicts_with = "check", help_heading = "Output")]
    pub in_place: bool,

    /// Print the changes as a unified diff of ONNX text
    #[arg(long, help_heading = "Output")]
    pub diff: bool,

    /// Write no model; exit with status 1 if the result would differ
    #[arg(long, help_heading = "Output")]
    pub check: bool,

    /// Write the result even if errors of the input remain in it; the exit status is still 1
    #[arg(long, conflicts_with = "check", help_heading = "Output")]
    pub allow_errors: bool,

    /// Explain, rule by rule, why the replacement of this value is equal to it; may be repeated
    #[arg(long, value_name = "VALUE", help_heading = "Output")]
    pub explain_rewrite: Vec<String>,

    /// Write a JSON report of all changes to this file; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub report: Option<PathBuf>,

    /// Print findings only, not the list of changes
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// Print the limits that the search reached, and all items of the lists in the summary and the table
    #[arg(short, long, conflicts_with = "quiet", help_heading = "Output")]
    pub verbose: bool,

    /// When to print a table of model sizes before and after: auto, always or never [default: auto]
    ///
    /// The table shows the operators whose number of nodes changed, and the total numbers of nodes,
    /// initializers and bytes. `auto` prints the table if standard error is a terminal.
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        hide_possible_values = true,
        hide_default_value = true,
        help_heading = "Output"
    )]
    pub table: When,

    #[command(flatten, next_help_heading = "Output")]
    pub color: Color,

    /// Run both models in ONNX Runtime; write nothing if they differ although no unsafe fix was applied
    #[arg(long, help_heading = "Output")]
    pub verify: bool,

    /// Write large tensors to a file beside the model; the default for models over 2 GiB
    #[arg(long, help_heading = "Output")]
    pub save_as_external_data: bool,

    /// Smallest tensor to write to the file beside the model, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_THRESHOLD, help_heading = "Output")]
    pub size_threshold: usize,

    /// Convert to this opset, newer or older
    #[arg(long, value_name = "N", value_parser = crate::cli::opset::parse, help_heading = "Changes")]
    pub opset: Option<i64>,

    /// Convert to operators that these runtimes or devices support: `ort=1.17`;
    /// without a version, the newest version. Implies the opset of the targets
    #[arg(long, value_name = "NAME[=VERSION]", value_delimiter = ',', help_heading = "Changes")]
    pub target: Vec<String>,

    /// Load further targets from this folder; may be repeated
    #[arg(long, value_name = "DIR", help_heading = "Changes")]
    pub targets: Vec<PathBuf>,

    /// Convert float32 computations to this 16-bit type where their values are in its range
    #[arg(long, value_name = "TYPE", value_enum, help_heading = "Changes")]
    pub to: Option<To>,

    /// With --to: keep the inputs and outputs of the model in float32
    #[arg(long, requires = "to", help_heading = "Changes")]
    pub keep_io: bool,

    /// With --to: measure value ranges on these inputs (`numpy.savez`, arrays by input name);
    /// values out of range stay in float32; may be repeated
    #[arg(long, value_name = "NPZ", requires = "to", help_heading = "Changes")]
    pub calibrate: Vec<PathBuf>,

    /// IR version to write [default: that of the new opset if the opset changes]
    #[arg(long, value_name = "N", help_heading = "Changes")]
    pub ir_version: Option<i64>,

    /// Apply only these fixes: codes, prefixes, names, `ALL`, or `none`
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Changes")]
    pub select: Option<Vec<String>>,

    /// Do not apply these fixes and optimizations, and do not use these rules in conversions
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Changes")]
    pub ignore: Vec<String>,

    /// Apply preview rules, too, which may change in any release
    #[arg(long, help_heading = "Changes")]
    pub preview: bool,

    /// Load further rules from this folder; may be repeated
    #[arg(long, value_name = "DIR", help_heading = "Changes")]
    pub rules: Vec<PathBuf>,

    /// Apply fixes that may change values or shapes, too
    #[arg(long, help_heading = "Changes")]
    pub unsafe_fixes: bool,

    /// Do not optimize: change only what the conversion and the selected fixes require
    #[arg(long, help_heading = "Changes")]
    pub no_optimize: bool,

    /// Objective to minimize; with latency, the file grows only where each byte saves a nanosecond
    #[arg(long, value_name = "WHAT", value_enum, default_value_t, help_heading = "Changes")]
    pub optimize_for: OptimizeFor,

    /// Assume this size of a symbolic dimension in the cost model: `batch=8`; may be repeated
    #[arg(long, value_name = "NAME=SIZE", value_delimiter = ',', value_parser = guess, help_heading = "Changes")]
    pub guess: Vec<(Arc<str>, i64)>,

    /// Largest constant that folding may create, in bytes; the work allowed for folding scales with it.
    /// Small constants, and those not larger than the weights they replace, are always allowed;
    /// 0 turns folding off
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_FOLD_LIMIT, help_heading = "Changes")]
    pub fold_limit: usize,

    /// Fold QuantizeLinear and DequantizeLinear of constants, too:
    /// loses integer kernels and may change results
    #[arg(long, help_heading = "Changes")]
    pub fold_qdq: bool,

    /// Write every inferred type and shape; `--optimize-for latency` also writes them if the file does not
    /// grow
    #[arg(long, help_heading = "Changes")]
    pub infer_shapes: bool,

    /// Use this configuration file instead of the nearest one above the model;
    /// `select`, `extend-select`, `ignore`, `preview`, `rules` and `targets` apply to the fixes, too
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub config: Option<PathBuf>,

    /// Ignore all configuration files
    #[arg(long, conflicts_with = "config", help_heading = "Configuration")]
    pub isolated: bool,

    /// Time in which each remote file must be downloaded, in seconds [default: 3600]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Configuration")]
    pub deadline: Option<u64>,

    /// Number of models to process in parallel [default: number of cores]
    #[arg(long, value_name = "N", help_heading = "Configuration")]
    pub jobs: Option<usize>,

    /// Make an axis of an input dynamic in the whole model: `images:0=batch`; may be repeated
    ///
    /// By default, the first axis of an input, and any axis of size 1, holds samples: each sample is computed
    /// by itself. Along an axis that does not hold samples, a model may combine elements. `x:0=T:size` and
    /// `x:1=N:samples` override the default role of an axis. Axes with the same name have the same size. If a
    /// node prevents the dynamic axis, the node is reported, and nothing is written; `onnx-lint --dynamic` only
    /// reports such nodes.
    #[arg(long, value_name = "IN:AXIS=NAME", value_delimiter = ',', help_heading = "Changes")]
    pub dynamic: Vec<FreeDim>,

    /// Shape of an input of a TorchScript archive: `images=batch,3,224,224`, `ids=batch,length:int64`;
    /// may be repeated
    ///
    /// Names are dynamic sizes, and the dtype is float32 unless it is given. Without this option, an input has
    /// the shape of `--fix-shape`, or that of the example input that `torch.jit.trace` recorded.
    #[arg(long, value_name = "IN=DIMS[:DTYPE]", help_heading = "Changes")]
    pub input_shape: Vec<InputShape>,

    /// Set a static shape for an input: `images=1,3,224,224`; may be repeated
    #[arg(long, value_name = "IN=DIMS", value_parser = fixed_shape, help_heading = "Changes")]
    pub fix_shape: Vec<FixedShape>,
}

/// Type of `--to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum To {
    /// Ten bits of mantissa, up to 65504
    Float16,
    /// Seven bits of mantissa, the range of float32
    Bfloat16,
}

impl From<To> for ElemType {
    fn from(to: To) -> Self {
        match to {
            To::Float16 => ElemType::Float16,
            To::Bfloat16 => ElemType::Bfloat16,
        }
    }
}

/// Objective of `--optimize-for`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OptimizeFor {
    /// Number of nodes, each weighted by its kind of work
    #[default]
    Nodes,
    /// Size of the file in bytes
    Size,
    /// Estimated run time
    Latency,
}

impl From<OptimizeFor> for Objective {
    fn from(what: OptimizeFor) -> Self {
        match what {
            OptimizeFor::Nodes => Objective::Nodes,
            OptimizeFor::Size => Objective::Size,
            OptimizeFor::Latency => Objective::Latency,
        }
    }
}

const AFTER_HELP: &str = "\
Exit status: 0 success; 1 a model cannot be fixed or converted, has errors, fails --verify, \
or would change with --check; 2 the run failed.
Nothing is written without -o, --output-dir, --in-place or --report.";

impl Args {
    /// Returns the limits on each remote file.
    pub fn limits(&self) -> Limits {
        Limits { deadline: Duration::from_secs(self.deadline.unwrap_or(3600)), ..Limits::default() }
    }

    /// Returns the options of the library for these arguments.
    pub fn options(&self, config: &Config, catalog: &Catalog) -> Result<Options, Failure> {
        Ok(Options {
            opset: self.opset,
            ir_version: self.ir_version,
            selection: self.selection(config, catalog)?,
            unsafe_fixes: self.unsafe_fixes,
            optimize: !self.no_optimize,
            pricing: CostModel {
                objective: self.optimize_for.into(),
                guesses: self.guess.iter().cloned().collect(),
            },
            infer_shapes: self.infer_shapes,
            dynamic: self.dynamic.clone(),
            fixed: self.fix_shape.clone(),
            targets: targets::find(
                &targets::load(&targets::folders(&self.targets, config), self.color.when)?,
                &self.target,
                "--target",
            )?,
            fold_limit: self.fold_limit,
            fold_qdq: self.fold_qdq,
            precision: self.precision()?,
            explains: !self.explain_rewrite.is_empty(),
            progress: Progress::default(),
        })
    }

    /// Returns the declared shapes of the inputs of a TorchScript archive.
    pub fn input_shapes(&self) -> Vec<InputShape> {
        let is_other = |fixed: &&FixedShape| self.input_shape.iter().all(|shape| shape.input != fixed.input);
        let fixed = self.fix_shape.iter().filter(is_other).map(|fixed| InputShape {
            input: fixed.input.clone(),
            dims: fixed.dims.iter().copied().map(Dim::known).collect(),
            elem: None,
        });
        self.input_shape.iter().cloned().chain(fixed).collect()
    }

    fn precision(&self) -> Result<Option<Precision>, Failure> {
        let Some(to) = self.to else { return Ok(None) };
        let measure = calibrate::measure(&self.calibrate)?;
        Ok(Some(Precision { to: to.into(), keep_io: self.keep_io, measure }))
    }

    /// Returns warnings about the selected rules.
    pub fn warnings(&self, config: &Config, catalog: &Catalog) -> Vec<String> {
        let (words, origin) = match (&self.select, &config.select) {
            (Some(words), _) => (words.as_slice(), "--select".to_owned()),
            (None, words) => (words.as_deref().unwrap_or_default(), config.origin("select")),
        };
        selectors::warnings(words, catalog, &origin, self.preview || config.preview)
    }

    fn selection(&self, config: &Config, catalog: &Catalog) -> Result<Selection, Failure> {
        let codes = |words: &[String], key: &str| selectors::resolve(words, catalog, &config.origin(key));
        let mut select = match (self.select.as_deref(), &config.select) {
            (Some([none]), _) if none == "none" => Vec::new(),
            (Some(words), _) => selectors::resolve(words, catalog, "--select")?,
            (None, Some(words)) => codes(words, "select")?,
            (None, None) => vec!["ALL".to_owned()],
        };
        if self.select.is_none() {
            select.extend(codes(&config.extend_select, "extend-select")?);
        }
        let mut ignore = selectors::resolve(&self.ignore, catalog, "--ignore")?;
        ignore.extend(codes(&config.ignore, "ignore")?);
        ignore.extend(catalog.not_applied(self.preview || config.preview));
        Ok(Selection::new(select, ignore))
    }
}

fn guess(text: &str) -> Result<(Arc<str>, i64), String> {
    let (name, size) = text.rsplit_once('=').ok_or("write NAME=SIZE, as in batch=8")?;
    match size.parse::<i64>() {
        Ok(size) if size >= 0 && !name.is_empty() => Ok((Arc::from(name), size)),
        _ => Err(format!("`{text}` has no size; write NAME=SIZE, as in batch=8")),
    }
}

fn fixed_shape(text: &str) -> Result<FixedShape, String> {
    let (input, dims) = text.rsplit_once('=').ok_or("write INPUT=DIMS, as in images=1,3,224,224")?;
    let dim = |dim: &str| match dim.trim().parse::<i64>() {
        Ok(size) if size >= 0 => Ok(size),
        _ => Err(format!("`{dim}` is not a size")),
    };
    // A scalar has no dims: `scale=`.
    let dims = dims.split(',').filter(|dim| !dim.is_empty()).map(dim).collect::<Result<_, _>>()?;
    Ok(FixedShape { input: input.to_owned(), dims })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_options_may_contain_separators() {
        let free = |text: &str| text.parse::<FreeDim>().map(|dim| (dim.input, dim.axis, dim.name));
        assert_eq!(free("x:0=batch"), Ok(("x".into(), 0, "batch".into())));
        assert_eq!(free("serving:in:0:-1=n"), Ok(("serving:in:0".into(), -1, "n".into())));
        assert!(free("x=batch").is_err() && free("x:a=b").is_err() && free("x:0=").is_err());
        let fixed = |text| fixed_shape(text).map(|shape| (shape.input, shape.dims));
        assert_eq!(fixed("x=1,3"), Ok(("x".into(), vec![1, 3])));
        assert_eq!(fixed("a=b="), Ok(("a=b".into(), vec![])));
        assert_eq!(guess("a=b=8"), Ok(("a=b".into(), 8)));
        assert!(guess("batch").is_err() && guess("=8").is_err() && guess("batch=-1").is_err());
        assert!(fixed("x").is_err() && fixed("x=-1").is_err() && fixed("x=n").is_err());
    }
}
