//! `onnx-lint`.

pub mod args;
pub mod baseline;
#[cfg(feature = "tables")]
mod columns;
mod configured;
pub mod discover;
pub mod globs;
pub mod home;
pub mod merge;
pub mod pictures;
mod report;
pub mod rules;
pub mod settings;
pub mod statistics;
pub mod suppress;
pub mod table;
pub mod test_rules;
pub mod upgrade_rules;
pub mod why_not;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use rayon::prelude::*;
use walkdir::WalkDir;

use self::args::{Args, Command};
use self::baseline::Baseline;
use self::discover::{Discovered, discover};
use self::home::Home;
use self::merge::{Line, OfFile};
use self::settings::{Assigned, Settings};
use self::suppress::{Report, Suppressions};
use self::table::Scanned;
use super::catalog::{Catalog, Extent};
use super::config::{Config, Configs};
use super::output::{self, When};
use super::progress::Progress;
use super::{Failure, Status, crash, paths, server, targets};
use crate::diag::render::ModelSummary;
use crate::diag::{Finding, Level, Place, rule_ids};
use crate::evidence::{self, Input, Linted};
use crate::read::sniff::Kind;
use crate::rules::registry::RuleSet;

/// Runs `onnx-lint` with these arguments.
pub fn run(args: &Args) -> Result<Status, Failure> {
    if let Some(Command::Server) = args.command {
        return server::run();
    }
    if !args.test_rules.is_empty() {
        let look = output::look(&std::io::stdout(), args.color.when);
        return test_rules::test_rules(args, look);
    }
    if !args.upgrade_rules.is_empty() {
        let look = output::look(&std::io::stdout(), args.color.when);
        return upgrade_rules::upgrade_rules(&args.upgrade_rules, look);
    }
    [&args.baseline, &args.output_file]
        .into_iter()
        .flatten()
        .try_for_each(|path| paths::local(path).map(drop))?;
    let configs = Configs::new(args.config.as_deref(), args.isolated)?;
    let config = configs.for_folder(".".as_ref())?;
    let folders = rule_folders(args, &config);
    let is_built_in = |name: &str| RuleSet::headers().iter().any(|rule| rule.is_named(name));
    let traced = args.why_not.as_ref().and_then(|named| named.first()).map(String::as_str);
    let asked = traced.or(args.explain.as_deref());
    let extent = match asked {
        Some(rule) if is_built_in(rule) => Extent::PagesOf(&[rule]),
        Some(_) => Extent::Pages,
        None if args.list_rules => Extent::Pages,
        None => Extent::Linting,
    };
    let catalog = Catalog::load(&folders, extent, args.color.when)?;
    if args.list_targets {
        let known = targets::load(&targets::folders(&args.targets, &config), args.color.when)?;
        return output::print(&targets::list(&known)).map(|()| Status::Clean);
    }
    if args.list_rules {
        // `--list-rules` also lists preview rules.
        let settings = Settings::new(&Args { preview: true, ..args.clone() }, &config, &catalog)?;
        let text = rules::list(args, &catalog, &settings);
        return output::write(&text, args.output_file.as_deref()).map(|()| Status::Clean);
    }
    if let Some(rule) = &args.explain {
        return output::print(&rules::explain(rule, &catalog)?).map(|()| Status::Clean);
    }
    if let Some([rule, node]) = args.why_not.as_deref() {
        return why_not::why_not(args, rule, node, &catalog);
    }
    let show = |files| Progress::start(files, args.quiet);
    let Some(found) = find(args, &configs, &catalog, None, &show)? else {
        output::warn("onnx-lint: the configuration excludes all files named on the command line\n");
        return Ok(Status::Clean);
    };
    report::report(args, &config, found)
}

