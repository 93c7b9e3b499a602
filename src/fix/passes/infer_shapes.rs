//! `--infer-shapes`: declares all inferred types and shapes.

use crate::diag::rule_ids::DECLARED_TYPE;
use crate::edit::{Change, Editor, Site};
use crate::fix::pass::{Need, Pass};
use crate::infer;

/// The pass.
pub const PASS: Pass = Pass {
    id: "infer-shapes",
    summary: "Declares all inferred types and shapes, as requested by `--infer-shapes`.",
    codes: &[DECLARED_TYPE],
    phases: &[],
    need: Need::Required,
    is_enabled: |cx| cx.options.infer_shapes,
    run: |editor, _| Ok(declare(editor)),
};

/// Declares all inferred types and shapes; returns true if one was new.
fn declare(editor: &mut Editor) -> bool {
    let facts = editor.analyses().facts.clone();
    let before = editor.done().changes.len();
    let change = Change::new(DECLARED_TYPE, Site::Model, "inferred types and shapes declared");
    editor.declare(change, |model| infer::annotate(model, &facts));
    editor.done().changes.len() > before
}
