//! Tensors in other files: whether those are there, long enough, and where they may be.

use std::path::{Component, Path, PathBuf};

use indexmap::IndexMap;

use super::Detector;
use super::tensors::{Holder, dense};
use crate::diag::{Finding, Sink};
use crate::graph::{Metadata, Tensor, TensorData};
use crate::lint::{LintContext, RuleId};

const EXTERNAL_DATA_MISSING: RuleId = RuleId::error("SPC024", "external-data-missing");
const EXTERNAL_DATA_OUT_OF_RANGE: RuleId = RuleId::error("SPC025", "external-data-out-of-range");
const EXTERNAL_DATA_ESCAPES_FOLDER: RuleId = RuleId::error("SPC026", "external-data-escapes-folder");

pub const DETECTOR: Detector = Detector {
    rules: &[EXTERNAL_DATA_MISSING, EXTERNAL_DATA_OUT_OF_RANGE, EXTERNAL_DATA_ESCAPES_FOLDER],
    run,
};

/// What can be wrong with where a tensor says its elements are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    NoLocation,
    NoFile { location: String },
    Escapes { location: String, how: &'static str },
    BadNumber { key: &'static str, text: String },
    TooShort { length: u64, needed: u64 },
    PastEnd { end: u64, size: u64, location: String },
}

impl Fault {
    fn finding(&self, cx: &LintContext, holder: Holder) -> Finding {
        match self {
            Fault::NoLocation => {
                holder.finding(cx, EXTERNAL_DATA_MISSING, "is in another file, but does not say in which")
            }
            Fault::NoFile { location } => {
                let why = format!("is in `{location}`, which is not there");
                holder.finding(cx, EXTERNAL_DATA_MISSING, &why).help("keep that file beside the model")
            }
            Fault::Escapes { location, how } => {
                let why = format!("is in `{location}`, which {how}");
                holder
                    .finding(cx, EXTERNAL_DATA_ESCAPES_FOLDER, &why)
                    .note("a model could so read any file of the machine it runs on; runtimes refuse it")
                    .help("name the file by a path below the folder of the model")
            }
            Fault::BadNumber { key, text } => {
                let why = format!("has `{text}` as the `{key}` of its data, which is no number");
                holder.finding(cx, EXTERNAL_DATA_OUT_OF_RANGE, &why)
            }
            Fault::TooShort { length, needed } => {
                let why = format!("takes {needed} bytes, but has only {length} in another file");
                holder.finding(cx, EXTERNAL_DATA_OUT_OF_RANGE, &why)
            }
            Fault::PastEnd { end, size, location } => {
                let why = format!("ends at byte {end} of `{location}`, which has {size}");
                let help = "the file was cut off, or belongs to another export";
                holder.finding(cx, EXTERNAL_DATA_OUT_OF_RANGE, &why).help(help)
            }
        }
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    // A file that is missing is said once for each file, of the first tensor in it.
    let mut by_location: IndexMap<&str, (Holder, Fault, usize)> = IndexMap::new();
    for (holder, tensor) in dense(cx) {
        let TensorData::External(entries) = &tensor.data else { continue };
        let Some(fault) = check(entries, tensor, cx.options.folder.as_deref()) else { continue };
        match (&fault, entry(entries, "location")) {
            (Fault::NoFile { .. } | Fault::Escapes { .. }, Some(location)) => {
                by_location.entry(location).or_insert((holder, fault, 0)).2 += 1;
            }
            _ => sink.push(fault.finding(cx, holder)),
        }
    }
    for (holder, fault, count) in by_location.values() {
        let finding = fault.finding(cx, *holder);
        sink.push(if *count > 1 {
            finding.note(format!("{count} tensors are in that file"))
        } else {
            finding
        });
    }
}

fn entry<'a>(entries: &'a Metadata, key: &str) -> Option<&'a str> {
    entries.iter().find(|(name, _)| &**name == key).map(|(_, value)| &**value)
}