/// Returns the findings that are not in the baseline, and whether every file was readable.
///
/// `content` replaces standard input.
///
/// # Errors
/// The arguments, the configuration or the baseline are invalid, or there is nothing to lint.
pub fn findings(args: &Args, content: Option<&Bytes>) -> Result<(Vec<Finding>, bool), Failure> {
    Ok(found(args, content)?.map_or((Vec::new(), true), |found| (found.findings, found.readable)))
}

/// Returns the linted files, with the findings about them in the same order.
///
/// # Errors
/// The errors are those of [`findings`].
pub fn scanned(args: &Args) -> Result<(Vec<Scanned>, Vec<Finding>), Failure> {
    Ok(found(args, None)?.map_or_else(Default::default, |found| (found.scanned, found.findings)))
}

fn found(args: &Args, content: Option<&Bytes>) -> Result<Option<Found>, Failure> {
    let configs = Configs::new(args.config.as_deref(), args.isolated)?;
    let config = configs.for_folder(".".as_ref())?;
    let catalog = Catalog::load(&rule_folders(args, &config), Extent::Linting, args.color.when)?;
    let hide = |_| Progress::hidden();
    let mut found = find(args, &configs, &catalog, content, &hide)?;
    if let (Some(path), Some(found)) = (baseline(args, &config), &mut found) {
        found.remove_known(&path)?;
    }
    Ok(found)
}

/// Lints the files that the arguments name; returns `None` if the configuration excludes all of them.
/// `progress` creates the progress line for a number of files.
fn find(
    args: &Args,
    configs: &Configs,
    catalog: &Catalog,
    content: Option<&Bytes>,
    progress: &dyn Fn(usize) -> Progress,
) -> Result<Option<Found>, Failure> {
    evidence_is_there(args)?;
    let config = configs.for_folder(".".as_ref())?;
    let Discovered { inputs, excluded, skipped } = discover(args, configs, content)?;
    skipped.iter().for_each(|skipped| output::warn(&format!("note: {skipped}\n")));
    if inputs.is_empty() {
        // It is no error if all named files are excluded, as for a Git hook that names the changed files.
        return if excluded > 0 { Ok(None) } else { Err(nothing(args)) };
    }
    let log =
        args.export_log.as_deref().map(|path| Input { kind: Some(Kind::Log), ..Input::new(path, true) });
    let inputs = settings::assign(inputs.into_iter().chain(log).collect(), args, configs, catalog)?;
    let remarks: BTreeSet<&str> =
        inputs.iter().flat_map(|(_, settings)| &settings.remarks).map(String::as_str).collect();
    remarks.into_iter().for_each(output::warn);
    let progress = progress(inputs.len());
    let mut linted = lint_all(&inputs, args.export_log.is_some(), args.jobs, &progress)?;
    let below = |(linted, (_, settings)): (&mut Linted, &Assigned)| -> Vec<Finding> {
        linted.findings.extract_if(.., |finding| settings.hides(finding)).collect()
    };
    let hidden: Vec<Vec<Finding>> = linted.iter_mut().zip(&inputs).map(below).collect();
    let home = Home::new(baseline(args, &config).as_deref(), args.output_format);
    let models = match args.output_format.has_pictures() {
        true => draw(&inputs, &rule_folders(args, &config), args.color.when, &home, &mut linted)?,
        false => Vec::new(),
    };
    drop(progress);
    let mut suppressions = Suppressions::new(catalog);
    let scanned = |((input, _), linted): (&Assigned, &mut Linted)| {
        Scanned::new(home.name(input), input, linted.facts.take())
    };
    let scanned = inputs.iter().zip(&mut linted).map(scanned).collect();
    let mut of_files = Vec::with_capacity(inputs.len());
    let readable = linted.iter().all(|linted| linted.readable);
    let has_sources = inputs.iter().any(|(input, _)| input.name.ends_with(".py"));
    for (((input, settings), mut linted), mut hidden) in inputs.iter().zip(linted).zip(hidden) {
        home.identify(input, &mut linted.findings);
        suppressions.apply(input, settings, &mut linted, &mut hidden);
        let located = |mut finding: Finding| {
            let line = has_sources.then(|| Line::of(input, settings, &finding)).flatten();
            home.place(input, &settings.sources, &mut finding);
            (finding, line)
        };
        of_files.push(OfFile {
            shown: linted.findings.into_iter().map(located).collect(),
            hidden: hidden.into_iter().map(located).collect(),
        });
    }
    let merged = merge::merge(&mut of_files);
    let report = suppressions.report(&inputs, args.is_whole(&config));
    let mut found = Found {
        files: inputs.iter().map(|(input, _)| home.name(input)).collect(),
        readable,
        findings: Vec::new(),
        scanned,
        merged,
        models,
    };
    add_findings(&mut found, &inputs, &home, of_files, report);
    Ok(Some(found))
}

