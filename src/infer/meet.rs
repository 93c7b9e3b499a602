//! Lattice of facts.
//!
//! [`Fact::meet`] combines two facts of one value. [`Fact::join`] returns a fact that holds
//! wherever either of two facts holds.

use std::fmt;
use std::sync::Arc;

use super::eval::Array;
use super::fact::{ConstValue, Fact, TensorFact, same_bits};
use super::shape::{Shape, Size};
use crate::graph::ElemType;
use crate::graph::dim::{Bounds, Dim};

/// Contradiction between two facts of one value.
#[derive(Clone, Debug, PartialEq)]
pub enum Conflict {
    /// Different kinds of values, such as a tensor and a sequence.
    Kind,
    /// Different element types.
    Elem(ElemType, ElemType),
    /// Different ranks.
    Rank(usize, usize),
    /// Different sizes of an axis.
    Dim {
        /// Axis, from 0.
        axis: usize,
        /// The two sizes.
        dims: (Dim, Dim),
    },
    /// Sequences of different lengths.
    Length(usize, usize),
    /// Tensors that differ in an element.
    Element {
        /// Row-major index of the first differing element; 0 if the index is unknown, as for strings.
        index: usize,
    },
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conflict::Kind => f.write_str("the kinds of value differ"),
            Conflict::Elem(a, b) => write!(f, "the element types differ: {a} and {b}"),
            Conflict::Rank(a, b) => write!(f, "the ranks differ: {a} and {b}"),
            Conflict::Length(a, b) => write!(f, "the lengths differ: {a} and {b}"),
            Conflict::Dim { axis, dims: (a, b) } => write!(f, "dimension {axis} differs: {a} and {b}"),
            Conflict::Element { index } => write!(f, "element {index} differs"),
        }
    }
}

impl Fact {
    /// Combines two facts that both hold for one value.
    ///
    /// Elements of float and complex constants are not compared, because their last bits depend on the order
    /// of evaluation: the elements of `self` are kept.
    ///
    /// # Errors
    /// Returns the contradiction if the facts cannot both hold.
    pub fn meet(&self, other: &Fact, bounds: &Bounds) -> Result<Fact, Conflict> {
        Ok(match (self, other) {
            (Fact::Unknown, fact) | (fact, Fact::Unknown) => fact.clone(),
            (Fact::Tensor(a), Fact::Tensor(b)) => Fact::Tensor(a.meet(b, bounds)?),
            (Fact::SparseTensor(a), Fact::SparseTensor(b)) => Fact::SparseTensor(a.meet(b, bounds)?),
            (Fact::Sequence(a), Fact::Sequence(b)) => Fact::Sequence(a.meet(b, bounds)?),
            (Fact::Optional(a), Fact::Optional(b)) => Fact::optional(a.meet(b, bounds)?),
            (Fact::Map { key: k1, value: v1 }, Fact::Map { key: k2, value: v2 }) => {
                Fact::Map { key: meet_elems(*k1, *k2)?, value: Box::new(v1.meet(v2, bounds)?) }
            }
            (Fact::Opaque, Fact::Opaque) => Fact::Opaque,
            _ => return Err(Conflict::Kind),
        })
    }

    /// Returns a fact that holds for every value for which `self` or `other` holds.
    pub fn join(&self, other: &Fact, bounds: &Bounds) -> Fact {
        match (self, other) {
            (a, b) if a == b => a.clone(),
            (Fact::Tensor(a), Fact::Tensor(b)) => Fact::Tensor(a.join(b, bounds)),
            (Fact::SparseTensor(a), Fact::SparseTensor(b)) => Fact::SparseTensor(a.join(b, bounds)),
            (Fact::Sequence(a), Fact::Sequence(b)) => Fact::Sequence(a.join(b, bounds)),
            (Fact::Optional(a), Fact::Optional(b)) => Fact::optional(a.join(b, bounds)),
            (Fact::Optional(a), b) | (b, Fact::Optional(a)) => Fact::optional(a.join(b, bounds)),
            (Fact::Map { key: k1, value: v1 }, Fact::Map { key: k2, value: v2 }) => {
                Fact::Map { key: k1.filter(|_| k1 == k2), value: Box::new(v1.join(v2, bounds)) }
            }
            _ => Fact::Unknown,
        }
    }

