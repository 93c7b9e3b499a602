//! Removes unused opset imports: a target runtime may not support their domains.

use rustc_hash::FxHashSet;

use crate::diag::rule_ids::RELABELLED_VERSION;
use crate::edit::{Change, Editor, Site};
use crate::fix::pass::{Need, Pass};
use crate::graph::{OpsetImport, normal_domain, scopes};

/// The pass.
pub const PASS: Pass = Pass {
    id: "drop-imports",
    summary: "Removes unused opset imports, which a target runtime may not support.",
    codes: &[RELABELLED_VERSION],
    phases: &[],
    need: Need::Required,
    is_enabled: |cx| !cx.options.targets.is_empty(),
    run: |editor, _| Ok(drop_imports(editor)),
};

/// Removes unused imports of domains other than ai.onnx; returns true if there were any.
fn drop_imports(editor: &mut Editor) -> bool {
    let model = editor.model();
    let nodes = scopes::live(model).into_iter().flat_map(|graph| &model.graphs[graph].nodes);
    let used: FxHashSet<String> = nodes.map(|&node| model.nodes[node].domain().to_owned()).collect();
    let is_needed = |import: &OpsetImport| {
        let domain = normal_domain(import.domain.as_deref());
        domain.is_empty() || used.contains(domain)
    };
    if model.opsets.iter().all(is_needed) {
        return false;
    }
    let change = Change::new(RELABELLED_VERSION, Site::Model, "unused opset imports removed");
    editor.change(change, |model, _| {
        model.opsets.retain(is_needed);
        true
    })
}
