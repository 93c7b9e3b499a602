//! `onnx-fix`.

pub mod args;
mod calibrate;
mod display;
mod explain;
mod fetch;
mod operators;
pub mod outline;
pub mod program;
mod read;
mod remaining;
pub mod save;
mod summary;
mod table;
pub mod verify;

use crate::cli::paths;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use clap::Parser;
use diffy::{DiffOptions, PatchFormatter};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use self::args::Args;
use self::display::Display;
use self::fetch::Fetched;
use self::remaining::{Linter, Remaining};
use self::summary::{required_changes, summary};
use super::catalog::{Catalog, Extent};
use super::config::Configs;
use super::lint::settings;
use super::output;
use super::progress::Progress;
use super::{Failure, Status, crash, lint, selectors};
use crate::diag::{Finding, Level, Selection, render};
use crate::evidence::Input;
use crate::files::{ModelFile, Saving};
use crate::fix::{Options, Outcome, Report, fix, is_required};
use crate::rules::registry::RuleSet;

/// Runs `onnx-fix` with these arguments on each input.
pub fn run(args: &Args) -> Result<Status, Failure> {
    let progress = Progress::start(args.inputs.len(), args.quiet);
    let tasks = tasks(args, &progress)?;
    let done: Vec<Done> = match tasks.as_slice() {
        [single] => vec![single.done(args, None)],
        tasks => {
            let pool = super::pool(args.jobs)?;
            let done = |task: &Task| {
                let done = task.done(args, None);
                progress.file_done();
                done
            };
            pool.install(|| tasks.par_iter().map(done).collect())
        }
    };
    drop(tasks);
    drop(progress);
    let mut worst = Status::Clean;
    for done in done {
        output::print(&done.printed)?;
        done.output.iter().try_for_each(|piece| output::print_bytes(piece))?;
        output::warn(&done.said);
        match done.ended {
            Ok(status) => worst = worst.max(status),
            Err(failure) if args.inputs.len() == 1 => return Err(failure),
            Err(failure) => {
                output::warn(&format!("error: {}\n", failure.message()));
                worst = Status::Failed;
            }
        }
    }
    Ok(worst)
}

/// Runs `onnx-fix` on one model and returns the output instead of printing it.
///
/// `content` replaces standard input.
///
/// # Errors
/// The arguments or the configuration are invalid, or the output folder cannot be created.
pub fn done(args: &Args, content: Option<Bytes>) -> Result<Done, Failure> {
    match tasks(args, &Progress::hidden())?.as_slice() {
        [single] => Ok(single.done(args, content)),
        _ => Err(Failure::new("pass exactly one model")),
    }
}

/// The work on one input.
struct Task<'a> {
    input: &'a Path,
    /// The output file; `None` if the fixed model is not saved.
    target: Option<PathBuf>,
    settings: Arc<Settings>,
    progress: &'a Progress,
}

/// The settings that inputs of one folder share.
struct Settings {
    catalog: Catalog,
    /// The rules to apply.
    rules: Arc<RuleSet>,
    options: Options,
    /// Rules of `--ignore`.
    ignored: Selection,
    /// Settings of the linter, which finds the errors that remain in the fixed model.
    lint: settings::Settings,
}

/// The outcome for one input.
pub struct Done {
    /// Text for standard output: diffs and explanations.
    printed: String,
    /// The encoded result for standard output.
    pub output: Vec<Bytes>,
    /// Text for standard error.
    said: String,
    /// The findings rendered in `said`.
    pub findings: Vec<Finding>,
    pub report: Option<Report>,
    /// Whether the fixed model was written to its file or to `output`.
    pub is_written: bool,
    pub ended: Result<Status, Failure>,
}

impl Done {
    /// Renders findings for standard error.
    fn say(&mut self, name: &str, findings: &[Finding], args: &Args) {
        let named = |finding: &Finding| Finding { file: Arc::from(name), ..finding.clone() };
        let named: Vec<Finding> = findings.iter().map(named).collect();
        self.said += &render::findings(&named, output::look(&std::io::stderr(), args.color.when));
        self.findings.extend(named);
    }
}

