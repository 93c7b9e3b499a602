//! Cache of parsed imported files. Each file is parsed and its definitions are collected once.

use std::cell::OnceCell;
use std::sync::Arc;

use tree_sitter::{Node, Tree};

use super::program::{Global, Program};
use super::syntax;

/// List of parsed files; files can be added while the files of the list are borrowed.
#[derive(Debug, Default)]
pub struct Shelf {
    files: List<File>,
}

/// The text and the syntax tree of a file; the tree is `None` if the file cannot be parsed.
#[derive(Debug)]
struct File {
    path: Arc<str>,
    text: Arc<str>,
    tree: Option<Tree>,
}

/// Definitions of the files on a shelf.
#[derive(Debug)]
pub struct Library<'f> {
    shelf: &'f Shelf,
    volumes: List<(Arc<str>, Option<Volume<'f>>)>,
}

/// A parsed Python file.
#[derive(Debug)]
pub struct Volume<'f> {
    pub text: &'f str,
    pub root: Node<'f>,
    pub program: Program<'f>,
}

/// Access to parsed Python files and their definitions.
pub trait Volumes: std::fmt::Debug {
    /// Returns the parsed file; parses `text` on the first call.
    fn volume(&self, file: &Arc<str>, text: &Arc<str>) -> Option<&Volume<'_>>;
}

impl<'f> Library<'f> {
    /// Returns a library of the files on `shelf`.
    pub fn new(shelf: &'f Shelf) -> Self {
        Library { shelf, volumes: List::default() }
    }
}

impl Volumes for Library<'_> {
    fn volume(&self, file: &Arc<str>, text: &Arc<str>) -> Option<&Volume<'_>> {
        let read = || {
            let parsed = || File { path: file.clone(), text: text.clone(), tree: syntax::parse(text) };
            let parsed = self.shelf.files.find_or_add(|known| known.path == *file, parsed);
            let volume = parsed.tree.as_ref().map(|tree| Volume::of(tree.root_node(), &parsed.text));
            (file.clone(), volume)
        };
        self.volumes.find_or_add(|(known, _)| known == file, read).1.as_ref()
    }
}

impl<'f> Volume<'f> {
    fn of(root: Node<'f>, text: &'f str) -> Self {
        Volume { text, root, program: Program::of(root, text) }
    }

    /// Returns the function or class `name` at the top level of the file.
    pub fn global(&self, name: &str) -> Option<Global> {
        self.program.globals.get(name).copied()
    }

    /// Returns the full path of an imported name.
    pub fn import(&self, name: &str) -> Option<&String> {
        self.program.imports.get(name)
    }
}

/// A list that grows while its elements are borrowed.
#[derive(Debug)]
struct List<T> {
    first: OnceCell<Box<Link<T>>>,
}

#[derive(Debug)]
struct Link<T> {
    item: T,
    next: OnceCell<Box<Link<T>>>,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List { first: OnceCell::new() }
    }
}

impl<T> List<T> {
    /// Returns the first item that `is_wanted` accepts, or adds the one that `make` returns.
    fn find_or_add(&self, is_wanted: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &T {
        let mut place = &self.first;
        while let Some(link) = place.get() {
            if is_wanted(&link.item) {
                return &link.item;
            }
            place = &link.next;
        }
        &place.get_or_init(|| Box::new(Link { item: make(), next: OnceCell::new() })).item
    }
}
