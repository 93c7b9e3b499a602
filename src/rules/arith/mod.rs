//! What expressions compute without asking the graph.
//!
//! Every function is partial: `None` means undefined (arguments of another kind, an index out of range,
//! an overflow), which is no fault but no match.

mod elem;
mod equation;
mod list;
mod number;
mod permutation;
mod tensor;

use super::datum::Datum;
use super::expr::{BinaryOp, CompareOp};
use super::func::Func;

pub use list::index;
pub use number::negate;
pub use tensor::array;

/// The longest list that a function makes.
const MAX_LIST: usize = 1 << 16;

/// Numbers, or lists of them element by element; a number with a list goes with each of its elements.
pub fn binary(op: BinaryOp, left: &Datum, right: &Datum) -> Option<Datum> {
    elementwise(left, right, &|a, b| number::binary(op, a, b))
}

fn elementwise(
    left: &Datum,
    right: &Datum,
    of_numbers: &dyn Fn(&Datum, &Datum) -> Option<Datum>,
) -> Option<Datum> {
    let list = |items: Option<Vec<Datum>>| items.map(Datum::List);
    match (left, right) {
        (Datum::List(a), Datum::List(b)) if a.len() == b.len() => {
            list(a.iter().zip(b).map(|(a, b)| elementwise(a, b, of_numbers)).collect())
        }
        (Datum::List(_), Datum::List(_)) => None,
        (Datum::List(a), b) => list(a.iter().map(|a| elementwise(a, b, of_numbers)).collect()),
        (a, Datum::List(b)) => list(b.iter().map(|b| elementwise(a, b, of_numbers)).collect()),
        (a, b) => of_numbers(a, b),
    }
}

/// Symbolic sizes are equal where they are the same in canonical form; how else they compare is not
/// known here. Data of different kinds are unequal, but for numbers, and for element types and the
/// integers that attributes name them by.
pub fn compare(op: CompareOp, left: &Datum, right: &Datum) -> Option<bool> {
    match op {
        CompareOp::Eq => equal(left, right),
        CompareOp::Ne => Some(!equal(left, right)?),
        _ => {
            let order = number::order(left, right)?;
            Some(match op {
                CompareOp::Lt => order.is_lt(),
                CompareOp::Le => order.is_le(),
                CompareOp::Gt => order.is_gt(),
                CompareOp::Ge | CompareOp::Eq | CompareOp::Ne => order.is_ge(),
            })
        }
    }
}

/// Undefined where symbolic sizes that differ in form are compared, and where an attribute is absent that has no
/// default: what its operator does then, only its specification says (`default(@a, item)` says it in a rule).
fn equal(left: &Datum, right: &Datum) -> Option<bool> {
    match (left, right) {
        (Datum::Absent, _) | (_, Datum::Absent) => None,
        (Datum::List(a), Datum::List(b)) if a.len() == b.len() => {
            let answers: Vec<_> = a.iter().zip(b).map(|(a, b)| equal(a, b)).collect();
            if answers.contains(&Some(false)) {
                Some(false)
            } else {
                answers.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
            }
        }
        (Datum::Dim(a), Datum::Dim(b)) => (a == b).then_some(true),
        (Datum::Dim(_), Datum::Int(_)) | (Datum::Int(_), Datum::Dim(_)) => None,
        (Datum::Elem(elem), Datum::Int(number)) | (Datum::Int(number), Datum::Elem(elem)) => {
            Some(i64::from(elem.number()) == *number)
        }
        (Datum::Int(_) | Datum::Float(_), Datum::Int(_) | Datum::Float(_)) => number::equal(left, right),
        (a, b) => Some(a == b),
    }
}

/// Applies a function that does not ask the graph.
pub fn call(func: Func, args: &[Datum]) -> Option<Datum> {
    match (func, args) {
        (Func::If, [Datum::Bool(condition), then, otherwise]) => {
            Some(if *condition { then.clone() } else { otherwise.clone() })
        }
        (Func::IsFree, [size @ (Datum::Int(_) | Datum::Dim(_))]) => {
            Some(Datum::Bool(matches!(size, Datum::Dim(_))))
        }
        (Func::IsSame, [left, right]) => Some(Datum::Bool(equal(left, right) == Some(true))),
        (Func::Default, [Datum::Absent, item]) => Some(item.clone()),
        (Func::Default, [given, _]) => Some(given.clone()),
        _ => list::call(func, args)
            .or_else(|| number::call(func, args))
            .or_else(|| permutation::call(func, args))
            .or_else(|| elem::call(func, args))
            .or_else(|| tensor::call(func, args))
            .or_else(|| equation::call(func, args)),
    }
}

/// A number of items: neither negative nor too many.
fn count(datum: &Datum) -> Option<usize> {
    match datum {
        Datum::Int(count) => usize::try_from(*count).ok().filter(|&count| count <= MAX_LIST),
        _ => None,
    }
}

fn ints(items: &[Datum]) -> Option<Vec<i64>> {
    items.iter().map(|item| if let Datum::Int(int) = item { Some(*int) } else { None }).collect()
}

fn int_list(ints: impl IntoIterator<Item = i64>) -> Datum {
    Datum::List(ints.into_iter().map(Datum::Int).collect())
}

#[cfg(test)]
mod tests;
