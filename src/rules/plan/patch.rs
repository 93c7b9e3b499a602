//! Turns the rewrite of a match in a plain graph into a patch.

use std::sync::Arc;

use super::run::can_run;
use super::sizes::empty;
use super::{Item, Made, Plan, plan};
use crate::diag::rule_ids::CONSTANT_RESULT;
use crate::edit::{At, Change, NewId, Patch, PatchNode, PatchOp, Site};
use crate::graph::dim::Dim;
use crate::graph::{
    AttrValue, Attribute, ElemType, GraphId, Id as _, Model, NodeId, Tensor, TensorId, ValueId,
};
use crate::infer;
use crate::rules::matcher::Match;
use crate::rules::plain::PlainHost;
use crate::rules::rule::{Direction, Phase, Rule, Safety};

/// Returns the patch that applies `rule` to a match; `None` if the rule does not apply.
/// The linter and the repairs of `onnx-fix` (phase `fix`) both call this function, so that both agree on
/// which faults are fixable.
pub fn patch(
    host: &PlainHost,
    rule: &Rule,
    direction: &Direction,
    found: Match<ValueId, NodeId>,
) -> Option<Patch> {
    let mut plan = plan(host, direction, found).ok()?;
    // Rules for lowering cannot exclude all unsupported types by conditions.
    if rule.phase == Phase::Lower && !can_run(host, &plan) {
        return None;
    }
    let root = *plan.found.nodes.last()?;
    let what = format!("fixed `{}`", host.model.nodes[root].op_name());
    if rule.phase == Phase::Lower {
        // The rule lowers only the root: other rules lower its matched producers.
        plan.found.nodes.retain(|&node| node == root);
    }
    let with = plan.found.nodes.iter().copied().filter(|&node| node != root).collect();
    let change = Change { with, ..Change::new(rule.by(), Site::Node(root), what) };
    let mut patch = into_patch(plan, host.model, host.graph, Some(&rule.code), change)?;
    patch.keeps_values = rule.phase != Phase::Fix && rule.safety != Safety::Unsafe;
    patch.check(host.model).is_ok().then_some(patch)
}

/// Returns the patch that replaces the outputs `values` of a node; none of them has elements.
/// Returns `None` if the sizes of `values` cannot be computed from the sizes of inputs.
pub fn patch_of_empty(
    host: &PlainHost,
    node: NodeId,
    values: &[(ValueId, ElemType, Vec<Dim>)],
) -> Option<Patch> {
    let plan = empty(host, node, values)?;
    let change = Change::new(CONSTANT_RESULT, Site::Node(node), "without elements");
    let patch = into_patch(plan, host.model, host.graph, None, change)?;
    patch.check(host.model).is_ok().then_some(patch)
}

/// Converts a plan to a patch; `code` is the code of the rule that creates the new nodes.
fn into_patch(
    plan: Plan<ValueId, NodeId>,
    model: &Model,
    graph: GraphId,
    code: Option<&Arc<str>>,
    change: Change,
) -> Option<Patch> {
    let root = *plan.found.nodes.last()?;
    let base = model.nodes[root].outputs.iter().flatten().next();
    let base = base.map_or(Arc::from("value"), |&value| model.values[value].name.clone());
    let mut patch = Patch::new(graph);
    // A new value takes the name of the first value it replaces.
    let mut items: Vec<Option<Item<ValueId>>> = vec![None; plan.values.len()];
    for &(old, new) in &plan.outputs {
        match new {
            Item::New(NewId(at)) => match items[at] {
                None => items[at] = Some(Item::Old(old)),
                Some(item) => patch.redirects.push((old, item)),
            },
            Item::Old(value) => patch.redirects.push((old, Item::Old(value))),
        }
    }
    let fresh = |item: &Option<Item<ValueId>>| item.is_none();
    let items: Vec<Item<ValueId>> = {
        let missing: Vec<usize> = (0..items.len()).filter(|&at| fresh(&items[at])).collect();
        for at in missing {
            items[at] = Some(patch.new_value(base.clone(), code.cloned()));
        }
        items.into_iter().flatten().collect()
    };
    let item = |item: Item<ValueId>| match item {
        Item::Old(value) => Item::Old(value),
        Item::New(NewId(at)) => items[at],
    };
    let node = |form, inputs, outputs| PatchNode {
        form,
        inputs,
        outputs,
        at: At::Origin,
        origin: vec![root],
        rule: code.cloned(),
    };
    patch.first_tensor = model.tensors.len();
    patch.tensors = plan.tensors.clone();
    for (at, made) in plan.values.iter().enumerate() {
        if let Made::Constant(array) = made {
            let form = constant(&mut patch, infer::tensor_of(array));
            patch.nodes.push(node(form, Vec::new(), vec![Some(items[at])]));
        }
    }
    let first = patch.first_tensor;
    let tensors: Vec<TensorId> = (0..plan.tensors.len()).map(|at| TensorId::from_index(first + at)).collect();
    for (number, planned) in plan.nodes.iter().enumerate() {
        let mut outputs = vec![None; planned.outputs.len()];
        for (at, made) in plan.values.iter().enumerate() {
            if let Made::Output { node, index } = made
                && *node == number
            {
                outputs[*index] = Some(items[at]);
            }
        }
        let form = PatchOp::New {
            domain: planned.op.domain.clone(),
            op_type: planned.op.name.clone(),
            attrs: planned.attrs_with(&tensors),
        };
        let inputs = planned.inputs.iter().map(|input| input.map(item)).collect();
        patch.nodes.push(node(form, inputs, outputs));
    }
    patch.replaced = plan.found.nodes;
    patch.changes.push(change);
    Some(patch)
}

/// Creates a `Constant` for a tensor.
fn constant(patch: &mut Patch, tensor: Tensor) -> PatchOp {
    let id = TensorId::from_index(patch.first_tensor + patch.tensors.len());
    patch.tensors.push(tensor);
    let attrs = vec![Attribute::new("value", AttrValue::Tensor(id))];
    PatchOp::New { domain: Arc::from(""), op_type: Arc::from("Constant"), attrs }
}
