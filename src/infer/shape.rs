//! Shapes whose dims may be unknown, and arithmetic on such dims.

use std::fmt;
use std::sync::Arc;

use crate::graph::dim::{Dim, numel};

/// A dim, or an element of an integer tensor; `None` where nothing is known of it.
pub type Size = Option<Dim>;

/// The shape of a tensor as far as it is known: not at all, its rank, or some or all of its dims.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape(Option<Arc<[Size]>>);

impl Shape {
    /// Not even the rank is known.
    pub const UNKNOWN: Shape = Shape(None);

    /// A shape of these dims.
    pub fn new(dims: impl Into<Arc<[Size]>>) -> Self {
        Shape(Some(dims.into()))
    }

    /// A shape with so many axes, of whose sizes nothing is known.
    pub fn of_rank(rank: usize) -> Self {
        Shape::new(vec![None; rank])
    }

    /// No axes: one element.
    pub fn scalar() -> Self {
        Shape::of_rank(0)
    }

    /// A shape of numbers; a dim that does not fit is unknown.
    pub fn known<T: Copy + TryInto<i64>>(dims: &[T]) -> Self {
        let size = |&dim: &T| dim.try_into().ok().map(Dim::known);
        Shape::new(dims.iter().map(size).collect::<Vec<_>>())
    }

    /// The number of axes; `None` where it is unknown.
    pub fn rank(&self) -> Option<usize> {
        self.dims().map(<[Size]>::len)
    }

    /// The dims; `None` where the rank is unknown.
    pub fn dims(&self) -> Option<&[Size]> {
        self.0.as_deref()
    }

    /// The dim of this axis, if it is known.
    pub fn dim(&self, axis: usize) -> Option<&Dim> {
        self.dims()?.get(axis)?.as_ref()
    }

    /// Every dim is a number.
    pub fn is_static(&self) -> bool {
        self.to_static().is_some()
    }

    /// Every dim is a number or an expression over symbols.
    pub fn is_known(&self) -> bool {
        self.dims().is_some_and(|dims| dims.iter().all(Option::is_some))
    }

    /// The dims as numbers, if they all are, and none is negative.
    pub fn to_static(&self) -> Option<Vec<usize>> {
        let number = |dim: &Size| usize::try_from(dim.as_ref()?.as_const()?).ok();
        self.dims()?.iter().map(number).collect()
    }

    /// The number of elements.
    pub fn numel(&self) -> Size {
        product(self.dims()?)
    }
}

impl fmt::Display for Shape {
    /// `[batch, 4, ?]`; `[...]` where the rank is unknown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(dims) = self.dims() else { return f.write_str("[...]") };
        let name = |dim: &Size| dim.as_ref().map_or("?".to_owned(), Dim::to_string);
        write!(f, "[{}]", dims.iter().map(name).collect::<Vec<_>>().join(", "))
    }
}

/// The product of all; 0 if one is 0, though others be unknown.
pub fn product(sizes: &[Size]) -> Size {
    if sizes.iter().any(|size| is(size, 0)) {
        return known(0);
    }
    let dims: Option<Vec<Dim>> = sizes.iter().cloned().collect();
    numel(&dims?)
}

pub fn known(n: i64) -> Size {
    Some(Dim::known(n))
}

/// Whether it is the number `n`.
pub fn is(size: &Size, n: i64) -> bool {
    number(size) == Some(n)
}

/// The number, where it is one.
pub fn number(size: &Size) -> Option<i64> {
    size.as_ref()?.as_const()
}

pub fn add(a: &Size, b: &Size) -> Size {
    a.as_ref()?.add(b.as_ref()?)
}

pub fn sub(a: &Size, b: &Size) -> Size {
    a.as_ref()?.sub(b.as_ref()?)
}

pub fn mul(a: &Size, b: &Size) -> Size {
    if is(a, 0) || is(b, 0) {
        return known(0);
    }
    a.as_ref()?.mul(b.as_ref()?)
}
