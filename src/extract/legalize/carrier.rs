//! Replaces element types that an opset does not support: casts to a wider type and back.

use egg::Id;

use super::Candidate;
use crate::egraph::ENode;
use crate::extract::legality::Target;
use crate::graph::ElemType::{self, *};
use crate::graph::dim::{Answer, Dim};
use crate::infer::{Fact, Shape, Size};
use crate::schema::operator::{Carry, Work};
use crate::schema::{Schema, Slot, Ty, ValueType, operator};

/// Returns types that represent every value of `elem`, types of the same kind first.
fn wider(elem: ElemType) -> &'static [ElemType] {
    match elem {
        Bool => &[Uint8, Int32, Int64, Float],
        Uint8 | Int8 | Uint16 | Int16 => &[Int32, Int64, Float, Double],
        Uint4 | Int4 | Uint2 | Int2 => &[Int8, Int32, Int64, Float],
        Int32 | Uint32 => &[Int64, Double],
        Float16 | Bfloat16 => &[Float, Double],
        Float8e4m3fn | Float8e5m2 => &[Float16, Float],
        Float8e4m3fnuz | Float8e5m2fnuz | Float4e2m1 | Float6e2m3 | Float6e3m2 => &[Float],
        _ => &[],
    }
}

/// Returns true if computing in `carrier` and casting back gives the result of computing in `elem`.
/// For floating-point types, the values computed in both types may differ by rounding.
fn carries(carry: Carry, elem: ElemType, carrier: ElemType) -> bool {
    match carry {
        Carry::Exact => true,
        _ if elem.is_float() => carrier.is_float(),
        Carry::Wraps | Carry::Widens => elem.is_integer() && carrier.is_integer(),
        Carry::Own => false,
    }
}

/// Adds a variant that casts operands to a supported type, calls the operator, and casts back.
pub(super) fn around(form: &mut Candidate, target: &Target, schema: &'static Schema, slot: Slot) -> bool {
    let key = form.egraph.analysis.tables.op(form.call.op).clone();
    let single = form.egraph.analysis.tables.is_single(form.call);
    let formal = match slot {
        Slot::Input(at) => schema.input(at),
        Slot::Output(at) => schema.output(at),
    };
    let Some(Ty::Param(param)) = formal.map(|formal| formal.ty) else { return false };
    let is_param = |ty: Ty| matches!(ty, Ty::Param(other) if other == param);
    let inputs = usize::from(form.call.inputs);
    let carried: Vec<usize> =
        (0..inputs).filter(|&at| schema.input(at).is_some_and(|formal| is_param(formal.ty))).collect();
    let elem = carried.iter().find_map(|&at| form.egraph[form.call.children[at]].data.fact().elem());
    let (Some(elem), Some(operator)) = (elem, operator(&key.domain, &key.name)) else { return false };
    // A call with subgraphs gets no variant, because its subgraphs declare the types of their inputs.
    if operator.work == Work::Control {
        return false;
    }
    let allowed = schema.type_params[usize::from(param)].allowed;
    let carrier = wider(elem).iter().copied().find(|&carrier| {
        allowed.has(ValueType::Tensor(carrier))
            && carries(operator.carry, elem, carrier)
            && is_castable(target, elem, carrier)
    });
    let Some(carrier) = carrier else { return false };
    if ["ReduceMax", "ReduceMin"].contains(&&*key.name)
        && !elem.is_float()
        && may_be_empty(form, form.call.children[0])
    {
        return false;
    }

    let mut children: Vec<Id> = form.call.children.to_vec();
    for &at in &carried {
        let child = children[at];
        if form.egraph[child].nodes.first() == Some(&ENode::Absent) {
            continue;
        }
        if !matches!(form.egraph[child].data.fact(), Fact::Tensor(_)) {
            return false;
        }
        let Some(cast) = form.cast(child, carrier) else { return false };
        children[at] = cast;
    }
    let attrs = form.egraph.analysis.tables.attrs(form.call.attrs).to_vec();
    let variant = form.variant(attrs, children);
    let back = |form: &mut Candidate, value: Id, at: usize| match schema.output(at) {
        Some(formal) if is_param(formal.ty) => form.cast(value, elem),
        _ => Some(value),
    };
    if single {
        return back(form, variant, 0).is_some_and(|value| form.unite(value));
    }
    let mut changed = false;
    for index in 0..form.call.outputs {
        let Some(old) = form.egraph.lookup(ENode::Output { index, call: [form.class] }) else { continue };
        let new = form.add(ENode::Output { index, call: [variant] });
        if let Some(new) = back(form, new, usize::from(index)) {
            changed |= form.egraph.union(old, new);
        }
    }
    changed
}

/// Returns true if a tensor may be empty.
/// The maximum and minimum of an empty tensor depend on its type.
fn may_be_empty(form: &Candidate, value: Id) -> bool {
    let shape = form.egraph[value].data.fact().shape();
    let is_positive = |size: &Size| {
        let bounds = &form.egraph.analysis.bounds;
        size.as_ref().is_some_and(|size| size.at_least(&Dim::known(1), bounds) == Answer::Always)
    };
    !shape.and_then(Shape::dims).is_some_and(|dims| dims.iter().all(is_positive))
}

/// Returns true if the target supports Cast between two types.
fn is_castable(target: &Target, a: ElemType, b: ElemType) -> bool {
    let opset = target.opset("").and_then(|opset| u16::try_from(opset).ok());
    let Some(schema) = opset.and_then(|opset| crate::schema::lookup("", "Cast", opset)) else { return false };
    let takes =
        |elem: ElemType| schema.type_params.iter().all(|param| param.allowed.has(ValueType::Tensor(elem)));
    takes(a) && takes(b)
}
