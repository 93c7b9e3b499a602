//! Values that functions yield.

use tree_sitter::Node;

use super::flow::Flow;
use super::heap::Items;
use super::machine::Stop;

/// Use of the values that a frame yields.
#[derive(Debug)]
pub enum Yields<'t> {
    /// The items of a generator; the number is the value of `doubt` at its start.
    Items(Items<'t>, u32),
    /// The loop over a generator.
    Loop(Box<Body<'t>>),
    /// The body and the target of a `with` statement, until the context yields to it.
    Body(Option<Node<'t>>, Option<Node<'t>>),
    /// The result of the body.
    Done(Flow<'t>),
}

/// A loop over a generator.
#[derive(Debug)]
pub struct Body<'t> {
    /// Target of the loop.
    pub left: Node<'t>,
    pub body: Option<Node<'t>>,
    /// Next number of `enumerate`.
    pub counter: Option<i64>,
    /// Value of `doubt` at the start of the loop.
    pub doubt: u32,
    /// Number of items so far.
    pub count: usize,
    /// Result of the turn that certainly ended the loop.
    pub ended: Option<Result<Flow<'t>, Stop>>,
}
