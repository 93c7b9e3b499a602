//! Applicability of fixes.

/// Whether a fix is applied by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Applicability {
    /// The fix does not change correct results, and is applied by default.
    Safe,
    /// The fix may change values or shapes, and requires `--unsafe-fixes`.
    Unsafe,
}
