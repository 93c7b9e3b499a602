//! Branch folding: replaces an `If` by its only reachable branch.

use rustc_hash::FxHashSet;

use crate::diag::rule_ids::DECIDED_BRANCH;
use crate::edit::{AnalysisView, Editor, Patch, inline_branch, inline_decided};
use crate::fix::context::Context;
use crate::fix::pass::{Need, Pass};
use crate::graph::{AttrValue, GraphId, Model, NodeId, scopes};
use crate::infer::{Facts, Fault};

/// Maximum number of branches whose effect is tried; each one requires a new inference of the model.
const MOST_TRIED: usize = 32;

/// The pass.
pub const PASS: Pass = Pass {
    id: "branch-folding",
    summary: "Replaces an `If` by one of its branches, if only this branch is reachable.",
    codes: &[DECIDED_BRANCH],
    phases: &[],
    need: Need::Optional,
    is_enabled,
    run: |editor, _| Ok(decide(editor)),
};

/// Returns true if the model is optimized and there may be new constant conditions.
///
/// New constant conditions are possible before the first rewrite round, and after each change in a round.
fn is_enabled(cx: &Context) -> bool {
    let is_new = cx.round.as_ref().is_none_or(|round| round.is_reduced || round.rewritten.is_changed);
    cx.options.optimize && is_new
}

/// Inlines the taken branch of an `If` with a known condition, or with another branch that must fail.
/// The pass also visits subgraphs, and repeats while inlining reveals further conditions. Returns true if an
/// `If` was inlined.
fn decide(editor: &mut Editor) -> bool {
    let mut tried = FxHashSet::default();
    let mut is_any = false;
    while has_if(editor.model()) {
        let AnalysisView { model, facts, .. } = editor.analyses();
        let live = scopes::live(model);
        let nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes);
        let mut patches: Vec<Patch> = nodes.filter_map(|&node| inline_decided(model, facts, node)).collect();
        if patches.is_empty() {
            patches.extend(surviving(model, facts, &mut tried));
        }
        if editor.apply(patches) == 0 {
            break;
        }
        is_any = true;
    }
    is_any
}

fn has_if(model: &Model) -> bool {
    model.nodes.iter().any(|(_, node)| &*node.op_type == "If")
}

/// Returns a patch that inlines a branch of an `If` whose other branch makes a later node fail.
/// Successful runs never take the other branch. Exporters produce an `If` with a failing branch for modules
/// that support two input ranks.
fn surviving(model: &Model, facts: &Facts, tried: &mut FxHashSet<NodeId>) -> Option<Patch> {
    let outside = |graph: &GraphId| model.function_of(*graph).is_none();
    let graphs = scopes::live(model).into_iter().filter(outside);
    for &node in graphs.flat_map(|graph| &model.graphs[graph].nodes) {
        let Some([yes, no]) = branches(model, node).filter(|both| differ(model, facts, both)) else {
            continue;
        };
        if tried.len() * 2 >= MOST_TRIED || !tried.insert(node) {
            continue;
        }
        let branch = match (fails(model, facts, node, yes), fails(model, facts, node, no)) {
            (true, false) => no,
            (false, true) => yes,
            _ => continue,
        };
        let patch =
            inline_branch(model, node, branch, "`If` inlined: the model cannot run with the other branch");
        if patch.is_some() {
            return patch;
        }
    }
    None
}

/// Returns the then and else branches of an `If`.
fn branches(model: &Model, node: NodeId) -> Option<[GraphId; 2]> {
    let node = &model.nodes[node];
    let body = |name| match node.attr(name)? {
        AttrValue::Graph(graph) => Some(*graph),
        _ => None,
    };
    let is_if = node.domain().is_empty() && &*node.op_type == "If";
    Some([body("then_branch").filter(|_| is_if)?, body("else_branch")?])
}

/// Returns true if two branches have outputs of different ranks.
fn differ(model: &Model, facts: &Facts, [yes, no]: &[GraphId; 2]) -> bool {
    let ranks = |graph: &GraphId| {
        let outputs = model.graphs[*graph].outputs.iter();
        outputs.map(|port| facts[port.value].rank()).collect::<Vec<_>>()
    };
    ranks(yes).iter().zip(&ranks(no)).any(|(yes, no)| yes.is_some() && no.is_some() && yes != no)
}