/// The first fault of an external tensor; what needs a look at files is left out without a `folder`.
fn check(entries: &Metadata, tensor: &Tensor, folder: Option<&Path>) -> Option<Fault> {
    let Some(location) = entry(entries, "location").filter(|location| !location.is_empty()) else {
        return Some(Fault::NoLocation);
    };
    let escapes = |how| Some(Fault::Escapes { location: location.to_owned(), how });
    if let Some(how) = leaves_folder(location) {
        return escapes(how);
    }
    let number = |key: &'static str| match entry(entries, key) {
        None => Ok(None),
        Some(text) => {
            text.trim().parse::<u64>().map(Some).map_err(|_| Fault::BadNumber { key, text: text.to_owned() })
        }
    };
    let (offset, length) = match (number("offset"), number("length")) {
        (Ok(offset), Ok(length)) => (offset.unwrap_or(0), length),
        (Err(fault), _) | (_, Err(fault)) => return Some(fault),
    };
    let needed = tensor.byte_len().and_then(|bytes| u64::try_from(bytes).ok());
    if let (Some(length), Some(needed)) = (length, needed)
        && length < needed
    {
        return Some(Fault::TooShort { length, needed });
    }
    let folder = folder?;
    let path = folder.join(location);
    let Ok(found) = path.canonicalize() else { return Some(Fault::NoFile { location: location.to_owned() }) };
    if !found.starts_with(canonical(folder)) {
        return escapes("is a link to a file out of the folder of the model");
    }
    let size = std::fs::metadata(&found).ok()?.len();
    let end = offset.saturating_add(length.or(needed).unwrap_or(0));
    (end > size).then(|| Fault::PastEnd { end, size, location: location.to_owned() })
}

/// How a location leaves the folder of the model by its text alone.
fn leaves_folder(location: &str) -> Option<&'static str> {
    let is_drive = location.as_bytes().get(1) == Some(&b':');
    let parts = Path::new(location).components();
    if location.starts_with(['/', '\\']) || is_drive {
        Some("is an absolute path")
    } else if location.split(['/', '\\']).any(|part| part == "..")
        || parts.into_iter().any(|part| part == Component::ParentDir)
    {
        Some("leads out of the folder of the model")
    } else {
        None
    }
}

fn canonical(folder: &Path) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::graph::ElemType;

    fn found(folder: Option<&Path>, entries: &[(&str, &str)]) -> Option<Fault> {
        let entries: Metadata = entries.iter().map(|&(k, v)| (Arc::from(k), Arc::from(v))).collect();
        let tensor = Tensor::new(ElemType::Float, vec![4], TensorData::External(entries.clone()));
        check(&entries, &tensor, folder)
    }

    #[test]
    fn locations_stay_below_the_folder() {
        let how = |location| match found(None, &[("location", location)]) {
            Some(Fault::Escapes { how, .. }) => Some(how),
            _ => None,
        };
        for location in ["/etc/passwd", r"\\server\x", "C:\\x", "c:x"] {
            assert_eq!(how(location), Some("is an absolute path"), "{location}");
        }
        for location in ["../w.bin", "a/../../w.bin", r"a\..\..\w.bin"] {
            assert_eq!(how(location), Some("leads out of the folder of the model"), "{location}");
        }
        for location in ["w.bin", "a/w.bin", "a..b"] {
            assert_eq!(how(location), None, "{location}");
        }
        assert_eq!(found(None, &[]), Some(Fault::NoLocation));
    }

    #[test]
    fn ranges_lie_in_the_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("w.bin"), [0; 20]).expect("a file");
        let here = Some(folder.path());
        let at = |offset| found(here, &[("location", "w.bin"), ("offset", offset)]);
        assert_eq!((at("0"), at("4")), (None, None));
        assert_eq!(at("8"), Some(Fault::PastEnd { end: 24, size: 20, location: "w.bin".into() }));
        assert_eq!(at("x"), Some(Fault::BadNumber { key: "offset", text: "x".into() }));
        assert!(at("18446744073709551615").is_some());
        let short = found(here, &[("location", "w.bin"), ("length", "8")]);
        assert_eq!(short, Some(Fault::TooShort { length: 8, needed: 16 }));
        assert_eq!(found(here, &[("location", "v.bin")]), Some(Fault::NoFile { location: "v.bin".into() }));
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_below_the_folder() {
        let outside = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(outside.path().join("w.bin"), [0; 20]).expect("a file");
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::os::unix::fs::symlink(outside.path().join("w.bin"), folder.path().join("l.bin"))
            .expect("a link");
        let fault = found(Some(folder.path()), &[("location", "l.bin")]);
        assert!(matches!(fault, Some(Fault::Escapes { .. })), "{fault:?}");
    }
}
