//! Pure functions and operators of rule expressions, which need no graph.
//!
//! Every function is partial: `None` means that the result is undefined, for example because of an argument
//! of the wrong kind, an index out of range, or an overflow.
//! An undefined result is not an error: the rule does not match.

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

/// Maximum length of a list or tensor that a function creates from a given size.
const MAX_LIST: usize = 1 << 16;

/// Applies an arithmetic operator, element by element for lists; a number is broadcast over a list.
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

/// Compares two data; `None` if the result is undefined.
/// Symbolic dimensions are equal if their canonical forms are equal. Comparing symbolic dimensions with
/// different canonical forms, or a symbolic dimension with an integer, is undefined. In all other
/// comparisons, data of different kinds are unequal, except that integers can equal floats, and element types
/// can equal integer codes. Only numbers have an order, and absent attributes cannot be compared.
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

/// Returns whether two data are equal, or `None` if equality is undefined.
/// Equality is undefined for symbolic dimensions with different canonical forms, and for a symbolic dimension
/// and an integer. Equality is also undefined for an absent attribute without a constant default; a rule can
/// supply a value with `default(@a, item)`.
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

/// Evaluates a function that does not inspect the graph.
pub fn call(func: Func, args: &[Datum]) -> Option<Datum> {
    match (func, args) {
        (Func::If, [Datum::Bool(condition), then, otherwise]) => {
            Some(if *condition { then.clone() } else { otherwise.clone() })
        }
        (Func::IsFree, [size @ (Datum::Int(_) | Datum::Dim(_))]) => {
            Some(Datum::Bool(matches!(size, Datum::Dim(_))))
        }
        (Func::IsSame, [left, right]) => Some(Datum::Bool(equal(left, right) == Some(true))),
        (Func::IsOp, [Datum::Str(op), Datum::Str(name)]) => Some(Datum::Bool(is_op(op, name))),
        (Func::IsOp, [Datum::Str(op), Datum::List(names)]) => {
            let is_one = |name: &Datum| matches!(name, Datum::Str(name) if is_op(op, name));
            Some(Datum::Bool(names.iter().any(is_one)))
        }
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

/// Returns true if an operator has this name, or if it is an overload of this name.
fn is_op(op: &str, name: &str) -> bool {
    op.strip_prefix(name).is_some_and(|overload| overload.is_empty() || overload.starts_with('.'))
}

/// Converts a number of items; returns `None` if the number is negative or exceeds [`MAX_LIST`].
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
