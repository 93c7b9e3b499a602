//! Puts the branch that an `If` always takes in the place of the `If`.

use std::sync::Arc;

use super::report::{self, Change, Report, Safety};
use crate::diag::known::DECIDED_BRANCH;
use crate::extract::Names;
use crate::graph::{Def, Graph, GraphId, Model, Node, NodeId, Owner, ValueId, scopes};
use crate::infer::{self, decided_branch};

/// Decides every `If` whose condition is known, those in other bodies and those that only become known so
/// too; whether there was one.
pub fn decide(model: &mut Model, report: &mut Report) -> bool {
    let mut changed = false;
    while has_if(model) {
        let facts = infer::infer(model, infer::Options::default());
        let live = scopes::live(model);
        let nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes);
        let decided = nodes.filter_map(|&node| Some((node, decided_branch(model, &facts, node)?.1)));
        let decided: Vec<(NodeId, GraphId)> =
            decided.filter(|&(_, branch)| can_move(model, branch)).collect();
        if decided.is_empty() {
            break;
        }
        let mut names = Names::of(model);
        for &(node, branch) in &decided {
            report.add(change(model, node));
            splice(model, node, branch, &mut names);
        }
        changed = true;
    }
    changed
}

/// Whether the graph around may have what a branch has: local functions have no initializers.
fn can_move(model: &Model, branch: GraphId) -> bool {
    let has_initializers =
        !model.graphs[branch].initializers.is_empty() || !model.graphs[branch].sparse_initializers.is_empty();
    !has_initializers || model.function_of(branch).is_none()
}

fn has_if(model: &Model) -> bool {
    model.nodes.iter().any(|(_, node)| &*node.op_type == "If")
}

fn change(model: &Model, node: NodeId) -> Change {
    Change {
        code: DECIDED_BRANCH.code.to_owned(),
        rule: DECIDED_BRANCH.name.to_owned(),
        safety: Safety::Exact,
        graph: report::graph_name(model, node),
        node: report::node_name(model, node),
        summary: "`If` decided".to_owned(),
    }
}

/// Moves the contents of a branch to where its `If` stands. An `Identity` gives each result the name that the
/// `If` gave it.
fn splice(model: &mut Model, node: NodeId, branch: GraphId, names: &mut Names) {
    let around = model.nodes[node].graph;
    let body = std::mem::replace(&mut model.graphs[branch], Graph::new(Owner::Model));
    let made = body.nodes.iter().flat_map(|&inner| model.nodes[inner].outputs.iter().flatten().copied());
    let moved: Vec<ValueId> =
        made.chain(body.initializers.iter().chain(&body.sparse_initializers).copied()).collect();
    for value in moved {
        names.move_value(model, value, around);
    }
    for &inner in &body.nodes {
        model.nodes[inner].graph = around;
    }
    let mut nodes = body.nodes;
    let results = model.nodes[node].outputs.clone().into_iter().zip(&body.outputs);
    for (result, port) in results.filter_map(|(result, port)| Some((result?, port))) {
        nodes.push(identity(model, node, port.value, result));
    }
    let graph = &mut model.graphs[around];
    let at = graph.nodes.iter().position(|&other| other == node).unwrap_or(graph.nodes.len());
    let end = (at + 1).min(graph.nodes.len());
    graph.nodes.splice(at..end, nodes);
    graph.initializers.extend(body.initializers);
    graph.sparse_initializers.extend(body.sparse_initializers);
    graph.value_info.extend(body.value_info);
    graph.quantization.extend(body.quantization);
}

/// A node that gives the result of a branch the name that the `If` gave it.
fn identity(model: &mut Model, decided: NodeId, from: ValueId, to: ValueId) -> NodeId {
    let node = Node {
        op_type: Arc::from("Identity"),
        name: None,
        inputs: vec![Some(from)],
        outputs: vec![Some(to)],
        attrs: Vec::new(),
        ..model.nodes[decided].clone()
    };
    let id = model.nodes.push(node);
    model.values[to].def = Def::Node { node: id, output: 0 };
    id
}
