//! Nodes that stand before what they need, and nodes that need one another.

use super::Detector;
use crate::diag::rule_ids::{CYCLE, UNSORTED_NODES};
use crate::diag::{Applicability, Finding, Sink};
use crate::graph::order::{self, Cycle};
use crate::graph::{GraphId, Id, Model, NodeId, ValueId, scopes};
use crate::lint::LintContext;
use crate::lint::locate::Part;

pub const DETECTOR: Detector = Detector { rules: &[CYCLE, UNSORTED_NODES], run };

/// Nodes of a cycle that are shown.
const SHOWN: usize = 8;

fn cycle(cx: &LintContext, Cycle { mut nodes }: Cycle) -> Option<Finding> {
    let earliest = (0..nodes.len()).min_by_key(|&index| nodes[index])?;
    nodes.rotate_left(earliest);
    let (first, rest) = nodes.split_first()?;
    let name = |&node: &NodeId| format!("`{}`", cx.node_name(node));
    let path: Vec<String> = nodes.iter().take(SHOWN).map(name).collect();
    let more = nodes.len().saturating_sub(SHOWN);
    let gap = if more > 0 { format!(" → … {more} more") } else { String::new() };
    let message = match rest {
        [] => format!("{} takes its own output", name(first)),
        _ => format!("{} nodes need one another: {}{gap} → {}", nodes.len(), path.join(" → "), name(first)),
    };
    let finding = cx.at_node(CYCLE, *first, Part::Whole, message).label("the cycle begins and ends here");
    let related = rest.iter().take(SHOWN).fold(finding, |finding, &node| {
        finding.related(cx.places.node(node, Part::Whole), "takes what the one before it makes")
    });
    Some(related.help("a graph has no loops; what repeats is a `Loop` or `Scan` with a body"))
}

fn unsorted(cx: &LintContext, node: NodeId, value: ValueId, maker: NodeId, count: usize) -> Finding {
    let (user, name) = (cx.node_name(node), cx.name(value));
    let message = format!("`{user}` stands before `{}`, which makes its input `{name}`", cx.node_name(maker));
    let input = cx.model.nodes[node].inputs.iter().position(|&input| input == Some(value));
    let part = input.map_or(Part::Whole, Part::Input);
    let finding = cx
        .at_node(UNSORTED_NODES, node, part, message)
        .label("used before it is made")
        .related(cx.places.value(value), "made here")
        .help("the specification wants the nodes of a graph in topological order")
        .fix(Applicability::Safe, "puts the nodes in order");
    match count {
        1 => finding,
        _ => finding.note(format!("{count} nodes of this graph stand before one that they need")),
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for graph in cx.model.graphs.ids() {
        match order::sorted(cx.model, graph) {
            Err(found) => sink.extend(cycle(cx, found)),
            Ok(sorted) if sorted != cx.model.graphs[graph].nodes => sink.extend(first_unsorted(cx, graph)),
            Ok(_) => {}
        }
    }
}

/// The first node of the file that uses a value before it is made, with how many such nodes there are.
fn first_unsorted(cx: &LintContext, graph: GraphId) -> Option<Finding> {
    let nodes = &cx.model.graphs[graph].nodes;
    let mut place = vec![usize::MAX; cx.model.nodes.len()];
    nodes.iter().enumerate().for_each(|(index, node)| place[node.index()] = index);
    let early = |node: NodeId| {
        used(cx.model, node).into_iter().find_map(|value| {
            let (maker, _) = cx.model.producer(value)?;
            let is_later = place[maker.index()] != usize::MAX && place[maker.index()] >= place[node.index()];
            is_later.then_some((node, value, maker))
        })
    };
    let found: Vec<_> = nodes.iter().filter_map(|&node| early(node)).collect();
    found.first().map(|&(node, value, maker)| unsorted(cx, node, value, maker, found.len()))
}

/// What a node takes, the captures of its bodies included.
fn used(model: &Model, node: NodeId) -> Vec<ValueId> {
    let inputs = model.nodes[node].inputs.iter().flatten().copied();
    let has_body = model.nodes[node].graphs().next().is_some();
    let captured = if has_body { scopes::captures_of_node(model, node) } else { Vec::new() };
    inputs.chain(captured).collect()
}
