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
use self::save::{Form, Saver};
use super::catalogue::{Catalogue, Extent};
use super::lint::config::Configs;
use super::output::{self, Colour};
use super::{Failure, Status, crash};
use crate::diag::known;
use crate::diag::{Finding, Level, Place, render};
use crate::fix::{Outcome, fix};
use crate::graph::Model;
use crate::read::external::{self, Fault};
use crate::read::sniff::sniff;
use crate::read::{any, file};
use crate::write;

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
    let Some(source) = Source::read(&args.input)? else { return Ok(Status::Failed) };
    let before = args.diff.then(|| outline::outline(&source.model));
    let outcome = crash::guard(|| fix(source.model.clone(), &options, catalogue.rules()));
    let outcome =
        outcome.map_err(|what| Failure::new(format!("onnx-fix failed: {what}; please report this")))?;
    source.say(&outcome.findings);
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
fn finish(args: &Args, source: &Source, outcome: Outcome) -> Result<Status, Failure> {
    if args.verify {
        let differences = verify::verify(&source.model, &source.folder, &outcome)?;
        source.say(&differences);
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
        let saver = Saver { source, threshold: args.size_threshold, external: args.save_as_external_data };
        saver.save(outcome, target)?;
    }
    Ok(Status::Clean)
}

/// The model that was given.
#[derive(Debug)]
pub struct Source {
    /// As named on the command line.
    pub name: Arc<str>,
    /// The file as it is.
    pub bytes: bytes::Bytes,
    /// Its form, which output without a telling name keeps.
    pub form: Form,
    pub model: Model,
    /// Where its external data are.
    pub folder: PathBuf,
}

impl Source {
    /// Reads the model at `path`; says what is wrong with it on standard error, and gives `None` where it
    /// cannot be worked with.
    fn read(path: &Path) -> Result<Option<Source>, Failure> {
        let (name, read) = match path == Path::new("-") {
            true => ("<stdin>".into(), file::stream(std::io::stdin().lock())),
            false => (path.to_string_lossy(), file::read(path)),
        };
        let bytes = read.map_err(|error| Failure::unreadable(path, &error))?;
        let kind = sniff(&name, &bytes);
        let (model, mut findings) = any::model(kind, bytes.clone());
        let folder = folder_of(path).to_owned();
        findings.extend(model.iter().flat_map(|model| out_of_reach(model, &folder)));
        let usable = findings.iter().all(|finding| finding.level < Level::Error);
        say(&name, &findings);
        let form = Form::of_kind(kind);
        let source = |model| Source { name: Arc::from(&*name), bytes, form, model, folder };
        Ok(model.filter(|_| usable).map(source))
    }

    /// Findings, on standard error.
    fn say(&self, findings: &[Finding]) {
        say(&self.name, findings);
    }
}

fn say(name: &str, findings: &[Finding]) {
    let named = |finding: &Finding| Finding { file: Arc::from(name), ..finding.clone() };
    let named: Vec<Finding> = findings.iter().map(named).collect();
    eprint!("{}", render::findings(&named, output::look(&std::io::stderr(), Colour::Auto)));
}

/// External data that the model has no business with, or that are not here; nothing is read or copied then.
fn out_of_reach(model: &Model, folder: &Path) -> Vec<Finding> {
    let fault = |location: Arc<str>| match external::locate(folder, &location) {
        Err(fault @ Fault::Escapes { .. }) => {
            let message = format!("the data of a tensor {fault}");
            let finding = known::EXTERNAL_DATA_ESCAPES_FOLDER.finding(message, Place::File);
            Some(finding.help("name the file by a path below the folder of the model"))
        }
        Err(fault) => {
            let message = format!("the data of a tensor {fault}");
            let finding = known::EXTERNAL_DATA_MISSING.at(Level::Error).finding(message, Place::File);
            Some(finding.help("put the file beside the model; it belongs to it"))
        }
        Ok(_) => None,
    };
    write::external::locations(model).into_iter().filter_map(fault).collect()
}
