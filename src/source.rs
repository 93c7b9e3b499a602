//! Python source files of a graph.
//!
//! Locates the files on this machine, and finds the frame of user code in a recorded stack.

mod expression;
mod frames;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::diag::SourcePlace;

pub use expression::without_comment;
pub use frames::{Frame, frames, is_installed, is_library, user_frame};

/// Maximum size of a source file to read (16 MiB); hand-written modules are far smaller.
const MAX_SOURCE_BYTES: u64 = 16 << 20;

/// Finder and cache of the Python files that an export recorded.
///
/// `SourceFiles` opens only files that end in `.py`, because the paths come from a model, which may be
/// untrusted.
#[derive(Debug, Default)]
pub struct SourceFiles {
    /// `--path-map FROM=TO`, the longest FROM first.
    path_map: Vec<(String, String)>,
    /// `--source-root DIR`.
    roots: Vec<PathBuf>,
    texts: Mutex<FxHashMap<Arc<str>, Option<Arc<SourceText>>>>,
}

/// Text of a file, with the byte offsets of its lines.
#[derive(Debug)]
struct SourceText {
    /// Path on this machine.
    path: PathBuf,
    text: Arc<str>,
    starts: Vec<usize>,
}

impl SourceText {
    fn new(path: &Path, text: String) -> Self {
        let after_ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after_ends).collect();
        SourceText { path: path.to_owned(), text: Arc::from(text), starts }
    }

    /// Returns a line, counted from 1; `None` if the text has fewer lines.
    fn line(&self, line: u32) -> Option<&str> {
        let index = usize::try_from(line.checked_sub(1)?).ok()?;
        self.text.get(*self.starts.get(index)?..)?.lines().next()
    }
}

/// A recorded place in a local file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalPlace {
    /// Path of the local file.
    pub path: PathBuf,
    /// The place, with the column and width of its expression; both are 0 if they are not known.
    pub place: SourcePlace,
    /// Whether the local line equals the recorded code up to indentation, or no code is recorded.
    pub is_unchanged: bool,
}

impl SourceFiles {
    /// Creates a finder.
    ///
    /// `path_map` maps recorded path prefixes to local ones; `roots` are directories to search.
    pub fn new(mut path_map: Vec<(String, String)>, roots: Vec<PathBuf>) -> Self {
        for (from, _) in &mut path_map {
            *from = from.replace('\\', "/").trim_end_matches('/').to_owned();
        }
        path_map.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        SourceFiles { path_map, roots, texts: Mutex::default() }
    }

    /// Returns the local path of the recorded `file`, if it exists.
    ///
    /// The search tries the path map, then the longest existing tail of the path below a source root, then
    /// the recorded path itself.
    pub fn find(&self, file: &str) -> Option<PathBuf> {
        let recorded = file.replace('\\', "/");
        let is_source = |path: &PathBuf| path.extension().is_some_and(|end| end == "py") && path.is_file();
        let mapped = self.path_map.iter().filter_map(|(from, to)| {
            let tail = recorded.strip_prefix(from.as_str())?;
            let whole_component = tail.is_empty() || tail.starts_with('/');
            whole_component.then(|| Path::new(to).join(tail.trim_start_matches('/')))
        });
        let below_roots =
            tails(&recorded).flat_map(|tail| self.roots.iter().map(move |root| root.join(tail)));
        mapped.chain(below_roots).chain([PathBuf::from(&recorded)]).find(is_source)
    }

    /// Returns the text of the recorded `file`; `None` if the file is not found or cannot be read.
    pub fn text(&self, file: &str) -> Option<Arc<str>> {
        Some(self.source(file)?.text.clone())
    }

    fn source(&self, file: &str) -> Option<Arc<SourceText>> {
        // A poisoned lock is safe to use: each entry is inserted as a whole.
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = texts.get(file) {
            return known.clone();
        }
        let text = self.find(file).and_then(|path| read_source(&path));
        texts.insert(Arc::from(file), text.clone());
        text
    }

    /// Returns a line of the recorded `file`, counted from 1, without its line end.
    pub fn line(&self, file: &str, line: u32) -> Option<Arc<str>> {
        self.source(file)?.line(line).map(Arc::from)
    }

    /// Returns a place in the recorded `file`, with its line of code.
    ///
    /// The code is the line of the local file, or `recorded_code` if that line is missing or differs from it.
    /// `line` and `column` count from 1; `column` is 0 if only the line is known.
    pub fn place(
        &self,
        file: &str,
        line: u32,
        column: u32,
        function: Option<&str>,
        recorded_code: Option<&str>,
    ) -> SourcePlace {
        let recorded = recorded_code.filter(|code| !code.trim().is_empty());
        let unchanged = |now: &Arc<str>| recorded.is_none_or(|then| then.trim() == now.trim());
        let code = self.line(file, line).filter(unchanged).or_else(|| recorded.map(Arc::from));
        SourcePlace {
            file: Arc::from(file),
            line,
            column,
            width: 0,
            code,
            function: function.filter(|name| !name.is_empty()).map(Arc::from),
            cell: None,
        }
    }

