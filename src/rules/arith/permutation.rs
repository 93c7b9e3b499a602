//! Permutations of axes, as in the `perm` of Transpose: axis `i` of the result is input axis `perm[i]`.

use super::{int_list, ints};
use crate::rules::datum::Datum;
use crate::rules::func::Func;

/// Evaluates a function about permutations; `None` if the function is undefined for these arguments.
pub fn call(func: Func, args: &[Datum]) -> Option<Datum> {
    match (func, args) {
        (Func::Compose, [p, q]) => {
            let (p, q) = (permutation(p)?, permutation(q)?);
            (p.len() == q.len()).then(|| to_datum(q.into_iter().map(|axis| p[axis])))
        }
        (Func::Inverse, [p]) => {
            let p = permutation(p)?;
            let mut inverse = vec![0; p.len()];
            for (to, from) in p.into_iter().enumerate() {
                inverse[from] = to;
            }
            Some(to_datum(inverse))
        }
        (Func::IsIdentity, [p]) => {
            let p = permutation(p)?;
            Some(Datum::Bool(p.iter().enumerate().all(|(to, &from)| to == from)))
        }
        (Func::IsPermutation, [Datum::List(items)]) => {
            Some(Datum::Bool(ints(items).is_some() && permutation(&args[0]).is_some()))
        }
        _ => None,
    }
}

/// Converts a list to a permutation; `None` unless the list has each of 0 … n−1 exactly once.
fn permutation(datum: &Datum) -> Option<Vec<usize>> {
    let Datum::List(items) = datum else { return None };
    let axes = ints(items)?.into_iter().map(|axis| usize::try_from(axis).ok());
    let axes: Vec<usize> = axes.collect::<Option<_>>()?;
    let mut seen = vec![false; axes.len()];
    for &axis in &axes {
        if std::mem::replace(seen.get_mut(axis)?, true) {
            return None;
        }
    }
    Some(axes)
}

fn to_datum(axes: impl IntoIterator<Item = usize>) -> Datum {
    int_list(axes.into_iter().map(|axis| axis as i64))
}
