//! Nodes out of topological order, and cycles.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::{CYCLE, UNSORTED_NODES};
use crate::diag::{Applicability, Finding, Sink};
use crate::graph::order::{self, Cycle};
use crate::graph::{GraphId, Id, Model, NodeId, ValueId, scopes};

/// Detector of SPC010 and SPC011.
pub const DETECTOR: Detector = Detector { rules: &[CYCLE, UNSORTED_NODES], run };

/// Maximum number of nodes of a cycle in a message.
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
        [] => format!("{} depends on its own output", name(first)),
        _ => format!("{} nodes form a cycle: {}{gap} → {}", nodes.len(), path.join(" → "), name(first)),
    };
    let finding = cx.at_node(CYCLE, *first, Part::Whole, message).label("first node of the cycle");
    let related = rest.iter().take(SHOWN).fold(finding, |finding, &node| {
        finding.related(cx.places.node(node, Part::Whole), "depends on the previous node")
    });
    Some(related.help("ONNX graphs are acyclic: use `Loop` or `Scan` for iteration"))
}

fn unsorted(cx: &LintContext, node: NodeId, value: ValueId, maker: NodeId, count: usize) -> Finding {
    let (user, name) = (cx.node_name(node), cx.name(value));
    let message =
        format!("`{user}` is listed before `{}`, which produces its input `{name}`", cx.node_name(maker));
    let input = cx.model.nodes[node].inputs.iter().position(|&input| input == Some(value));
    let part = input.map_or(Part::Whole, Part::Input);
    let finding = cx
        .at_node(UNSORTED_NODES, node, part, message)
        .label("used before it is defined")
        .related(cx.places.value(value), "defined here")
        .help("list the nodes of each graph in topological order")
        .fix(Applicability::Safe, "sorts the nodes");
    match count {
        1 => finding,
        _ => {
            finding.note(format!("{count} nodes of this graph are listed before a producer of their inputs"))
        }
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

/// Reports the first node that uses a value before its definition, with the number of such nodes.
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

/// Returns the inputs of a node, and the values that its subgraphs capture.
fn used(model: &Model, node: NodeId) -> Vec<ValueId> {
    let inputs = model.nodes[node].inputs.iter().flatten().copied();
    let has_body = model.nodes[node].graphs().next().is_some();
    let captured = if has_body { scopes::captures_of_node(model, node) } else { Vec::new() };
    inputs.chain(captured).collect()
}
