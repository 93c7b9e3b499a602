//! Compares two results within the tolerance of their element type.

use half::{bf16, f16};
use ort::value::{DynValue, DynValueTypeMarker, TensorElementType, ValueType};

use crate::graph::syntax::dims;

/// Tolerance of a float: the sum of two relative tolerances and an absolute tolerance.
/// The relative tolerances are fractions of the element and of the largest element in the tensor.
///
/// Float inputs are between -1 and 1, so a sum that cancels to 0 may be off by the rounding error of numbers near 1.
struct Tolerance {
    relative: f64,
    of_largest: f64,
    absolute: f64,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Compared {
    /// Equal elements; NaN equals NaN.
    Same,
    /// Equal within the tolerance: the largest difference, and the tolerance.
    Close { largest: f64, allowed: String },
    /// A description of the first difference.
    Different(String),
    /// Values of the same type, whose elements cannot be read.
    Unread,
}

impl Compared {
    /// Returns true unless the values are [`Compared::Different`]; unread values count as equal.
    pub fn is_equal(&self) -> bool {
        !matches!(self, Compared::Different(_))
    }

    /// Combines the comparisons of two parts of a value.
    fn and(self, other: Compared) -> Compared {
        match (self, other) {
            (Compared::Different(what), _) | (_, Compared::Different(what)) => Compared::Different(what),
            (Compared::Unread, _) | (_, Compared::Unread) => Compared::Unread,
            (Compared::Close { largest: a, .. }, Compared::Close { largest: b, allowed }) if a <= b => {
                Compared::Close { largest: b, allowed }
            }
            (close @ Compared::Close { .. }, _) | (Compared::Same, close) => close,
        }
    }
}

/// Loss of numeric precision that the changes of a model may cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Kept,
    /// An unsafe fix may compute in float32 instead of float64.
    Lowered,
    /// float32 outputs or intermediate values may have this type instead.
    Narrowed(TensorElementType),
}

impl Precision {
    /// Returns true if an output may change from the type `was` to the type `is`.
    fn allows(self, was: TensorElementType, is: TensorElementType) -> bool {
        match self {
            Precision::Kept => was == is,
            Precision::Lowered => was == is || is_double(was) && is == TensorElementType::Float32,
            Precision::Narrowed(narrow) => was == is || was == TensorElementType::Float32 && is == narrow,
        }
    }

    /// Returns the tolerance for elements of a type.
    fn tolerance(self, ty: TensorElementType) -> Tolerance {
        match self {
            Precision::Lowered if is_double(ty) => tolerance(TensorElementType::Float32),
            Precision::Kept | Precision::Lowered => tolerance(ty),
            // Every intermediate value is rounded to 11 or 8 bits, and the errors add up.
            Precision::Narrowed(TensorElementType::Bfloat16) => {
                Tolerance { relative: 5e-2, of_largest: 5e-2, absolute: 1e-2 }
            }
            Precision::Narrowed(_) => Tolerance { relative: 1e-2, of_largest: 1e-2, absolute: 1e-3 },
        }
    }
}

/// Compares `found` with `expected`.
pub fn compare(expected: &DynValue, found: &DynValue, precision: Precision) -> Compared {
    if let Some(what) = other_type(expected, found, precision) {
        return Compared::Different(what);
    }
    let (ValueType::Tensor { ty, .. }, ValueType::Tensor { ty: found_ty, .. }) =
        (expected.dtype(), found.dtype())
    else {
        return parts(expected, found, precision).unwrap_or(Compared::Unread);
    };
    match (elements(expected, *ty), elements(found, *found_ty)) {
        (Some(Elements::Floats(expected)), Some(Elements::Floats(found))) => {
            compared_floats(&expected, &found, precision.tolerance(*ty), *ty)
        }
        (Some(Elements::Exact(expected)), Some(Elements::Exact(found))) => {
            exact(&expected, &found).map_or(Compared::Same, Compared::Different)
        }
        _ => Compared::Different(format!("its elements, of type {}, cannot be compared", type_name(*ty))),
    }
}

