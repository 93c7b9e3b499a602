//! Frames of the interpreter.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::heap::Heap;
use super::value::{Function, Ref, Value};
use super::yields::Yields;

/// Frame of a function call, or of a file.
#[derive(Debug)]
pub struct Frame<'t> {
    /// Identity, which no other frame has.
    pub id: u32,
    /// Index of the file.
    pub file: usize,
    pub scope: Ref,
    pub function: Option<Rc<Function<'t>>>,
    /// The first argument of a method, for `super()`.
    pub this: Option<Value<'t>>,
    /// The call that entered the frame.
    pub call: Option<(usize, Node<'t>)>,
    /// Names declared `global` or `nonlocal`, with their scopes.
    pub outer_names: FxHashMap<&'t str, Ref>,
    /// Results of paths that may have returned, with their heaps.
    pub returned: Vec<(Value<'t>, Heap<'t>)>,
    /// Use of the values that the function yields.
    pub yields: Option<Yields<'t>>,
    /// For each active loop: heaps of paths that may have left it, and of paths that may have skipped the
    /// rest of its body.
    pub loops: Vec<(Vec<Heap<'t>>, Vec<Heap<'t>>)>,
}
