//! Tensors in other files: whether those are there, long enough, and where they may be.

use indexmap::IndexMap;

use super::Detector;
use super::tensors::{Holder, dense};
use crate::diag::rule_ids::{
    EXTERNAL_DATA_ESCAPES_FOLDER, EXTERNAL_DATA_MISSING, EXTERNAL_DATA_OUT_OF_RANGE,
};
use crate::diag::{Finding, Sink};
use crate::graph::{Tensor, TensorData};
use crate::lint::LintContext;
use crate::read::external::{self, ExternalFiles, Fault};

pub const DETECTOR: Detector = Detector {
    rules: &[EXTERNAL_DATA_MISSING, EXTERNAL_DATA_OUT_OF_RANGE, EXTERNAL_DATA_ESCAPES_FOLDER],
    run,
};

fn finding(cx: &LintContext, holder: Holder, fault: &Fault) -> Finding {
    let of = |rule| holder.finding(cx, rule, &fault.to_string());
    match fault {
        Fault::NoLocation => of(EXTERNAL_DATA_MISSING),
        Fault::NoFile { .. } => of(EXTERNAL_DATA_MISSING).help("keep that file beside the model"),
        Fault::Escapes { .. } => of(EXTERNAL_DATA_ESCAPES_FOLDER)
            .note("a model could so read any file of the machine it runs on; runtimes refuse it")
            .help("name the file by a path below the folder of the model"),
        Fault::BadNumber { .. } | Fault::TooShort { .. } => of(EXTERNAL_DATA_OUT_OF_RANGE),
        Fault::PastEnd { .. } => {
            of(EXTERNAL_DATA_OUT_OF_RANGE).help("the file was cut off, or belongs to another export")
        }
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let mut files = cx.options.folder.as_deref().map(ExternalFiles::new);
    // What is wrong with a file as a whole is said once, of the first tensor in it.
    let mut by_location: IndexMap<&str, (Holder, Fault, usize)> = IndexMap::new();
    for (holder, tensor) in dense(cx) {
        let TensorData::External(entries) = &tensor.data else { continue };
        let Some(fault) = fault(tensor, files.as_mut()) else { continue };
        match (&fault, external::location(entries)) {
            (Fault::NoFile { .. } | Fault::Escapes { .. }, Ok(location)) => {
                by_location.entry(location).or_insert((holder, fault, 0)).2 += 1;
            }
            _ => sink.push(finding(cx, holder, &fault)),
        }
    }
    for (holder, fault, count) in by_location.values() {
        let finding = finding(cx, *holder, fault);
        sink.push(if *count > 1 {
            finding.note(format!("{count} tensors are in that file"))
        } else {
            finding
        });
    }
}

/// The first fault of an external tensor. Without the folder of the model, only the text of its location
/// can be judged.
fn fault(tensor: &Tensor, files: Option<&mut ExternalFiles>) -> Option<Fault> {
    if let Some(files) = files {
        return files.bytes(tensor)?.err();
    }
    let TensorData::External(entries) = &tensor.data else { return None };
    match external::location(entries) {
        Err(fault) => Some(fault),
        Ok(location) => {
            let how = external::leaves_folder(location)?;
            Some(Fault::Escapes { location: location.to_owned(), how })
        }
    }
}
