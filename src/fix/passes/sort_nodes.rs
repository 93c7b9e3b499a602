//! SPC011: sorts the nodes of every graph topologically.

use crate::diag::rule_ids::UNSORTED_NODES;
use crate::fix::pass::{Need, Pass};

/// The pass.
pub const PASS: Pass = Pass {
    id: "sort-nodes",
    summary: "Sorts nodes topologically.",
    codes: &[UNSORTED_NODES],
    phases: &[],
    need: Need::Optional,
    is_enabled: |_| true,
    run: |editor, _| Ok(editor.put_in_order()),
};
