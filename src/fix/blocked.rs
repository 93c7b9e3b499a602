//! Says what stands in the way of a conversion.

use super::options::Options;
use crate::diag::{Finding, Level, Place};
use crate::extract::{Blocker, Target};
use crate::graph::Model;
use crate::schema;

/// One finding for each node that has no legal form.
pub fn findings(model: &Model, target: &Target, blockers: &[Blocker]) -> Vec<Finding> {
    let opset = target.opset("").unwrap_or_default();
    blockers.iter().map(|blocker| finding(model, opset, blocker)).collect()
}

/// What keeps the whole model from a version, whatever its nodes are.
pub fn by_version(model: &Model, target: &Target, options: &Options) -> Option<Finding> {
    /// The first IR version with local functions, and the opset it came with.
    const FUNCTIONS: (i64, i64) = (8, 15);
    let blocked =
        |message: String| Finding::new("OPV006", "not-convertible", Level::Error, message, Place::File);
    if let Some(wanted) = options.opset {
        let latest = schema::latest("").map_or(0, i64::from);
        if !(1..=latest).contains(&wanted) {
            return Some(blocked(format!(
                "there is no opset {wanted} that is known: the newest is {latest}"
            )));
        }
        if target.opset("").is_none() {
            let finding =
                blocked("the model imports no opset of ai.onnx, so that there is none to convert".into());
            return Some(finding);
        }
    }
    let ir_version = super::target::ir_version(model, target, options);
    let too_old = ir_version.is_some_and(|version| version < FUNCTIONS.0) && ir_version != model.ir_version;
    (too_old && !model.functions.is_empty()).then(|| {
        let name = model.functions[0].name.as_deref().unwrap_or("");
        blocked(format!("the model has local functions (`{name}`), which IR version {} brought", FUNCTIONS.0))
            .help(format!("convert to opset {} or later, or inline the functions first", FUNCTIONS.1))
    })
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
