//! Says what stands in the way of a conversion.

use crate::diag::{Finding, Level, Place};
use crate::extract::{Blocker, Target};
use crate::graph::Model;

/// One finding for each node that has no legal form.
pub fn findings(model: &Model, target: &Target, blockers: &[Blocker]) -> Vec<Finding> {
    let opset = target.opset("").unwrap_or_default();
    blockers.iter().map(|blocker| finding(model, opset, blocker)).collect()
}

fn finding(model: &Model, opset: i64, blocker: &Blocker) -> Finding {
    let node = &model.nodes[blocker.node];
    let name = node.name.as_deref().filter(|name| !name.is_empty());
    let named = name.map(|name| format!(" (`{name}`)")).unwrap_or_default();
    let message =
        format!("`{}`{named} cannot be converted to opset {opset}: it {}", node.op_name(), blocker.illegal);
    let finding = Finding::new("OPV006", "not-convertible", Level::Error, message, Place::File);
    match blocker.illegal.since {
        Some(since) => finding.help(format!("convert to opset {since} or later")),
        None => finding,
    }
}
