//! Operators that write their result into an argument: `maximum.out` becomes `maximum`, then a write.

use super::builder::Builder;
use crate::schema::aten;
use crate::torch::{Node, NodeId, ValueId};

impl Builder<'_> {
    /// Lowers an operator with an argument `out`.
    pub fn write_out(&mut self, id: NodeId) -> Result<(), String> {
        let node = self.trace.node(id);
        let is_out = |name: &str| name == "out";
        let out = node.inputs.iter().find(|input| input.name.as_deref().is_some_and(is_out));
        let out = out.and_then(|out| self.trace.as_value(&out.argument));
        let (Some(functional), Some(out), &[result]) = (functional(node), out, &*node.outputs) else {
            return Err("it writes into an argument".to_owned());
        };
        if self.shape_and_dtype(out) != self.shape_and_dtype(result) {
            return Err("its result has another shape or dtype than its argument `out`".to_owned());
        }
        if self.of_other_dtype(&functional, result) {
            return Err("one of its operands has another dtype than its argument `out`".to_owned());
        }
        self.make(&functional)?;
        let out = self.writes.of(out);
        self.replaced(out, result)
    }

    fn shape_and_dtype(&self, value: ValueId) -> Option<(Vec<String>, crate::graph::ElemType)> {
        let tensor = self.trace.value(value).ty.tensor()?;
        Some((tensor.shape.as_ref()?.iter().map(ToString::to_string).collect(), tensor.elem?))
    }

    /// Returns true if an operand has another dtype than the result.
    fn of_other_dtype(&self, node: &Node, result: ValueId) -> bool {
        let elem = |value: ValueId| self.trace.value(value).ty.tensor().and_then(|tensor| tensor.elem);
        self.trace
            .values_read(node)
            .into_iter()
            .any(|value| self.trace.value(value).ty.tensor().is_some() && elem(value) != elem(result))
    }
}

/// Returns the call of the corresponding overload without `out`, if there is one.
fn functional(node: &Node) -> Option<Node> {
    let overload = node.op.overload.strip_suffix("out")?.trim_end_matches('_');
    let overloads = [overload, "Tensor", "self", "dim"];
    let is_known = |overload: &&&str| {
        let name = match **overload {
            "" => node.op.name.to_string(),
            overload => format!("{}.{overload}", node.op.name),
        };
        aten::signature(&name).is_some()
    };
    let overload = overloads.iter().find(is_known)?;
    let mut functional = node.clone();
    functional.op.overload = (*overload).into();
    functional.inputs.retain(|input| input.name.as_deref() != Some("out"));
    Some(functional)
}