    /// Returns the fact reduced to kinds and element types.
    pub fn without_shapes(&self) -> Fact {
        match self {
            Fact::Tensor(tensor) => Fact::tensor(tensor.elem, Shape::UNKNOWN),
            Fact::SparseTensor(tensor) => Fact::SparseTensor(TensorFact::new(tensor.elem, Shape::UNKNOWN)),
            Fact::Sequence(of) => Fact::sequence(of.without_shapes()),
            Fact::Optional(of) => Fact::optional(of.without_shapes()),
            Fact::Map { key, value } => Fact::Map { key: *key, value: Box::new(value.without_shapes()) },
            other => other.clone(),
        }
    }

    /// Returns the fact without the elements of its tensor.
    pub fn without_values(mut self) -> Fact {
        if let Fact::Tensor(tensor) | Fact::SparseTensor(tensor) = &mut self {
            tensor.value = ConstValue::Nothing;
        }
        self
    }
}

impl TensorFact {
    fn meet(&self, other: &TensorFact, bounds: &Bounds) -> Result<TensorFact, Conflict> {
        let elem = meet_elems(self.elem, other.elem)?;
        let shape = self.shape.meet(&other.shape, bounds)?;
        Ok(TensorFact { elem, value: self.meet_values(other, &shape, bounds)?, shape })
    }

    fn meet_values(
        &self,
        other: &TensorFact,
        shape: &Shape,
        bounds: &Bounds,
    ) -> Result<ConstValue, Conflict> {
        Ok(match (&self.value, &other.value) {
            (ConstValue::Nothing, value) | (value, ConstValue::Nothing) => value.clone(),
            (ConstValue::Computed, value) | (value, ConstValue::Computed) => value.clone(),
            (ConstValue::Const(a), ConstValue::Const(b)) => ConstValue::Const(meet_constants(a, b)?),
            (ConstValue::Const(constant), ConstValue::Weight(_))
            | (ConstValue::Weight(_), ConstValue::Const(constant)) => ConstValue::Const(constant.clone()),
            (ConstValue::Weight(a), ConstValue::Weight(b)) => ConstValue::Weight(*a.min(b)),
            (ConstValue::Weight(tensor), _) | (_, ConstValue::Weight(tensor)) => ConstValue::Weight(*tensor),
            _ => self.meet_elements(other, shape, bounds)?,
        })
    }

    /// Combines element by element; at least one of the two values must be `Ints`.
    fn meet_elements(
        &self,
        other: &TensorFact,
        shape: &Shape,
        bounds: &Bounds,
    ) -> Result<ConstValue, Conflict> {
        let (Some(a), Some(b)) = (self.as_ints(), other.as_ints()) else { return Ok(self.value.clone()) };
        if a.len() != b.len() {
            return Ok(self.value.clone());
        }
        let mut elements = Vec::with_capacity(a.len());
        for (index, (a, b)) in a.iter().zip(&b).enumerate() {
            let both = meet_sizes(a, b, bounds).map_err(|_| Conflict::Element { index })?;
            elements.push(both);
        }
        let elem = self.elem.or(other.elem);
        Ok(match (elem, shape.to_static()) {
            (Some(elem), Some(dims)) => TensorFact::ints(elem, &dims, elements).value,
            _ => ConstValue::Ints(elements.into()),
        })
    }