/// Creates the folder of `--output-dir` and a task for each input; rejects colliding outputs.
fn tasks<'a>(args: &'a Args, progress: &'a Progress) -> Result<Vec<Task<'a>>, Failure> {
    let is_stdin = |input: &PathBuf| input == Path::new("-");
    if args.in_place && args.inputs.iter().any(is_stdin) {
        return Err(Failure::new("--in-place: standard input cannot be replaced; write to a file with -o"));
    }
    [&args.output, &args.output_dir, &args.report]
        .into_iter()
        .flatten()
        .try_for_each(|path| paths::local(path).map(drop))?;
    let to_stdout = |file: &Option<PathBuf>| file.as_deref() == Some(Path::new("-"));
    if to_stdout(&args.output) && to_stdout(&args.report) {
        return Err(Failure::new("-o - and --report - would both write to standard output"));
    }
    if args.inputs.len() > 1 {
        if args.output.is_some() {
            return Err(Failure::new("-o takes one model; write several to a folder with --output-dir"));
        }
        if args.report.is_some() {
            return Err(Failure::new("--report takes one model"));
        }
    }
    let configs = Configs::new(args.config.as_deref(), args.isolated)?;
    let mut by_folder: FxHashMap<&Path, Arc<Settings>> = FxHashMap::default();
    let mut targets: FxHashSet<PathBuf> = FxHashSet::default();
    let mut tasks = Vec::new();
    for input in &args.inputs {
        let is_remote = fetch::uri(input)?.is_some();
        if is_remote && args.in_place {
            return Err(Failure::new(
                "--in-place: a remote file cannot be replaced; write to a file with -o",
            ));
        }
        let target = match &args.output_dir {
            Some(folder) => {
                let name = fetch::file_name(input).filter(|_| !is_stdin(input));
                let no_name =
                    || Failure::new("--output-dir: standard input has no name; write to a file with -o");
                let mut target = folder.join(name.ok_or_else(no_name)?);
                if target
                    .extension()
                    .is_some_and(|extension| extension == "pt2" || extension == "pt" || extension == "txt")
                {
                    target.set_extension("onnx");
                }
                Some(target)
            }
            None if args.in_place => Some(input.clone()),
            None => args.output.clone(),
        };
        if let Some(target) = target.iter().find(|target| !targets.insert((*target).clone())) {
            return Err(Failure::at(target, "several results would be written to this file"));
        }
        let folder = if is_remote { Path::new(".") } else { folder_of(input) };
        let settings = match by_folder.get(folder) {
            Some(settings) => settings.clone(),
            None => {
                let settings = Arc::new(Settings::of(args, &configs, folder)?);
                by_folder.insert(folder, settings.clone());
                settings
            }
        };
        tasks.push(Task { input, target, settings, progress });
    }
    if let Some(folder) = &args.output_dir {
        std::fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
    }
    Ok(tasks)
}

impl Settings {
    fn of(args: &Args, configs: &Configs, folder: &Path) -> Result<Self, Failure> {
        let config = configs.for_folder(folder)?;
        let configured = config.rules.iter().map(|folder| config.resolve(folder));
        let folders: Vec<PathBuf> = args.rules.iter().cloned().chain(configured).collect();
        let catalog = Catalog::load(&folders, Extent::Fixing, args.color.when)?;
        args.warnings(&config, &catalog).iter().for_each(|warning| output::warn(warning));
        let options = args.options(&config, &catalog)?;
        let ignored = selectors::resolve(&args.ignore, &catalog, "--ignore")?;
        if let Some(code) = ignored.iter().find(|code| is_required(code)) {
            let why = "a valid result, or another option, requires these changes";
            return Err(Failure::new(format!("--ignore: `{code}` cannot be ignored: {why}")));
        }
        let lint = settings::Settings::new(&lint::args::Args::parse_from(["onnx-lint"]), &config, &catalog)?;
        let rules = catalog.applied(args.preview || config.preview).clone();
        let ignored = Selection::new(Vec::new(), ignored);
        Ok(Settings { catalog, rules, options, ignored, lint })
    }
}

