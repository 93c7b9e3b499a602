//! Transposed convolution.

use super::conv::add_bias;
use super::window::{Window, groups, image};
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{numel, positions, to_sizes};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Computes `ConvTranspose`: adds the kernel, scaled by each input element, to the output.
/// The window slides over the output, with one position per input element.
pub(super) fn conv_transpose(cx: &Cx) -> Result<Array> {
    let (x, w) = (cx.tensor(0)?, cx.tensor(1)?);
    let (batch, channels, spatial) = image(x.shape())?;
    let (depth_in, per_group, kernel) = image(w.shape())?;
    let groups = groups(cx, "group")?;
    if depth_in != channels || channels % groups != 0 {
        return bad("the channels do not match `group`");
    }
    let window = placed(cx, spatial, kernel)?;
    window.afford(cx, &[batch, channels, per_group])?;
    let features = per_group.checked_mul(groups).ok_or(Refusal::TooLarge)?;
    let mut shape = vec![batch, features];
    shape.extend(&window.input);
    let mut y = vec![0.0; cx.room(&shape)?];
    let (x_data, weights) = (x.f64s()?, w.f64s()?);
    let (x_plane, y_plane, w_plane) = (numel(spatial)?, numel(&window.input)?, numel(kernel)?);
    for (at, place) in positions(spatial).enumerate() {
        let taps = window.taps(&place);
        for (n, c) in (0..batch).flat_map(|n| (0..channels).map(move |c| (n, c))) {
            let value = x_data[(n * channels + c) * x_plane + at];
            let first = n * features + c / (channels / groups) * per_group;
            for m in 0..per_group {
                let (to, from) = ((first + m) * y_plane, (c * per_group + m) * w_plane);
                for tap in &taps {
                    if let Some(place) = tap.input {
                        y[to + place] += value * weights[from + tap.kernel];
                    }
                }
            }
        }
    }
    add_bias(&mut y, &shape, cx.maybe(2)?)?;
    Array::from_f64s(x.elem(), shape, y)
}

/// Returns the window that slides over the output.
/// The window's field `input` contains the output sizes, and its field `output` the operator's input sizes.
fn placed(cx: &Cx, spatial: &[usize], kernel: &[usize]) -> Result<Window> {
    let rank = spatial.len();
    let mut window = Window::unplaced(cx, spatial, Some(kernel))?;
    let extra = to_sizes(&cx.ints("output_padding").unwrap_or_else(|| vec![0; rank]))?;
    let wanted = cx.ints("output_shape").map(|sizes| to_sizes(&sizes)).transpose()?;
    // In old models, `output_shape` also includes batch and channels.
    let wanted = wanted.map(|sizes| sizes[sizes.len().saturating_sub(rank)..].to_vec());
    if extra.len() != rank || wanted.as_ref().is_some_and(|sizes| sizes.len() != rank) {
        return bad("the window attributes do not match the spatial axes");
    }
    if spatial.contains(&0) {
        return bad("a spatial axis is empty");
    }
    let auto = cx.text("auto_pad", "NOTSET");
    for i in 0..rank {
        let full = spatial[i]
            .saturating_sub(1)
            .checked_mul(window.strides[i])
            .and_then(|reach| reach.checked_add(window.extent(i).ok()?)?.checked_add(extra[i]))
            .ok_or(Refusal::TooLarge)?;
        let same = auto == "SAME_UPPER" || auto == "SAME_LOWER";
        let size = match &wanted {
            Some(sizes) => Some(sizes[i]),
            None if same => spatial[i].checked_mul(window.strides[i]),
            None => None,
        };
        window.input[i] = match size {
            // If the windows do not reach the end of the output, the specification appends empty rows, but
            // ONNX Runtime returns fewer rows.
            Some(size) if same && wanted.is_none() && full < size => return Err(Refusal::Unsupported),
            Some(size) => {
                // Excess elements are cropped at both ends. If the number of excess elements is odd, versions
                // 1 and 11 of `ConvTranspose` crop the last one at different ends; ONNX Runtime always
                // follows version 11.
                let total = full.saturating_sub(size);
                let begin = if auto == "SAME_UPPER" { total / 2 } else { total.div_ceil(2) };
                window.set_pads(i, begin, total - begin);
                size
            }
            None => {
                if auto == "VALID" {
                    window.set_pads(i, 0, 0);
                }
                let (begin, end) = window.pads_of(i);
                let cut = begin.checked_add(end).and_then(|pads| full.checked_sub(pads));
                cut.ok_or(Refusal::BadInput("the pads exceed the output size"))?
            }
        };
    }
    window.output = spatial.to_vec();
    Ok(window)
}
