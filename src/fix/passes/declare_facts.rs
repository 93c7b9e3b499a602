//! Declares inferred types and shapes, so that runtimes start faster.

use crate::diag::rule_ids::DECLARED_TYPE;
use crate::edit::{Change, Editor, Site};
use crate::extract::Objective;
use crate::fix::context::Context;
use crate::fix::pass::{Need, Pass};
use crate::graph::Model;
use crate::infer;
use crate::write::onnx::Encodable;

/// The pass.
pub const PASS: Pass = Pass {
    id: "declare-facts",
    summary: "Declares inferred types and shapes if the file does not become larger than the input.",
    codes: &[DECLARED_TYPE],
    phases: &[],
    need: Need::Optional,
    is_enabled,
    run: |editor, cx| Ok(tell(editor, cx.source)),
};

fn is_enabled(cx: &Context) -> bool {
    cx.options.optimize && cx.options.pricing.objective == Objective::Latency
}

/// Declares all inferred types and shapes if the file does not become larger than that of `source`.
/// ONNX Runtime infers undeclared types and shapes for each new session, which takes up to half of the
/// session creation time.
fn tell(editor: &mut Editor, source: &Model) -> bool {
    let facts = editor.analyses().facts.clone();
    let mut told = editor.model().clone();
    let is_news = infer::annotate(&mut told, &facts);
    if !is_news || Encodable::new(&told).len() > Encodable::new(source).len() {
        return false;
    }
    let change = Change::new(DECLARED_TYPE, Site::Model, "inferred types and shapes declared");
    editor.declare(change, |model| {
        *model = told;
        true
    });
    true
}
