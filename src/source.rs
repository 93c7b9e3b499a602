//! The Python sources behind a graph: where they stand now, and which frame of a recorded stack is the
//! user's own.

mod expression;
mod frames;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::diag::SourcePlace;

pub use expression::without_comment;
pub use frames::{Frame, frames, is_installed, is_library, user_frame};

/// Sources larger than this many bytes are not read: no module that someone wrote comes near it.
const MAX_SOURCE_BYTES: u64 = 16 << 20;

/// Finds and reads the Python files that an export recorded, each once.
///
/// Only files that end in `.py` are ever opened: the paths come from a model, which may be anybody's.
#[derive(Debug, Default)]
pub struct SourceFiles {
    /// `--path-map FROM=TO`, the longest FROM first.
    path_map: Vec<(String, String)>,
    /// `--source-root DIR`.
    roots: Vec<PathBuf>,
    texts: Mutex<FxHashMap<Arc<str>, Option<Arc<SourceText>>>>,
}

/// A file and where its lines begin.
#[derive(Debug)]
struct SourceText {
    /// Where it is on this machine.
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

    /// The 1-based line; `None` beyond the last.
    fn line(&self, line: u32) -> Option<&str> {
        let index = usize::try_from(line.checked_sub(1)?).ok()?;
        self.text.get(*self.starts.get(index)?..)?.lines().next()
    }
}

impl SourceFiles {
    /// `path_map`: recorded prefix and what stands in its place here; `roots`: folders to look in.
    pub fn new(mut path_map: Vec<(String, String)>, roots: Vec<PathBuf>) -> Self {
        for (from, _) in &mut path_map {
            *from = from.replace('\\', "/").trim_end_matches('/').to_owned();
        }
        path_map.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        SourceFiles { path_map, roots, texts: Mutex::default() }
    }

    /// Where the recorded `file` stands on this machine, if it does: by the path map, else below a
    /// source root (the longest tail of the path that exists there), else at the recorded path itself.
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

    /// The text of the recorded `file`; `None` where it is not here, too large, or not UTF-8.
    pub fn text(&self, file: &str) -> Option<Arc<str>> {
        Some(self.source(file)?.text.clone())
    }

    fn source(&self, file: &str) -> Option<Arc<SourceText>> {
        // A poisoned lock only means that another thread died between two complete insertions.
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = texts.get(file) {
            return known.clone();
        }
        let text = self.find(file).and_then(|path| read_source(&path));
        texts.insert(Arc::from(file), text.clone());
        text
    }

    /// The 1-based `line` of the recorded `file`, without its line end.
    pub fn line(&self, file: &str, line: u32) -> Option<Arc<str>> {
        self.source(file)?.line(line).map(Arc::from)
    }

    /// A place in the recorded `file`, with its line of code: the line of the file where that is here
    /// and still agrees with `recorded_code`, else what was recorded.
    ///
    /// `line` and `column` are 1-based; `column` is 0 where only the line is known.
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
        }
    }

    /// `place` as it stands here: the path of its file on this machine, and with columns, where the line is
    /// the one that was recorded. `None` where the file, or such a line in it, is not here.
    pub fn at_home(&self, place: &SourcePlace) -> Option<(PathBuf, SourcePlace)> {
        let source = self.source(&place.file)?;
        let path = source.path.clone();
        let line: Arc<str> = source.line(place.line).map(Arc::from)?;
        let is_same = place.code.as_ref().is_none_or(|then| then.trim() == line.trim());
        if !is_same {
            return Some((path, SourcePlace { column: 0, width: 0, ..place.clone() }));
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
        Some((path, found))
    }

    /// The place of a frame of a recorded stack.
    pub fn frame_place(&self, frame: &Frame) -> SourcePlace {
        self.place(&frame.file, frame.line, 0, Some(&frame.function), frame.code.as_deref())
    }
}

/// The path without its first folder, without its first two, … down to the bare file name; the whole
/// path first. Never leaves the folder it is joined to: tails with `..` are left out.
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
    fn finds_by_map_by_root_and_where_recorded() {
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
    fn opens_nothing_but_python() {
        let folder = folder();
        let files = SourceFiles::new(vec![], vec![folder.path().to_owned()]);
        assert_eq!(files.text("/app/secret"), None);
        assert_eq!(files.find("/app/../secret.py"), None);
    }

    #[test]
    fn a_changed_source_does_not_stand_in_for_what_was_recorded() {
        let folder = folder();
        let files = SourceFiles::new(vec![("/app".into(), folder.path().display().to_string())], vec![]);
        let code = |recorded| files.place("/app/net/block.py", 2, 0, None, recorded).code;
        assert_eq!(code(None).as_deref(), Some("    y = x.item()"));
        assert_eq!(code(Some("y = x.item()")).as_deref(), Some("    y = x.item()"));
        assert_eq!(code(Some("y = x.sum()")).as_deref(), Some("y = x.sum()"));
    }
}
