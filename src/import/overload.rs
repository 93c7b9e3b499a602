//! Overload resolution: TorchScript prints operator names without their overload.

use std::sync::Arc;

use crate::schema::aten::{self, Kind, Param, Signature};
use crate::torch::types::elem_by_number;
use crate::torch::{Argument, Input, Trace, Type};

/// Returns the overload that accepts the arguments of a call, and these arguments by parameter name.
///
/// Returns `None` if no overload matches. TorchScript prints all arguments in order, including defaults.
pub fn resolved(trace: &Trace, name: &str, given: &[Argument]) -> Option<(&'static Signature, Vec<Input>)> {
    let candidates = || aten::overloads(name).filter(|it| it.params.len() + left_out(it) == given.len());
    let inputs = |signature: &Signature, numbers: bool| {
        assigned(trace, signature, given.get(..signature.params.len())?, &[], numbers)
    };
    // Prefer an overload that takes tensors for tensors, and numbers for numbers. If there is none, a number
    // may be passed for a tensor, or a tensor for a number.
    let first = |numbers: bool| candidates().find_map(|it| Some((it, inputs(it, numbers)?)));
    let (found, mut inputs) = first(false).or_else(|| first(true))?;
    // A non-default memory format may force a copy.
    let format =
        given.get(inputs.len()).filter(|format| !matches!(format, Argument::None | Argument::Int(0)));
    if name == "contiguous"
        && let Some(format) = format
    {
        inputs.push(Input { name: Some("memory_format".into()), argument: format.clone() });
    }
    Some((found, inputs))
}

/// Assigns the arguments of a call to the parameters of an overload; `None` if it does not accept them.
pub(super) fn assigned(
    trace: &Trace,
    signature: &Signature,
    given: &[Argument],
    named: &[&(Arc<str>, Argument)],
    numbers: bool,
) -> Option<Vec<Input>> {
    let is_param = |name: &str| signature.params.iter().any(|param| param.name == name);
    if given.len() > signature.params.len() || named.iter().any(|(name, _)| !is_param(name)) {
        return None;
    }
    let mut inputs = Vec::new();
    for (position, param) in signature.params.iter().enumerate() {
        let by_name = || named.iter().find(|(name, _)| &**name == param.name).map(|(_, argument)| argument);
        let Some(argument) = given.get(position).or_else(by_name) else {
            if param.default.is_none() && !param.is_optional {
                return None;
            }
            continue;
        };
        if !fits(trace, param, argument, numbers) {
            return None;
        }
        inputs.push(Input { name: Some(param.name.into()), argument: typed(param, argument) });
    }
    Some(inputs)
}

/// Returns an argument, with a dtype instead of its number.
fn typed(param: &Param, given: &Argument) -> Argument {
    match (param.kind, given) {
        (Kind::Elem, Argument::Int(number)) => {
            elem_by_number(*number).map_or_else(|| given.clone(), Argument::Elem)
        }
        _ => given.clone(),
    }
}

/// Returns the number of trailing arguments that signatures omit, such as layout and device.
fn left_out(signature: &Signature) -> usize {
    let base = signature.name.split('.').next().unwrap_or_default();
    let has_elem = signature.params.iter().any(|param| param.kind == Kind::Elem);
    let has_tensor = signature.params.iter().any(|param| param.kind == Kind::Tensor);
    match base {
        "clone" | "contiguous" | "copy" => 1,
        _ if base.ends_with("_like") && has_elem => 4,
        _ if base.starts_with("new_") && has_elem => 3,
        _ if has_elem && !has_tensor => 3,
        _ => 0,
    }
}

/// Returns true if a parameter accepts an argument.
/// With `numbers`, a number is also accepted for a tensor, and a tensor for an integer or a scalar.
fn fits(trace: &Trace, param: &Param, given: &Argument, numbers: bool) -> bool {
    let ty = |given: &Argument| match given {
        Argument::Value(value) => Some(&trace.value(*value).ty),
        _ => None,
    };
    let is_tensor = |given: &Argument| matches!(ty(given), Some(Type::Tensor(_)));
    let is_number = |given: &Argument| match given {
        Argument::Int(_) | Argument::Float(_) | Argument::Complex(..) | Argument::Bool(_) => true,
        _ => matches!(ty(given), Some(Type::Int | Type::Float | Type::Bool)),
    };
    let is_int = |given: &Argument| {
        matches!(given, Argument::Int(_))
            || matches!(ty(given), Some(Type::Int))
            || numbers && is_tensor(given)
    };
    match (given, param.kind, param.is_list) {
        (Argument::None, ..) => param.is_optional,
        (Argument::List(members), Kind::Tensor, true) => members
            .iter()
            .all(|member| is_tensor(member) || aten::is_sparse(param) && *member == Argument::None),
        (Argument::List(members), Kind::Int, true) => members.iter().all(is_int),
        (Argument::List(members), Kind::Bool, true) => {
            members.iter().all(|member| matches!(member, Argument::Bool(_) | Argument::Int(_)))
        }
        (Argument::List(members), Kind::Float | Kind::Scalar, true) => members.iter().all(is_number),
        (_, _, true) => false,
        (_, Kind::Tensor, _) => is_tensor(given) || numbers && is_number(given),
        (_, Kind::Int, _) => is_int(given),
        (_, Kind::Bool, _) => matches!(given, Argument::Bool(_)),
        (_, Kind::Float, _) => matches!(given, Argument::Float(_) | Argument::Int(_)),
        (_, Kind::Scalar, _) => is_number(given) || numbers && is_tensor(given),
        (_, Kind::Str, _) => matches!(given, Argument::Str(_)),
        (Argument::Int(number), Kind::Elem, _) => elem_by_number(*number).is_some(),
        (_, Kind::Elem, _) => matches!(given, Argument::Elem(_)),
    }
}
