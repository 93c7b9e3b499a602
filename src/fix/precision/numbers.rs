//! Properties of the 16-bit types, and conversion of float32 tensors to them.

use half::{bf16, f16};

use crate::graph::{AttrValue, ElemType, Model, NodeId, Tensor, TensorData};

/// 16-bit floating-point type that replaces float32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Narrow {
    /// Element type.
    pub elem: ElemType,
    /// Largest finite value.
    pub largest: f64,
    /// Magnitude below which at most six significant bits remain.
    ///
    /// 0 if the type has the range of float32.
    pub tiny: f64,
    /// Magnitude above which the spacing of values exceeds 1, so that addends below 1 are lost.
    pub room: f64,
}

impl Narrow {
    /// Returns the properties of a type; `None` if the type is not supported.
    pub fn of(elem: ElemType) -> Option<Self> {
        match elem {
            ElemType::Float16 => {
                let tiny = 64.0 * f64::from(2f32.powi(-24));
                Some(Narrow { elem, largest: f16::MAX.to_f64(), tiny, room: 2048.0 })
            }
            // Bfloat16 has the range of float32; only the mantissa is shorter.
            ElemType::Bfloat16 => Some(Narrow { elem, largest: bf16::MAX.to_f64(), tiny: 0.0, room: 256.0 }),
            _ => None,
        }
    }

    /// Converts a float32 tensor to this type; returns `None` if its elements are not available.
    /// Finite values are clamped to the finite range; only infinities become infinities.
    pub fn tensor(&self, tensor: &Tensor) -> Option<Tensor> {
        let mut raw = Vec::with_capacity(tensor.len()?.checked_mul(2)?);
        each(tensor, |x| {
            let x = if x.is_finite() { x.clamp(-self.largest as f32, self.largest as f32) } else { x };
            raw.extend(match self.elem {
                ElemType::Bfloat16 => bf16::from_f32(x).to_le_bytes(),
                _ => f16::from_f32(x).to_le_bytes(),
            });
        })?;
        let data_type = Some(self.elem.number());
        Some(Tensor { data_type, data: TensorData::Raw(raw.into()), location: None, ..tensor.clone() })
    }
}

/// Magnitudes of the elements of a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Largest finite magnitude.
    pub largest: f64,
    /// Smallest finite nonzero magnitude; infinite if all finite elements are 0.
    pub least: f64,
    /// Whether the tensor has elements, and all of them are nonzero.
    pub is_nonzero: bool,
}

impl Extent {
    /// Returns the magnitudes of the elements; `None` if they are not available or not float32.
    pub fn of(tensor: &Tensor) -> Option<Self> {
        let mut extent =
            Extent { largest: 0.0, least: f64::INFINITY, is_nonzero: tensor.is_empty() == Some(false) };
        each(tensor, |x| {
            let size = f64::from(x.abs());
            match size {
                0.0 => extent.is_nonzero = false,
                _ if size.is_finite() => {
                    extent.largest = extent.largest.max(size);
                    extent.least = extent.least.min(size);
                }
                _ => {}
            }
        })?;
        Some(extent)
    }
}

/// Calls `visit` with each element of a float32 tensor; returns `None` if they are not available.
fn each(tensor: &Tensor, mut visit: impl FnMut(f32)) -> Option<()> {
    if tensor.elem() != Some(ElemType::Float) {
        return None;
    }
    let len = tensor.len()?;
    match &tensor.data {
        TensorData::Raw(raw) if raw.len() == len.checked_mul(4)? => {
            let (numbers, _) = raw.as_chunks::<4>();
            numbers.iter().for_each(|&bytes| visit(f32::from_le_bytes(bytes)));
        }
        TensorData::Floats(floats) if floats.len() == len => floats.iter().copied().for_each(visit),
        TensorData::Absent if len == 0 => {}
        _ => return None,
    }
    Some(())
}

/// Returns the magnitudes of the value of a `Constant` or `ConstantOfShape`, if they are available.
pub fn extent_of_constant(model: &Model, id: NodeId) -> Option<Extent> {
    let node = &model.nodes[id];
    let of = |numbers: &[f32]| {
        let mut sizes = numbers.iter().map(|x| f64::from(x.abs())).filter(|x| x.is_finite());
        let nonzero = sizes.clone().filter(|&x| x > 0.0);
        let is_nonzero = !numbers.is_empty() && sizes.all(|x| x > 0.0);
        Extent {
            largest: nonzero.clone().fold(0.0, f64::max),
            least: nonzero.fold(f64::INFINITY, f64::min),
            is_nonzero,
        }
    };
    node.attrs.iter().find_map(|attr| match &attr.value {
        AttrValue::Tensor(tensor) => Extent::of(&model.tensors[*tensor]),
        AttrValue::Float(number) => Some(of(&[*number])),
        AttrValue::Floats(numbers) => Some(of(numbers)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finite_values_are_clamped_and_do_not_become_infinite() {
        let narrow = Narrow::of(ElemType::Float16).expect("the type is supported");
        let tensor = |numbers: &[f32]| {
            let dims = vec![numbers.len() as i64];
            Tensor::new(ElemType::Float, dims, TensorData::Floats(numbers.to_vec()))
        };
        let made = narrow.tensor(&tensor(&[1.0, -1e9, f32::INFINITY, 1e-9])).expect("available elements");
        assert_eq!(made.small_floats(4), Some(vec![1.0, -65504.0, f64::INFINITY, 0.0]));
        let extent = Extent::of(&tensor(&[0.5, -1e9, f32::INFINITY])).expect("available elements");
        assert_eq!((extent.largest, extent.least, extent.is_nonzero), (1e9, 0.5, true));
        assert_eq!(Extent::of(&Tensor::int64s(vec![1], &[1])), None);
    }
}
