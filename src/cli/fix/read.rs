//! Reading of the models that `onnx-fix` takes.

use std::path::Path;

use bytes::Bytes;

use super::args::Args;
use super::fetch::Fetched;
use super::{Done, program};
use crate::cli::{Failure, Status};
use crate::files::ModelFile;
use crate::read::external::DataFolders;
use crate::read::file;
use crate::read::sniff::{Kind, sniff};
use crate::rules::registry::RuleSet;

/// Reads a model from its file or from standard input.
///
/// The second result is true if the model was converted from a PyTorch program. Adds faults to `done`; returns the exit
/// status as the inner error if the input is unusable.
pub fn read(
    fetched: &Fetched,
    content: Option<Bytes>,
    args: &Args,
    rules: &RuleSet,
    done: &mut Done,
) -> Result<Result<(ModelFile, bool), Status>, Failure> {
    let path = &*fetched.path;
    let (name, bytes) = match (path == Path::new("-"), content) {
        (true, Some(content)) => ("<model>", Ok(content)),
        (true, None) => ("<stdin>", file::stream(std::io::stdin().lock())),
        (false, _) => (&*fetched.name, file::read(path)),
    };
    let bytes = bytes.map_err(|error| Failure::unreadable(Path::new(&fetched.name), &error))?;
    let kind = sniff(name, &bytes);
    let is_imported = matches!(kind, Kind::Pt2 | Kind::TorchScript);
    let weights = args.weights.as_deref();
    if let Some(weights) = weights.filter(|_| kind != Kind::TorchScript) {
        return Err(Failure::at(weights, "--weights: only for TorchScript graphs in text form"));
    }
    let opened = match is_imported {
        true => {
            let shapes = args.input_shapes();
            program::imported(name, kind, bytes, weights, &shapes, DataFolders::of_model(path), rules)?
        }
        false => ModelFile::read(name, bytes, &DataFolders::of_model(path))
            .map_err(|faults| (faults, Status::Failed)),
    };
    Ok(match opened {
        Ok(source) => {
            done.say(name, &source.findings, args);
            Ok((source, is_imported))
        }
        Err((findings, status)) => {
            done.say(name, &findings, args);
            Err(status)
        }
    })
}
