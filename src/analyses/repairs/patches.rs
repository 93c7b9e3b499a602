//! Patches of repairs.

use std::sync::Arc;

use super::Casts;
use crate::analyses::LintContext;
use crate::diag::rule_ids::INSERTED_CAST;
use crate::edit::{At, By, Change, Item, Patch, PatchNode, PatchOp, Safety, Site};
use crate::graph::{AttrValue, Attribute, ElemType, NodeId, ValueId};
use crate::schema::{self, AttrUse, AttrView, OpUse, Operand, ValueType};

/// First opset in which the attribute `to` of Cast is a number.
const NUMBERED_CASTS: u16 = 6;

/// Returns the patch that adds `casts` to a node; `None` if the opset does not support one of them.
pub fn of_casts(cx: &LintContext, id: NodeId, casts: &Casts) -> Option<Patch> {
    let node = &cx.model.nodes[id];
    let opset = u16::try_from(cx.model.opset(node.graph, "")?).ok()?;
    let mut patch = Patch::new(node.graph);
    let mut inputs: Vec<_> = node.inputs.iter().map(|input| input.map(Item::Old)).collect();
    let mut outputs: Vec<_> = node.outputs.iter().map(|output| output.map(Item::Old)).collect();
    let mut converted: Vec<(ValueId, ElemType, Item<ValueId>)> = Vec::new();
    for &(input, to) in &casts.inputs {
        let value = node.input(input)?;
        let known = converted.iter().find(|(other, elem, _)| (*other, *elem) == (value, to));
        let item = match known {
            Some(&(_, _, item)) => item,
            None => {
                let from = cx.facts[value].elem()?;
                let item = new_value(cx, &mut patch, value);
                patch.nodes.push(cast(Item::Old(value), item, (from, to), opset, id)?);
                converted.push((value, to, item));
                item
            }
        };
        inputs[input] = Some(item);
    }
    let kept = patch.nodes.len();
    for &(output, to) in &casts.outputs {
        let value = node.output(output)?;
        let from = casts.inputs.first()?.1;
        let item = new_value(cx, &mut patch, value);
        patch.nodes.push(cast(item, Item::Old(value), (from, to), opset, id)?);
        outputs[output] = Some(item);
    }
    let form = PatchOp::Kept(id);
    patch
        .nodes
        .insert(kept, PatchNode { form, inputs, outputs, at: At::Origin, origin: vec![id], rule: None });
    patch.keeps_values = false;
    let list: Vec<String> = casts
        .inputs
        .iter()
        .filter_map(|&(input, to)| Some(format!("`{}` converted to {to}", cx.name(node.input(input)?))))
        .collect();
    let by = By { safety: Safety::Rounding, ..By::from(INSERTED_CAST) };
    patch.changes.push(Change::new(by, Site::Node(id), list.join(", ")));
    Some(patch)
}

fn new_value(cx: &LintContext, patch: &mut Patch, like: ValueId) -> Item<ValueId> {
    patch.new_value(cx.model.values[like].name.clone(), Some(Arc::from(INSERTED_CAST.code)))
}

/// Returns a `Cast` node; `None` if the opset does not support a Cast between the two types.
fn cast(
    input: Item<ValueId>,
    output: Item<ValueId>,
    (from, to): (ElemType, ElemType),
    opset: u16,
    origin: NodeId,
) -> Option<PatchNode> {
    let number = match opset < NUMBERED_CASTS {
        true => AttrValue::String(bytes::Bytes::from(to.name().to_uppercase())),
        false => AttrValue::Int(i64::from(to.number())),
    };
    let operand = |elem| [Operand::Present { ty: Some(ValueType::Tensor(elem)), negative: false }];
    let attrs = [AttrUse { name: "to", value: AttrView::from(&number) }];
    let (inputs, outputs) = (operand(from), operand(to));
    let op =
        OpUse { domain: "", name: "Cast", epoch: None, attrs: &attrs, inputs: &inputs, outputs: &outputs };
    schema::legal(&op, opset).ok()?;
    let attrs = vec![Attribute::new("to", number)];
    let form = PatchOp::New { domain: Arc::from(""), op_type: Arc::from("Cast"), attrs };
    let rule = Some(Arc::from(INSERTED_CAST.code));
    Some(PatchNode {
        form,
        inputs: vec![Some(input)],
        outputs: vec![Some(output)],
        at: At::Origin,
        origin: vec![origin],
        rule,
    })
}
