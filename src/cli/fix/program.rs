//! Converts PyTorch programs to models: `torch.export` archives, TorchScript archives and text.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::cli::{Failure, Status, crash};
use crate::diag::{Finding, Level, Place, rule_ids};
use crate::files::{ModelFile, ModelFormat};
use crate::fix::undefined_uses;
use crate::import::{InputShape, import, program, scripted};
use crate::read::external::DataFolders;
use crate::read::pt2::{self, Copies, Exported};
use crate::read::sniff::Kind;
use crate::read::{file, jit, state, torchscript};
use crate::rules::registry::RuleSet;
use crate::torch::Origin;

/// The reasons for which a program cannot be converted, with the exit status.
type Refused = (Vec<Finding>, Status);

/// Converts a PyTorch program to a model.
pub fn imported(
    name: &str,
    kind: Kind,
    bytes: Bytes,
    weights: Option<&Path>,
    shapes: &[InputShape],
    folders: DataFolders,
    rules: &RuleSet,
) -> Result<Result<ModelFile, Refused>, Failure> {
    let read = match kind {
        Kind::TorchScript => traced(&bytes, weights)?,
        _ if jit::is_archive(&bytes) => archived(&bytes, shapes, rules)?,
        _ => exported(&bytes),
    };
    let (program, findings) = match read {
        Ok(read) => read,
        Err(refused) => return Ok(Err(refused)),
    };
    let model = crash::guard(|| import(&program, rules));
    let model = model.map_err(|what| Failure::internal("onnx-fix", what))?;
    let (name, form) = (Arc::from(name), ModelFormat::Binary);
    Ok(match model {
        Ok((model, remarks)) => {
            if let Some(fault) = undefined_uses(&model).first() {
                return Err(Failure::internal("onnx-fix", fault));
            }
            let findings = [findings, remarks].concat();
            Ok(ModelFile { name, model, findings, form, folders, bytes })
        }
        Err(blockers) => Err(([findings, blockers].concat(), Status::Found)),
    })
}

/// Reads an archive of `torch.export.save`.
fn exported(bytes: &Bytes) -> Result<(Exported, Vec<Finding>), Refused> {
    let (program, findings) = pt2::exported(bytes, Copies::Made);
    let is_usable = findings.iter().all(|finding| finding.level < Level::Error);
    match program.filter(|_| is_usable) {
        Some(program) => Ok((program, findings)),
        None => Err((findings, Status::Failed)),
    }
}

/// Reads an archive of `torch.jit.save`.
fn archived(
    bytes: &Bytes,
    shapes: &[InputShape],
    rules: &RuleSet,
) -> Result<Result<(Exported, Vec<Finding>), Refused>, Failure> {
    let archive = match jit::Archive::read(bytes) {
        Ok(archive) => archive,
        Err(why) => return Ok(Err((vec![jit::unreadable(&why)], Status::Failed))),
    };
    let program = crash::guard(|| scripted(&archive, shapes, rules));
    let program = program.map_err(|what| Failure::internal("onnx-fix", what))?;
    Ok(program.map(|program| (program, Vec::new())).map_err(|blockers| (blockers, Status::Found)))
}

/// Reads a TorchScript graph in text form, with its weights from a separate file.
fn traced(
    text: &Bytes,
    weights: Option<&Path>,
) -> Result<Result<(Exported, Vec<Finding>), Refused>, Failure> {
    let weights = match weights {
        None => None,
        Some(path) => {
            let bytes = file::read(path).map_err(|error| Failure::unreadable(path, &error))?;
            Some(state::read(&bytes).map_err(|why| Failure::at(path, format!("--weights: {why}")))?)
        }
    };
    let (mut traces, unread) = torchscript::read(&String::from_utf8_lossy(text));
    let refused = |why: &str| rule_ids::UNREADABLE_PART.at(Level::Error).finding(why, Place::File);
    let why = match traces.as_slice() {
        [trace] if trace.origin != Origin::TorchScript => {
            "this graph has ONNX operators: it was printed during an ONNX export, and is not a TorchScript graph"
        }
        [trace] if !trace.complete => "this graph is incomplete",
        [_] => "",
        [] => "this text has no readable graph",
        _ => "this text has several graphs: remove all but one",
    };
    let Some(trace) = traces.pop().filter(|_| why.is_empty()) else {
        return Ok(Err(([unread, vec![refused(why)]].concat(), Status::Failed)));
    };
    Ok(program(trace, weights.as_ref()).map_err(|blockers| (blockers, Status::Found)))
}
