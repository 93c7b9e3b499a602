//! DTY002: regions of a float model that compute in double.

use std::collections::VecDeque;

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::FLOAT64_PROMOTION;
use crate::diag::{Finding, Level, Sink};
use crate::graph::{Def, ElemType, Id, NodeId, ValueId};
use crate::infer::Fact;

/// Detector of DTY002.
pub const DETECTOR: Detector = Detector { rules: &[FLOAT64_PROMOTION], run };

/// Maximum number of constants in a finding.
const SHOWN: usize = 3;

/// Nodes connected by double values.
#[derive(Default)]
struct Region {
    /// Casts of non-constant values from a narrower float to double.
    entries: Vec<NodeId>,
    /// Nodes that compute in double.
    inside: Vec<NodeId>,
    /// Constants of type double.
    constants: Vec<ValueId>,
    /// Casts from double to a narrower type.
    exits: Vec<NodeId>,
    /// Graph outputs of type double.
    outputs: Vec<ValueId>,
    /// Whether a graph input is double, so that the region is intended.
    given: bool,
}

fn promotion(cx: &LintContext, region: &Region) -> Option<Finding> {
    let entry = *region.entries.first()?;
    let node = &cx.model.nodes[entry];
    let (from, count) = (cx.input(node, 0)?.elem()?, region.inside.len());
    let nodes = if count == 1 { "1 node computes".to_owned() } else { format!("{count} nodes compute") };
    let message = match region.outputs.first() {
        Some(&output) => {
            format!(
                "{nodes} in double, but the model uses {from}; output `{}` is double, too",
                cx.name(output)
            )
        }
        None => format!("{nodes} in double, but the model uses {from}"),
    };
    // Double is intended if no constant widened the computation, or if the Python lines cast to double.
    let is_meant = !region.constants.iter().any(|&constant| may_widen(cx, &region.entries, constant))
        || region.entries.iter().all(|&cast| is_written(cx, cast));
    let rule = if is_meant { FLOAT64_PROMOTION.at(Level::Info) } else { FLOAT64_PROMOTION };
    let mut finding =
        cx.at_node(rule, entry, Part::Whole, message).label(format!("{from} becomes double here"));
    for &constant in region.constants.iter().take(SHOWN) {
        finding = finding.related(cx.places.value(constant), "this constant is double");
    }
    for &exit in region.exits.iter().take(1) {
        finding = finding.related(cx.places.node(exit, Part::Whole), "converted back here");
    }
    let help = if region.constants.is_empty() {
        format!("compute in {from}: avoid torch.float64")
    } else {
        format!("create the constants as {from}, with dtype={}, and avoid torch.float64", torch_name(from))
    };
    Some(finding.note("double is slow on most accelerators, and unsupported on many").help(help))
}

/// Whether a constant may have widened the cast values. In PyTorch, a scalar only widens other scalars.
fn may_widen(cx: &LintContext, entries: &[NodeId], constant: ValueId) -> bool {
    let has_axes = |fact: &Fact| fact.rank().is_some_and(|rank| rank > 0);
    let has_none = cx.facts[constant].rank() == Some(0);
    !has_none || !entries.iter().all(|&cast| cx.input(&cx.model.nodes[cast], 0).is_some_and(has_axes))
}

/// Whether the Python line of a cast converts to double: `x.double()`, `x.to(torch.float64)`.
fn is_written(cx: &LintContext, cast: NodeId) -> bool {
    let code = cx.places.own_source(cast).and_then(|source| source.code);
    let casts = [
        ".double()",
        ".to(torch.float64",
        ".to(torch.double",
        ".type(torch.float64",
        ".to(dtype=torch.float64",
    ];
    code.is_some_and(|code| casts.iter().any(|cast| code.contains(cast)))
}

fn torch_name(elem: ElemType) -> &'static str {
    match elem {
        ElemType::Float16 => "torch.float16",
        ElemType::Bfloat16 => "torch.bfloat16",
        _ => "torch.float32",
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let mut seen = vec![false; cx.model.nodes.len()];
    for (id, _) in cx.nodes() {
        if !seen[id.index()] && makes_double(cx, id) {
            let region = explore(cx, id, &mut seen);
            // A cast to double and back without nodes between is a redundant cast, which other rules report.
            if !region.given && !region.inside.is_empty() {
                sink.extend(promotion(cx, &region));
            }
        }
    }
}

fn is_double(cx: &LintContext, value: ValueId) -> bool {
    cx.facts[value].elem() == Some(ElemType::Double)
}

fn makes_double(cx: &LintContext, node: NodeId) -> bool {
    !is_constant_node(cx, node)
        && cx.model.nodes[node].outputs.iter().flatten().any(|&value| is_double(cx, value))
}

fn is_constant_node(cx: &LintContext, node: NodeId) -> bool {
    let outputs = &cx.model.nodes[node].outputs;
    !outputs.is_empty() && outputs.iter().flatten().all(|&value| cx.facts[value].is_const())
}

/// Returns the region of a node: all nodes that non-constant double values connect to it.
fn explore(cx: &LintContext, start: NodeId, seen: &mut [bool]) -> Region {
    let mut region = Region::default();
    let mut queue = VecDeque::from([start]);
    seen[start.index()] = true;
    while let Some(id) = queue.pop_front() {
        let node = &cx.model.nodes[id];
        let inputs = || node.inputs.iter().flatten().copied();
        let takes_double = inputs().any(|value| is_double(cx, value));
        classify(cx, id, takes_double, &mut region);
        let mut visit = |next: NodeId| {
            if !std::mem::replace(&mut seen[next.index()], true) {
                queue.push_back(next);
            }
        };
        for value in inputs().filter(|&value| is_double(cx, value)) {
            match cx.model.producer(value) {
                _ if cx.facts[value].is_const() => region.constants.push(value),
                Some((maker, _)) => visit(maker),
                None => region.given |= matches!(cx.model.values[value].def, Def::Input(_)),
            }
        }
        for &value in node.outputs.iter().flatten().filter(|&&value| is_double(cx, value)) {
            if cx.uses.is_output(value) {
                region.outputs.push(value);
            }
            cx.uses.of(value).iter().for_each(|one| visit(one.node));
        }
    }
    region
}

fn classify(cx: &LintContext, id: NodeId, takes_double: bool, region: &mut Region) {
    let node = &cx.model.nodes[id];
    let is_cast = node.domain().is_empty() && matches!(&*node.op_type, "Cast" | "CastLike");
    let from = cx.input(node, 0).and_then(Fact::elem);
    match (is_cast, takes_double) {
        (true, true) => region.exits.push(id),
        (true, false) if from.is_some_and(ElemType::is_float) => region.entries.push(id),
        _ => region.inside.push(id),
    }
}
