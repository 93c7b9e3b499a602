//! Reductions, arg-reductions, and cumulative sums and products.

use crate::graph::element::ElemType;
use crate::infer::eval::cx::{Cx, only_int};
use crate::infer::eval::shape::{self, Split, numel, strides, walk};
use crate::infer::eval::{Array, Refusal, Result, bad, int_range};

/// Groups of elements that are reduced together, with their concatenated offsets.
pub struct Groups {
    /// Shape of the result, with reduced axes dropped or 1.
    pub shape: Vec<usize>,
    pub offsets: Vec<usize>,
    /// Number of elements per group.
    pub size: usize,
    pub count: usize,
}

impl Groups {
    /// Groups the elements along these axes; `keep` keeps the axes, with size 1, in the result shape.
    pub fn over(shape: &[usize], axes: &[usize], keep: bool) -> Result<Groups> {
        let all = strides(shape);
        let (mut order, mut result): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
        for (i, &dim) in shape.iter().enumerate() {
            match axes.contains(&i) {
                true if keep => result.push(1),
                true => {}
                false => {
                    order.push(i);
                    result.push(dim);
                }
            }
        }
        let size = numel(&axes.iter().map(|&i| shape[i]).collect::<Vec<_>>())?;
        order.extend((0..shape.len()).filter(|i| axes.contains(i)));
        let dims: Vec<usize> = order.iter().map(|&i| shape[i]).collect();
        let steps: Vec<isize> = order.iter().map(|&i| all[i] as isize).collect();
        let count = numel(&result)?;
        Ok(Groups { shape: result, offsets: walk(&dims, &steps, 0), size, count })
    }

    /// Reduces each group of `values` to one result.
    pub fn fold<T: Copy, R>(&self, values: &[T], reduce: impl Fn(&[T]) -> Result<R>) -> Result<Vec<R>> {
        let gathered: Vec<T> = self.offsets.iter().map(|&i| values[i]).collect();
        (0..self.count).map(|i| reduce(&gathered[i * self.size..(i + 1) * self.size])).collect()
    }
}

/// Computes `Reduce*` over axes from an input (newer versions) or attribute (older ones).
/// Without axes, reduces all of them unless `noop_with_empty_axes`.
pub(super) fn reduce(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.work(&[x.len()])?;
    let axes = match cx.ints_at(1, "axes")?.filter(|axes| !axes.is_empty()) {
        Some(axes) => shape::axes(&axes, x.rank())?,
        None if cx.flag("noop_with_empty_axes", false)? => vec![],
        None => (0..x.rank()).collect(),
    };
    let groups = Groups::over(x.shape(), &axes, cx.flag("keepdims", true)?)?;
    cx.room(&groups.shape)?;
    // The mean of an empty group is unspecified: NaN or 0.
    if cx.call.op == "ReduceMean" && groups.size == 0 && groups.count > 0 {
        return Err(Refusal::Unsupported);
    }
    let elem = x.elem();
    if (elem.is_integer() || elem == ElemType::Bool)
        && let Some(reducer) = int_reducer(cx.call.op)
    {
        let data = groups.fold(&x.ints()?, |group| reducer(elem, group))?;
        return Array::from_ints(elem, groups.shape, data);
    }
    let reducer = real_reducer(cx.call.op)?;
    let data = groups.fold(&x.f64s()?, |group| Ok(reducer(group)))?;
    Array::from_f64s(elem, groups.shape, data)
}

type IntReducer = fn(ElemType, &[i128]) -> Result<i128>;

/// Returns the function that reduces integers to an integer; `None` if `op` needs real numbers.
fn int_reducer(op: &str) -> Option<IntReducer> {
    Some(match op {
        "ReduceSum" => |_, group| Ok(group.iter().sum()),
        "ReduceMean" => |_, group| Ok(group.iter().sum::<i128>() / group.len() as i128),
        "ReduceMax" => |elem, group| Ok(group.iter().copied().max().unwrap_or(bounds(elem).0)),
        "ReduceMin" => |elem, group| Ok(group.iter().copied().min().unwrap_or(bounds(elem).1)),
        "ReduceProd" => |_, group| Ok(group.iter().fold(1, |a, &b| a.wrapping_mul(b))),
        "ReduceL1" => |_, group| Ok(group.iter().map(|x| x.abs()).sum()),
        "ReduceSumSquare" => |_, group| Ok(group.iter().fold(0, |a, &b| a.wrapping_add(b.wrapping_mul(b)))),
        _ => return None,
    })
}

fn bounds(elem: ElemType) -> (i128, i128) {
    if elem == ElemType::Bool { (0, 1) } else { int_range(elem) }
}

