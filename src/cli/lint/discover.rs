//! Finds the files to lint: those named on the command line, and those in folders.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use walkdir::{DirEntry, WalkDir};

use super::args::Args;
use super::globs::Globs;
use crate::cli::config::Configs;
use crate::cli::{Failure, paths};
use crate::diag::reason;
use crate::evidence::Input;
use crate::read::file;
use crate::read::sniff::{Kind, sniff};
use crate::remote::{Source, Uri};

/// File name suffixes that a folder search accepts. Explicitly named files may have any suffix.
const SUFFIXES: [&str; 9] =
    [".onnx", ".onnxtxt", ".textproto", ".json", ".pt2", ".torchir.txt", ".log", ".py", ".ipynb"];

/// Folders with third-party or generated files, which a search skips.
const SKIPPED: [&str; 4] = ["__pycache__", "node_modules", "site-packages", "venv"];

/// The files of a run.
#[derive(Debug, Default)]
pub struct Discovered {
    /// Distinct inputs in the order of the arguments and, within a folder, of names.
    pub inputs: Vec<Input>,
    /// The number of named files that the configuration excludes; 0 without `--force-exclude`.
    pub excluded: usize,
    /// Links, devices and pipes that the search of a folder skipped, each with the reason.
    pub skipped: Vec<String>,
}

/// Returns the files to lint. `content` replaces standard input.
pub fn discover(args: &Args, configs: &Configs, content: Option<&Bytes>) -> Result<Discovered, Failure> {
    let mut found = Discovered::default();
    for path in &args.paths {
        if path == Path::new("-") {
            let name = Arc::from(args.stdin_filename.as_deref().unwrap_or("<stdin>"));
            let kind = content.and_then(|content| in_memory(&name, content));
            let content = content.cloned().or_else(held);
            found.inputs.push(Input { name, path: None, named: true, kind, content, remote: None });
        } else if let Some(uri) = Uri::parse(&path.to_string_lossy()) {
            let uri = uri.map_err(Failure::new)?;
            let known = args.known_etags.iter().find(|(known, _)| *known == **uri.shown());
            let source = Source::new(uri, args.limits());
            let source = known.map_or(source.clone(), |(_, etag)| source.unless(etag));
            found.inputs.push(Input::at(source));
        } else if path.is_dir() {
            search(path, configs, &mut found)?;
        } else if args.force_exclude && is_excluded(path, configs)? {
            found.excluded += 1;
        } else {
            found.inputs.push(Input::new(path, true));
        }
    }
    let mut seen = rustc_hash::FxHashSet::default();
    let key = |input: &Input| {
        (input.path.as_deref().map(target), input.remote.as_ref().map(|remote| remote.uri().clone()))
    };
    found.inputs.retain(|input| seen.insert(key(input)));
    Ok(found)
}

/// Returns [`Kind::Onnx`] for content that is not recognized as a model, unless `name` has the suffix
/// of a log, a text or Python code.
///
/// Returns `None` if the kind is to be derived from the name and the content.
fn in_memory(name: &str, content: &Bytes) -> Option<Kind> {
    let is_text = matches!(sniff(name, content), Kind::Log | Kind::Python | Kind::Other);
    let is_named = [".log", ".txt", ".py", ".ipynb"].iter().any(|end| name.ends_with(end));
    (is_text && !is_named).then_some(Kind::Onnx)
}

/// Reads standard input into memory.
///
/// The input is needed twice: for its findings, and for its comments or pictures.
fn held() -> Option<Bytes> {
    file::stream(std::io::stdin().lock()).ok()
}

/// Returns true if the configuration excludes a file or a folder above it.
fn is_excluded(path: &Path, configs: &Configs) -> Result<bool, Failure> {
    let config = configs.for_folder(Input::new(path, true).folder())?;
    let exclude = Globs::new(&config.folder, config.exclude.iter().map(|glob| (glob.as_str(), ())))?;
    let path = paths::absolute(path);
    let mut within = path.ancestors().take_while(|folder| folder.starts_with(&exclude.folder));
    Ok(within.any(|path| exclude.matches(path).next().is_some()))
}

/// Returns the path of a file without links, so that the file is linted once.
fn target(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| paths::absolute(path))
}

/// Finds the files in a folder, and follows links to files and folders.
fn search(folder: &Path, configs: &Configs, found: &mut Discovered) -> Result<(), Failure> {
    let config = configs.for_folder(folder)?;
    let exclude = Globs::new(&config.folder, config.exclude.iter().map(|glob| (glob.as_str(), ())))?;
    let wanted = |entry: &DirEntry| {
        entry.depth() == 0 || (!is_skipped(entry) && exclude.matches(entry.path()).next().is_none())
    };
    for entry in WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter().filter_entry(wanted)
    {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().unwrap_or(folder);
                if let Some(back) = error.loop_ancestor() {
                    found.skipped.push(format!(
                        "{}: skipped: it leads back to {}",
                        path.display(),
                        back.display()
                    ));
                } else if !path.is_symlink() {
                    // The input is reported as unreadable; other files are linted.
                    found.inputs.push(Input::new(path, true));
                } else if is_evidence(path) {
                    let why = error.io_error().map_or_else(|| error.to_string(), reason);
                    found.skipped.push(format!("{}: skipped: {why}", path.display()));
                }
                continue;
            }
        };
        let kind = entry.file_type();
        if kind.is_dir() || !is_evidence(entry.path()) {
            continue;
        }
        if !kind.is_file() {
            let path = entry.path().display();
            found.skipped.push(format!("{path}: skipped: it is a device or a pipe, not a file"));
        } else if !is_foreign(entry.path()) {
            found.inputs.push(Input::new(entry.path(), false));
        }
    }
    Ok(())
}

/// Returns true if a file with an ambiguous suffix (`.json`, `.textproto`) is not a model.
fn is_foreign(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let is_doubtful = [".json", ".textproto"].iter().any(|end| name.to_ascii_lowercase().ends_with(end));
    is_doubtful && file::read(path).is_ok_and(|bytes| sniff(&name, &bytes) == Kind::Other)
}

fn is_skipped(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    name.starts_with('.') || (entry.file_type().is_dir() && SKIPPED.contains(&&*name))
}

fn is_evidence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}
