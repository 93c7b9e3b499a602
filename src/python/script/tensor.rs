//! Tensors of a script: shape, dtype, device and small constants.

use std::rc::Rc;

use tree_sitter::Node;

use super::strides::Layout;

/// Size of an axis; `None` if unknown.
pub type Dim = Option<i64>;

/// Sizes of all axes; `None` if the rank is unknown.
pub type Shape = Option<Vec<Dim>>;

/// A tensor.
#[derive(Clone, Debug)]
pub struct Tensor<'t> {
    pub shape: Shape,
    /// Dtype, if known.
    pub dtype: Option<DType>,
    /// Text of the device, such as `cpu` or `cuda:0`; `None` if unknown.
    pub device: Option<Rc<str>>,
    /// The elements, if there are few and they are known; valid while `memory` is unchanged.
    pub data: Option<Rc<[f64]>>,
    /// Lowest possible element, and exclusive upper bound, of random integers.
    pub bounds: Option<(i64, i64)>,
    /// Axis whose size depends on data.
    pub unbacked: Option<usize>,
    /// Whether the elements certainly depend on an input of the running model.
    pub varies: bool,
    /// Difference from the elements of PyTorch, in a replay with numbers of the example.
    pub deviation: Option<Deviating>,
    /// Whether PyTorch certainly records gradients for the tensor.
    pub needs_grad: bool,
    /// Strides, for some memory and sizes.
    pub layout: Option<Rc<Layout>>,
    /// Identity of the memory, which views share.
    pub memory: u32,
    pub role: Role,
    /// Expression that created the tensor, preceded by the index of its file.
    pub origin: Option<(usize, Node<'t>)>,
}

/// Difference between the elements of a tensor and those of PyTorch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// All elements have another factor.
    Scaled,
    /// All elements have another summand.
    Shifted,
    /// All elements differ in other ways.
    Mixed,
    /// Some elements differ.
    Part,
    /// The elements may differ.
    Unknown,
}

/// Deviation of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deviating {
    pub deviation: Deviation,
    /// Number of writes to the memory of the tensor; the deviation holds until the next one.
    pub writes: u32,
}

/// Role of a tensor in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Plain,
    Parameter,
    Buffer,
}

impl PartialEq for Tensor<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape
            && self.dtype == other.dtype
            && self.device == other.device
            && self.data == other.data
            && self.memory == other.memory
            && self.role == other.role
            && self.needs_grad == other.needs_grad
            && self.layout == other.layout
    }
}

impl Tensor<'_> {
    /// Returns the rank, if known.
    pub fn rank(&self) -> Option<usize> {
        self.shape.as_ref().map(Vec::len)
    }

    /// Returns the size of an axis; a negative axis counts from the end.
    pub fn dim(&self, axis: i64) -> Dim {
        let shape = self.shape.as_ref()?;
        shape[axis_index(axis, shape.len())?]
    }

    /// Returns the number of elements, if all sizes are known.
    pub fn numel(&self) -> Option<i64> {
        numel(self.shape.as_ref()?)
    }

    /// Joins the tensors of two paths: properties that differ are unknown.
    pub fn join(&self, other: &Self) -> Self {
        let shape = match (&self.shape, &other.shape) {
            (Some(a), Some(b)) if a.len() == b.len() => {
                Some(a.iter().zip(b).map(|(a, b)| if a == b { *a } else { None }).collect())
            }
            _ => None,
        };
        Tensor {
            shape,
            dtype: self.dtype.filter(|_| self.dtype == other.dtype),
            device: self.device.clone().filter(|_| self.device == other.device),
            data: self.data.clone().filter(|_| self.data == other.data && self.memory == other.memory),
            bounds: self.bounds.filter(|_| self.bounds == other.bounds),
            unbacked: self.unbacked.filter(|_| self.unbacked == other.unbacked),
            varies: self.varies && other.varies,
            // The path of a replay is known, so joined values are those of other runs.
            deviation: self.deviation.or(other.deviation),
            needs_grad: self.needs_grad && other.needs_grad,
            layout: self.layout.clone().filter(|_| self.layout == other.layout),
            memory: self.memory,
            role: if self.role == other.role { self.role } else { Role::Plain },
            origin: self.origin,
        }
    }
}

/// Returns the number of elements, if all sizes are known.
pub fn numel(shape: &[Dim]) -> Option<i64> {
    shape.iter().try_fold(1i64, |product, dim| product.checked_mul((*dim)?))
}

/// Returns the index of an axis of a tensor of rank `rank`, or `None` if the axis is out of range.
pub fn axis_index(axis: i64, rank: usize) -> Option<usize> {
    let signed = i64::try_from(rank).ok()?;
    let index = if axis < 0 { axis + signed } else { axis };
    usize::try_from(index).ok().filter(|index| *index < rank)
}

/// Returns true if two shapes certainly differ, by their number of axes or by a known size.
pub fn differ(a: &[Dim], b: &[Dim]) -> bool {
    a.len() != b.len() || a.iter().zip(b).any(|(a, b)| a.is_some() && b.is_some() && a != b)
}

