//! Applicability of fixes.

/// Whether a fix is applied by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Applicability {
    /// Keeps correct results equal; applied by default.
    Safe,
    /// May change values or shapes; requires `--unsafe-fixes`.
    Unsafe,
}