/// Returns true if taking this branch causes a shape fault in a node of the same graph as the `If`.
/// A node of the same graph runs whenever the `If` runs.
fn fails(model: &Model, facts: &Facts, node: NodeId, branch: GraphId) -> bool {
    let Some(patch) = inline_branch(model, node, branch, "") else { return false };
    let mut editor = Editor::new(model.clone());
    if editor.apply(vec![patch]) == 0 {
        return false;
    }
    // Ignore faults of dead nodes, because runtimes may remove dead nodes.
    editor.remove_dead_code();
    let known: FxHashSet<NodeId> = facts.faults.iter().map(|(node, _)| *node).collect();
    let graph = model.nodes[node].graph;
    let AnalysisView { model, facts, .. } = editor.analyses();
    facts
        .faults
        .iter()
        .any(|(at, fault)| model.nodes[*at].graph == graph && !known.contains(at) && is_of_shapes(fault))
}

/// Returns true if no runtime can run a node with this fault.
fn is_of_shapes(fault: &Fault) -> bool {
    use Fault::{Axis, Elements, NotBroadcastable, Rank, SizeMismatch};
    matches!(
        fault,
        Rank { .. } | Axis { .. } | SizeMismatch { .. } | NotBroadcastable { .. } | Elements { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// Returns the operators that remain after branch folding of a graph, at opset 17.
    fn left(graph: &str) -> Vec<String> {
        let text = format!("<ir_version: 10, opset_import: [\"\" : 17]> {graph}");
        let (model, findings) = read::text::read(&text);
        assert!(findings.is_empty(), "{findings:?}");
        let mut editor = Editor::new(model.expect("a model"));
        decide(&mut editor);
        let model = editor.model();
        model.graphs[model.main].nodes.iter().map(|&node| model.nodes[node].op_type.to_string()).collect()
    }

    /// Returns the operators that remain after branch folding of a graph.
    ///
    /// The graph consists of an `If` that may remove an axis of `x`, followed by the nodes in `after`.
    fn squeezed(after: &str) -> Vec<String> {
        left(&format!(
            "g (float[N,4,S] x, float[1,8,4] w, float[1,8,2] r, float[4,3] m) => (y) {{
                one = Constant <value_ints = [1]> ()
                n = Shape <start = 2, end = 3> (x)
                c = Equal (n, one)
                f = Constant <value_ints = [0]> ()
                s = If (c) <
                    then_branch = a () => (float[N,4] p) {{ last = Constant <value_ints = [-1]> ()  p = Squeeze (x, last) }},
                    else_branch = b () => (float[N,4,S] q) {{ q = Identity (x) }}
                >
                {after}
            }}"
        ))
    }

    #[test]
    fn a_branch_that_breaks_a_later_node_is_removed() {
        let left = squeezed("u = Unsqueeze (s, f)  y = LSTM <hidden_size = 2> (u, w, r)");
        assert!(!left.contains(&"If".to_owned()), "{left:?}");
        assert!(left.contains(&"Squeeze".to_owned()), "{left:?}");
    }

    #[test]
    fn both_branches_are_kept_if_both_may_run() {
        // Neither branch makes a later node fail in every run: Relu supports both ranks, and an LSTM that
        // supports only one rank possibly does not run, because it is in a branch or is dead.
        let left = squeezed("y = Relu (s)");
        assert!(left.contains(&"If".to_owned()), "{left:?}");
        let left = squeezed(
            "y = If (c) <
                then_branch = t () => (d) { u = Unsqueeze (s, f)  d = LSTM <hidden_size = 2> (u, w, r) },
                else_branch = e () => (h) { h = Identity (x) }
            >",
        );
        assert_eq!(left.iter().filter(|op| *op == "If").count(), 2, "{left:?}");
        let left =
            squeezed("u = Unsqueeze (s, f)  nobody_reads = LSTM <hidden_size = 2> (u, w, r)  y = Relu (s)");
        assert!(left.contains(&"If".to_owned()), "{left:?}");
    }
}
