//! Conversion of call arguments to node inputs and attributes, by the operator's signature.

use std::sync::Arc;

use bytes::Bytes;

use super::builder::Builder;
use super::part::{Part, part_of};
use crate::graph::{AttrValue, Attribute, ElemType, Tensor, ValueId};
use crate::schema::aten::{self, Kind, Literal, Param, Signature};
use crate::torch::{Argument, Input, Node};

/// The name, inputs and attributes of a node to be created for a call.
pub struct Called {
    /// Name with overload, such as `add.Tensor`.
    pub op: Arc<str>,
    pub inputs: Vec<Option<ValueId>>,
    pub attrs: Vec<Attribute>,
    /// Whether the operator is a PyTorch operator whose signature is known.
    pub is_known: bool,
}

/// Converts the call of a trace node. An in-place operator becomes its functional variant.
pub fn called(builder: &mut Builder, node: &Node) -> Result<Called, String> {
    let name = |base: &str| match &*node.op.overload {
        "" => base.to_owned(),
        overload => format!("{base}.{overload}"),
    };
    let own = name(&node.op.name);
    let bases = [Some(&*node.op.name), node.op.in_place_of()];
    let known = node
        .op
        .aten()
        .and_then(|_| bases.into_iter().flatten().find_map(|base| aten::signature(&name(base))));
    let Some(signature) = known else {
        // The overloads of an operator of another library share one name.
        return unknown(builder, node, if node.op.aten().is_some() { &own } else { &node.op.name });
    };
    let mut call =
        Called { op: signature.name.into(), inputs: Vec::new(), attrs: Vec::new(), is_known: true };
    for (position, param) in signature.params.iter().enumerate() {
        let given = given(node, signature, position);
        let given = given.map(|given| builder.trace.see(given).clone());
        if param.is_input {
            input(builder, param, given, &mut call)?;
        } else if !is_of_gradients(&call.op, param.name)
            && let Some(value) = attribute(builder, param, given)?
        {
            call.attrs.push(Attribute::new(param.name, value));
        }
    }
    trim(&mut call.inputs);
    Ok(call)
}

/// Returns true for parameters that affect only gradients, which may be computed at run time.
fn is_of_gradients(op: &str, param: &str) -> bool {
    op == "embedding" && matches!(param, "padding_idx" | "scale_grad_by_freq" | "sparse")
}

/// Converts a call of an operator whose signature is not known.
/// Strings and dtypes become attributes; all other arguments become inputs, in order.
fn unknown(builder: &mut Builder, node: &Node, name: &str) -> Result<Called, String> {
    let mut call = Called { op: name.into(), inputs: Vec::new(), attrs: Vec::new(), is_known: false };
    for (position, given) in node.inputs.iter().enumerate() {
        let mut attribute = |value| {
            let name = given.name.clone().unwrap_or_else(|| format!("argument{position}").into());
            call.attrs.push(Attribute::new(&name, value));
        };
        match builder.trace.see(&given.argument).clone() {
            Argument::Str(text) => attribute(AttrValue::String(Bytes::copy_from_slice(text.as_bytes()))),
            Argument::Elem(elem) => attribute(AttrValue::Int(i64::from(part_of(elem).number()))),
            Argument::List(members) => {
                for member in members {
                    let value = operand(builder, &member)?;
                    call.inputs.push(value);
                }
            }
            other => {
                let value = operand(builder, &other)?;
                call.inputs.push(value);
            }
        }
    }
    trim(&mut call.inputs);
    Ok(call)
}

fn trim(inputs: &mut Vec<Option<ValueId>>) {
    while inputs.last() == Some(&None) {
        inputs.pop();
    }
}

/// Returns the argument of a parameter, by name or, if names were not recorded, by position.
fn given<'n>(node: &'n Node, signature: &Signature, position: usize) -> Option<&'n Argument> {
    let name = signature.params[position].name;
    let named = node.inputs.iter().find(|input| input.name.as_deref() == Some(name));
    // In-place operators name their first parameter `self`, whatever the functional variant names it.
    let is_nameless =
        |input: &&Input| input.name.is_none() || position == 0 && node.op.in_place_of().is_some();
    let by_place = || node.inputs.get(position).filter(is_nameless);
    named.or_else(by_place).map(|input| &input.argument)
}

