//! Shape rules of convolutions and pooling.

use super::Cx;
use crate::graph::dim::{Rounding, Window};
use crate::infer::fault::Fault;
use crate::infer::shape::{Size, add, known, mul, number};

/// Padding mode of the spatial axes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AutoPad {
    NotSet,
    Valid,
    Same,
}

/// Attributes of sliding windows, with one entry per spatial axis.
struct Windows {
    auto_pad: AutoPad,
    kernel: Vec<Option<i64>>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// Begin pads of all axes, then end pads of all axes.
    pads: Vec<i64>,
}

impl Windows {
    /// Reads the attributes for `axes` spatial axes, or returns `None` if a list has the wrong length.
    fn read(cx: &Cx, axes: usize, kernel: Vec<Option<i64>>) -> Option<Self> {
        let auto_pad = match cx.text("auto_pad").unwrap_or("NOTSET") {
            "VALID" => AutoPad::Valid,
            "SAME_UPPER" | "SAME_LOWER" => AutoPad::Same,
            _ => AutoPad::NotSet,
        };
        let list = |name: &str, default: i64, len: usize| {
            let given = cx.ints_attr(name).map_or_else(|| vec![default; len], <[i64]>::to_vec);
            (given.len() == len).then_some(given)
        };
        let mut pads = list("pads", 0, 2 * axes)?;
        if auto_pad != AutoPad::NotSet {
            pads.fill(0);
        }
        let kernel = (kernel.len() == axes).then_some(kernel)?;
        Some(Windows {
            auto_pad,
            kernel,
            strides: list("strides", 1, axes)?,
            dilations: list("dilations", 1, axes)?,
            pads,
        })
    }

    /// Returns the number of windows along a spatial axis of this size.
    fn count(&self, axis: usize, size: &Size, rounding: Rounding) -> Size {
        let size = size.as_ref()?;
        let stride = self.strides[axis];
        if self.auto_pad == AutoPad::Same {
            return size.ceil_div(stride);
        }
        let window = Window {
            kernel: self.kernel[axis]?,
            stride,
            dilation: self.dilations[axis],
            pad_begin: self.pads[axis],
            pad_end: self.pads[axis + self.strides.len()],
            rounding,
        };
        window.count(size)
    }

    /// Returns true if the dilated kernel is known to be at least as large as the end padding.
    fn reaches_over_end_pad(&self, axis: usize) -> bool {
        let pad = self.pads[axis + self.strides.len()];
        self.kernel[axis].is_some_and(|kernel| (kernel - 1).saturating_mul(self.dilations[axis]) >= pad - 1)
    }
}

/// Returns `kernel_shape`, or else the spatial dimensions of the weights.
fn kernel_of(cx: &Cx, weights: usize, axes: usize) -> Vec<Option<i64>> {
    match cx.ints_attr("kernel_shape") {
        Some(kernel) => kernel.iter().copied().map(Some).collect(),
        None => (0..axes).map(|axis| number(&cx.dim(weights, axis + 2))).collect(),
    }
}

/// Returns the number of spatial axes, from input `x`, the weights, or `kernel_shape`.
fn spatial_axes(cx: &Cx, x: usize, weights: Option<usize>) -> Option<usize> {
    let by_kernel = || Some(cx.ints_attr("kernel_shape")?.len() + 2);
    let by_weights = || cx.rank(weights?);
    cx.rank(x).or_else(by_weights).or_else(by_kernel)?.checked_sub(2)
}

/// `Conv`, `DeformConv` and others: the inputs are the data, then the weights.
pub fn conv(cx: &mut Cx) -> Option<()> {
    convolve(cx, 0, 1)
}

/// `ConvInteger`: both zero points are scalars or vectors.
pub fn integer(cx: &mut Cx) -> Option<()> {
    [2, 3].into_iter().for_each(|input| cx.expect_rank_at_most(input, 1));
    convolve(cx, 0, 1)
}