impl Task<'_> {
    fn done(&self, args: &Args, content: Option<Bytes>) -> Done {
        let mut done = Done {
            printed: String::new(),
            output: Vec::new(),
            said: String::new(),
            findings: Vec::new(),
            report: None,
            is_written: false,
            ended: Ok(Status::Clean),
        };
        done.ended = self.run(args, content, &mut done);
        done
    }

    fn run(&self, args: &Args, content: Option<Bytes>, done: &mut Done) -> Result<Status, Failure> {
        let Settings { rules, options, .. } = &*self.settings;
        let progress = self.progress.receiver(&fetch::name(self.input));
        progress.enter("reading");
        let fetched = fetch::fetch(self.input, args.limits())?;
        let options = &Options { progress, ..options.clone() };
        let (mut source, is_imported) = match read::read(&fetched, content, args, rules, done)? {
            Ok(source) => source,
            Err(status) => return Ok(status),
        };
        if is_imported && args.in_place {
            return Err(Failure::new(
                "--in-place: a PyTorch program cannot be replaced by a model; write to a file with -o",
            ));
        }
        // If `--to` reads external data to convert it, the fixed model stores its weights as external data, too.
        let is_external = options.precision.is_some() && source.bring_data();
        let before = args.diff.then(|| outline::outline(&source.model));
        let outcome = crash::guard(|| fix(source.model.clone(), options, rules));
        let mut outcome = outcome.map_err(|what| Failure::internal("onnx-fix", what))?;
        outcome.changed |= is_imported;
        done.say(&source.name, &outcome.findings, args);
        if outcome.findings.iter().any(|finding| finding.level == Level::Error) {
            return Ok(Status::Found);
        }
        if args.report.is_some() || display(args).table {
            outcome.report.measure(&source.model, &outcome.model);
        }
        if let Some(before) = before {
            let after = outline::outline(&outcome.model);
            let [old, new] = [source.name.to_string(), source.name.to_string()];
            let mut options = DiffOptions::new();
            let patch = options.set_original_filename(old).set_modified_filename(new);
            let patch = patch.create_patch(&before, &after);
            if !patch.hunks().is_empty() {
                let formatter = match output::look(&std::io::stdout(), args.color.when).colour {
                    true => PatchFormatter::new().with_color(),
                    false => PatchFormatter::new(),
                };
                done.printed += &formatter.fmt_patch(&patch).to_string();
            }
        }
        let external = args.save_as_external_data || is_external;
        let ended = self.finish(args, (&source, &fetched), &outcome, external, done);
        done.report = Some(outcome.report);
        ended
    }

    /// Verifies, saves and reports the fixed model.
    fn finish(
        &self,
        args: &Args,
        (source, fetched): (&ModelFile, &Fetched),
        outcome: &Outcome,
        external: bool,
        done: &mut Done,
    ) -> Result<Status, Failure> {
        let progress = self.progress.receiver(&source.name);
        let explained = explain::explained(&source.model, outcome, &args.explain_rewrite)?;
        if args.verify {
            progress.enter("verifying in ONNX Runtime");
            let differences = verify::verify(&source.model, source.folders.given(), outcome)?;
            done.say(&source.name, &differences, args);
            if differences.iter().any(|finding| finding.level == Level::Error) {
                return Ok(Status::Found);
            }
        }
        if let Some(path) = &args.report {
            let text =
                serde_json::to_string_pretty(&outcome.report).map_err(|error| Failure::at(path, error))?;
            self.progress.suspend(|| output::write(&(text + "\n"), Some(path)))?;
        }
        done.printed += &explained;
        if !args.quiet {
            done.said += &summary(&source.name, &source.model, outcome, display(args));
            done.said += &required_changes(&outcome.report, &self.settings.ignored, display(args));
        }
        let remaining = self.remaining((source, fetched), outcome)?;
        let is_written = remaining.may_write(args.allow_errors);
        let status = if remaining.is_fatal() { Status::Found } else { Status::Clean };
        if !remaining.errors.is_empty() {
            done.say(&source.name, &remaining.errors, args);
            done.said += &remaining.verdict(&source.name, self.target.as_deref(), is_written);
        }
        if args.check {
            return Ok(if outcome.changed { Status::Found } else { status });
        }
        if let Some(target) = self.target.as_ref().filter(|_| is_written) {
            progress.enter("writing");
            let saving = Saving { external, threshold: args.size_threshold, ..source.saving() };
            match target == Path::new("-") {
                true => done.output = save::encoded(source, outcome, &saving)?,
                false => save::save(source, outcome, &saving, target)?,
            }
            done.is_written = true;
        }
        Ok(status)
    }

    /// Returns the errors in the fixed model.
    fn remaining(
        &self,
        (source, fetched): (&ModelFile, &Fetched),
        outcome: &Outcome,
    ) -> Result<Remaining, Failure> {
        let input = Input { name: source.name.clone(), ..Input::new(&fetched.path, true) };
        let Settings { catalog, rules, options, lint, .. } = &*self.settings;
        let linter = Linter { input: &input, settings: lint, catalog, rules };
        let result = outcome.changed.then_some(&outcome.model);
        let remaining = crash::guard(|| linter.remaining(source, result, options));
        remaining.map_err(|what| {
            Failure::new(format!("the result could not be checked: {what}; please report this"))
        })
    }
}

/// Returns the display settings of the summary on standard error.
fn display(args: &Args) -> Display {
    let look = output::look(&std::io::stderr(), args.color.when);
    let table = match args.table {
        output::When::Auto => std::io::stderr().is_terminal(),
        output::When::Always => true,
        output::When::Never => false,
    };
    Display { look, verbose: args.verbose, table }
}

/// Returns the folder of the model; the current folder for standard input.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
