//! Literals in a rewrite: determines their element types and elements.

use crate::graph::ElemType;
use crate::infer;
use crate::infer::eval::Array;
use crate::rules::arith;
use crate::rules::datum::Datum;
use crate::rules::draft::Slot;
use crate::schema::{Schema, Ty};

/// Determines the element type of a literal at this input.
/// The literal gets the type of the other inputs that share the type variable of this input. If only literals
/// share the type variable, the literal gets the first of these types that the input accepts: int64, int32 or
/// float for integers; float for floats; bool for booleans; string for strings. An operator without a schema
/// accepts every type.
pub fn elem<V>(
    schema: Option<&'static Schema>,
    position: usize,
    slots: &[Slot<V>],
    elems: &[Option<ElemType>],
    datum: &Datum,
) -> Option<ElemType> {
    let wanted = match first(datum)? {
        Datum::Bool(_) => [ElemType::Bool].as_slice(),
        Datum::Str(_) => &[ElemType::String],
        Datum::Float(_) => &[ElemType::Float],
        _ => &[ElemType::Int64, ElemType::Int32, ElemType::Float],
    };
    let Some(schema) = schema else { return wanted.first().copied() };
    let formal = schema.input(position)?;
    if let Ty::Param(param) = formal.ty {
        let shares = |other: usize| matches!(schema.input(other).map(|formal| formal.ty), Some(Ty::Param(p)) if p == param);
        let is_typed = |at: usize| matches!(slots[at], Slot::Value(_));
        let others = || (0..slots.len()).filter(|&at| is_typed(at) && shares(at));
        if others().next().is_some() {
            return others().find_map(|at| elems[at]);
        }
    }
    let allowed = schema.allowed(formal);
    wanted.iter().copied().find(|&elem| allowed.has_tensor(elem))
}

/// Returns a representative element: the first one that is not an integer, or else an integer.
fn first(datum: &Datum) -> Option<&Datum> {
    const WHOLE: &Datum = &Datum::Int(0);
    match datum {
        Datum::List(items) => {
            let firsts: Option<Vec<&Datum>> = items.iter().map(first).collect();
            let firsts = firsts?;
            let fraction = firsts.iter().find(|item| !matches!(item, Datum::Int(_)));
            Some(fraction.copied().unwrap_or(WHOLE))
        }
        Datum::Int(_) | Datum::Float(_) | Datum::Bool(_) | Datum::Str(_) => Some(datum),
        Datum::Dim(_) => Some(WHOLE),
        Datum::Absent | Datum::Elem(_) | Datum::Tensor(_) | Datum::Other(_) => None,
    }
}

/// Converts a literal to an array: 0-D for a number, 1-D for a list, 2-D for a list of lists.
/// A literal that is a tensor keeps its element type.
pub fn array(datum: &Datum, elem: Option<ElemType>) -> Option<Array> {
    match datum {
        Datum::Tensor(tensor) => infer::array(tensor),
        datum => arith::array(elem?, datum),
    }
}