    fn join(&self, other: &TensorFact, bounds: &Bounds) -> TensorFact {
        let elem = self.elem.filter(|_| self.elem == other.elem);
        let shape = self.shape.join(&other.shape, bounds);
        let value = if self.value == other.value && self.shape == other.shape {
            self.value.clone()
        } else {
            self.join_elements(other, &shape, bounds).unwrap_or_default()
        };
        TensorFact { elem, shape, value }
    }

    fn join_elements(&self, other: &TensorFact, shape: &Shape, bounds: &Bounds) -> Option<ConstValue> {
        let dims = shape.to_static()?;
        let (a, b) = (self.as_ints()?, other.as_ints()?);
        let elements = a.iter().zip(&b).map(|(a, b)| join_sizes(a, b, bounds)).collect();
        Some(TensorFact::ints(self.elem.filter(|_| self.elem == other.elem)?, &dims, elements).value)
    }
}

impl Shape {
    /// Combines two shapes that both hold for one tensor.
    ///
    /// # Errors
    /// Returns the contradiction if the ranks or the sizes of an axis differ.
    pub fn meet(&self, other: &Shape, bounds: &Bounds) -> Result<Shape, Conflict> {
        let (a, b) = match (self.dims(), other.dims()) {
            (Some(a), Some(b)) => (a, b),
            (None, _) => return Ok(other.clone()),
            (_, None) => return Ok(self.clone()),
        };
        if a.len() != b.len() {
            return Err(Conflict::Rank(a.len(), b.len()));
        }
        let mut dims = Vec::with_capacity(a.len());
        for (axis, (a, b)) in a.iter().zip(b).enumerate() {
            dims.push(meet_sizes(a, b, bounds).map_err(|dims| Conflict::Dim { axis, dims })?);
        }
        Ok(Shape::new(dims))
    }

    /// Returns the shape with the dimensions that are equal in both shapes; other dimensions are unknown.
    ///
    /// If the ranks differ, the rank of the result is unknown.
    pub fn join(&self, other: &Shape, bounds: &Bounds) -> Shape {
        match (self.dims(), other.dims()) {
            (Some(a), Some(b)) if a.len() == b.len() => {
                Shape::new(a.iter().zip(b).map(|(a, b)| join_sizes(a, b, bounds)).collect::<Vec<_>>())
            }
            _ => Shape::UNKNOWN,
        }
    }
}

fn meet_elems(a: Option<ElemType>, b: Option<ElemType>) -> Result<Option<ElemType>, Conflict> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => Err(Conflict::Elem(a, b)),
        _ => Ok(a.or(b)),
    }
}

/// Combines two sizes of one axis: a number takes precedence, else the first in the order of [`Dim`].
///
/// # Errors
/// Returns both sizes if they are never equal.
pub fn meet_sizes(a: &Size, b: &Size, bounds: &Bounds) -> Result<Size, (Dim, Dim)> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => {
            if a.equals(b, bounds).is_never() {
                return Err((a.clone(), b.clone()));
            }
            // `Ord::min` picks one of the expressions; `Dim::minimum` would build the minimum of `a` and `b`.
            Ok(Some(Ord::min(a, b).clone()))
        }
        (a, b) => Ok(a.clone().or_else(|| b.clone())),
    }
}

/// Returns `a` if both sizes are known and always equal.
fn join_sizes(a: &Size, b: &Size, bounds: &Bounds) -> Size {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    a.equals(b, bounds).is_always().then(|| a.clone())
}

/// Returns `a`; fails if integer, bool or string constants are not bitwise equal.
fn meet_constants(a: &Arc<Array>, b: &Arc<Array>) -> Result<Arc<Array>, Conflict> {
    if !Arc::ptr_eq(a, b) && !a.elem().is_float() && !a.elem().is_complex() && !same_bits(a, b) {
        let ints = |array: &Array| array.as_i64s().unwrap_or_default();
        let index = ints(a).iter().zip(&ints(b)).position(|(a, b)| a != b).unwrap_or(0);
        return Err(Conflict::Element { index });
    }
    Ok(a.clone())
}
