//! `onnx-fix`.

pub mod args;
pub mod outline;
mod said;
pub mod save;
pub mod verify;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use similar::TextDiff;

use self::args::Args;
use super::catalogue::{Catalogue, Extent};
use super::lint::config::Configs;
use super::output::{self, Colour};
use super::{Failure, Status, crash};
use crate::diag::{Finding, Level, render};
use crate::files::{self, ModelFile, OpenError, Saving};
use crate::fix::{Outcome, fix};
use crate::read::file;

/// Does what the arguments say.
pub fn run(args: &Args) -> Result<Status, Failure> {
    let configs = Configs::new(args.config.as_deref(), args.isolated)?;
    let config = configs.for_folder(folder_of(&args.input))?;
    let configured = config.rules.iter().map(|folder| config.resolve(folder));
    let folders: Vec<PathBuf> = args.rules.iter().cloned().chain(configured).collect();
    let catalogue = Catalogue::load(&folders, Extent::Fixing)?;
    let options = args.options(&config, &catalogue)?;
    if args.in_place && args.input == Path::new("-") {
        return Err(Failure::new("--in-place: standard input cannot be replaced; write to a file with -o"));
    }
    let Some(source) = read(&args.input)? else { return Ok(Status::Failed) };
    let before = args.diff.then(|| outline::outline(&source.model));
    let outcome = crash::guard(|| fix(source.model.clone(), &options, catalogue.rules()));
    let outcome =
        outcome.map_err(|what| Failure::new(format!("onnx-fix failed: {what}; please report this")))?;
    say(&source.name, &outcome.findings);
    if outcome.findings.iter().any(|finding| finding.level == Level::Error) {
        return Ok(Status::Found);
    }
    if let Some(before) = before {
        let after = outline::outline(&outcome.model);
        let diff = TextDiff::from_lines(&before, &after);
        output::print(&diff.unified_diff().header(&source.name, &source.name).to_string())?;
    }
    finish(args, &source, outcome)
}

/// The folder of the model: the current one for standard input.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What is done once the model is as it is to be.
fn finish(args: &Args, source: &ModelFile, outcome: Outcome) -> Result<Status, Failure> {
    if args.verify {
        let differences = verify::verify(&source.model, &source.folder, &outcome)?;
        say(&source.name, &differences);
        if differences.iter().any(|finding| finding.level == Level::Error) {
            return Ok(Status::Found);
        }
    }
    if let Some(path) = &args.report {
        let text = serde_json::to_string_pretty(&outcome.report).map_err(|error| Failure::at(path, error))?;
        output::write(&(text + "\n"), Some(path))?;
    }
    eprint!("{}", said::told(&source.name, &source.model, &outcome));
    if args.check {
        return Ok(if outcome.changed { Status::Found } else { Status::Clean });
    }
    let target = if args.in_place { Some(&args.input) } else { args.output.as_ref() };
    if let Some(target) = target {
        let (external, threshold) = (args.save_as_external_data, args.size_threshold);
        save::save(source, &outcome, &Saving { external, threshold, ..source.saving() }, target)?;
    }
    Ok(Status::Clean)
}

/// The model at `path`, or on standard input. What is wrong with it is said on standard error; `None` where it cannot
/// be worked with.
fn read(path: &Path) -> Result<Option<ModelFile>, Failure> {
    const STDIN: &str = "<stdin>";
    let (name, opened) = if path == Path::new("-") {
        let bytes = file::stream(std::io::stdin().lock());
        let bytes = bytes.map_err(|error| Failure::unreadable(path, &error))?;
        (STDIN.into(), ModelFile::read(STDIN, bytes, Path::new(".")))
    } else {
        (path.to_string_lossy(), files::open(path))
    };
    match opened {
        Ok(source) => {
            say(&name, &source.findings);
            Ok(Some(source))
        }
        Err(OpenError::Faulty { findings }) => {
            say(&name, &findings);
            Ok(None)
        }
        Err(OpenError::Unreadable { path, error }) => Err(Failure::unreadable(&path, &error)),
    }
}

/// Says findings on standard error.
fn say(name: &str, findings: &[Finding]) {
    let named = |finding: &Finding| Finding { file: Arc::from(name), ..finding.clone() };
    let named: Vec<Finding> = findings.iter().map(named).collect();
    eprint!("{}", render::findings(&named, output::look(&std::io::stderr(), Colour::Auto)));
}
