//! Type checking by schema: inputs bind type parameters, which determine the types of outputs.

use super::fact::{Fact, TensorFact};
use super::fault::Fault;
use super::ops::Cx;
use super::shape::Shape;
use crate::graph::ElemType;
use crate::schema::{Arity, Formal, Schema, Ty, TypeSet};

/// Infers the kind and element type of every output from the schema.
///
/// Records a fault for each tensor of an unsupported element type, and for inputs whose types must be equal but
/// differ.
pub(super) fn element_types(cx: &mut Cx) {
    let Some(schema) = cx.schema else { return };
    let mut bound: Vec<Option<usize>> = vec![None; schema.type_params.len()];
    for input in 0..cx.inputs() {
        let (Some(formal), Some(fact)) = (schema.input(input), cx.fact(input)) else { continue };
        check_allowed(cx, schema, formal, input, fact);
        if let Some(param) = param_of(formal) {
            bind(cx, schema, &mut bound, param, input);
        }
    }
    for output in 0..cx.outs.len() {
        let Some(formal) = schema.output(output) else { continue };
        let by = param_of(formal).and_then(|param| cx.fact(bound[param]?));
        cx.put(output, kind_of(schema.allowed(formal), by));
    }
}

/// Returns the type parameter of a formal, or `None` for a fixed type or heterogeneous variadic values.
fn param_of(formal: &Formal) -> Option<usize> {
    match (formal.ty, formal.option) {
        (_, Arity::Variadic { homogeneous: false, .. }) => None,
        (Ty::Param(param), _) => Some(param.into()),
        (Ty::Exactly(_), _) => None,
    }
}

/// Records a fault if the schema does not allow the element type of a tensor input.
fn check_allowed(cx: &mut Cx, schema: &Schema, formal: &Formal, input: usize, fact: &Fact) {
    let allowed = schema.allowed(formal);
    let Some(elem) = fact.as_tensor().and_then(|tensor| tensor.elem) else { return };
    if !allowed.has_tensor(elem) {
        cx.fault(Fault::TypeNotAllowed { input, elem, allowed });
    }
}

/// Binds a type parameter to the first input of known type, and compares later inputs with it.
fn bind(cx: &mut Cx, schema: &Schema, bound: &mut [Option<usize>], param: usize, input: usize) {
    let elem_of = |cx: &Cx, input: usize| cx.fact(input).and_then(Fact::inner_elem);
    let Some(elem) = elem_of(cx, input) else {
        bound[param] = bound[param].or(Some(input));
        return;
    };
    let first = bound[param].and_then(|first| Some((first, elem_of(cx, first)?)));
    match first {
        None => bound[param] = Some(input),
        Some((first, other)) if other != elem => {
            let param = schema.type_params[param].name;
            cx.fault(Fault::TypeMismatch { param, inputs: (first, input), elems: (other, elem) });
        }
        Some(_) => {}
    }
}

/// Returns the fact of an output whose formal allows these types.
///
/// If several types are allowed, the input `by` of the same type parameter, if any, determines the type.
fn kind_of(allowed: &TypeSet, by: Option<&Fact>) -> Fact {
    match by {
        None | Some(Fact::Unknown) => only_kind(allowed, None),
        Some(fact @ (Fact::Tensor(_) | Fact::SparseTensor(_))) => match only_kind(allowed, fact.elem()) {
            Fact::Unknown => fact.without_shapes(),
            kind => kind,
        },
        Some(fact) => fact.without_shapes(),
    }
}

/// Returns the fact of the only kind among the allowed types, such as tensor or sequence.
///
/// Returns `Unknown` if values of several kinds are allowed.
fn only_kind(allowed: &TypeSet, elem: Option<ElemType>) -> Fact {
    let TypeSet { tensor, seq, optional, optional_seq, sparse, others } = allowed;
    let kinds = [*tensor, *seq, *optional, *optional_seq, *sparse].map(|bits| bits != 0);
    let inner = |bits: u32| Fact::tensor(elem.or_else(|| only_elem(bits)), Shape::UNKNOWN);
    match (kinds, others.is_empty()) {
        ([true, false, false, false, false], true) => inner(*tensor),
        ([false, true, false, false, false], true) => Fact::sequence(inner(*seq)),
        ([false, false, true, false, false], true) => Fact::optional(inner(*optional)),
        ([false, false, false, true, false], true) => Fact::optional(Fact::sequence(inner(*optional_seq))),
        ([false, false, false, false, true], true) => {
            Fact::SparseTensor(TensorFact::new(elem.or_else(|| only_elem(*sparse)), Shape::UNKNOWN))
        }
        _ => Fact::Unknown,
    }
}

/// Returns the element type if exactly one bit is set.
fn only_elem(bits: u32) -> Option<ElemType> {
    let number = i32::try_from(bits.trailing_zeros()).ok()?;
    (bits.count_ones() == 1).then(|| ElemType::from_number(number)).flatten()
}
