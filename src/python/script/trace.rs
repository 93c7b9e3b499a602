//! Trace of a running model: its operators, statements and calls.

use std::rc::Rc;

use tree_sitter::Node;

use super::value::Function;

/// An operator or layer that a model executes.
#[derive(Clone, Debug)]
pub struct Operator<'t> {
    /// Name of the function, method or layer.
    pub name: String,
    pub file: usize,
    pub node: Node<'t>,
    /// Whether an operand certainly depends on an input of the model.
    pub varies: bool,
    /// Frame that executes the operator.
    pub frame: u32,
    /// Number of earlier events.
    pub step: usize,
}

/// A statement or call that a model executes.
#[derive(Debug)]
pub enum Event<'t> {
    Statement { frame: u32, node: Node<'t>, is_certain: bool },
    Call { frame: u32, function: Rc<Function<'t>>, caller: u32, node: Node<'t> },
}