/// Adds the findings of each file and those about its suppressions, then those about configurations.
fn add_findings(found: &mut Found, inputs: &[Assigned], home: &Home, of_files: Vec<OfFile>, report: Report) {
    let about = |input: &Input, settings: &Settings, mut findings: Vec<Finding>| {
        findings.retain_mut(|finding| settings.shows(input, finding));
        home.identify(input, &mut findings);
        findings.iter_mut().for_each(|finding| home.place(input, &settings.sources, finding));
        findings
    };
    let files = inputs.iter().zip(of_files).zip(report.of_inputs).zip(&mut found.scanned);
    for ((((input, settings), of_file), own), scanned) in files {
        let before = found.findings.len();
        found.findings.extend(of_file.shown.into_iter().map(|(finding, _)| finding));
        found.findings.extend(about(input, settings, own));
        scanned.findings = found.findings.len() - before;
    }
    for (path, (index, mut findings)) in report.of_configs {
        let path = paths::below(&path, Path::new(".")).map_or(path, PathBuf::from);
        let input = Input::new(&path, false);
        findings.iter_mut().for_each(|finding| finding.file = input.name.clone());
        let findings = about(&input, &inputs[index].1, findings);
        let name = home.name(&input);
        if !findings.is_empty() && !found.files.contains(&name) {
            found.files.push(name);
        }
        found.findings.extend(findings);
    }
}

/// Returns the baseline file of the command line, else that of the configuration.
fn baseline(args: &Args, config: &Config) -> Option<PathBuf> {
    args.baseline.clone().or_else(|| Some(config.resolve(config.baseline.as_ref()?)))
}

/// Adds graph pictures to the findings of each model, for formats that show them.
///
/// Returns the summary of each model: its opsets, size, inputs and outputs.
fn draw(
    inputs: &[Assigned],
    folders: &[PathBuf],
    color: When,
    home: &Home,
    linted: &mut [Linted],
) -> Result<Vec<ModelSummary>, Failure> {
    let catalog = Catalog::load(folders, Extent::Fixing, color)?;
    let mut models = Vec::new();
    for ((input, _), linted) in inputs.iter().zip(linted) {
        // A finding is complete without its picture.
        let drawn = crash::guard(|| pictures::draw(input, catalog.rules(), &mut linted.findings));
        let facts = drawn.ok().flatten();
        models.extend(facts.map(|facts| ModelSummary { file: home.name(input), facts }));
    }
    Ok(models)
}

/// Returns the folders of `--rules` and of the configuration.
fn rule_folders(args: &Args, config: &Config) -> Vec<PathBuf> {
    args.rules.iter().cloned().chain(config.rules.iter().map(|folder| config.resolve(folder))).collect()
}

/// Returns the failure of a run that finds no file.
fn nothing(args: &Args) -> Failure {
    let paths: Vec<String> = args.paths.iter().map(|path| format!("`{}`", path.display())).collect();
    let what = "no model, .pt2, TorchScript text, log, .py or .ipynb";
    Failure::new(format!("there is nothing to lint in {}: {what}, or all is excluded", paths.join(", ")))
}

