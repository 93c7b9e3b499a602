//! `onnx-lint`.

pub mod args;
pub mod baseline;
pub mod behind;
pub mod config;
pub mod discover;
pub mod evidence;
pub mod globs;
pub mod rules;
pub mod settings;
pub mod statistics;
pub mod why_not;

use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;

use self::args::Args;
use self::baseline::Baseline;
use self::config::{Config, Configs};
use self::discover::{Input, discover};
use self::evidence::Linted;
use self::settings::Settings;
use super::catalogue::Catalogue;
use super::{Failure, Status, output};
use crate::diag::render::{Run, render};
use crate::diag::{Finding, Level};
use crate::read::sniff::Kind;

/// Does what the arguments say.
pub fn run(args: &Args) -> Result<Status, Failure> {
    let configs = Configs::new(args.config.as_deref(), args.isolated)?;
    let config = configs.for_folder(".".as_ref())?;
    let folders: Vec<PathBuf> =
        args.rules.iter().cloned().chain(config.rules.iter().map(|folder| config.resolve(folder))).collect();
    let catalogue = Catalogue::load(&folders)?;
    if args.list_rules {
        return output::print(&rules::list(&catalogue)).map(|()| Status::Clean);
    }
    if let Some(rule) = &args.explain {
        return output::print(&rules::explain(rule, &catalogue)?).map(|()| Status::Clean);
    }
    if let Some([rule, node]) = args.why_not.as_deref() {
        return why_not::why_not(args, rule, node, &catalogue);
    }
    let mut inputs = discover(&args.paths, args.stdin_filename.as_deref(), &configs)?;
    if let Some(log) = &args.export_log {
        inputs.push(Input { kind: Some(Kind::Log), ..Input::new(log, true) });
    }
    let files: Vec<Arc<str>> = inputs.iter().map(|input| input.name.clone()).collect();
    let linted = lint_all(settings::assign(inputs, args, &configs, &catalogue)?, args.jobs)?;
    let readable = linted.iter().all(|linted| linted.readable);
    let findings = linted.into_iter().flat_map(|linted| linted.findings).collect();
    report(args, &config, Found { files, findings, readable })
}

/// What a run found.
struct Found {
    files: Vec<Arc<str>>,
    findings: Vec<Finding>,
    /// Whether every file could be read.
    readable: bool,
}

/// Lints all inputs, several at a time. The results stand in the order of the inputs.
fn lint_all(inputs: Vec<(Input, Arc<Settings>)>, jobs: Option<usize>) -> Result<Vec<Linted>, Failure> {
    if let [(input, settings)] = &inputs[..] {
        return Ok(vec![evidence::lint(input, settings)]);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Failure::new(format!("--jobs: {error}")))?;
    let lint = |(input, settings): &(Input, Arc<Settings>)| evidence::lint(input, settings);
    Ok(pool.install(|| inputs.par_iter().map(lint).collect()))
}

/// Says what was found, and decides how the run ends.
fn report(args: &Args, config: &Config, mut found: Found) -> Result<Status, Failure> {
    let baseline = args.baseline.clone().or_else(|| Some(config.resolve(config.baseline.as_ref()?)));
    if args.write_baseline {
        let path = baseline.ok_or_else(|| Failure::new("--write-baseline: name the file by --baseline"))?;
        Baseline::write(&path, &found.findings)?;
        return Ok(if found.readable { Status::Clean } else { Status::Failed });
    }
    if let Some(path) = baseline {
        Baseline::read(&path)?.remove_known(&mut found.findings);
    }
    let text = if args.statistics {
        statistics::statistics(&found.findings, args.output_format)
    } else {
        let colour = args.output_file.is_none() && output::colour(&std::io::stdout());
        render(Run { files: &found.files, findings: &found.findings }, args.output_format, colour)
    };
    output::write(&text, args.output_file.as_deref())?;
    Ok(status(&found, args.max_warnings.or(config.max_warnings), args.exit_zero))
}

fn status(found: &Found, max_warnings: Option<usize>, exit_zero: bool) -> Status {
    let count = |level| found.findings.iter().filter(|finding| finding.level == level).count();
    let too_much = count(Level::Error) > 0 || count(Level::Warning) > max_warnings.unwrap_or(0);
    match (found.readable, too_much && !exit_zero) {
        (false, _) => Status::Failed,
        (true, true) => Status::Found,
        (true, false) => Status::Clean,
    }
}
