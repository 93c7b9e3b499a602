//! `onnx-diff`.

pub mod args;
mod runs;
mod text;

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use self::args::{Args, Format};
use super::catalog::{Catalog, Extent};
use super::fix::verify::Seen;
use super::output::{self, When};
use super::progress::Progress;
use super::{Failure, Status, crash, paths};
use crate::diag::{Finding, render};
use crate::diff::{Comparison, compare, prepared};
use crate::files::ModelFile;
use crate::graph::Model;
use crate::read::external::DataFolders;
use crate::read::file;

/// The JSON output.
#[derive(Serialize)]
struct Verdict<'a> {
    a: &'a str,
    b: &'a str,
    is_equal: bool,
    #[serde(flatten)]
    comparison: &'a Comparison,
    /// The result of `--run`, or the reason for which the models were not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Result<Seen, String>>,
}

/// Runs `onnx-diff` with these arguments.
pub fn run(args: &Args) -> Result<Status, Failure> {
    let progress = Progress::start(1, false);
    let catalog = Catalog::load(&args.rules, Extent::Fixing, args.color.when)?;
    [&args.first, &args.second].into_iter().try_for_each(|path| paths::local(path).map(drop))?;
    let read = |path: &Path| {
        progress.phase(format!("reading {}", path.display()));
        progress.suspend(|| read(path, args.color.when))
    };
    let (Some(first), Some(second)) = (read(&args.first)?, read(&args.second)?) else {
        return Ok(Status::Failed);
    };
    let (a, b) = (ready(&first)?, ready(&second)?);
    progress.phase("comparing");
    let compared = crash::guard(|| compare(&a, &b, catalog.applied(false)));
    let comparison = compared.map_err(|what| Failure::internal("onnx-diff", what))?;
    if args.run {
        progress.phase("running both models");
    }
    let run = args.run.then(|| runs::run((&a, first.folders.given()), (&b, second.folders.given())));
    drop(progress);
    let result = Verdict {
        a: &first.name,
        b: &second.name,
        is_equal: comparison.is_equal(),
        comparison: &comparison,
        run,
    };
    let text = match args.output_format {
        Format::Text => text::text(&result, output::look_of(args.output_file.as_deref(), args.color.when)),
        Format::Json => {
            let text = serde_json::to_string_pretty(&result);
            text.map_err(|error| Failure::new(error.to_string()))? + "\n"
        }
    };
    output::write(&text, args.output_file.as_deref())?;
    Ok(if comparison.is_equal() { Status::Clean } else { Status::Found })
}

/// Reads the model at `path`; prints its faults to standard error and returns `None` if it is unusable.
fn read(path: &Path, color: When) -> Result<Option<ModelFile>, Failure> {
    let bytes = file::read(path).map_err(|error| Failure::unreadable(path, &error))?;
    match ModelFile::read(&path.to_string_lossy(), bytes, &DataFolders::of_model(path)) {
        Ok(file) => Ok(Some(file)),
        Err(findings) => {
            let name: Arc<str> = Arc::from(&*path.to_string_lossy());
            let named: Vec<Finding> =
                findings.into_iter().map(|finding| Finding { file: name.clone(), ..finding }).collect();
            output::warn(&render::findings(&named, output::look(&std::io::stderr(), color)));
            Ok(None)
        }
    }
}

fn ready(file: &ModelFile) -> Result<Model, Failure> {
    prepared(file.model.clone(), &file.folders).map_err(|why| Failure::at(Path::new(&*file.name), why))
}
