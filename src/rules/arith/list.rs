//! Rule functions about lists.

use super::{MAX_LIST, compare, count, equal, int_list, ints};
use crate::infer::eval;
use crate::rules::datum::Datum;
use crate::rules::expr::CompareOp;
use crate::rules::func::Func;

/// Evaluates `list[index]`; negative indices count from the end.
pub fn index(list: &Datum, index: &Datum) -> Option<Datum> {
    let (Datum::List(items), Datum::Int(index)) = (list, index) else { return None };
    items.get(eval::index(*index, items.len())?).cloned()
}

/// Resolves a bound of a slice: an index, or the length itself.
fn bound(index: i64, len: usize) -> Option<usize> {
    if i64::try_from(len) == Ok(index) { Some(len) } else { eval::index(index, len) }
}

/// Evaluates a function about lists; `None` if the function is undefined for these arguments.
pub fn call(func: Func, args: &[Datum]) -> Option<Datum> {
    let first = match args.first()? {
        Datum::List(items) => items,
        _ => return make(func, args),
    };
    let list = |items: Vec<Datum>| Some(Datum::List(items));
    match (func, &args[1..]) {
        (Func::Len, []) => i64::try_from(first.len()).ok().map(Datum::Int),
        (Func::First, []) => first.first().cloned(),
        (Func::Last, []) => first.last().cloned(),
        (Func::Reverse, []) => list(first.iter().rev().cloned().collect()),
        (Func::Join, others) => {
            let mut joined = first.clone();
            for other in others {
                let Datum::List(other) = other else { return None };
                joined.extend_from_slice(other);
            }
            list(joined)
        }
        (Func::Slice, [Datum::Int(start)]) => list(first[bound(*start, first.len())?..].to_vec()),
        (Func::Slice, [Datum::Int(start), Datum::Int(end)]) => {
            let range = bound(*start, first.len())?..bound(*end, first.len())?;
            list(first.get(range)?.to_vec())
        }
        (Func::Select, [Datum::List(indices)]) => {
            let items = positions(indices, first.len())?.into_iter().map(|at| first[at].clone());
            list(items.collect())
        }
        (Func::Without, [Datum::List(indices)]) => {
            let dropped = positions(indices, first.len())?;
            let kept = first.iter().enumerate().filter(|(at, _)| !dropped.contains(at));
            list(kept.map(|(_, item)| item.clone()).collect())
        }
        (Func::Replace, [Datum::Int(at), item]) => {
            let mut items = first.clone();
            items[eval::index(*at, first.len())?] = item.clone();
            list(items)
        }
        (Func::Insert, [Datum::Int(at), item]) => {
            let mut items = first.clone();
            items.insert(bound(*at, first.len())?, item.clone());
            list(items)
        }
        (Func::Sorted, []) => sorted(first),
        (Func::Unique, []) => unique(first),
        (Func::All, [item]) => all(first, item),
        (Func::NormalizeAxes, [rank]) => {
            let rank = count(rank)?;
            let axes = ints(first)?.into_iter().map(|axis| i64::try_from(eval::index(axis, rank)?).ok());
            axes.collect::<Option<Vec<_>>>().map(int_list)
        }
        _ => make(func, args),
    }
}

/// Evaluates functions whose first argument need not be a list.
fn make(func: Func, args: &[Datum]) -> Option<Datum> {
    match (func, args) {
        (Func::Repeat, [item, n]) => Some(Datum::List(vec![item.clone(); count(n)?])),
        (Func::Iota, [n]) => Some(int_list(0..i64::try_from(count(n)?).ok()?)),
        (Func::Range, [Datum::Int(start), Datum::Int(end)]) => {
            let len = end.checked_sub(*start).and_then(|len| usize::try_from(len).ok())?;
            (len <= MAX_LIST).then(|| int_list(*start..*end))
        }
        (Func::NormalizeAxis, [Datum::Int(axis), rank]) => {
            i64::try_from(eval::index(*axis, count(rank)?)?).ok().map(Datum::Int)
        }
        _ => None,
    }
}

fn positions(indices: &[Datum], len: usize) -> Option<Vec<usize>> {
    ints(indices)?.into_iter().map(|index| eval::index(index, len)).collect()
}

/// Sorts by insertion, because a comparison may be undefined; lists in rules are short.
fn sorted(items: &[Datum]) -> Option<Datum> {
    let mut sorted: Vec<Datum> = Vec::with_capacity(items.len());
    for item in items {
        let mut at = sorted.len();
        while at > 0 && compare(CompareOp::Lt, item, &sorted[at - 1])? {
            at -= 1;
        }
        sorted.insert(at, item.clone());
    }
    Some(Datum::List(sorted))
}

fn unique(items: &[Datum]) -> Option<Datum> {
    let mut unique: Vec<Datum> = Vec::new();
    for item in items {
        let known = unique.iter().map(|other| equal(other, item)).collect::<Option<Vec<_>>>()?;
        if !known.contains(&true) {
            unique.push(item.clone());
        }
    }
    Some(Datum::List(unique))
}

fn all(items: &[Datum], wanted: &Datum) -> Option<Datum> {
    let answers: Vec<_> = items.iter().map(|item| equal(item, wanted)).collect();
    if answers.contains(&Some(false)) {
        return Some(Datum::Bool(false));
    }
    answers.into_iter().collect::<Option<Vec<_>>>().map(|_| Datum::Bool(true))
}
