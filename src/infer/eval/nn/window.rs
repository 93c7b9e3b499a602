//! Sliding windows over spatial axes, shared by convolution and pooling.

use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{numel, strides, to_size, to_sizes};
use crate::infer::eval::{Refusal, Result, bad};

/// Geometry of a window that slides over the spatial axes of a tensor.
pub struct Window {
    /// Sizes of the spatial axes.
    pub input: Vec<usize>,
    pub kernel: Vec<usize>,
    pub strides: Vec<usize>,
    pub dilations: Vec<usize>,
    /// Padding before each axis, then after each axis; not negative.
    pub pads: Vec<usize>,
    /// Number of window positions along each axis.
    pub output: Vec<usize>,
}

/// One element under the window.
pub struct Tap {
    /// Offset in the kernel.
    pub kernel: usize,
    /// Offset among the input's spatial elements; `None` outside the input.
    pub input: Option<usize>,
    /// Whether the element is in the input or its padding.
    /// With `ceil_mode`, a window can reach beyond the padding.
    pub padded: bool,
}

impl Window {
    /// Reads `strides`, `dilations`, `pads`, `auto_pad` and `ceil_mode`.
    /// The kernel size is that of the weights, or the attribute `kernel_shape`.
    pub fn of(cx: &Cx, input: &[usize], kernel: Option<&[usize]>) -> Result<Window> {
        let mut window = Window::unplaced(cx, input, kernel)?;
        let ceil = cx.flag("ceil_mode", false)?;
        let auto = cx.text("auto_pad", "NOTSET");
        for (i, &size) in input.iter().enumerate() {
            let (extent, stride) = (window.extent(i)?, window.strides[i]);
            let same = auto == "SAME_UPPER" || auto == "SAME_LOWER";
            if same {
                // For pooling, some runtimes ignore the dilation when they choose the padding.
                if kernel.is_none() && window.dilations[i] != 1 {
                    return Err(Refusal::Unsupported);
                }
                window.output[i] = size.div_ceil(stride);
                let reach = window.output[i].saturating_sub(1).saturating_mul(stride);
                // If the windows do not reach the end of the input, only some runtimes crop the input.
                let total = reach.saturating_add(extent).checked_sub(size).ok_or(Refusal::Unsupported)?;
                let begin = if auto == "SAME_UPPER" { total / 2 } else { total.div_ceil(2) };
                window.set_pads(i, begin, total - begin);
                continue;
            }
            if auto == "VALID" {
                window.set_pads(i, 0, 0);
            }
            let (begin, end) = window.pads_of(i);
            let room = begin.checked_add(end).and_then(|pads| pads.checked_add(size));
            let room = room.ok_or(Refusal::TooLarge)?;
            let Some(slack) = room.checked_sub(extent) else {
                return bad("the window is larger than the padded input");
            };
            window.output[i] = if ceil { slack.div_ceil(stride) } else { slack / stride } + 1;
            // A window that starts beyond the input and its left padding does not count.
            if ceil && (window.output[i] - 1) * stride >= size + begin {
                window.output[i] -= 1;
            }
        }
        Ok(window)
    }

    /// Reads the kernel size, `strides`, `dilations` and `pads`, and leaves the output size at 0.
    pub fn unplaced(cx: &Cx, input: &[usize], kernel: Option<&[usize]>) -> Result<Window> {
        let rank = input.len();
        let named = cx.ints("kernel_shape").map(|sizes| to_sizes(&sizes)).transpose()?;
        let kernel = match (kernel, named) {
            (Some(kernel), Some(named)) if kernel != named => {
                return bad("`kernel_shape` differs from the shape of the weights");
            }
            (Some(kernel), _) => kernel.to_vec(),
            (None, named) => named.ok_or(Refusal::BadInput("the attribute `kernel_shape` is required"))?,
        };
        let ones = || vec![1i64; rank];
        let sizes = |name| to_sizes(&cx.ints(name).unwrap_or_else(ones));
        let window = Window {
            input: input.to_vec(),
            kernel,
            strides: sizes("strides")?,
            dilations: sizes("dilations")?,
            pads: to_sizes(&cx.ints("pads").unwrap_or_else(|| vec![0; 2 * rank]))?,
            output: vec![0; rank],
        };
        let lengths = [window.kernel.len(), window.strides.len(), window.dilations.len()];
        let zeros =
            window.kernel.contains(&0) || window.strides.contains(&0) || window.dilations.contains(&0);
        if lengths != [rank; 3] || window.pads.len() != 2 * rank || zeros {
            return bad("the window attributes contain 0 or do not match the spatial axes");
        }
        Ok(window)
    }

    /// Returns the number of elements that the dilated kernel spans along an axis.
    pub fn extent(&self, axis: usize) -> Result<usize> {
        let span = (self.kernel[axis] - 1).checked_mul(self.dilations[axis]);
        span.and_then(|span| span.checked_add(1)).ok_or(Refusal::TooLarge)
    }

    /// Returns the padding before and after an axis.
    pub fn pads_of(&self, axis: usize) -> (usize, usize) {
        (self.pads[axis], self.pads[axis + self.input.len()])
    }

    /// Sets the padding before and after an axis.
    pub fn set_pads(&mut self, axis: usize, begin: usize, end: usize) {
        let rank = self.input.len();
        (self.pads[axis], self.pads[axis + rank]) = (begin, end);
    }

    /// Returns the elements under the window at one position, in row-major order of the kernel.
    pub fn taps(&self, place: &[usize]) -> Vec<Tap> {
        let steps = strides(&self.input);
        let mut taps = vec![Tap { kernel: 0, input: Some(0), padded: true }];
        for i in 0..place.len() {
            let (begin, end) = self.pads_of(i);
            let along = |k: usize| {
                let at = place[i] * self.strides[i] + k * self.dilations[i];
                let input = at.checked_sub(begin).filter(|&at| at < self.input[i]).map(|at| at * steps[i]);
                Tap { kernel: k, input, padded: at < begin + self.input[i] + end }
            };
            let line: Vec<Tap> = (0..self.kernel[i]).map(along).collect();
            let combine = |outer: &Tap, inner: &Tap| Tap {
                kernel: outer.kernel * line.len() + inner.kernel,
                input: outer.input.zip(inner.input).map(|(a, b)| a + b),
                padded: outer.padded && inner.padded,
            };
            let mut finer = Vec::with_capacity(taps.len() * line.len());
            for outer in &taps {
                finer.extend(line.iter().map(|inner| combine(outer, inner)));
            }
            taps = finer;
        }
        taps
    }

    /// Fails if the number of taps, multiplied by all of `times`, exceeds the work budget.
    pub fn afford(&self, cx: &Cx, times: &[usize]) -> Result<()> {
        let mut factors = vec![numel(&self.kernel)?, numel(&self.output)?];
        factors.extend(times);
        cx.work(&factors)
    }
}

/// Splits a shape into batch, channels and spatial sizes.
pub fn image(shape: &[usize]) -> Result<(usize, usize, &[usize])> {
    match shape {
        [batch, channels, spatial @ ..] => Ok((*batch, *channels, spatial)),
        _ => bad("the input must have a batch and a channel axis"),
    }
}

/// Returns the attribute `group` (or a similar one) as a positive number.
pub fn groups(cx: &Cx, name: &str) -> Result<usize> {
    match to_size(cx.int(name, 1))? {
        0 => bad("the number of groups must not be 0"),
        groups => Ok(groups),
    }
}
