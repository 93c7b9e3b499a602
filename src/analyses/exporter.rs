//! Detection of the exporter, where it affects the interpretation of nodes.

use crate::graph::Model;

/// Prefix of the metadata keys that PyTorch's `torch.export`-based exporter writes.
const TORCH_EXPORT: &str = "pkg.torch.export.";

/// Metadata key of the range constraints of symbolic dimensions.
const RANGES: &str = "pkg.torch.export.ExportedProgram.range_constraints";

/// Returns true if PyTorch's `torch.export`-based exporter wrote the model.
///
/// The `torch.export`-based exporter keeps symbols for sizes and for results of `.item()`, and functionalizes
/// writes to views. The tracing exporter keeps no symbols, and can lose writes to views.
pub fn is_torch_export(model: &Model) -> bool {
    metadata(model).any(|(key, _)| key.starts_with(TORCH_EXPORT))
}

/// Returns true if an exporter of PyTorch wrote the model.
pub fn is_pytorch(model: &Model) -> bool {
    model.producer_name.as_deref() == Some("pytorch")
}

/// Returns true if `torch.export` recorded ranges of dynamic dimensions.
///
/// If ranges are recorded, a constant in the graph comes from the source code, because `torch.export` rejects
/// a program that specializes a dynamic dimension. Without recorded ranges, `torch.export` did not check the
/// dynamic dimensions.
pub fn guarded_sizes(model: &Model) -> bool {
    metadata(model).any(|(key, text)| key == RANGES && text.contains("VR["))
}

/// Returns the metadata of the main graph and of the model.
fn metadata(model: &Model) -> impl Iterator<Item = (&str, &str)> {
    let all = model.graphs[model.main].metadata.iter().chain(&model.metadata);
    all.map(|(key, text)| (&**key, &**text))
}
