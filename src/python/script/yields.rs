//! Values that functions yield.

use tree_sitter::Node;

use super::super::syntax::{field, within};
use super::flow::Flow;
use super::heap::Items;
use super::value::Value;

/// Exception that ends a generator before its last item.
pub const ENDED: &str = "GeneratorExit";

/// Maximum number of items of a generator that are followed.
pub const MAX_ITEMS: usize = 64;

/// Use of the values that a frame yields.
#[derive(Debug)]
pub enum Yields<'t> {
    /// The items of a generator; the number is the value of `doubt` at its start.
    Items(Items<'t>, u32),
    /// The first item of a generator, which runs no further; and the value of `doubt` at its start.
    First(Option<Value<'t>>, u32),
    /// The loop over a generator.
    Loop(Box<Body<'t>>),
    /// A `with` statement and the place of the next item, until the context yields to it; and its target.
    Body(Node<'t>, usize, Option<Node<'t>>),
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
}

/// Returns true if a function contains `yield`.
pub fn is_generator(function: Node) -> bool {
    let body = field(function, "body");
    let inner = body.map(within).unwrap_or_default();
    function.kind() != "lambda" && inner.iter().any(|node| node.kind() == "yield")
}