/// Adds the argument of an input parameter to a call.
fn input(
    builder: &mut Builder,
    param: &Param,
    given: Option<Argument>,
    call: &mut Called,
) -> Result<(), String> {
    let given = match (given, &param.default) {
        (Some(given), _) => given,
        (None, Some(default)) => literal(default),
        (None, None) => Argument::None,
    };
    match (given, param.is_list) {
        (Argument::None, _) => call.inputs.push(None),
        (Argument::List(members), true) if aten::has_parts(param) && builder.part == Part::Both => {
            pairs(builder, param, &members, call)?;
        }
        (Argument::List(mut members), true) if param.kind == Kind::Tensor => {
            if is_concatenation(&call.op) {
                drop_empty_vectors(builder, &mut members);
            }
            let mut present = Vec::new();
            for (position, member) in members.iter().enumerate() {
                let member = builder.trace.see(member);
                if !aten::has_parts(param) && builder.is_complex_argument(member) {
                    return Err(format!("`{}` is complex", param.name));
                }
                let is_moved = builder.part == Part::Imaginary && aten::has_parts(param);
                let value = match is_moved {
                    true => builder.imaginary_or_zeros(member)?,
                    false => operand(builder, member)?,
                };
                if value.is_some() {
                    present.push(position as i64);
                    call.inputs.push(value);
                }
            }
            if aten::is_sparse(param) {
                call.attrs.push(Attribute::new(param.name, AttrValue::Ints(present)));
            } else if present.len() != members.len() {
                return Err(format!("a tensor of `{}` is missing", param.name));
            }
        }
        (Argument::List(mut members), true) => {
            // At -1, `expand` of PyTorch keeps the size. ONNX Expand rejects -1, and keeps the size at 1.
            if is_expand(&call.op) {
                let kept = members.iter_mut().filter(|member| builder.trace.int(member) == Some(-1));
                kept.for_each(|member| *member = Argument::Int(1));
            }
            let value = numbers(builder, &members)?;
            call.inputs.push(Some(value));
        }
        (given @ (Argument::Int(_) | Argument::Value(_)), true) if param.kind != Kind::Tensor => {
            let value = numbers(builder, &vec![given; param.repeat.unwrap_or(1)])?;
            call.inputs.push(Some(value));
        }
        (given, false) if aten::has_parts(param) => parts(builder, &given, call)?,
        (given, false) => {
            let value = operand(builder, &given)?;
            call.inputs.push(value);
        }
        (_, true) => return Err(format!("its argument `{}` is not a list", param.name)),
    }
    Ok(())
}

/// Returns true for operators that concatenate tensors.
fn is_concatenation(op: &str) -> bool {
    matches!(op, "cat" | "concat" | "concatenate")
}

/// Removes tensors of shape [0] from `members` if a member has a rank other than 1.
/// PyTorch ignores tensors of shape [0] in a concatenation.
fn drop_empty_vectors(builder: &Builder, members: &mut Vec<Argument>) {
    let shape = |member: &Argument| match builder.trace.see(member) {
        Argument::Value(value) => builder.trace.value(*value).ty.shape(),
        _ => None,
    };
    let is_other = |member: &Argument| shape(member).is_some_and(|shape| shape.len() != 1);
    if members.iter().any(is_other) {
        members.retain(|member| {
            !shape(member).is_some_and(|shape| shape.len() == 1 && shape[0].fixed() == Some(0))
        });
    }
}

/// Returns true for operators that broadcast a tensor to given sizes.
fn is_expand(op: &str) -> bool {
    matches!(op, "expand" | "expand_copy" | "broadcast_to")
}

/// Adds an operand that may be complex: the part or parts selected by `builder.part`.
fn parts(builder: &mut Builder, given: &Argument, call: &mut Called) -> Result<(), String> {
    if builder.part == Part::Imaginary {
        let value = builder.imaginary_or_zeros(given)?;
        call.inputs.push(value);
        return Ok(());
    }
    let value = operand(builder, given)?;
    call.inputs.push(value);
    if builder.part == Part::Both {
        let imaginary = builder.imaginary_of(given);
        call.inputs.push(imaginary);
    }
    Ok(())
}

/// Adds both parts of each tensor of a list; the imaginary part of a real tensor is 0.
fn pairs(
    builder: &mut Builder,
    param: &Param,
    members: &[Argument],
    call: &mut Called,
) -> Result<(), String> {
    for member in members {
        let member = builder.trace.see(member).clone();
        let parts = [operand(builder, &member)?, builder.imaginary_or_zeros(&member)?];
        if parts.contains(&None) {
            return Err(format!("a tensor of `{}` is missing", param.name));
        }
        call.inputs.extend(parts);
    }
    Ok(())
}

/// Returns the model value of an argument: a constant for a number, `None` for an absent argument.
pub fn operand(builder: &mut Builder, argument: &Argument) -> Result<Option<ValueId>, String> {
    Ok(match argument {
        Argument::None => None,
        Argument::Value(value) => Some(builder.value_of(*value)?),
        other => {
            let value =
                builder.constant(number(other).ok_or("an argument is neither a tensor nor a number")?);
            builder.numbers.insert(value);
            Some(value)
        }
    })
}

/// Returns a number or a boolean as a 0-d tensor; of a complex number, the real part.
pub fn number(argument: &Argument) -> Option<Tensor> {
    Some(match argument {
        Argument::Int(int) => Tensor::int64s(Vec::new(), &[*int]),
        Argument::Float(float) | Argument::Complex(float, _) => double(*float),
        Argument::Bool(truth) => Tensor::from_raw(ElemType::Bool, Vec::new(), vec![u8::from(*truth)]),
        _ => return None,
    })
}

/// Returns a number as a 0-d tensor.
pub fn double(float: f64) -> Tensor {
    Tensor::from_raw(ElemType::Double, Vec::new(), float.to_le_bytes().to_vec())
}

