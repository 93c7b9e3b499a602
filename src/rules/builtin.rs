//! The analyses that are code: what `detect builtin::NAME` may name.

/// Whether there is an analysis of this name.
pub fn is_known(name: &str) -> bool {
    names().any(|known| known == name)
}

/// The names of all analyses.
pub fn names() -> impl Iterator<Item = &'static str> {
    GRAPH.iter().chain(WITHOUT_EXAMPLE).copied()
}

/// Analyses of graphs, sorted: an example in ONNX text shows what they find.
pub const GRAPH: &[&str] = &[];

/// Analyses that no ONNX text can show, sorted: of Python, TorchScript, `.pt2` and logs, of files, and of
/// what ONNX text cannot say of a model.
pub const WITHOUT_EXAMPLE: &[&str] = &[];
