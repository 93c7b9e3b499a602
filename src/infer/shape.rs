//! Shapes with possibly unknown dimensions, and arithmetic on such dimensions.

use std::fmt;
use std::sync::Arc;

use crate::graph::dim::{Dim, numel};

/// A dimension, or a whole-number element of a tensor; `None` represents an unknown value.
pub type Size = Option<Dim>;

/// Shape of a tensor. The rank or any dimension may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape(Option<Arc<[Size]>>);

impl Shape {
    /// Shape of unknown rank.
    pub const UNKNOWN: Shape = Shape(None);

    /// Returns a shape of these dimensions.
    pub fn new(dims: impl Into<Arc<[Size]>>) -> Self {
        Shape(Some(dims.into()))
    }

    /// Returns a shape of this rank with unknown dimensions.
    pub fn of_rank(rank: usize) -> Self {
        Shape::new(vec![None; rank])
    }

    /// Returns the shape of a scalar, which has rank 0 and one element.
    pub fn scalar() -> Self {
        Shape::of_rank(0)
    }

    /// Returns a shape of these numbers; a dimension that overflows `i64` is unknown.
    pub fn known<T: Copy + TryInto<i64>>(dims: &[T]) -> Self {
        let size = |&dim: &T| dim.try_into().ok().map(Dim::known);
        Shape::new(dims.iter().map(size).collect::<Vec<_>>())
    }

    /// Returns the rank, or `None` if the rank is unknown.
    pub fn rank(&self) -> Option<usize> {
        self.dims().map(<[Size]>::len)
    }

    /// Returns the dimensions, or `None` if the rank is unknown.
    pub fn dims(&self) -> Option<&[Size]> {
        self.0.as_deref()
    }

    /// Returns the dimension of an axis, or `None` if the dimension is unknown or the axis is out of range.
    pub fn dim(&self, axis: usize) -> Option<&Dim> {
        self.dims()?.get(axis)?.as_ref()
    }

    /// Returns true if every dimension is a nonnegative number.
    pub fn is_static(&self) -> bool {
        self.to_static().is_some()
    }

    /// Returns true if every dimension is a number or a symbolic expression.
    pub fn is_known(&self) -> bool {
        self.dims().is_some_and(|dims| dims.iter().all(Option::is_some))
    }

    /// Returns the dimensions as numbers, if all are nonnegative numbers.
    pub fn to_static(&self) -> Option<Vec<usize>> {
        let number = |dim: &Size| usize::try_from(dim.as_ref()?.as_const()?).ok();
        self.dims()?.iter().map(number).collect()
    }

    /// Returns the number of elements, or `None` if this number is unknown.
    pub fn numel(&self) -> Size {
        product(self.dims()?)
    }

    /// Returns the product of the static dimensions; this product divides the number of elements.
    /// Returns `None` if the rank is unknown, a dimension is 0, or the product overflows `i64`.
    pub fn static_part(&self) -> Option<i64> {
        let sizes = self.dims()?.iter().flatten().filter_map(Dim::as_const);
        let part = sizes.into_iter().try_fold(1_i64, i64::checked_mul)?;
        (part > 0).then_some(part)
    }
}

impl fmt::Display for Shape {
    /// Formats the shape as `[batch, 4, ?]`, or as `[...]` if the rank is unknown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(dims) = self.dims() else { return f.write_str("[...]") };
        let name = |dim: &Size| dim.as_ref().map_or("?".to_owned(), Dim::to_string);
        write!(f, "[{}]", dims.iter().map(name).collect::<Vec<_>>().join(", "))
    }
}

/// Returns the product of all sizes; returns 0 if any size is 0, even if other sizes are unknown.
pub fn product(sizes: &[Size]) -> Size {
    if sizes.iter().any(|size| is(size, 0)) {
        return known(0);
    }
    let dims: Option<Vec<Dim>> = sizes.iter().cloned().collect();
    numel(&dims?)
}

/// Returns the size `n`.
pub fn known(n: i64) -> Size {
    Some(Dim::known(n))
}

/// Returns true if the size is the number `n`.
pub fn is(size: &Size, n: i64) -> bool {
    number(size) == Some(n)
}

/// Returns the size as a number, or `None` if the size is symbolic or unknown.
pub fn number(size: &Size) -> Option<i64> {
    size.as_ref()?.as_const()
}

/// Returns the sum of two sizes, or `None` if a size is unknown or the sum overflows.
pub fn add(a: &Size, b: &Size) -> Size {
    a.as_ref()?.add(b.as_ref()?)
}

/// Returns the difference of two sizes, or `None` if a size is unknown or the difference overflows.
pub fn sub(a: &Size, b: &Size) -> Size {
    a.as_ref()?.sub(b.as_ref()?)
}

/// Returns the product of two sizes; returns 0 if either size is 0, even if the other size is unknown.
pub fn mul(a: &Size, b: &Size) -> Size {
    if is(a, 0) || is(b, 0) {
        return known(0);
    }
    a.as_ref()?.mul(b.as_ref()?)
}
