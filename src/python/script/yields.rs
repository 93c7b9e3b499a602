//! Values that functions yield.

use tree_sitter::Node;

use super::flow::Flow;
use super::heap::Items;

/// Use of the values that a frame yields.
#[derive(Debug)]
pub enum Yields<'t> {
    /// The items of a generator; the number is the value of `doubt` at its start.
    Items(Items<'t>, u32),
    /// The body and the target of a `with` statement, until the context yields to it.
    Body(Option<Node<'t>>, Option<Node<'t>>),
    /// The result of the body.
    Done(Flow<'t>),
}
