//! Display settings of the summary.

use crate::diag::render::Look;

/// Display settings of a summary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Display {
    pub look: Look,
    /// Whether to print the limits that the search reached, and all items of the lists and of the table.
    pub verbose: bool,
    /// Whether to print a table of operators and sizes instead of the lists of changed operators.
    pub table: bool,
}
