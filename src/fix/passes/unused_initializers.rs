//! OPT002: removal of unused initializers.

use crate::diag::rule_ids::UNUSED_INITIALIZER;
use crate::fix::pass::{Need, Pass};

/// The pass.
pub const PASS: Pass = Pass {
    id: "unused-initializers",
    summary: "Removes unused initializers.",
    codes: &[UNUSED_INITIALIZER],
    phases: &[],
    need: Need::Optional,
    is_enabled: |cx| cx.options.optimize,
    run: |editor, _| Ok(editor.remove_unused_initializers()),
};