/// Checks that each `--source-root` has Python files, and each target of `--path-map` exists.
fn evidence_is_there(args: &Args) -> Result<(), Failure> {
    for root in &args.source_root {
        let mut files = WalkDir::new(root).into_iter().filter_map(Result::ok);
        if !files.any(|entry| entry.path().extension().is_some_and(|end| end == "py")) {
            return Err(Failure::at(root, "--source-root: the folder has no Python files"));
        }
    }
    match args.path_map.iter().find(|(_, to)| !Path::new(to).exists()) {
        Some((from, to)) => Err(Failure::new(format!("--path-map {from}={to}: `{to}` does not exist"))),
        None => Ok(()),
    }
}

/// The result of a run.
struct Found {
    files: Vec<Arc<str>>,
    findings: Vec<Finding>,
    /// The files, with the numbers of their findings.
    scanned: Vec<Scanned>,
    /// Whether every file was readable.
    readable: bool,
    /// Findings of Python sources that are the same as a finding of a model.
    ///
    /// A baseline contains these merged findings, since a later run may lint only the sources.
    merged: Vec<Finding>,
    models: Vec<ModelSummary>,
}

impl Found {
    /// Removes the findings of a baseline.
    fn remove_known(&mut self, path: &Path) -> Result<(), Failure> {
        let mut is_known = Baseline::read(path)?.remove_known(&mut self.findings).into_iter();
        for file in &mut self.scanned {
            file.findings -= is_known.by_ref().take(file.findings).filter(|is_known| *is_known).count();
        }
        Ok(())
    }
}

/// Lints all inputs.
///
/// If `has_log`, the last input is the export log. The log is read first, so that its findings can be
/// reported for models. Findings of the log that no model reports or makes obsolete are reported for the log.
fn lint_all(
    inputs: &[Assigned],
    has_log: bool,
    jobs: Option<usize>,
    progress: &Progress,
) -> Result<Vec<Linted>, Failure> {
    let (models, log) = inputs.split_at(inputs.len() - usize::from(has_log));
    let log = log.iter().map(|log| lint(log, &[])).next();
    let said = log.as_ref().map_or(&[][..], |log| &log.findings);
    let lint_model = |model: &Assigned| {
        progress.phase(format!("linting {}", model.0.name));
        let linted = lint(model, said);
        progress.file_done();
        linted
    };
    let linted: Vec<Linted> = match models {
        [single] => vec![lint_model(single)],
        models => super::pool(jobs)?.install(|| models.par_iter().map(lint_model).collect()),
    };
    let said: BTreeSet<usize> =
        linted.iter().flat_map(|linted| linted.matched_log_findings.iter().copied()).collect();
    let log = log.map(|log| {
        let rest = log.findings.into_iter().enumerate().filter(|(index, _)| !said.contains(index));
        Linted { findings: rest.map(|(_, finding)| finding).collect(), ..log }
    });
    Ok(linted.into_iter().chain(log).collect())
}

/// Lints a file. A panic becomes a finding.
fn lint((input, settings): &Assigned, log: &[Finding]) -> Linted {
    let linted = crash::guard(|| evidence::lint(input, &settings.lint_options(input), log));
    let mut linted = linted.unwrap_or_else(|what| Linted::unreadable(internal_error(input, &what)));
    // Read errors are reported regardless of the selection.
    linted.findings.retain_mut(|finding| {
        settings.enables(input, finding) || (!linted.readable && finding.level == Level::Error)
    });
    linted
}

fn internal_error(input: &Input, what: &str) -> Finding {
    let finding = rule_ids::INTERNAL_ERROR
        .finding(format!("onnx-lint failed: {what}"), Place::File)
        .help("this is a fault of onnx-lint, not of the file: please report it, if possible with the file");
    Finding { file: input.name.clone(), ..finding }
}
