//! Numbers that Python takes from sizes while a model runs.

use tree_sitter::Node;

/// A number or decision that Python takes from sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// A number from a call such as `int(n)` or `len(x)`.
    Number,
    /// The number of iterations of a loop.
    Turns,
    /// The condition of a branch.
    Branch,
    /// The length of the keys of an attention layer, which the tracing exporter makes constant.
    Length,
}

/// The numbers that Python takes while a model runs.
#[derive(Debug, Default)]
pub struct Record<'t> {
    /// File, node and number, in the order of evaluation.
    pub numbers: Vec<(usize, usize, i64)>,
    /// Next number to replay; `None` while numbers are recorded.
    pub at: Option<usize>,
    /// Numbers that differ from those of the example.
    pub differing: Vec<(Taken, usize, Node<'t>, i64)>,
    /// Reshapes to a literal first size and an inferred size, in the order of evaluation.
    pub reshapes: Vec<(usize, Node<'t>)>,
}