/// `QLinearConv`: each operand is followed by its scale and zero point, which are scalars or vectors.
pub fn qlinear(cx: &mut Cx) -> Option<()> {
    [1, 2, 4, 5, 6, 7].into_iter().for_each(|input| cx.expect_rank_at_most(input, 1));
    convolve(cx, 0, 3)
}

fn convolve(cx: &mut Cx, x: usize, w: usize) -> Option<()> {
    let axes = spatial_axes(cx, x, Some(w))?;
    for input in [x, w] {
        cx.allow_rank(input, axes + 2)?;
    }
    check_channels(cx, x, w);
    let windows = Windows::read(cx, axes, kernel_of(cx, w, axes))?;
    let mut dims = vec![cx.dim(x, 0), cx.dim(w, 0)];
    dims.extend((0..axes).map(|axis| windows.count(axis, &cx.dim(x, axis + 2), Rounding::Down)));
    cx.set_dims(0, dims);
    Some(())
}

/// Records a fault if the data cannot have `group` times as many channels as the weights of one group.
fn check_channels(cx: &mut Cx, x: usize, w: usize) {
    let group = cx.int_or("group", 1);
    let (Some(have), Some(each)) = (cx.dim(x, 1), cx.dim(w, 1)) else { return };
    let Some(want) = each.mul(group) else { return };
    if have.equals(&want, cx.bounds()).is_never() {
        cx.fault(Fault::SizeMismatch { inputs: (x, w), axes: (1, 1), dims: (have, want) });
    }
}

/// `MaxPool`, `AveragePool` and `LpPool`; the indices of `MaxPool` have the shape of its result.
pub fn pool(cx: &mut Cx) -> Option<()> {
    let axes = spatial_axes(cx, 0, None)?;
    let windows = Windows::read(cx, axes, kernel_of(cx, usize::MAX, axes))?;
    let count = |axis: usize| {
        let size = cx.dim(0, axis + 2);
        // Some runtimes ignore the dilation in their automatic padding, and produce fewer windows.
        if windows.auto_pad == AutoPad::Same && windows.dilations[axis] != 1 {
            return None;
        }
        if !cx.flag("ceil_mode") {
            return windows.count(axis, &size, Rounding::Down);
        }
        // Before opset 22, the specification lets windows begin in the end padding, but runtimes do not.
        let within = windows.count(axis, &size, Rounding::UpWithinInput);
        let anywhere = windows.count(axis, &size, Rounding::Up);
        // If the end padding exceeds the kernel size, several windows begin in the padding; runtimes drop at
        // most one of these windows.
        let is_one_at_most = windows.reaches_over_end_pad(axis);
        within.filter(|dim| is_one_at_most && cx.since() >= 22 || anywhere.as_ref() == Some(dim))
    };
    let mut dims = vec![cx.dim(0, 0), cx.dim(0, 1)];
    dims.extend((0..axes).map(count));
    for output in 0..cx.outs.len() {
        cx.set_dims(output, dims.clone());
    }
    Some(())
}

/// Pools over all spatial axes, which become axes of size 1.
pub fn global_pool(cx: &mut Cx) -> Option<()> {
    let rank = cx.rank(0)?;
    let mut dims = vec![cx.dim(0, 0), cx.dim(0, 1)];
    dims.resize(rank.max(2), known(1));
    cx.set_dims(0, dims);
    Some(())
}