/// Sums floats; the empty sum is 0, unlike Rust's −0.
pub(super) fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    terms.reduce(|a, b| a + b).unwrap_or(0.0)
}

fn real_reducer(op: &str) -> Result<fn(&[f64]) -> f64> {
    Ok(match op {
        "ReduceSum" => |group| sum(group.iter().copied()),
        "ReduceMean" => |group| group.iter().sum::<f64>() / group.len() as f64,
        "ReduceMax" => |group| group.iter().copied().fold(f64::NEG_INFINITY, max_or_nan),
        "ReduceMin" => |group| -group.iter().map(|x| -x).fold(f64::NEG_INFINITY, max_or_nan),
        "ReduceProd" => |group| group.iter().product(),
        "ReduceL1" => |group| sum(group.iter().map(|x| x.abs())),
        "ReduceL2" => |group| sum(group.iter().map(|x| x * x)).sqrt(),
        "ReduceSumSquare" => |group| sum(group.iter().map(|x| x * x)),
        "ReduceLogSum" => |group| sum(group.iter().copied()).ln(),
        "ReduceLogSumExp" => log_sum_exp,
        _ => return Err(Refusal::Unsupported),
    })
}

/// Returns the larger number, or NaN if either is NaN.
pub fn max_or_nan(a: f64, b: f64) -> f64 {
    if a.is_nan() || a >= b { a } else { b }
}

/// Returns ln Σ exp(x) without overflow.
pub fn log_sum_exp(group: &[f64]) -> f64 {
    let top = group.iter().copied().fold(f64::NEG_INFINITY, max_or_nan);
    if top.is_infinite() {
        return top;
    }
    top + group.iter().map(|x| (x - top).exp()).sum::<f64>().ln()
}

/// Computes `ArgMax` and `ArgMin`.
/// NaN wins, as in NumPy. Of several candidates, the first wins, or the last with `select_last_index`.
pub(super) fn arg(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.work(&[x.len()])?;
    let along = shape::axis(cx.int("axis", 0), x.rank())?;
    let groups = Groups::over(x.shape(), &[along], cx.flag("keepdims", true)?)?;
    let (last, largest) = (cx.flag("select_last_index", false)?, cx.call.op == "ArgMax");
    let found = if x.elem().is_integer() {
        groups.fold(&x.ints()?, |group| extreme(group, last, |a, b| if largest { a > b } else { a < b }))?
    } else {
        let wins = |a: f64, b: f64| a.is_nan() && !b.is_nan() || if largest { a > b } else { a < b };
        groups.fold(&x.f64s()?, |group| extreme(group, last, wins))?
    };
    Array::i64s(groups.shape, found)
}

fn extreme<T: Copy>(group: &[T], last: bool, wins: impl Fn(T, T) -> bool) -> Result<i64> {
    if group.is_empty() {
        return bad("the reduced axis is empty");
    }
    let mut best = 0;
    for i in 1..group.len() {
        if wins(group[i], group[best]) || last && !wins(group[best], group[i]) {
            best = i;
        }
    }
    Ok(best as i64)
}

/// Computes `CumSum` and `CumProd` along one axis; integers wrap on overflow.
pub(super) fn cumulate(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    cx.room(x.shape())?;
    let along = shape::axis(only_int(cx.tensor(1)?)?, x.rank())?;
    let split = Split::at(x.shape(), along)?;
    let product = cx.call.op == "CumProd";
    if x.elem().is_integer() {
        let fold = |a: i128, b: i128| if product { a.wrapping_mul(b) } else { a + b };
        let data = scan(cx, split, &x.ints()?, i128::from(product), fold)?;
        return Array::from_ints(x.elem(), x.shape().to_vec(), data);
    }
    let fold = |a: f64, b: f64| if product { a * b } else { a + b };
    let data = scan(cx, split, &x.f64s()?, f64::from(u8::from(product)), fold)?;
    Array::from_f64s(x.elem(), x.shape().to_vec(), data)
}

fn scan<T: Copy>(cx: &Cx, split: Split, values: &[T], unit: T, fold: impl Fn(T, T) -> T) -> Result<Vec<T>> {
    let (exclusive, reverse) = (cx.flag("exclusive", false)?, cx.flag("reverse", false)?);
    let mut scanned = values.to_vec();
    for start in split.lines() {
        let mut line: Vec<usize> = split.line(start).collect();
        if reverse {
            line.reverse();
        }
        let mut total = unit;
        for at in line {
            let next = fold(total, values[at]);
            scanned[at] = if exclusive { total } else { next };
            total = next;
        }
    }
    Ok(scanned)
}
