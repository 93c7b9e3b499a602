//! Declares the shapes of a model again after its inputs became dynamic.

use crate::diag::rule_ids::DECLARED_TYPE;
use crate::edit::{Change, Editor, Site};
use crate::fix::declarations::declare_outputs;
use crate::fix::pass::{Need, Pass};
use crate::graph::{DeclaredDim, TypeKind};

/// The pass.
pub const PASS: Pass = Pass {
    id: "renew-types",
    summary: "Infers declared shapes again after inputs became dynamic.",
    codes: &[DECLARED_TYPE],
    phases: &[],
    need: Need::Required,
    is_enabled: |cx| !cx.options.dynamic.is_empty(),
    run: |editor, _| Ok(renew(editor)),
};

/// Drops `value_info`, and declares the shapes of outputs as inferred from the current inputs.
pub fn renew(editor: &mut Editor) -> bool {
    let forgotten = Change::new(DECLARED_TYPE, Site::Model, "declared shapes inferred again");
    editor.change(forgotten, |model, _| {
        for (_, graph) in model.graphs.iter_mut() {
            graph.value_info.clear();
            for port in &mut graph.outputs {
                if let Some(TypeKind::Tensor { shape: Some(dims), .. }) =
                    port.info.ty.as_mut().map(|ty| &mut ty.kind)
                {
                    dims.iter_mut().for_each(|dim| dim.dim = DeclaredDim::Absent);
                }
            }
        }
        true
    });
    for graph in editor.model().graphs.ids().collect::<Vec<_>>() {
        declare_outputs(editor, graph, &|_| true);
    }
    true
}
