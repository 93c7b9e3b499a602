//! `--to`: converts float32 computation to a 16-bit type.

use crate::diag::Finding;
use crate::diag::rule_ids::NARROWED_NUMBERS;
use crate::edit::Editor;
use crate::fix::context::Context;
use crate::fix::pass::{Need, Pass};
use crate::fix::precision::narrow;

/// The pass.
pub const PASS: Pass = Pass {
    id: "precision",
    summary: "Converts float32 computation to a 16-bit type, as requested by `--to`.",
    codes: &[NARROWED_NUMBERS],
    phases: &[],
    need: Need::Required,
    is_enabled: |cx| cx.options.precision.is_some(),
    run,
};

fn run(editor: &mut Editor, cx: &mut Context) -> Result<bool, Vec<Finding>> {
    let Some(precision) = &cx.options.precision else { return Ok(false) };
    cx.options.progress.enter("converting to 16 bits");
    cx.report.narrowed = narrow(editor, precision)?;
    cx.report.to = Some(precision.to.name());
    Ok(true)
}
