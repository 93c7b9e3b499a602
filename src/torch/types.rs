//! Types of the values in a trace.

use std::fmt;
use std::sync::Arc;

use crate::graph::ElemType;

/// The type of a value, as TorchScript or `torch.export` records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Tensor(TensorType),
    /// `int`, including symbolic ones (`SymInt`).
    Int,
    Float,
    Bool,
    Str,
    None,
    /// A list, such as `int[]`, `Tensor?[]` or `List[…]`.
    List(Box<Type>),
    /// A dict, `Dict(K, V)`.
    Dict,
    /// A tuple, such as `(Tensor, Tensor)`.
    Tuple(Vec<Type>),
    /// The class in `__torch__.package.Class`, without prefix and name mangling.
    Class(Arc<str>),
    /// Any other type (`Device`, `Generator`, …), as text.
    Other(Arc<str>),
}

/// Recorded properties of a tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorType {
    pub elem: Option<ElemType>,
    /// `None` if even the rank is unknown.
    pub shape: Option<Vec<Size>>,
    /// Strides in elements, if recorded.
    pub strides: Option<Vec<i64>>,
}

/// One dimension of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Size {
    Fixed(i64),
    /// A symbolic dimension: an expression over symbols, and its value during the trace.
    Symbol {
        name: Arc<str>,
        traced: Option<i64>,
    },
    /// `*`: not recorded.
    Unknown,
}

impl Size {
    /// Returns the size if it is static.
    pub fn fixed(&self) -> Option<i64> {
        match self {
            Size::Fixed(size) => Some(*size),
            _ => None,
        }
    }

    /// Returns the size that the dimension had during the trace, static or not.
    pub fn traced(&self) -> Option<i64> {
        match self {
            Size::Fixed(size) => Some(*size),
            Size::Symbol { traced, .. } => *traced,
            Size::Unknown => None,
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Fixed(size) => write!(f, "{size}"),
            Size::Symbol { name, .. } => f.write_str(name),
            Size::Unknown => f.write_str("*"),
        }
    }
}

impl TensorType {
    /// Returns the rank, if it is known.
    pub fn rank(&self) -> Option<usize> {
        self.shape.as_ref().map(Vec::len)
    }

    /// Returns the number of elements that the tensor had during the trace.
    pub fn traced_len(&self) -> Option<i64> {
        let sizes = self.shape.as_ref()?.iter();
        sizes.map(Size::traced).try_fold(1i64, |count, size| count.checked_mul(size?))
    }

    /// Returns true if the tensor is known to be contiguous, so that `reshape` is a view.
    pub fn is_contiguous(&self) -> bool {
        let (Some(shape), Some(strides)) = (&self.shape, &self.strides) else { return false };
        let mut expected = Some(1i64);
        shape.len() == strides.len()
            && shape.iter().zip(strides).rev().all(|(size, &stride)| {
                let size = size.traced();
                let fits = size == Some(1) || expected == Some(stride);
                expected = expected.zip(size).and_then(|(stride, size)| stride.checked_mul(size));
                fits
            })
    }

    /// Returns true if the tensor has exactly one element, with shape `[]`, `[1]`, `[1, 1]` and so on.
    pub fn is_scalar(&self) -> bool {
        self.shape.as_ref().is_some_and(|shape| shape.iter().all(|size| size.fixed() == Some(1)))
    }
}

impl Type {
    /// Returns the tensor type; `None` for other types.
    pub fn tensor(&self) -> Option<&TensorType> {
        match self {
            Type::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Returns the element type of a tensor, if it is known.
    pub fn elem(&self) -> Option<ElemType> {
        self.tensor()?.elem
    }

    /// Returns the dimensions of a tensor, if the rank is known.
    pub fn shape(&self) -> Option<&[Size]> {
        self.tensor()?.shape.as_deref()
    }
}

/// Returns the element type for its TorchScript name (`c10::toString(ScalarType)`).
pub fn elem_by_torch_name(name: &str) -> Option<ElemType> {
    Some(match name {
        "Float" => ElemType::Float,
        "Double" => ElemType::Double,
        "Half" => ElemType::Float16,
        "BFloat16" => ElemType::Bfloat16,
        "Long" => ElemType::Int64,
        "Int" => ElemType::Int32,
        "Short" => ElemType::Int16,
        "Char" => ElemType::Int8,
        "Byte" => ElemType::Uint8,
        "UInt16" => ElemType::Uint16,
        "UInt32" => ElemType::Uint32,
        "UInt64" => ElemType::Uint64,
        "Bool" => ElemType::Bool,
        "ComplexFloat" => ElemType::Complex64,
        "ComplexDouble" => ElemType::Complex128,
        "Float8_e4m3fn" => ElemType::Float8e4m3fn,
        "Float8_e4m3fnuz" => ElemType::Float8e4m3fnuz,
        "Float8_e5m2" => ElemType::Float8e5m2,
        "Float8_e5m2fnuz" => ElemType::Float8e5m2fnuz,
        _ => return None,
    })
}

/// Returns the element type for its number in TorchScript (`c10::ScalarType`).
pub fn elem_by_number(number: i64) -> Option<ElemType> {
    Some(match number {
        0 => ElemType::Uint8,
        1 => ElemType::Int8,
        2 => ElemType::Int16,
        3 => ElemType::Int32,
        4 => ElemType::Int64,
        5 => ElemType::Float16,
        6 => ElemType::Float,
        7 => ElemType::Double,
        9 => ElemType::Complex64,
        10 => ElemType::Complex128,
        11 => ElemType::Bool,
        15 => ElemType::Bfloat16,
        _ => return None,
    })
}

/// Returns the PyTorch spelling of a common element type, such as `torch.float64`.
/// Returns the ONNX name of any other element type.
pub fn torch_dtype(elem: ElemType) -> &'static str {
    match elem {
        ElemType::Float => "torch.float32",
        ElemType::Double => "torch.float64",
        ElemType::Float16 => "torch.float16",
        ElemType::Bfloat16 => "torch.bfloat16",
        ElemType::Int64 => "torch.int64",
        ElemType::Int32 => "torch.int32",
        ElemType::Int16 => "torch.int16",
        ElemType::Int8 => "torch.int8",
        ElemType::Uint8 => "torch.uint8",
        ElemType::Bool => "torch.bool",
        other => other.name(),
    }
}
