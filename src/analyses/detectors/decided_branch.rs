//! OPT004: `If` nodes with a constant condition.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::DECIDED_BRANCH;
use crate::diag::{Applicability, Sink};
use crate::edit::inline_decided;
use crate::infer::decided_branch;

/// Detector of OPT004.
pub const DETECTORS: &[Detector] = &[Detector { rules: &[DECIDED_BRANCH], run }];

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, _) in cx.nodes() {
        if let Some((branch, _)) = decided_branch(cx.model, cx.facts, id) {
            let message = format!("`{}` always takes its `{branch}`", cx.node_name(id));
            let finding = cx.at_node(DECIDED_BRANCH, id, Part::Input(0), message);
            sink.push(match inline_decided(cx.model, cx.facts, id) {
                Some(_) => finding.fix(Applicability::Safe, "inlines the branch"),
                None => finding,
            });
        }
    }
}
