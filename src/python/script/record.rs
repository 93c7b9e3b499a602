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
    /// Index of the file, ID of the node, and recorded number, in the order of evaluation.
    pub numbers: Vec<(usize, usize, i64)>,
    /// Next number to replay; `None` while numbers are recorded.
    pub at: Option<usize>,
    /// Replayed numbers that differ from those at the current sizes: kind, file, node, replayed number.
    pub differing: Vec<(Taken, usize, Node<'t>, i64)>,
    /// File and call of each reshape to a literal first size and an inferred size, in evaluation order.
    pub reshapes: Vec<(usize, Node<'t>)>,
}
