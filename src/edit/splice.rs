//! Replaces a node with the contents of one of its subgraphs.

use indexmap::IndexMap;
use rustc_hash::FxHashSet;

use super::change::{Change, Site};
use super::patch::{At, Item, Patch, PatchNode, PatchOp};
use crate::diag::rule_ids::DECIDED_BRANCH;
use crate::graph::{Def, GraphId, Model, NodeId, ValueId};
use crate::infer::{Facts, decided_branch};

/// Returns the patch that inlines the taken branch of an `If` with a constant condition, if possible.
pub fn inline_decided(model: &Model, facts: &Facts, node: NodeId) -> Option<Patch> {
    let (_, branch) = decided_branch(model, facts, node)?;
    inline_branch(model, node, branch, "`If` with constant condition inlined")
}

/// Returns the patch that inlines a branch of an `If`, if possible.
/// The caller guarantees that this branch is taken.
pub fn inline_branch(model: &Model, node: NodeId, branch: GraphId, what: &str) -> Option<Patch> {
    let body = &model.graphs[branch];
    let has_initializers = !body.initializers.is_empty() || !body.sparse_initializers.is_empty();
    // Local functions have no initializers. A branch with too few outputs is invalid.
    let can_move = !has_initializers || model.function_of(branch).is_none();
    if !can_move || body.outputs.len() < model.nodes[node].outputs.len() {
        return None;
    }
    let results: Vec<Option<ValueId>> = body.outputs.iter().map(|port| Some(port.value)).collect();
    let change = Change::new(DECIDED_BRANCH, Site::Node(node), what);
    let patch = splice(model, node, branch, &results, change);
    patch.check(model).is_ok().then_some(patch)
}

/// Returns the patch that replaces `node` with the contents of its subgraph `body`.
/// `results` are the values for the outputs of `node`.
/// If a node of the subgraph produces the value for an output, this node becomes the producer of the output.
/// If no node of the subgraph produces the value, or a second output needs it, an `Identity` copies it.
pub(super) fn splice(
    model: &Model,
    node: NodeId,
    body: GraphId,
    results: &[Option<ValueId>],
    change: Change,
) -> Patch {
    let mut patch = Patch::new(model.nodes[node].graph);
    let mut makers: IndexMap<NodeId, PatchNode> = IndexMap::new();
    let mut named: FxHashSet<ValueId> = FxHashSet::default();
    for (result, value) in model.nodes[node].outputs.iter().zip(results) {
        let Some(result) = *result else { continue };
        let maker = value.and_then(|value| match model.values[value].def {
            Def::Node { node: maker, output } => Some((value, maker, output as usize)),
            _ => None,
        });
        match maker.filter(|(value, ..)| model.values[*value].graph == body && named.insert(*value)) {
            Some((value, maker, output)) => {
                let kept = makers.entry(maker).or_insert_with(|| kept(model, maker));
                kept.outputs[output] = Some(Item::Old(result));
                patch.redirects.push((value, Item::Old(result)));
            }
            None => patch.nodes.push(PatchNode {
                form: PatchOp::identity(),
                inputs: vec![value.map(Item::Old)],
                outputs: vec![Some(Item::Old(result))],
                at: At::Origin,
                origin: vec![node],
                rule: None,
            }),
        }
    }
    patch.nodes.extend(makers.into_values());
    patch.replaced.push(node);
    patch.absorbed = Some(body);
    patch.changes.push(change);
    patch
}

/// Creates a patch entry that keeps a node with its inputs and outputs.
fn kept(model: &Model, node: NodeId) -> PatchNode {
    let items = |values: &[Option<ValueId>]| values.iter().map(|value| value.map(Item::Old)).collect();
    PatchNode {
        form: PatchOp::Kept(node),
        inputs: items(&model.nodes[node].inputs),
        outputs: items(&model.nodes[node].outputs),
        at: At::Origin,
        origin: vec![node],
        rule: None,
    }
}