/// Returns a list of numbers as a 1-d tensor. Some of the numbers may be computed at run time.
fn numbers(builder: &mut Builder, members: &[Argument]) -> Result<ValueId, String> {
    let known: Option<Vec<i64>> = members.iter().map(|member| builder.trace.int(member)).collect();
    if let Some(known) = known {
        return Ok(builder.constant(Tensor::int64s(vec![known.len() as i64], &known)));
    }
    let [zero, one] = [0, 1].map(|int| builder.constant(Tensor::int64s(vec![1], &[int])));
    let mut parts = Vec::new();
    for member in members {
        let part = match (builder.trace.int(member), member) {
            (Some(int), _) => builder.constant(Tensor::int64s(vec![1], &[int])),
            (None, Argument::Value(value)) => {
                let value = builder.value_of(*value)?;
                // A number given as a tensor may have shape [1] instead of [].
                let (op, to) = match builder.known(value) {
                    (_, Some(0)) => ("Unsqueeze", zero),
                    _ => ("Reshape", one),
                };
                builder.onnx(op, vec![Some(value), Some(to)], Vec::new())
            }
            _ => return Err("a size is not a number".to_owned()),
        };
        parts.push(Some(part));
    }
    Ok(builder.onnx("Concat", parts, vec![Attribute::new("axis", AttrValue::Int(0))]))
}

/// Returns the attribute for a parameter; `None` if the argument is absent or equals the default.
fn attribute(
    builder: &mut Builder,
    param: &Param,
    given: Option<Argument>,
) -> Result<Option<AttrValue>, String> {
    let Some(given) = given else { return Ok(None) };
    let given = match (&given, param.repeat) {
        (Argument::Int(_), Some(repeat)) if param.is_list => Argument::List(vec![given; repeat]),
        _ => given,
    };
    if param.default.as_ref().is_some_and(|default| is_equal(&literal(default), &given))
        || given == Argument::None
    {
        return Ok(None);
    }
    let trace = builder.trace;
    let refused = || match &given {
        Argument::Value(value) => {
            format!("`{}` is not a constant: it is the value `{}`", param.name, trace.value(*value).name)
        }
        _ => format!("its argument `{}` has an unsupported kind", param.name),
    };
    // TorchScript may print a boolean as a number.
    let value = match (param.kind, param.is_list, &given) {
        (Kind::Int | Kind::Bool | Kind::Scalar, false, _) if trace.int(&given).is_some() => {
            AttrValue::Int(trace.int(&given).unwrap_or_default())
        }
        (Kind::Float, false, Argument::Int(int)) => scalar(builder, *int as f64),
        (Kind::Float | Kind::Scalar, false, Argument::Float(float)) => scalar(builder, *float),
        (Kind::Str, false, Argument::Str(text)) => AttrValue::String(Bytes::copy_from_slice(text.as_bytes())),
        (Kind::Elem, false, Argument::Elem(elem)) => AttrValue::Int(i64::from(part_of(*elem).number())),
        (Kind::Int | Kind::Bool, true, Argument::List(members)) => {
            let ints = members.iter().map(|member| trace.int(member)).collect::<Option<_>>();
            AttrValue::Ints(ints.ok_or_else(refused)?)
        }
        (Kind::Float | Kind::Scalar, true, Argument::List(members)) => {
            let float = |member: &Argument| match trace.see(member) {
                Argument::Int(int) => Some(*int as f64),
                Argument::Float(float) => Some(*float),
                _ => None,
            };
            let floats = members.iter().map(float).collect::<Option<Vec<f64>>>().ok_or_else(refused)?;
            let raw: Vec<u8> = floats.iter().flat_map(|float| float.to_le_bytes()).collect();
            let tensor = Tensor::from_raw(ElemType::Double, vec![floats.len() as i64], raw);
            AttrValue::Tensor(builder.model.tensors.push(tensor))
        }
        _ => return Err(refused()),
    };
    Ok(Some(value))
}

/// Returns a float as a double tensor: a float attribute would lose precision.
fn scalar(builder: &mut Builder, float: f64) -> AttrValue {
    AttrValue::Tensor(builder.model.tensors.push(double(float)))
}

fn literal(default: &Literal) -> Argument {
    match default {
        Literal::None => Argument::None,
        Literal::Int(int) => Argument::Int(*int),
        Literal::Float(float) => Argument::Float(*float),
        Literal::Bool(truth) => Argument::Bool(*truth),
        Literal::Str(text) => Argument::Str((*text).into()),
        Literal::Ints(ints) => Argument::List(ints.iter().map(|&int| Argument::Int(int)).collect()),
    }
}

fn is_equal(a: &Argument, b: &Argument) -> bool {
    let number = |argument: &Argument| match argument {
        Argument::Int(int) => Some(*int as f64),
        Argument::Float(float) => Some(*float),
        Argument::Bool(truth) => Some(f64::from(u8::from(*truth))),
        _ => None,
    };
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}
