//! Real and imaginary parts of complex tensors.

use crate::graph::{ElemType, Tensor};

/// Part of a complex value, or both parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Real,
    Imaginary,
    /// Both parts, the real part first.
    Both,
}

/// Returns true if an element type is complex.
pub fn is_complex(elem: ElemType) -> bool {
    matches!(elem, ElemType::Complex64 | ElemType::Complex128)
}

/// Returns the element type of the parts of a complex type; other types are returned unchanged.
pub fn part_of(elem: ElemType) -> ElemType {
    match elem {
        ElemType::Complex64 => ElemType::Float,
        ElemType::Complex128 => ElemType::Double,
        elem => elem,
    }
}

/// Reinterprets a stored complex tensor as pairs of reals; the bytes are unchanged.
pub fn as_pairs(mut tensor: Tensor) -> Tensor {
    if let Some(elem) = tensor.elem().filter(|&elem| is_complex(elem)) {
        tensor.data_type = Some(part_of(elem).number());
        tensor.dims.push(2);
    }
    tensor
}
