//! Numbers that Python takes from sizes while a model runs.

use tree_sitter::Node;

use super::tensor::Dim;

/// A number or decision that Python takes from sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// A number from a call such as `int(n)` or `len(x)`.
    Number,
    /// A float from a call such as `math.log(n)`, recorded as its bits.
    Float,
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
    /// Reshapes to a shape with -1 after its first size, in the order of evaluation.
    pub reshapes: Vec<Reshape<'t>>,
    /// Sizes that calls give to new tensors, in the order of evaluation.
    pub sizes: Vec<SizeOrigin<'t>>,
    /// Numbers that meet tensors in arithmetic, in the order of evaluation: file, expression, and number.
    pub operands: Vec<(usize, Node<'t>, f64)>,
    /// For a replay, the operands of the natural run at the same sizes.
    pub natural: Vec<(usize, Node<'t>, f64)>,
    /// Whether the operands no longer correspond to those of the natural run.
    pub is_lost: bool,
    /// Sizes that the exporter needs as constants, in the order of evaluation.
    pub constants: Vec<(usize, Node<'t>, Vec<Dim>)>,
    /// Reads of tensors that an earlier call of the model created, in the order of evaluation.
    pub stale: Vec<(usize, Node<'t>)>,
    /// Whether a condition decided a branch.
    pub has_branches: bool,
}

/// The size of an axis of a new tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeOrigin<'t> {
    pub file: usize,
    /// The expression of the size; for a parameter, the argument of the outermost call that passes it.
    pub node: Node<'t>,
    pub size: i64,
}

/// A reshape to a shape with -1 after its first size.
#[derive(Clone, Copy, Debug)]
pub struct Reshape<'t> {
    pub file: usize,
    pub node: Node<'t>,
    /// Whether the source states the first size as a number.
    pub is_literal: bool,
    /// Size of the operand's first axis.
    pub rows: Dim,
    /// Size of the result's first axis.
    pub first: Dim,
}

impl Reshape<'_> {
    /// Returns true if the first size is constant: that of the operand in a run with the example.
    ///
    /// `example` are the reshapes of that run, and `self` is one of a run with other sizes.
    pub fn is_fixed(&self, example: &[Reshape]) -> bool {
        let keeps_rows = |before: &Reshape| {
            (before.file, before.node) == (self.file, self.node)
                && before.first.is_some()
                && (before.first, before.rows) == (self.first, self.first)
        };
        self.is_literal || self.rows != self.first && self.rows.is_some() && example.iter().any(keeps_rows)
    }
}
