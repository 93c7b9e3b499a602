//! DTY004: integers that overflow on runtimes without int64.

use rustc_hash::FxHashSet;

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::INT64_NARROWING;
use crate::diag::{Finding, Sink};
use crate::graph::{ElemType, NodeId, ValueId};

/// Detector of DTY004.
pub const DETECTOR: Detector = Detector { rules: &[INT64_NARROWING], run };

fn finding(cx: &LintContext, node: NodeId, input: usize, value: ValueId, number: i64) -> Finding {
    let message = format!("`{}` contains {number}, which overflows int32", cx.name(value));
    cx.at_node(INT64_NARROWING, node, Part::Input(input), message)
        .label("requires int64")
        .help("keep indices and limits within int32 if the target device narrows int64")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let mut seen = FxHashSet::default();
    for (id, node) in cx.nodes() {
        // The end of `x[2:]` is exported as the maximum int64, which is past the last element even if it is
        // clamped to int32.
        if node.is("Slice") {
            continue;
        }
        for (index, value) in node.inputs.iter().enumerate() {
            let Some(value) = *value else { continue };
            let Some(number) = too_large(cx, value) else { continue };
            if seen.insert(value) {
                sink.push(finding(cx, id, index, value, number));
            }
        }
    }
}

/// Returns the first element of an int64 constant that overflows int32.
fn too_large(cx: &LintContext, value: ValueId) -> Option<i64> {
    let fact = &cx.facts[value];
    if !fact.is_const() || fact.elem() != Some(ElemType::Int64) {
        return None;
    }
    let ints = fact.as_ints()?;
    ints.iter().flatten().filter_map(|int| int.as_const()).find(|&int| i32::try_from(int).is_err())
}
