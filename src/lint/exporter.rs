//! Who exported a model, as far as that changes what its nodes mean.

use crate::graph::Model;

/// The beginning of the keys under which PyTorch's exporter keeps what `torch.export` knew.
const TORCH_EXPORT: &str = "pkg.torch.export.";

/// The ranges of the symbols of a program.
const RANGES: &str = "pkg.torch.export.ExportedProgram.range_constraints";

/// Whether a model came from PyTorch's exporter that is based on `torch.export`. It has symbols for sizes and for
/// what `.item()` gives, and follows writes into views: what the tracing exporter loses is not lost there.
pub fn is_torch_export(model: &Model) -> bool {
    metadata(model).any(|(key, _)| key.starts_with(TORCH_EXPORT))
}

/// Whether the free sizes of a model were free while it was exported: a number in its graph is then one that the
/// author wrote, as a program that fixes such a size is refused. Without symbols, somebody freed the sizes later.
pub fn guarded_sizes(model: &Model) -> bool {
    metadata(model).any(|(key, text)| key == RANGES && text.contains("VR["))
}

/// That of the model and of its main graph.
fn metadata(model: &Model) -> impl Iterator<Item = (&str, &str)> {
    let all = model.graphs[model.main].metadata.iter().chain(&model.metadata);
    all.map(|(key, text)| (&**key, &**text))
}
