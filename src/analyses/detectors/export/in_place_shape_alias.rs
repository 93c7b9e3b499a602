//! EXP003: in-place changes of a traced size, which also change its aliases.
//!
//! Tracing represents `x.shape[1]` as a tensor, so in `n = x.shape[1]; m = n; m += 2`, the last statement also changes
//! `n`, which remains the original size without tracing. In the traced graph, an operator on both variables therefore
//! receives the changed size as both operands.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::exporter;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::IN_PLACE_SHAPE_ALIAS;
use crate::diag::{Applicability, Finding, Level, Sink};
use crate::graph::{Node, NodeId, ValueId};

/// Detector of EXP003.
pub const DETECTOR: Detector = Detector { rules: &[IN_PLACE_SHAPE_ALIAS], run };

/// Maximum number of nodes from a size back to its Shape node, which is included.
const MAX_STEPS: usize = 8;

/// Changed size that is both operands of an operator.
struct Alias {
    /// Node whose two operands are both the changed size.
    node: NodeId,
    /// Node that changes the size.
    change: NodeId,
    /// Shape node that the size derives from.
    shape: NodeId,
}

fn alias(cx: &LintContext, found: &Alias) -> Finding {
    let op = &cx.model.nodes[found.node].op_type;
    let change = &cx.model.nodes[found.change];
    let twice = change.output(0).map_or("", |value| cx.name(value));
    let symbol = match &*change.op_type {
        "Sub" => "-",
        "Mul" => "*",
        "Div" => "//",
        _ => "+",
    };
    let message = format!(
        "both operands of `{op}` are the changed size `{twice}`; one is probably meant to be the original size"
    );
    // A sum of equal sizes can be intended; a difference or comparison of them is pointless.
    let rule = if &**op == "Add" { IN_PLACE_SHAPE_ALIAS.at(Level::Info) } else { IN_PLACE_SHAPE_ALIAS };
    let mut finding = cx
        .at_node(rule, found.node, Part::Input(1), message)
        .label("equal operands")
        .related(cx.places.node(found.change, Part::Whole), "the size is changed here")
        .related(cx.places.node(found.shape, Part::Whole), "the original size");
    if let Some(source) = cx.places.own_source(found.change) {
        finding = finding.related(crate::diag::Place::Source(source), "Python line that changes it");
    }
    finding
        .note("an element of `x.shape` is a tensor during tracing, so `m = n; m += 2` also changes `n`")
        .help(format!("write `m = n {symbol} …`, which creates a new value, instead of `m {symbol}= …`"))
        .fix(Applicability::Unsafe, "uses the original size as one operand")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    // `torch.export` represents sizes as symbols, which are immutable.
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

/// Whether a node has an operator whose operands are rarely meant to be equal.
fn is_suspect(node: &Node) -> bool {
    let ops = ["Add", "Sub", "Div", "Mod", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"];
    node.domain().is_empty() && ops.contains(&&*node.op_type)
}

/// Returns the Shape node that a value is selected from without arithmetic.
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
