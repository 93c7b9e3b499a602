//! Cache of parsed imported files. Each file is parsed once.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Tree;

use super::program::Program;
use super::syntax;

/// Parsed files by path; `None` for a file that cannot be parsed.
#[derive(Debug, Default)]
pub struct Library {
    volumes: RefCell<FxHashMap<Arc<str>, Option<Rc<Volume>>>>,
}

/// A parsed Python file.
#[derive(Debug)]
pub struct Volume {
    /// Syntax tree.
    pub tree: Tree,
    /// Names of the functions and classes at the top level.
    defined: FxHashSet<String>,
    /// Full paths of imported names.
    imports: FxHashMap<String, String>,
}

impl Library {
    /// Returns the parsed file; parses `text` on the first call.
    pub fn volume(&self, file: &Arc<str>, text: &str) -> Option<Rc<Volume>> {
        let read = || Volume::of(text).map(Rc::new);
        self.volumes.borrow_mut().entry(file.clone()).or_insert_with(read).clone()
    }
}

impl Volume {
    fn of(text: &str) -> Option<Self> {
        let tree = syntax::parse(text)?;
        let program = Program::of(tree.root_node(), text);
        let defined = program.globals.keys().map(|name| (*name).to_owned()).collect();
        let imports = program.imports.iter().map(|(name, path)| ((*name).to_owned(), path.clone())).collect();
        Some(Volume { tree, defined, imports })
    }

    /// Returns true if the file defines `name` at its top level.
    pub fn defines(&self, name: &str) -> bool {
        self.defined.contains(name)
    }

    /// Returns the full path of an imported name.
    pub fn import(&self, name: &str) -> Option<&String> {
        self.imports.get(name)
    }
}
