//! Constants that a rewrite writes out: of which type they are, and their elements.

use super::draft::Slot;
use crate::graph::ElemType;
use crate::infer;
use crate::infer::eval::Array;
use crate::rules::arith;
use crate::rules::datum::Datum;
use crate::schema::{Schema, Ty};

/// The type of a constant at this input: that of the other inputs of its type variable or, where it has none, int64 for
/// whole numbers and float for others, if the operator takes them.
pub fn elem<V>(
    schema: &'static Schema,
    position: usize,
    slots: &[Slot<V>],
    elems: &[Option<ElemType>],
    datum: &Datum,
) -> Option<ElemType> {
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
    let wanted = match first(datum)? {
        Datum::Bool(_) => [ElemType::Bool].as_slice(),
        Datum::Str(_) => &[ElemType::String],
        Datum::Float(_) => &[ElemType::Float],
        _ => &[ElemType::Int64, ElemType::Int32, ElemType::Float],
    };
    wanted.iter().copied().find(|&elem| allowed.has_tensor(elem))
}

/// The first of its numbers; whole where all are, and an empty list too.
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
        Datum::Dim(dim) => dim.as_const().map(|_| WHOLE),
        Datum::Absent | Datum::Elem(_) | Datum::Tensor(_) | Datum::Other(_) => None,
    }
}

/// The elements: of no axis for a number, of one for a list, of two for a list of lists. A tensor has a type
/// of its own.
pub fn array(datum: &Datum, elem: Option<ElemType>) -> Option<Array> {
    match datum {
        Datum::Tensor(tensor) => infer::array(tensor),
        datum => arith::array(elem?, datum),
    }
}
