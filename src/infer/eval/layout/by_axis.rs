//! Rearrangements that act on each axis independently.

use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::strides;
use crate::infer::eval::{Array, Result};

/// Source index for each position along an axis; `None` selects the fill value.
pub type Places = Vec<Option<usize>>;

/// Returns the identity mapping of an axis.
pub(super) fn whole(dim: usize) -> Places {
    (0..dim).map(Some).collect()
}

/// Rearranges each axis of `x` by its source indices. `fill` is one element; the default is zero.
pub fn by_axis(cx: &Cx, x: &Array, axes: &[Places], fill: Option<&Array>) -> Result<Array> {
    let shape: Vec<usize> = axes.iter().map(Vec::len).collect();
    cx.room(&shape)?;
    let mut offsets = vec![Some(0)];
    if shape.contains(&0) {
        offsets.clear();
    }
    for (places, stride) in axes.iter().zip(strides(x.shape())) {
        let step = |base: Option<usize>, place: Option<usize>| Some(base? + place? * stride);
        offsets = offsets.iter().flat_map(|&base| places.iter().map(move |&p| step(base, p))).collect();
    }
    x.take_or(shape, &offsets, fill)
}
