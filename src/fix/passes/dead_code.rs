//! OPT001: dead code elimination.

use crate::diag::rule_ids::DEAD_NODE;
use crate::fix::pass::{Need, Pass};

/// The pass.
pub const PASS: Pass = Pass {
    id: "dead-code",
    summary: "Removes nodes whose outputs are unused.",
    codes: &[DEAD_NODE],
    phases: &[],
    need: Need::Optional,
    is_enabled: |cx| cx.options.optimize,
    run: |editor, _| Ok(editor.remove_dead_nodes()),
};
