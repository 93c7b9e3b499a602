//! `onnx-fix`.

pub mod args;
pub mod outline;
mod said;
pub mod save;
pub mod verify;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use similar::TextDiff;

use self::args::Args;
use super::catalogue::{Catalogue, Extent};
use super::lint::config::Configs;
use super::output::{self, Colour};
use super::{Failure, Status, crash};
use crate::diag::{Finding, Level, render};
use crate::files::{Form, ModelFile, Saving};
use crate::fix::{Outcome, fix};
use crate::import::import;
use crate::read::sniff::{Kind, sniff};
use crate::read::{file, pt2};
use crate::rules::registry::RuleSet;

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
    let (source, is_imported) = match read(&args.input, catalogue.rules())? {
        Ok(source) => source,
        Err(status) => return Ok(status),
    };
    if is_imported && args.in_place {
        return Err(Failure::new(
            "--in-place: a model cannot take the place of a program; write to a file with -o",
        ));
    }
    let before = args.diff.then(|| outline::outline(&source.model));
    let outcome = crash::guard(|| fix(source.model.clone(), &options, catalogue.rules()));
    let mut outcome =
        outcome.map_err(|what| Failure::new(format!("onnx-fix failed: {what}; please report this")))?;
    outcome.changed |= is_imported;
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

/// The model at `path`, or on standard input, and whether it was made of a program of PyTorch: its file is no model
/// then. What is wrong with it is said on standard error; where it cannot be worked with, that is the status to end with.
fn read(path: &Path, rules: &RuleSet) -> Result<Result<(ModelFile, bool), Status>, Failure> {
    let (name, bytes) = match path == Path::new("-") {
        true => ("<stdin>".into(), file::stream(std::io::stdin().lock())),
        false => (path.to_string_lossy(), file::read(path)),
    };
    let bytes = bytes.map_err(|error| Failure::unreadable(path, &error))?;
    let is_imported = sniff(&name, &bytes) == Kind::Pt2;
    let opened = match is_imported {
        true => imported(&name, bytes, folder_of(path), rules)?,
        false => ModelFile::read(&name, bytes, folder_of(path)).map_err(|faults| (faults, Status::Failed)),
    };
    Ok(match opened {
        Ok(source) => {
            say(&name, &source.findings);
            Ok((source, is_imported))
        }
        Err((findings, status)) => {
            say(&name, &findings);
            Err(status)
        }
    })
}

/// The model that a program of PyTorch makes; or what keeps it from being one, with the status to end with.
fn imported(
    name: &str,
    bytes: Bytes,
    folder: &Path,
    rules: &RuleSet,
) -> Result<Result<ModelFile, (Vec<Finding>, Status)>, Failure> {
    let (program, findings) = pt2::exported(&bytes);
    let is_usable = findings.iter().all(|finding| finding.level < Level::Error);
    let Some(program) = program.filter(|_| is_usable) else { return Ok(Err((findings, Status::Failed))) };
    let model = crash::guard(|| import(&program, rules));
    let model = model.map_err(|what| Failure::new(format!("onnx-fix failed: {what}; please report this")))?;
    let (name, form, folder) = (Arc::from(name), Form::Binary, folder.to_owned());
    Ok(match model {
        Ok(model) => Ok(ModelFile { name, model, findings, form, folder, bytes }),
        Err(blockers) => Err(([findings, blockers].concat(), Status::Found)),
    })
}

/// Says findings on standard error.
fn say(name: &str, findings: &[Finding]) {
    let named = |finding: &Finding| Finding { file: Arc::from(name), ..finding.clone() };
    let named: Vec<Finding> = findings.iter().map(named).collect();
    eprint!("{}", render::findings(&named, output::look(&std::io::stderr(), Colour::Auto)));
}
