//! The files of a script: the script itself, and local files that it may import.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tree_sitter::{Node, Tree};

use crate::source::SourceFiles;

use super::super::syntax::{self, everything, field, fields, text};

/// Maximum number of files of a script.
const MAX_FILES: usize = 48;

/// Maximum total text of the imported files, in bytes.
const MAX_TEXT: usize = 2 << 20;

/// A parsed file.
#[derive(Debug)]
pub struct ScriptFile {
    /// Path in findings.
    pub path: Arc<str>,
    pub text: Arc<str>,
    pub tree: Tree,
    /// Result of `code`.
    code: OnceLock<String>,
    /// Result of `may_swallow`.
    may_swallow: OnceLock<bool>,
}

impl ScriptFile {
    fn new(path: Arc<str>, text: Arc<str>, tree: Tree) -> Self {
        ScriptFile { path, text, tree, code: OnceLock::new(), may_swallow: OnceLock::new() }
    }

    /// Returns the text without comments and docstrings.
    pub fn code(&self) -> &str {
        self.code.get_or_init(|| syntax::without_remarks(self.tree.root_node(), &self.text))
    }

    /// Returns true if the file names a context that ends exceptions.
    pub fn may_swallow(&self) -> bool {
        *self.may_swallow.get_or_init(|| swallows(self.tree.root_node(), &self.text))
    }
}

/// Returns true if code names a context that ends exceptions, such as `contextlib.suppress`.
pub fn swallows(code: Node, source: &str) -> bool {
    everything(code).into_iter().filter(|node| node.kind() == "identifier").any(|name| {
        let name = text(name, source);
        name == "suppress" || name.to_lowercase().contains("raises")
    })
}

/// Returns a script and the files of `sources` that it may import, the script first.
pub fn files(script: &str, tree: Tree, path: &str, sources: Option<&SourceFiles>) -> Vec<ScriptFile> {
    let mut found = vec![ScriptFile::new(Arc::from(path), Arc::from(script), tree)];
    let Some(sources) = sources else { return found };
    let mut at = 0;
    let mut total = 0;
    while at < found.len() {
        let from = found[at].path.clone();
        for module in imports(found[at].tree.root_node(), &found[at].text) {
            let Some((path, text)) = module_file(sources, &from, &module) else { continue };
            let is_known = found.iter().any(|file| file.path == path);
            total += if is_known { 0 } else { text.len() };
            if is_known || found.len() >= MAX_FILES || total > MAX_TEXT {
                continue;
            }
            if let Some(tree) = syntax::parse(&text) {
                found.push(ScriptFile::new(path, text, tree));
            }
        }
        at += 1;
    }
    found
}

/// Returns the index of the file of a module that the file `from` imports.
pub fn find(files: &[ScriptFile], from: usize, module: &str) -> Option<usize> {
    let from = &files[from].path;
    candidates(from, module)?.iter().find_map(|path| files.iter().position(|file| *file.path == **path))
}

/// Returns the modules that a file imports anywhere.
///
/// The modules include `module.name` for each `from module import name`, because the name may be a module, too.
fn imports(root: Node, source: &str) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    for node in syntax::imports(root) {
        let module = field(node, "module_name").map(|module| text(module, source));
        found.extend(module.map(str::to_owned));
        let prefix = match module {
            Some(module) if module.ends_with('.') => module.to_owned(),
            Some(module) => format!("{module}."),
            None => String::new(),
        };
        for name in fields(node, "name") {
            let name = text(field(name, "name").unwrap_or(name), source);
            found.push(format!("{prefix}{name}"));
        }
    }
    found
}

fn module_file(sources: &SourceFiles, from: &str, module: &str) -> Option<(Arc<str>, Arc<str>)> {
    candidates(from, module)?.into_iter().find_map(|file| {
        let text = sources.text(&file)?;
        Some((Arc::from(file), text))
    })
}

/// Returns the paths at which Python may find a module that the file `from` imports, in order.
fn candidates(from: &str, module: &str) -> Option<Vec<String>> {
    let path = from.replace('\\', "/");
    let relative = module.len() - module.trim_start_matches('.').len();
    let tail = module.trim_start_matches('.').replace('.', "/");
    if !tail.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_/".contains(&byte)) {
        return None;
    }
    let folder = Path::new(&path).parent()?;
    let folders: Vec<PathBuf> = match relative {
        0 if LIBRARIES.contains(&tail.split('/').next().unwrap_or("")) => return None,
        0 => {
            let above = folder.ancestors().take(MAX_ASCENT).map(Path::to_owned);
            // A relative path does not list the directories above the current one.
            let beyond = [PathBuf::from(".."), PathBuf::from("../..")];
            let beyond = beyond.into_iter().filter(|_| folder.is_relative());
            above.chain(beyond).flat_map(|folder| [folder.clone(), folder.join("src")]).collect()
        }
        up => folder.ancestors().nth(up - 1).map(Path::to_owned).into_iter().collect(),
    };
    let paths = folders.iter().flat_map(|folder| {
        let base = folder.join(&tail).to_string_lossy().replace('\\', "/");
        let base = base.trim_end_matches('/').to_owned();
        [format!("{base}.py"), format!("{base}/__init__.py")]
    });
    Some(paths.collect())
}

/// Maximum number of directories in the path of a file that are searched for its absolute imports.
const MAX_ASCENT: usize = 4;

/// Packages that are installed, not local.
const LIBRARIES: [&str; 24] = [
    "torch",
    "torchvision",
    "torchaudio",
    "numpy",
    "onnx",
    "onnxruntime",
    "onnxscript",
    "os",
    "sys",
    "io",
    "math",
    "time",
    "json",
    "argparse",
    "pathlib",
    "typing",
    "functools",
    "collections",
    "copy",
    "logging",
    "transformers",
    "timm",
    "re",
    "warnings",
];
