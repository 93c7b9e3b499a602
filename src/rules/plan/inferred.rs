//! Inference of planned nodes: their opset and attributes.

use super::PlannedOp;
use crate::graph::{AttrValue, Attribute, Id as _, Tensor, TensorId};
use crate::infer::Attrs;
use crate::rules::host::Host;
use crate::schema;

/// Returns the opset that determines the meaning of a new node.
/// Returns the graph's opset if the operator at that opset has the semantics of `op.schema`, and that opset
/// is not older than `op.schema`; otherwise, returns the first opset with `op.schema`. For an operator
/// without a schema, returns the opset of its domain, or 1.
pub(super) fn opset_for<H: Host>(host: &H, op: &PlannedOp) -> i64 {
    let Some(schema) = op.schema else { return host.opset(&op.domain).unwrap_or(1) };
    let own = host.opset(schema.domain).and_then(|opset| u16::try_from(opset).ok());
    let in_force = own.and_then(|own| schema::lookup(schema.domain, schema.name, own));
    match (own, in_force) {
        (Some(own), Some(in_force)) if in_force.epoch == schema.epoch => i64::from(own.max(schema.since)),
        _ => i64::from(schema.since),
    }
}

/// Attributes of a new node, for inference.
pub(super) struct NewAttrs<'p> {
    pub(super) attrs: &'p [Attribute],
    pub(super) tensors: &'p [Tensor],
}

impl Attrs for NewAttrs<'_> {
    fn attr(&self, name: &str) -> Option<&AttrValue> {
        self.attrs.iter().find(|attr| &*attr.name == name).map(|attr| &attr.value)
    }

    fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.index()]
    }
}