/// Compares two sequences, or two maps to floats, such as the probabilities of classes.
/// Returns `None` if the values are neither sequences nor maps to floats.
fn parts(expected: &DynValue, found: &DynValue, precision: Precision) -> Option<Compared> {
    if matches!(expected.dtype(), ValueType::Sequence(_)) {
        let items = |value: &DynValue| value.try_extract_sequence::<DynValueTypeMarker>().ok();
        let (expected, found) = (items(expected)?, items(found)?);
        if expected.len() != found.len() {
            let message = format!("its length was {} and is {}", expected.len(), found.len());
            return Some(Compared::Different(message));
        }
        let pairs = expected.iter().zip(&found).enumerate();
        let compared = pairs.map(|(at, (expected, found))| match compare(expected, found, precision) {
            Compared::Different(what) => Compared::Different(format!("item {at}: {what}")),
            same => same,
        });
        return Some(compared.fold(Compared::Same, Compared::and));
    }
    let ((keys, expected), (found_keys, found)) = (entries(expected)?, entries(found)?);
    if keys != found_keys {
        return Some(Compared::Different("its keys differ".to_owned()));
    }
    let tolerance = precision.tolerance(TensorElementType::Float32);
    Some(compared_floats(&expected, &found, tolerance, TensorElementType::Float32))
}

/// Returns the keys of a map to floats, in order, and their values.
fn entries(value: &DynValue) -> Option<(Vec<String>, Vec<f64>)> {
    let entries = |value: &DynValue| -> Option<Vec<(String, f32)>> {
        Some(match value.dtype() {
            ValueType::Map { key: TensorElementType::Int64, .. } => {
                let entries = value.try_extract_key_values::<i64, f32>().ok()?;
                entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
            }
            _ => value.try_extract_key_values::<String, f32>().ok()?,
        })
    };
    let mut entries = entries(value)?;
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    Some(entries.into_iter().map(|(key, value)| (key, f64::from(value))).unzip())
}

/// Compares the elements of two tensors of a floating-point type.
fn compared_floats(expected: &[f64], found: &[f64], tolerance: Tolerance, ty: TensorElementType) -> Compared {
    if let Some(what) = floats(expected, found, &tolerance) {
        return Compared::Different(what);
    }
    let differences = expected.iter().zip(found).map(|(expected, found)| (expected - found).abs());
    let largest = differences.filter(|difference| difference.is_finite()).fold(0.0, f64::max);
    let Tolerance { relative, of_largest, absolute } = tolerance;
    let allowed = format!(
        "tolerance of {}: {relative:e} of the element, {of_largest:e} of the largest element, {absolute:e} absolute",
        type_name(ty)
    );
    if largest > 0.0 { Compared::Close { largest, allowed } } else { Compared::Same }
}

/// Returns the name of an element type in ONNX text.
pub fn type_name(ty: TensorElementType) -> String {
    match ty {
        TensorElementType::Float16 => "float16".to_owned(),
        TensorElementType::Bfloat16 => "bfloat16".to_owned(),
        TensorElementType::Float32 => "float".to_owned(),
        TensorElementType::Float64 => "double".to_owned(),
        TensorElementType::String => "string".to_owned(),
        TensorElementType::Complex64 => "complex64".to_owned(),
        TensorElementType::Complex128 => "complex128".to_owned(),
        // Other names in the runtime are `i8`, `u4` and `f8_e4m3fn`, for example.
        other => {
            let name = other.to_string();
            match name.split_at_checked(1) {
                Some(("i", bits)) if bits.parse::<u8>().is_ok() => format!("int{bits}"),
                Some(("u", bits)) if bits.parse::<u8>().is_ok() => format!("uint{bits}"),
                Some(("f", rest)) => format!("float{}", rest.replace('_', "")),
                _ => name,
            }
        }
    }
}

fn is_double(ty: TensorElementType) -> bool {
    ty == TensorElementType::Float64
}

/// Describes a difference in type or shape.
fn other_type(expected: &DynValue, found: &DynValue, precision: Precision) -> Option<String> {
    let (ValueType::Tensor { ty, shape, .. }, ValueType::Tensor { ty: found_ty, shape: found_shape, .. }) =
        (expected.dtype(), found.dtype())
    else {
        return (expected.dtype() != found.dtype()).then(|| "its type changed".to_owned());
    };
    if !precision.allows(*ty, *found_ty) {
        return Some(format!("its element type was {} and is {}", type_name(*ty), type_name(*found_ty)));
    }
    (**shape != **found_shape).then(|| format!("its shape was {} and is {}", dims(shape), dims(found_shape)))
}

