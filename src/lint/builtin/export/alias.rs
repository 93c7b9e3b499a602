//! EXP003: `n = x.shape[1]; m = n; m += 2` changed `n` too.
//!
//! While PyTorch traces, an element of `x.shape` is a tensor, and `m += 2` changes it in place: `n` and `m`
//! are the same tensor, where they are two numbers without tracing. In the graph, the sum then stands
//! wherever the size itself was meant. That shows where an operator gets it on both sides.

use super::Detector;
use crate::diag::rule_ids::IN_PLACE_SHAPE_ALIAS;
use crate::diag::{Applicability, Finding, Level, Sink};
use crate::graph::{Node, NodeId, ValueId};
use crate::lint::LintContext;
use crate::lint::exporter;
use crate::lint::locate::Part;

pub const DETECTOR: Detector = Detector { rules: &[IN_PLACE_SHAPE_ALIAS], run };

/// Nodes between a size and its Shape that are looked at.
const MAX_STEPS: usize = 8;

/// A size that was changed, on both sides of an operator.
struct Alias {
    /// The operator that gets it twice.
    node: NodeId,
    /// The node that changed it.
    change: NodeId,
    /// The Shape that the size is from.
    shape: NodeId,
}

fn alias(cx: &LintContext, found: &Alias) -> Finding {
    let op = &cx.model.nodes[found.node].op_type;
    let twice = cx.model.nodes[found.change].output(0).map_or("", |value| cx.name(value));
    let message = format!(
        "`{op}` gets the changed size `{twice}` on both sides, where one is most likely the size before the change"
    );
    // A sum of two equal sizes may be meant; a difference of them, or a comparison, is of no use.
    let rule = if &**op == "Add" { IN_PLACE_SHAPE_ALIAS.at(Level::Info) } else { IN_PLACE_SHAPE_ALIAS };
    let mut finding = cx
        .at_node(rule, found.node, Part::Input(1), message)
        .label("the same value twice")
        .related(cx.places.node(found.change, Part::Whole), "the size is changed here")
        .related(cx.places.node(found.shape, Part::Whole), "and comes from here");
    if let Some(source) = cx.places.own_source(found.change) {
        finding = finding.related(crate::diag::Place::Source(source), "the line that changes it");
    }
    finding
        .note("while tracing, an element of `x.shape` is a tensor: `m = n; m += 2` changes `n` as well")
        .help("write `m = n + 2`, which makes a new value, instead of `m += 2`")
        .fix(Applicability::Unsafe, "takes the size before the change on one side")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    // There, sizes are symbols, which nothing changes in place.
    if exporter::is_torch_export(cx.model) {
        return;
    }
    for (id, node) in cx.nodes() {
        sink.extend(find(cx, id, node).map(|found| alias(cx, &found)));
    }
}

fn find(cx: &LintContext, id: NodeId, node: &Node) -> Option<Alias> {
    let [Some(a), Some(b)] = node.inputs[..] else { return None };
    if a != b || !is_suspect(node) {
        return None;
    }
    let (change, _) = cx.model.producer(a)?;
    let changed = &cx.model.nodes[change];
    let is_change = changed.domain().is_empty() && matches!(&*changed.op_type, "Add" | "Sub" | "Mul" | "Div");
    let size = changed.input(0).filter(|_| is_change)?;
    let by_constant = cx.input(changed, 1).is_some_and(|fact| fact.is_const());
    let shape = shape_behind(cx, size)?;
    by_constant.then_some(Alias { node: id, change, shape })
}

/// Operators of which nobody asks both sides to be the same value.
fn is_suspect(node: &Node) -> bool {
    let ops = ["Add", "Sub", "Div", "Mod", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"];
    node.domain().is_empty() && ops.contains(&&*node.op_type)
}

/// The Shape of which a value is an element, unchanged.
fn shape_behind(cx: &LintContext, mut value: ValueId) -> Option<NodeId> {
    for _ in 0..MAX_STEPS {
        let (maker, _) = cx.model.producer(value)?;
        let node = &cx.model.nodes[maker];
        match &*node.op_type {
            _ if !node.domain().is_empty() => return None,
            "Shape" => return Some(maker),
            "Cast" | "Gather" | "Identity" | "Reshape" | "Slice" | "Squeeze" | "Unsqueeze" => {
                value = node.input(0)?;
            }
            _ => return None,
        }
    }
    None
}
