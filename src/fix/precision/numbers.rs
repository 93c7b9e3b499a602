//! What a narrow type holds of float32, and tensors in it.

use half::{bf16, f16};

use crate::graph::{ElemType, Tensor, TensorData};

/// A type of 16 bits that takes the place of float32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Narrow {
    pub elem: ElemType,
    /// The greatest number that it holds.
    pub largest: f64,
    /// Below this, fewer than six bits are left of a number, and in the end none.
    pub tiny: f64,
    /// Up to here, neighbours are no further apart than 1: what is added to a larger number is lost.
    pub room: f64,
}

impl Narrow {
    /// `None` for a type that is not offered.
    pub fn of(elem: ElemType) -> Option<Self> {
        match elem {
            ElemType::Float16 => {
                let tiny = 64.0 * f64::from(2f32.powi(-24));
                Some(Narrow { elem, largest: f16::MAX.to_f64(), tiny, room: 2048.0 })
            }
            // As wide a range as that of float32: only bits of the mantissa go.
            ElemType::Bfloat16 => Some(Narrow { elem, largest: bf16::MAX.to_f64(), tiny: 0.0, room: 256.0 }),
            _ => None,
        }
    }

    /// A tensor of float32 in this type; `None` where its elements are not at hand. A number that is too large becomes
    /// the greatest one: infinities come from infinities alone.
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

/// What there is to know of the elements of a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The greatest magnitude of those that are finite.
    pub largest: f64,
    /// The least magnitude of those that are not zero; infinite where all are.
    pub least: f64,
    /// Whether no element is zero, and there are elements.
    pub is_nonzero: bool,
}

impl Extent {
    /// `None` where the elements are not at hand, or are not float32.
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

/// Has `visit` see each element of a tensor of float32; `None` where they are not at hand.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_too_large_do_not_become_infinite() {
        let narrow = Narrow::of(ElemType::Float16).expect("it is offered");
        let tensor = |numbers: &[f32]| {
            let dims = vec![numbers.len() as i64];
            Tensor::new(ElemType::Float, dims, TensorData::Floats(numbers.to_vec()))
        };
        let made = narrow.tensor(&tensor(&[1.0, -1e9, f32::INFINITY, 1e-9])).expect("elements at hand");
        assert_eq!(made.small_floats(4), Some(vec![1.0, -65504.0, f64::INFINITY, 0.0]));
        let extent = Extent::of(&tensor(&[0.5, -1e9, f32::INFINITY])).expect("elements at hand");
        assert_eq!((extent.largest, extent.least, extent.is_nonzero), (1e9, 0.5, true));
        assert_eq!(Extent::of(&Tensor::int64s(vec![1], &[1])), None);
    }
}
