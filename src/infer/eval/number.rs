//! Element-wise maps over numeric tensors, with separate functions for floats and integers.

use super::shape::{axis, broadcast, spread};
use super::{Array, Refusal, Result, bad, cx::Cx};

/// Applies `real` to each element of a float tensor.
pub(super) fn map_reals(array: &Array, real: impl Fn(f64) -> f64) -> Result<Array> {
    if !array.elem().is_float() {
        return bad("an input must be a float tensor");
    }
    let mapped = array.f64s()?.into_iter().map(real).collect();
    Array::from_f64s(array.elem(), array.shape().to_vec(), mapped)
}

/// Applies `real` to each element of a float tensor, or `int` to each element of an integer tensor.
pub(super) fn map_numbers(
    array: &Array,
    real: impl Fn(f64) -> f64,
    int: impl Fn(i128) -> i128,
) -> Result<Array> {
    if !array.elem().is_integer() {
        return map_reals(array, real);
    }
    let mapped = array.ints()?.into_iter().map(int).collect();
    Array::from_ints(array.elem(), array.shape().to_vec(), mapped)
}

/// Returns a bool tensor with the result of `test` for each element.
pub(super) fn test_reals(array: &Array, test: impl Fn(f64) -> bool) -> Result<Array> {
    Array::bools(array.shape().to_vec(), array.f64s()?.into_iter().map(test).collect())
}

/// Two tensors broadcast to a common shape, represented by element offsets into each.
pub(super) struct Pair<'a> {
    pub(super) a: &'a Array,
    pub(super) b: &'a Array,
    pub(super) shape: Vec<usize>,
    of_a: Vec<usize>,
    of_b: Vec<usize>,
}

impl<'a> Pair<'a> {
    /// Broadcasts the first two inputs of a call.
    ///
    /// Before opset 7, the attribute `broadcast` enables broadcasting of the second input, and `axis` aligns
    /// its first dimension with an axis of the first input.
    pub(super) fn of(cx: &Cx<'a>) -> Result<Pair<'a>> {
        let (a, b) = (cx.tensor(0)?, cx.tensor(1)?);
        let mut aligned = b.shape().to_vec();
        if cx.flag("broadcast", false)?
            && let Some(at) = cx.int_attr("axis")
        {
            let after = a.rank().checked_sub(axis(at, a.rank())? + b.rank());
            let after = after.ok_or(Refusal::BadInput("the shapes do not broadcast"))?;
            aligned.extend(std::iter::repeat_n(1, after));
        }
        let shape = broadcast(&[a.shape(), &aligned])?;
        cx.room(&shape)?;
        let (of_a, of_b) = (spread(a.shape(), &shape)?, spread(&aligned, &shape)?);
        Ok(Pair { a, b, shape, of_a, of_b })
    }

    /// Applies `f` to each broadcast pair of elements of two slices with the layouts of `a` and `b`.
    pub(super) fn zip<A: Clone, B: Clone, C>(&self, a: &[A], b: &[B], f: impl Fn(A, B) -> C) -> Vec<C> {
        self.of_a.iter().zip(&self.of_b).map(|(&i, &j)| f(a[i].clone(), b[j].clone())).collect()
    }

    /// Applies `real` to pairs of floats, or `int` to pairs of integers.
    /// Both operands must have the same type.
    pub(super) fn combine(
        self,
        real: impl Fn(f64, f64) -> f64,
        int: impl Fn(i128, i128) -> i128,
    ) -> Result<Array> {
        let elem = self.a.elem();
        if elem != self.b.elem() {
            return bad("the element types of the inputs differ");
        }
        if elem.is_integer() {
            let data = self.zip(&self.a.ints()?, &self.b.ints()?, int);
            return Array::from_ints(elem, self.shape, data);
        }
        if !elem.is_float() {
            return Err(Refusal::Unsupported);
        }
        let data = self.zip(&self.a.f64s()?, &self.b.f64s()?, real);
        Array::from_f64s(elem, self.shape, data)
    }
}