/// Renders a shape as PyTorch does, with `?` for unknown sizes: `[2, ?, 3]`.
pub fn shown(shape: &[Dim]) -> String {
    let sizes: Vec<String> =
        shape.iter().map(|dim| dim.map_or("?".to_owned(), |size| size.to_string())).collect();
    format!("[{}]", sizes.join(", "))
}

/// A dtype of PyTorch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DType {
    Bool,
    UInt8,
    Int8,
    Int16,
    Int32,
    Int64,
    Float16,
    BFloat16,
    Float32,
    Float64,
    Complex64,
    Complex128,
}

impl DType {
    /// Names of the dtypes in PyTorch; the first name of a dtype is the one in messages.
    const NAMES: [(&'static str, DType); 20] = [
        ("bool", DType::Bool),
        ("uint8", DType::UInt8),
        ("int8", DType::Int8),
        ("int16", DType::Int16),
        ("int32", DType::Int32),
        ("int64", DType::Int64),
        ("float16", DType::Float16),
        ("bfloat16", DType::BFloat16),
        ("float32", DType::Float32),
        ("float64", DType::Float64),
        ("complex64", DType::Complex64),
        ("complex128", DType::Complex128),
        ("short", DType::Int16),
        ("int", DType::Int32),
        ("long", DType::Int64),
        ("half", DType::Float16),
        ("float", DType::Float32),
        ("double", DType::Float64),
        ("cfloat", DType::Complex64),
        ("cdouble", DType::Complex128),
    ];

    /// Returns the dtype of a path such as `torch.float16`.
    pub fn of_path(path: &str) -> Option<Self> {
        match path {
            "float" => return Some(DType::Float64),
            "int" => return Some(DType::Int64),
            "bool" => return Some(DType::Bool),
            _ => {}
        }
        let name = path.strip_prefix("torch.")?;
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, dtype)| *dtype)
    }

    /// Returns the name in PyTorch, without `torch.`.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, dtype)| *dtype == self).map_or("", |(name, _)| name)
    }

    /// Returns true for floating-point dtypes.
    pub fn is_float(self) -> bool {
        matches!(self, DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64)
    }

    /// Returns true for complex dtypes.
    pub fn is_complex(self) -> bool {
        matches!(self, DType::Complex64 | DType::Complex128)
    }

    /// Returns true for integer dtypes; false for booleans.
    pub fn is_integer(self) -> bool {
        !self.is_float() && !self.is_complex() && self != DType::Bool
    }

    fn category(self) -> u8 {
        match self {
            DType::Bool => 0,
            _ if self.is_integer() => 1,
            _ if self.is_float() => 2,
            _ => 3,
        }
    }

    /// Returns the dtype to which PyTorch promotes two tensors of the same kind (both 0-d, or neither).
    pub fn promote(self, other: DType) -> DType {
        use DType::{BFloat16, Complex64, Complex128, Float16, Float32, Float64, Int8, Int16, UInt8};
        if self == other {
            return self;
        }
        let (low, high) = if self.category() <= other.category() { (self, other) } else { (other, self) };
        if low.category() != high.category() {
            return match (low, high) {
                (Float64, Complex64) => Complex128,
                _ => high,
            };
        }
        let pair = |a, b| (low, high) == (a, b) || (low, high) == (b, a);
        if pair(UInt8, Int8) {
            return Int16;
        }
        if pair(Float16, BFloat16) {
            return Float32;
        }
        let order = [
            UInt8,
            Int8,
            Int16,
            DType::Int32,
            DType::Int64,
            Float16,
            BFloat16,
            Float32,
            Float64,
            Complex64,
            Complex128,
        ];
        let at = |dtype| order.iter().position(|one| *one == dtype);
        if at(low) < at(high) { high } else { low }
    }

    /// Returns the result of promoting a tensor with axes by a 0-d tensor or a Python number.
    ///
    /// Returns `None` if the result would be a complex number of 16-bit parts.
    pub fn promote_by_scalar(self, scalar: DType, default: DType) -> Option<DType> {
        if scalar.category() <= self.category() {
            return Some(self);
        }
        match self {
            DType::Float64 => Some(DType::Complex128),
            DType::Float32 => Some(DType::Complex64),
            DType::Float16 | DType::BFloat16 => None,
            _ if scalar.is_float() => Some(default),
            _ => Some(scalar),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DType::{self, BFloat16, Complex64, Complex128, Float16, Float32, Float64, Int64};

    #[test]
    fn scalars_of_a_higher_category_promote_tensors() {
        let promoted = |tensor: DType, scalar: DType| tensor.promote_by_scalar(scalar, scalar);
        for (tensor, scalar, expected) in [
            (Float64, Complex64, Some(Complex128)),
            (Float32, Complex128, Some(Complex64)),
            (Int64, Complex128, Some(Complex128)),
            (Int64, Complex64, Some(Complex64)),
            (Float16, Complex64, None),
            (Int64, Float16, Some(Float16)),
            (BFloat16, Float64, Some(BFloat16)),
            (Complex64, Complex128, Some(Complex64)),
        ] {
            assert_eq!(promoted(tensor, scalar), expected, "{tensor:?} {scalar:?}");
        }
    }
}
