//! Normalizations of 16-bit floats with float32 parameters, which PyTorch computes in float32.
//!
//! Autocast makes such calls: it does not cast the parameters of a normalization after a convolution.

use super::builder::Builder;
use super::names::Names;
use super::ops::cast_to;
use super::part::Part;
use crate::graph::ElemType;
use crate::torch::{Node, ValueId};

/// Normalizations whose parameters can have another dtype than their first operand.
static NORMALIZATIONS: Names = Names::new(
    "batch_norm group_norm instance_norm layer_norm native_batch_norm native_group_norm native_layer_norm
    _native_batch_norm_legit _native_batch_norm_legit_no_training",
);

impl Builder<'_> {
    /// Returns the 16-bit operands of a normalization with float32 parameters; none for other nodes.
    pub(super) fn widened(&self, node: &Node) -> Vec<(ValueId, ElemType)> {
        if !node.op.aten().is_some_and(|op| NORMALIZATIONS.contains(op)) {
            return Vec::new();
        }
        let elem = |value: ValueId| self.trace.value(value).ty.elem();
        let read = self.trace.values_read(node);
        let is_mixed = read.first().is_some_and(|&first| elem(first).is_some_and(ElemType::is_half))
            && read.iter().any(|&value| elem(value) == Some(ElemType::Float));
        let halves = read.into_iter().filter(|&value| is_mixed && elem(value).is_some_and(ElemType::is_half));
        halves.map(|value| (value, ElemType::Float)).collect()
    }

    /// Casts the float32 results of a node to the dtypes that the program records.
    pub(super) fn narrow_results(&mut self, node: &Node) {
        for &of in &node.outputs {
            let elem = self.trace.value(of).ty.elem().filter(|&elem| elem.is_half());
            let (Some(elem), Some(wide)) = (elem, self.part(of, Part::Real)) else { continue };
            let made = self.output(of, Part::Real);
            self.add(("", "Cast"), vec![Some(wide)], vec![Some(made)], vec![cast_to(elem)]);
            self.define(of, Part::Real, made);
        }
    }
}
