//! Shape rules of signal operators.

use super::Cx;
use crate::graph::ElemType;
use crate::infer::shape::{Size, known};

/// `HannWindow` and others: a vector whose size is the input, of type `output_datatype`.
pub fn window(cx: &mut Cx) -> Option<()> {
    let size = cx.int_scalar(0);
    let elem = cx.elem_attr("output_datatype").or(Some(ElemType::Float));
    cx.set_dims(0, vec![size]);
    cx.set_elem(0, elem);
    Some(())
}

/// `MelWeightMatrix`: a matrix with one row per bin of a one-sided spectrum and one column per mel bin.
pub fn mel_weight_matrix(cx: &mut Cx) -> Option<()> {
    let bins = one_sided(&cx.int_scalar(1));
    let mel_bins = cx.int_scalar(0);
    let elem = cx.elem_attr("output_datatype").or(Some(ElemType::Float));
    cx.set_dims(0, vec![bins, mel_bins]);
    cx.set_elem(0, elem);
    Some(())
}

/// Returns the number of bins of a one-sided spectrum.
fn one_sided(length: &Size) -> Size {
    length.as_ref()?.floor_div(2)?.add(1)
}

/// `DFT`: transforms along one axis; the last axis holds real or complex numbers.
pub fn dft(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    for scalar in [1, 2] {
        cx.allow_rank(scalar, 0)?;
    }
    let axis = match cx.since() {
        ..20 => Some(cx.int_or("axis", 1)),
        _ if cx.has(2) => cx.const_int(2),
        _ => Some(-2),
    };
    let (one_sided_spectrum, inverse) = (cx.flag("onesided"), cx.flag("inverse"));
    let last = dims.len().checked_sub(1)?;
    dims[last] = known(if one_sided_spectrum && inverse { 1 } else { 2 });
    let Some(axis) = axis else {
        if cx.has(1) || one_sided_spectrum {
            dims[..last].fill(None);
        }
        cx.set_dims(0, dims);
        return Some(());
    };
    let axis = cx.axis(axis, dims.len())?;
    let length = match (cx.has(1), one_sided_spectrum && inverse) {
        (true, _) => cx.int_scalar(1),
        (false, false) => dims[axis].clone(),
        (false, true) => (|| dims[axis].as_ref()?.sub(1)?.mul(2))(),
    };
    dims[axis] = if one_sided_spectrum && !inverse { one_sided(&length) } else { length };
    cx.set_dims(0, dims);
    Some(())
}

/// `STFT`: returns the spectrum of each frame of the signal.
pub fn stft(cx: &mut Cx) -> Option<()> {
    let length = match (cx.has(3), cx.has(2)) {
        (true, _) => cx.int_scalar(3),
        (false, true) => cx.dim(2, 0),
        (false, false) => cx.dim(0, 1),
    };
    let frames = (|| {
        let steps = cx.dim(0, 1)?.sub(length.as_ref()?)?.floor_div(cx.int_scalar(1)?)?;
        steps.add(1)
    })();
    let bins = if cx.flag("onesided") { one_sided(&length) } else { length };
    cx.set_dims(0, vec![cx.dim(0, 0), frames, bins, known(2)]);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::check;

    #[test]
    fn transforms_derive_frames_and_bins_from_the_signal() {
        let text = "g (float[b, 9, t, 1] x, float[b, n, 1] signal) => (full, half, back, frames) {
            axis = Constant <value_int = 1> ()
            full = DFT(x, , axis)
            half = DFT <onesided = 1> (x, , axis)
            back = DFT <onesided = 1, inverse = 1> (half, , axis)
            step = Constant <value_int = 4> ()
            length = Constant <value_int = 16> ()
            frames = STFT(signal, step, , length)
            window = HannWindow(length)
        }";
        check(
            text,
            &[
                "full: float[b, 9, t, 2]",
                "half: float[b, 5, t, 2]",
                "back: float[b, 8, t, 1]",
                "frames: float[b, floor(n / 4) - 3, 9, 2]",
                "window: float[16]",
            ],
        );
    }
}