    /// Returns a place in the local file; `None` if the file cannot be read or has no such line.
    pub fn at_home(&self, place: &SourcePlace) -> Option<LocalPlace> {
        let source = self.source(&place.file)?;
        let path = source.path.clone();
        let line: Arc<str> = source.line(place.line).map(Arc::from)?;
        let is_unchanged = place.code.as_ref().is_none_or(|then| then.trim() == line.trim());
        if !is_unchanged {
            let place = SourcePlace { column: 0, width: 0, ..place.clone() };
            return Some(LocalPlace { path, place, is_unchanged });
        }
        let mut found = SourcePlace { code: Some(line.clone()), ..place.clone() };
        if place.width == 0 {
            let chars = match place.column.checked_sub(1) {
                Some(column) => expression::from_column(&line, column as usize),
                None => expression::expression(&line),
            };
            let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            (found.column, found.width) =
                chars.map_or((0, 0), |chars| (number(chars.start) + 1, number(chars.len())));
        }
        Some(LocalPlace { path, place: found, is_unchanged })
    }

    /// Returns the place of a frame of a recorded stack.
    pub fn frame_place(&self, frame: &Frame) -> SourcePlace {
        self.place(&frame.file, frame.line, 0, Some(&frame.function), frame.code.as_deref())
    }
}

/// Returns the tails of a path, from the whole path down to the file name.
///
/// Tails with `..` are skipped, so that a joined path cannot leave its root.
fn tails(path: &str) -> impl Iterator<Item = &str> {
    let whole = path.trim_start_matches('/');
    let rest = whole.match_indices('/').map(|(at, _)| &whole[at + 1..]);
    std::iter::once(whole).chain(rest).filter(|tail| !tail.split('/').any(|part| part == ".."))
}

fn read_source(path: &Path) -> Option<Arc<SourceText>> {
    let size = std::fs::metadata(path).ok()?.len();
    let text = (size <= MAX_SOURCE_BYTES).then(|| std::fs::read_to_string(path).ok()).flatten()?;
    Some(Arc::new(SourceText::new(path, text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("net")).expect("a folder");
        std::fs::write(folder.path().join("net/block.py"), "import torch\n    y = x.item()\n")
            .expect("a file");
        std::fs::write(folder.path().join("secret"), "hush\n").expect("a file");
        folder
    }

    #[test]
    fn find_uses_path_map_then_roots_then_the_recorded_path() {
        let folder = folder();
        let here = folder.path().to_str().expect("a UTF-8 path").to_owned();
        let by_map = SourceFiles::new(vec![("/app".into(), here.clone())], vec![]);
        let by_root = SourceFiles::new(vec![], vec![folder.path().to_owned()]);
        let bare = SourceFiles::default();
        let wanted = Some(Arc::from("    y = x.item()"));
        assert_eq!(by_map.line("/app/net/block.py", 2), wanted);
        assert_eq!(by_root.line("/home/ci/work/net/block.py", 2), wanted);
        assert_eq!(by_root.line(r"C:\work\net\block.py", 2), wanted);
        assert_eq!(bare.line(&format!("{here}/net/block.py"), 2), wanted);
        assert_eq!(by_map.line("/application/net/block.py", 2), None);
        assert_eq!(by_map.line("/app/net/block.py", 3), None);
        assert_eq!(by_map.line("/app/net/block.py", 0), None);
    }

    #[test]
    fn only_python_files_are_opened() {
        let folder = folder();
        let files = SourceFiles::new(vec![], vec![folder.path().to_owned()]);
        assert_eq!(files.text("/app/secret"), None);
        assert_eq!(files.find("/app/../secret.py"), None);
    }

    #[test]
    fn recorded_code_is_shown_if_the_source_has_changed() {
        let folder = folder();
        let files = SourceFiles::new(vec![("/app".into(), folder.path().display().to_string())], vec![]);
        let code = |recorded| files.place("/app/net/block.py", 2, 0, None, recorded).code;
        assert_eq!(code(None).as_deref(), Some("    y = x.item()"));
        assert_eq!(code(Some("y = x.item()")).as_deref(), Some("    y = x.item()"));
        assert_eq!(code(Some("y = x.sum()")).as_deref(), Some("y = x.sum()"));
    }
}
