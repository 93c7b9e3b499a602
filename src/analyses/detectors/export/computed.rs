//! SHP001 for a Reshape to a rounded fraction of a size, as in `math.ceil(x.shape[0] / 4)`.
//!
//! The detector infers the shapes of the model at several sizes, because `torch.export` has no guards for
//! sizes that are computed as floating-point numbers.

use rustc_hash::FxHashSet;

use super::Detector;
use super::dynamic_dims::DynamicDims;
use super::trial::infer_at;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::SHAPE_MISMATCH;
use crate::diag::{Finding, Level, Sink};
use crate::graph::dim::Symbol;
use crate::graph::{Node, NodeId, ValueId};
use crate::infer::Fact;

/// Detector of SHP001.
pub const DETECTOR: Detector = Detector { rules: &[SHAPE_MISMATCH], run };

/// Sizes at which shapes are inferred.
const SIZES: std::ops::RangeInclusive<i64> = 1..=9;
/// Maximum number of dimensions that are varied, one at a time.
const MAX_SYMBOLS: usize = 4;
/// Maximum number of nodes to search between the target of a Reshape and the size.
const MAX_STEPS: usize = 64;

/// Returns true if a value derives from a floating-point number that is converted to an integer.
fn is_rounded(cx: &LintContext, value: ValueId) -> bool {
    let (mut open, mut seen) = (vec![value], FxHashSet::default());
    while let Some(value) = open.pop() {
        let Some((id, _)) = cx.model.producer(value) else { continue };
        let node = &cx.model.nodes[id];
        if node.is("Shape") || node.is("Size") || !seen.insert(id) || seen.len() > MAX_STEPS {
            continue;
        }
        let is_float = cx.input(node, 0).and_then(Fact::elem).is_some_and(|elem| elem.is_float());
        let is_integer = cx.facts[value].elem().is_some_and(|elem| elem.is_integer());
        if node.is("Cast") && is_float && is_integer {
            return true;
        }
        open.extend(node.inputs.iter().flatten().copied());
    }
    false
}

/// Returns the nodes that fail at a size but run at a smaller one, each with the first such size.
fn failing(cx: &LintContext, name: &str, nodes: &[NodeId]) -> Vec<(NodeId, i64)> {
    let symbol = Symbol::size(name);
    let allowed = SIZES.filter(|&size| cx.facts.bounds.of(&symbol).contains(size));
    let (mut works, mut found) = (FxHashSet::default(), Vec::new());
    for size in allowed {
        let facts = infer_at(cx.model, name, size);
        for &node in nodes {
            let fails = facts.faults.iter().any(|(faulty, _)| *faulty == node);
            if !fails {
                works.insert(node);
            } else if works.contains(&node) && !found.iter().any(|(known, _)| *known == node) {
                found.push((node, size));
            }
        }
    }
    found
}

fn finding(cx: &LintContext, node: NodeId, name: &str, size: i64) -> Finding {
    let message = format!("`{}` cannot run at {name} = {size}", cx.node_name(node));
    cx.at_node(SHAPE_MISMATCH.at(Level::Warning), node, Part::Input(1), message)
        .label("a rounded fraction of a dynamic size")
        .note("torch.export does not check sizes that are computed as floating-point numbers")
        .help("compute sizes with integers: x.shape[0] // 4, without math.ceil, round or int")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let is_candidate =
        |node: &Node| node.is("Reshape") && node.input(1).is_some_and(|target| is_rounded(cx, target));
    let nodes: Vec<NodeId> = cx.nodes().filter(|(_, node)| is_candidate(node)).map(|(id, _)| id).collect();
    let known = |node: &NodeId| cx.facts.faults.iter().any(|(faulty, _)| faulty == node);
    if nodes.is_empty() || nodes.iter().any(known) {
        return;
    }
    let free = DynamicDims::new(cx.model, cx.facts);
    let mut found: Vec<NodeId> = Vec::new();
    for symbol in free.named().take(MAX_SYMBOLS) {
        for (node, size) in failing(cx, symbol.name(), &nodes) {
            if !found.contains(&node) {
                found.push(node);
                sink.extend([finding(cx, node, symbol.name(), size)]);
            }
        }
    }
}
