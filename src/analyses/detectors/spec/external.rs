//! External tensor data: missing files, ranges out of bounds, and paths outside of the model directory.

use indexmap::IndexMap;

use super::Detector;
use super::tensors::{Holder, dense};
use crate::analyses::LintContext;
use crate::diag::rule_ids::{
    EXTERNAL_DATA_ESCAPES_FOLDER, EXTERNAL_DATA_MISSING, EXTERNAL_DATA_OUT_OF_RANGE,
};
use crate::diag::{Finding, Sink};
use crate::graph::{Tensor, TensorData};
use crate::read::external::{self, ExternalFiles, Fault};

/// Detector of SPC024, SPC025 and SPC026.
pub const DETECTOR: Detector = Detector {
    rules: &[EXTERNAL_DATA_MISSING, EXTERNAL_DATA_OUT_OF_RANGE, EXTERNAL_DATA_ESCAPES_FOLDER],
    run,
};

fn finding(cx: &LintContext, holder: Holder, fault: &Fault) -> Finding {
    let of = |rule| holder.finding(cx, rule, &fault.to_string());
    match fault {
        Fault::NoLocation => of(EXTERNAL_DATA_MISSING),
        Fault::NoFile { .. } => of(EXTERNAL_DATA_MISSING).help("keep the file in the directory of the model"),
        Fault::Escapes { .. } => of(EXTERNAL_DATA_ESCAPES_FOLDER)
            .note("such a path could read any file of the machine, so runtimes reject it")
            .help("use a path within the directory of the model"),
        Fault::BadNumber { .. } | Fault::TooShort { .. } => of(EXTERNAL_DATA_OUT_OF_RANGE),
        Fault::PastEnd { .. } => of(EXTERNAL_DATA_OUT_OF_RANGE)
            .help("restore the file: it is truncated, or belongs to another export"),
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let mut files = cx.options.folders.as_ref().map(ExternalFiles::new);
    // Report a fault of a whole file once, at its first tensor.
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
            finding.note(format!("{count} tensors are in this file"))
        } else {
            finding
        });
    }
}

/// Returns the first fault of an external tensor.
///
/// If `files` is `None`, only the path of the data file is checked, not the file.
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
