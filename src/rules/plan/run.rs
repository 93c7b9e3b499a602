//! Whether what a plan makes can run, and is what the values are that it takes the place of.

use super::{Item, Made, Plan};
use crate::infer::{Call, Fact, NoSymbols, Shape, TensorFact, transfer};
use crate::rules::host::Host;
use crate::schema::{self, Schema};

use super::make::NewAttrs;

/// Whether nothing is known that speaks against a plan: no call in it is one of types or sizes that its operator does
/// not take, and nothing that it makes contradicts what is known of the value that it is to be.
pub fn can_run<H: Host>(host: &H, plan: &Plan<H::Value, H::Node>) -> bool {
    let constant = |made: &Made| match made {
        Made::Constant(array) => Fact::Tensor(TensorFact::constant(array.clone())),
        Made::Output { .. } => Fact::default(),
    };
    let mut made: Vec<Fact> = plan.values.iter().map(constant).collect();
    for (number, node) in plan.nodes.iter().enumerate() {
        let inputs: Vec<_> =
            node.inputs.iter().map(|input| input.map(|item| fact(host, &made, item))).collect();
        let call = Call {
            domain: node.schema.domain,
            op: node.schema.name,
            opset: opset_for(host, node.schema),
            attrs: &NewAttrs { attrs: &node.attrs, tensors: &plan.tensors },
            inputs: &inputs,
            outputs: node.outputs.len(),
            bounds: host.bounds(),
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
    // What nobody asked for, PyTorch gives without elements, whatever its shape would be; and of sizes that depend on
    // data, the program may say what is not so (the rank of `unique_consecutive` along an axis).
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

/// The opset in which a new node is understood: that of the graph, or, for an epoch that is not in force there, or a
/// version of it that is newer, the first in which it is.
pub(super) fn opset_for<H: Host>(host: &H, schema: &Schema) -> i64 {
    let own = host.opset(schema.domain).and_then(|opset| u16::try_from(opset).ok());
    let in_force = own.and_then(|own| schema::lookup(schema.domain, schema.name, own));
    match (own, in_force) {
        (Some(own), Some(in_force)) if in_force.epoch == schema.epoch => i64::from(own.max(schema.since)),
        _ => i64::from(schema.since),
    }
}
