//! The files that are followed from one: each is parsed once, however many names of it are asked for.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Tree;

use super::program::Program;
use super::syntax;

/// What was read of other files, by what they are called.
#[derive(Debug, Default)]
pub struct Library {
    volumes: RefCell<FxHashMap<Arc<str>, Option<Rc<Volume>>>>,
}

/// A file of Python.
#[derive(Debug)]
pub struct Volume {
    pub tree: Tree,
    /// Functions and classes at the top level.
    defined: FxHashSet<String>,
    /// Local name → full path.
    imports: FxHashMap<String, String>,
}

impl Library {
    /// The file `file`, of which `text` is the text.
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

    pub fn defines(&self, name: &str) -> bool {
        self.defined.contains(name)
    }

    /// The full path of a name that the file has from another.
    pub fn import(&self, name: &str) -> Option<&String> {
        self.imports.get(name)
    }
}
