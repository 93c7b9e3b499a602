//! Imports ai.onnx for nodes that other passes added.

use std::sync::Arc;

use crate::diag::rule_ids::RELABELLED_VERSION;
use crate::edit::{Change, Editor, Site};
use crate::fix::pass::{Need, Pass};
use crate::graph::{OpsetImport, normal_domain, scopes};
use crate::schema;

/// The pass.
pub const PASS: Pass = Pass {
    id: "import-opset",
    summary: "Imports ai.onnx if other passes added a node of it.",
    codes: &[RELABELLED_VERSION],
    phases: &[],
    need: Need::Required,
    is_enabled: |_| true,
    run: |editor, _| Ok(!editor.done().changes.is_empty() && import_made(editor)),
};

/// Imports ai.onnx if a node needs the domain; returns true if the import was missing.
///
/// Only an `Identity` that preserves the name of an output can lack the import. The imported version is the
/// newest that the IR version of the model supports.
fn import_made(editor: &mut Editor) -> bool {
    let model = editor.model();
    let is_imported = model.opsets.iter().any(|import| normal_domain(import.domain.as_deref()).is_empty());
    let mut nodes = scopes::live(model).into_iter().flat_map(|graph| &model.graphs[graph].nodes);
    if is_imported || !nodes.any(|&node| model.nodes[node].domain().is_empty()) {
        return false;
    }
    let ir_version = model.ir_version.unwrap_or(i64::MAX);
    let newest = schema::latest("").unwrap_or(1);
    let fits = |opset: &u16| schema::release(*opset).is_some_and(|release| release.ir_version <= ir_version);
    let opset = (1..=newest).rev().find(fits).unwrap_or(1);
    let change = Change::new(RELABELLED_VERSION, Site::Model, "ai.onnx imported for an `Identity`");
    editor.change(change, |model, _| {
        model.opsets.push(OpsetImport { domain: Some(Arc::from("")), version: Some(opset.into()) });
        true
    })
}
