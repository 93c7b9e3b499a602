//! Kinds of calls, and checks of calls of operators.

use super::Faults;
use super::op::Versions;
use crate::rules::expr::{Expr, ExprKind};
use crate::rules::func::Func;
use crate::rules::rule::Count;
use crate::rules::syntax::ast::CallAst;

/// Returns true for a call of a function; operator names begin with a capital letter.
pub(super) fn is_function(call: &CallAst) -> bool {
    call.is_function()
}

/// Returns true for a `Constant` with one attribute.
pub(super) fn is_constant(call: &CallAst) -> bool {
    let is_named_so = call.op.domain.is_empty() && &*call.op.name.text == "Constant";
    is_named_so && call.op.var.is_none() && call.rest.is_none() && call.attrs.len() == 1
}

/// Checks arity and attributes of a node in a pattern or a rewrite.
pub(super) fn check_call(
    versions: &Versions,
    call: &CallAst,
    inputs: &[Count],
    outputs: &[Count],
    faults: &mut Faults,
) {
    versions.check_counts(&call.op, inputs, outputs, faults);
    versions.check_attrs(call, faults);
    for attr in &call.attrs {
        versions.check_kind(&attr.name, &attr.value, faults);
    }
}

/// Returns the constant of `Constant <name = value> ()` as an expression.
pub(super) fn constant(name: &str, value: Expr) -> Option<Expr> {
    use crate::graph::ElemType;
    let elem = match name {
        "value_int" | "value_ints" => ElemType::Int64,
        "value_float" | "value_floats" => ElemType::Float,
        "value" | "value_string" | "value_strings" => return Some(value),
        _ => return None,
    };
    let span = value.span;
    let elem = Expr { kind: ExprKind::Elem(elem), span };
    Some(Expr { kind: ExprKind::Call { func: Func::Tensor, args: vec![elem, value] }, span })
}
