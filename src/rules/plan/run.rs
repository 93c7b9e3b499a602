//! Checks that a plan is valid and consistent with the facts of the values it replaces.

use super::inferred::{NewAttrs, opset_for};
use super::{Item, Made, Plan};
use crate::infer::{Fact, NoSymbols, OpCall, Shape, TensorFact, transfer};
use crate::rules::host::Host;

/// Returns true if no known fact contradicts a plan.
/// Every new node must accept the types and shapes of its inputs. The facts of a replacement must be compatible
/// with those of the replaced value, if that value is used and has a static shape.
pub fn can_run<H: Host>(host: &H, plan: &Plan<H::Value, H::Node>) -> bool {
    let constant = |made: &Made| match made {
        Made::Constant(array) => Fact::Tensor(TensorFact::constant(array.clone())),
        Made::Output { .. } => Fact::default(),
    };
    let mut made: Vec<Fact> = plan.values.iter().map(constant).collect();
    for (number, node) in plan.nodes.iter().enumerate() {
        let inputs: Vec<_> =
            node.inputs.iter().map(|input| input.map(|item| fact(host, &made, item))).collect();
        let call = OpCall {
            domain: &node.op.domain,
            op: &node.op.name,
            opset: opset_for(host, &node.op),
            attrs: &NewAttrs { attrs: &node.attrs, tensors: &plan.tensors },
            inputs: &inputs,
            outputs: node.outputs.len(),
            bounds: host.bounds(),
            runs: false,
        };
        let (facts, faults) = transfer(&call, &mut NoSymbols);
        if !faults.is_empty() {
            return false;
        }
        for (value, known) in plan.values.iter().zip(&mut made) {
            if let Made::Output { node, index } = value
                && *node == number
            {
                *known = facts.get(*index).cloned().unwrap_or_default();
            }
        }
    }
    // PyTorch may return unused outputs without elements, and a program may declare wrong shapes for
    // data-dependent sizes (such as the rank of `unique_consecutive` along an axis).
    let is_told = |old| host.fact(old).shape().is_some_and(Shape::is_static);
    let mut needed = plan.outputs.iter().filter(|&&(old, _)| host.uses(old) > 0 && is_told(old));
    needed.all(|&(old, new)| fact(host, &made, new).meet(host.fact(old), host.bounds()).is_ok())
}

fn fact<'a, H: Host>(host: &'a H, made: &'a [Fact], item: Item<H::Value>) -> &'a Fact {
    match item {
        Item::Old(value) => host.fact(value),
        Item::New(id) => &made[id.0],
    }
}