/// `ConvTranspose`: the output size is given by `output_shape`, or computed.
///
/// The computed size is `stride * (input - 1) + output_padding + window - pads`, or, with `auto_pad` set to
/// `SAME_UPPER` or `SAME_LOWER`, `stride * input`.
pub fn conv_transpose(cx: &mut Cx) -> Option<()> {
    let axes = spatial_axes(cx, 0, Some(1))?;
    let windows = Windows::read(cx, axes, kernel_of(cx, 1, axes))?;
    let channels = mul(&cx.dim(1, 1), &known(cx.int_or("group", 1)));
    let mut dims = vec![cx.dim(0, 0), channels];
    match cx.ints_attr("output_shape") {
        Some(shape) => {
            let spatial = &shape[shape.len().checked_sub(axes)?..];
            dims.extend(spatial.iter().map(|&dim| known(dim)));
        }
        None => {
            let extra = cx.ints_attr("output_padding");
            let extra = |axis: usize| extra.and_then(|extra| extra.get(axis).copied()).unwrap_or(0);
            let grown = |axis| windows.spread(axis, &cx.dim(0, axis + 2), extra(axis));
            dims.extend((0..axes).map(grown));
        }
    }
    cx.set_dims(0, dims);
    Some(())
}

impl Windows {
    /// Returns the size of the axis over which this number of windows slides.
    fn spread(&self, axis: usize, windows: &Size, extra: i64) -> Size {
        let stride = self.strides[axis];
        if self.auto_pad == AutoPad::Same {
            // If windows leave gaps, the specification adds a gap after the last window, but ONNX Runtime does not.
            let extent =
                self.kernel[axis]?.checked_sub(1)?.checked_mul(self.dilations[axis])?.checked_add(1)?;
            return windows.as_ref()?.mul(stride).filter(|_| extent.saturating_add(extra) >= stride);
        }
        let pads = self.pads[axis].checked_add(self.pads[axis + self.strides.len()])?;
        let extent = self.kernel[axis]?.checked_sub(1)?.checked_mul(self.dilations[axis])?;
        let steps = windows.as_ref()?.sub(1)?.mul(stride);
        add(&steps, &known(extent.checked_add(1)?.checked_add(extra)?.checked_sub(pads)?))
    }
}

/// `MaxUnpool`: the output shape is the third input, or else the shape before pooling.
pub fn max_unpool(cx: &mut Cx) -> Option<()> {
    if cx.has(2) {
        let dims = cx.ints(2).or_else(|| Some(vec![None; cx.rank(0)?]))?;
        cx.set_dims(0, dims);
        return Some(());
    }
    let axes = spatial_axes(cx, 0, None)?;
    let windows = Windows::read(cx, axes, kernel_of(cx, usize::MAX, axes))?;
    let mut dims = vec![cx.dim(0, 0), cx.dim(0, 1)];
    dims.extend((0..axes).map(|axis| windows.spread(axis, &cx.dim(0, axis + 2), 0)));
    cx.set_dims(0, dims);
    Some(())
}