fn tolerance(ty: TensorElementType) -> Tolerance {
    let (relative, of_largest, absolute) = match ty {
        TensorElementType::Float64 => (1e-9, 1e-10, 1e-14),
        TensorElementType::Float32 => (1e-4, 1e-5, 1e-6),
        TensorElementType::Float16 => (1e-2, 2e-3, 1e-3),
        _ => (5e-2, 1e-2, 1e-2),
    };
    Tolerance { relative, of_largest, absolute }
}

enum Elements {
    Floats(Vec<f64>),
    /// Elements as text, which must be equal.
    Exact(Vec<String>),
}

fn elements(value: &DynValue, ty: TensorElementType) -> Option<Elements> {
    // The runtime may return a null data pointer for an empty tensor, so no slice can be taken.
    if matches!(value.dtype(), ValueType::Tensor { shape, .. } if shape.contains(&0)) {
        return Some(Elements::Exact(Vec::new()));
    }
    macro_rules! of {
        ($type:ty, $variant:ident, $convert:expr) => {{
            let (_, elements) = value.try_extract_tensor::<$type>().ok()?;
            Elements::$variant(elements.iter().map($convert).collect())
        }};
    }
    Some(match ty {
        TensorElementType::Float32 => of!(f32, Floats, |&x| f64::from(x)),
        TensorElementType::Float64 => of!(f64, Floats, |&x| x),
        TensorElementType::Float16 => of!(f16, Floats, |&x| x.to_f64()),
        TensorElementType::Bfloat16 => of!(bf16, Floats, |&x| x.to_f64()),
        TensorElementType::Int8 => of!(i8, Exact, i8::to_string),
        TensorElementType::Int16 => of!(i16, Exact, i16::to_string),
        TensorElementType::Int32 => of!(i32, Exact, i32::to_string),
        TensorElementType::Int64 => of!(i64, Exact, i64::to_string),
        TensorElementType::Uint8 => of!(u8, Exact, u8::to_string),
        TensorElementType::Uint16 => of!(u16, Exact, u16::to_string),
        TensorElementType::Uint32 => of!(u32, Exact, u32::to_string),
        TensorElementType::Uint64 => of!(u64, Exact, u64::to_string),
        TensorElementType::Bool => of!(bool, Exact, bool::to_string),
        TensorElementType::String => Elements::Exact(value.try_extract_strings().ok()?.1),
        _ => return None,
    })
}

fn exact(expected: &[String], found: &[String]) -> Option<String> {
    let at = expected.iter().zip(found).position(|(expected, found)| expected != found)?;
    Some(format!("element {at} was {} and is {}", expected[at], found[at]))
}

/// Describes the first element outside the tolerance; NaN equals NaN, and an infinity equals itself.
fn floats(expected: &[f64], found: &[f64], tolerance: &Tolerance) -> Option<String> {
    let finite = expected.iter().filter(|x| x.is_finite());
    let largest = finite.fold(0.0f64, |largest, x| largest.max(x.abs()));
    let close = |&expected: &f64, &found: &f64| {
        let allowed =
            tolerance.relative * expected.abs() + tolerance.of_largest * largest + tolerance.absolute;
        expected == found
            || (expected.is_nan() && found.is_nan())
            || (expected.is_finite() && (expected - found).abs() <= allowed)
    };
    let at = expected.iter().zip(found).position(|(expected, found)| !close(expected, found))?;
    Some(format!("element {at} was {} and is {}", expected[at], found[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &[f64], found: &[f64], same: bool) {
        let tolerance = tolerance(TensorElementType::Float32);
        assert_eq!(floats(expected, found, &tolerance).is_none(), same, "{expected:?} {found:?}");
    }

    #[test]
    fn floats_are_compared_with_tolerance() {
        check(&[1.0, 100.0], &[1.0 + 5e-4, 100.0], true);
        check(&[1.0, 1.0], &[1.0 + 5e-4, 1.0], false);
        check(&[f64::NAN, f64::INFINITY], &[f64::NAN, f64::INFINITY], true);
        check(&[f64::NAN], &[0.0], false);
        check(&[f64::INFINITY], &[1e30], false);
        check(&[0.0], &[f64::NAN], false);
        check(&[0.0], &[1e-30], true);
        // A sum that is 0 may differ slightly from 0 if its terms are added in another order.
        check(&[0.0, 1e-9], &[2e-8, 0.0], true);
        check(&[0.0], &[1e-4], false);
    }
}
