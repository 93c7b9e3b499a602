//! Matrix products.

use std::num::Wrapping;

use ndarray::{ArrayView2, LinalgScalar};

use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{broadcast, numel, spread};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Pairing of two stacks of matrices, as in `numpy.matmul`.
/// A vector is multiplied as a matrix with one row or column; the result lacks this added axis. The axes
/// before the last two broadcast.
pub struct Factors {
    rows: usize,
    depth: usize,
    columns: usize,
    /// Indexes of the two matrices of each product.
    pairs: Vec<(usize, usize)>,
    pub shape: Vec<usize>,
}

impl Factors {
    /// Pairs two shapes; fails if they do not match or the products exceed the budget.
    pub fn of(cx: &Cx, a: &[usize], b: &[usize]) -> Result<Factors> {
        let left = if a.len() == 1 { vec![1, a[0]] } else { a.to_vec() };
        let right = if b.len() == 1 { vec![b[0], 1] } else { b.to_vec() };
        let ([lead_a @ .., rows, depth], [lead_b @ .., inner, columns]) = (&left[..], &right[..]) else {
            return bad("an operand must not be a scalar");
        };
        if depth != inner {
            return bad("the inner dimensions differ");
        }
        let lead = broadcast(&[lead_a, lead_b])?;
        let stack = cx.room(&lead)?;
        cx.work(&[stack, *rows, *depth, *columns])?;
        let mut shape = lead.clone();
        shape.extend((a.len() > 1).then_some(rows));
        shape.extend((b.len() > 1).then_some(columns));
        cx.room(&shape)?;
        let pairs = spread(lead_a, &lead)?.into_iter().zip(spread(lead_b, &lead)?).collect();
        Ok(Factors { rows: *rows, depth: *depth, columns: *columns, pairs, shape })
    }
}

/// Computes all products of two stacks of matrices.
pub fn products<T: LinalgScalar>(factors: &Factors, a: &[T], b: &[T]) -> Result<Vec<T>> {
    let &Factors { rows, depth, columns, .. } = factors;
    let mut all = Vec::with_capacity(numel(&factors.shape)?);
    let misfit = |_| Refusal::BadInput("the data does not match the shape");
    for &(i, j) in &factors.pairs {
        let left = &a[i * rows * depth..(i + 1) * rows * depth];
        let right = &b[j * depth * columns..(j + 1) * depth * columns];
        let left = ArrayView2::from_shape((rows, depth), left).map_err(misfit)?;
        let right = ArrayView2::from_shape((depth, columns), right).map_err(misfit)?;
        all.extend(left.dot(&right).iter().copied());
    }
    Ok(all)
}

/// Converts to wrapping integers. 64 bits suffice for every type, as only the low bits count.
fn wrapping(values: Vec<i128>) -> Vec<Wrapping<i64>> {
    values.into_iter().map(|value| Wrapping(value as i64)).collect()
}

/// Computes `MatMul` of equal element types; integers wrap on overflow.
pub(super) fn matmul(cx: &Cx) -> Result<Array> {
    let (a, b) = (cx.tensor(0)?, cx.tensor(1)?);
    let factors = Factors::of(cx, a.shape(), b.shape())?;
    multiply(a, b, factors)
}

fn multiply(a: &Array, b: &Array, factors: Factors) -> Result<Array> {
    if a.elem() != b.elem() {
        return bad("the element types of the inputs differ");
    }
    if a.elem().is_integer() {
        let data = products(&factors, &wrapping(a.ints()?), &wrapping(b.ints()?))?;
        return Array::from_ints(a.elem(), factors.shape, data.into_iter().map(|x| x.0.into()).collect());
    }
    let data = products(&factors, &a.f64s()?, &b.f64s()?)?;
    Array::from_f64s(a.elem(), factors.shape, data)
}

/// Computes `Gemm`: `α · A · B + β · C`, with A and B optionally transposed.
pub(super) fn gemm(cx: &Cx) -> Result<Array> {
    let turned = |i: usize, name: &str| match cx.tensor(i)? {
        x if x.rank() != 2 => bad("an operand must be a matrix"),
        x if cx.flag(name, false)? => crate::infer::eval::layout::permuted(x, &[1, 0]),
        x => Ok(x.clone()),
    };
    let (a, b) = (turned(0, "transA")?, turned(1, "transB")?);
    let factors = Factors::of(cx, a.shape(), b.shape())?;
    let (alpha, beta) = (cx.float("alpha", 1.0), cx.float("beta", 1.0));
    if a.elem() != b.elem() {
        return bad("the element types of the inputs differ");
    }
    if a.elem().is_integer() {
        return integer_gemm(cx, &a, &b, factors);
    }
    let mut y = products(&factors, &a.f64s()?, &b.f64s()?)?;
    y.iter_mut().for_each(|y| *y *= alpha);
    if let Some(c) = cx.maybe(2)? {
        let (terms, of_c) = (c.f64s()?, spread(c.shape(), &factors.shape)?);
        y.iter_mut().zip(of_c).for_each(|(y, i)| *y += beta * terms[i]);
    }
    Array::from_f64s(a.elem(), factors.shape, y)
}

/// Computes `Gemm` on integers, only for `alpha` and `beta` of 1.
/// The specification does not define the rounding for factors other than 1.
fn integer_gemm(cx: &Cx, a: &Array, b: &Array, factors: Factors) -> Result<Array> {
    if cx.float("alpha", 1.0) != 1.0 || cx.float("beta", 1.0) != 1.0 {
        return Err(Refusal::Unsupported);
    }
    let shape = factors.shape.clone();
    let product = multiply(a, b, factors)?;
    let Some(c) = cx.maybe(2)? else { return Ok(product) };
    let (terms, of_c) = (c.ints()?, spread(c.shape(), &shape)?);
    let sums = product.ints()?.into_iter().zip(of_c).map(|(y, i)| y + terms[i]).collect();
    Array::from_ints(a.elem(), shape, sums)
}