/// `Col2Im`: assembles columns of blocks into an image.
pub fn col2im(cx: &mut Cx) -> Option<()> {
    // Each attribute has one entry per spatial axis, except `pads`, which has two.
    let by_attr = |(attr, each): (&str, usize)| Some(cx.ints_attr(attr)?.len() / each);
    let by_attrs = || [("dilations", 1), ("strides", 1), ("pads", 2)].into_iter().find_map(by_attr);
    let axes = cx.length(1).or_else(|| cx.length(2)).or_else(by_attrs);
    let image = cx.ints(1).or_else(|| Some(vec![None; axes?]))?;
    let channels = (|| {
        let block = crate::infer::shape::product(&cx.ints(2)?);
        cx.dim(0, 1)?.floor_div(block.as_ref()?)
    })();
    let mut dims = vec![cx.dim(0, 0), channels];
    dims.extend(image);
    cx.set_dims(0, dims);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{check, check_call, check_faults};

    #[test]
    fn zero_point_of_rank_2_is_a_fault() {
        check_faults(
            "g (uint8[n, 2, 4, 4] x, uint8[3, 2, 2, 2] w, uint8 zx, uint8[1, 3] zw) => (y) {
                y = ConvInteger (x, w, zx, zw)
            }",
            &["input 3 has rank 2, but must have rank at most 1"],
        );
    }

    #[test]
    fn convolutions_count_windows() {
        let inputs = "float[n, 3, h, w] x, float[8, 3, 3, 3] k";
        check_call(inputs, "Conv(x, k)", "float[n, 8, h - 2, w - 2]");
        check_call(
            inputs,
            "Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, k)",
            "float[n, 8, floor((h + 1) / 2), floor((w + 1) / 2)]",
        );
        check_call(inputs, "Conv <dilations = [2, 1]> (x, k)", "float[n, 8, h - 4, w - 2]");
        check_call(inputs, "Conv <auto_pad = \"SAME_UPPER\"> (x, k)", "float[n, 8, h, w]");
        check_call(
            "float[n, 4, t] x, float[4, 2, k] w",
            "ConvTranspose <group = 2> (x, w)",
            "float[n, 4, y0_dim_2]",
        );
        check_call(
            "float[n, 4, t] x, float[4, 2, 3] w",
            "ConvTranspose <strides = [2], pads = [1, 1], output_padding = [1]> (x, w)",
            "float[n, 2, 2*t]",
        );
        // If windows leave gaps, ONNX Runtime produces a smaller output than the specification.
        for (stride, size) in [(3, "3*t"), (4, "y0_dim_2")] {
            check_call(
                "float[n, 4, t] x, float[4, 2, 3] w",
                &format!("ConvTranspose <auto_pad = \"SAME_UPPER\", strides = [{stride}]> (x, w)"),
                &format!("float[n, 2, {size}]"),
            );
        }
        check_faults(
            "g (float[n, 4, h, w] x, float[8, 3, 3, 3] k) => (y) { y = Conv(x, k) }",
            &["axis 1 of input 0 is 4, but axis 1 of input 1 is 3"],
        );
    }

    #[test]
    fn pooling_counts_windows() {
        let inputs = "float[n, 3, 10, w] x";
        check_call(
            inputs,
            "MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)",
            "float[n, 3, 5, floor(w / 2)]; int64[n, 3, 5, floor(w / 2)]",
        );
        check_call(
            "float[n, 3, 10] x",
            "AveragePool <kernel_shape = [3], strides = [2], ceil_mode = 1> (x)",
            "float[n, 3, 5]",
        );
        check_call(inputs, "GlobalAveragePool(x)", "float[n, 3, 1, 1]");
    }

    /// The last window would begin in the padding, where runtimes deviate from the old specification.
    #[test]
    fn ceil_mode_is_ambiguous_before_opset_22() {
        let graph = "g (float[1, 1, 2] x) => (y) { y = MaxPool <kernel_shape = [1], strides = [2], pads = [0, 1], ceil_mode = 1> (x) }";
        for (opset, size) in [(21, "y_dim_2"), (22, "1")] {
            let text = format!("<ir_version: 10, opset_import: [\"\" : {opset}]> {graph}");
            check(&text, &[&format!("y: float[1, 1, {size}]")]);
        }
    }

    /// Runtimes drop only one of the windows that begin after the input; with `pad = 4`, three windows do.
    #[test]
    fn ceil_mode_with_end_padding_above_the_kernel_size_is_ambiguous() {
        let graph = |pad: i64| {
            format!(
                "g (float[1, 1, 4] x) => (y) {{ y = LpPool <kernel_shape = [2], pads = [0, {pad}], ceil_mode = 1> (x) }}"
            )
        };
        for (pad, size) in [(2, "4"), (4, "y_dim_2")] {
            let text = format!("<ir_version: 10, opset_import: [\"\" : 22]> {}", graph(pad));
            check(&text, &[&format!("y: float[1, 1, {size}]")]);
        }
    }

    #[test]
    fn col2im_returns_the_image_size() {
        let text = "g (float[n, 5, l] x) => (y) {
            image = Constant <value_ints = [5, 6]> ()
            block = Constant <value_ints = [1, 5]> ()
            y = Col2Im(x, image, block)
        }";
        check(text, &["y: float[n, 1, 5, 6]"]);
    }
}
