//! Convolutions and poolings.

use tree_sitter::Node;

use super::super::faults::Fault;
use super::super::machine::{Eval, Machine, Stop};
use super::super::tensor::{Dim, Tensor, shown};
use super::super::unsupported::{UNEVEN_AVERAGE, UNEVEN_MAXIMUM};
use super::super::value::Value;
use crate::diag::counted;

/// Parameters of a sliding window, one item for each spatial axis; `None` if unknown.
#[derive(Clone, Debug)]
pub struct Window {
    pub kernel: Vec<Dim>,
    pub stride: Vec<Dim>,
    pub padding: Padding,
    pub dilation: Vec<Dim>,
    pub ceil: Option<bool>,
}

/// Padding on both sides of each spatial axis.
#[derive(Clone, Debug)]
pub enum Padding {
    Sizes(Vec<Dim>),
    /// The output has the size of the input.
    Same,
}

/// A convolution.
#[derive(Clone, Debug)]
pub struct Convolution {
    pub window: Window,
    pub groups: Dim,
    /// Padding of the output of a transposed convolution.
    pub output_padding: Option<Vec<Dim>>,
}

impl<'t> Machine<'t> {
    /// Returns a number or a tuple of `count` numbers as a list.
    pub fn sizes(&self, value: &Value<'t>, count: usize) -> Vec<Dim> {
        match value {
            Value::Int(number) => vec![Some(*number); count],
            other => match self.items(other) {
                Some(items) if items.len() == count => items.iter().map(Value::int).collect(),
                Some(items) if items.len() == 1 => vec![items[0].int(); count],
                _ => vec![None; count],
            },
        }
    }

    /// Reports an input whose rank is neither `axes + 2` nor, without a batch axis, `axes + 1`.
    fn spatial_rank(&self, what: &str, x: &Tensor<'t>, axes: usize, node: Node<'t>) -> Result<(), Stop> {
        match &x.shape {
            Some(shape) if shape.len() != axes + 2 && shape.len() != axes + 1 => {
                let message = format!(
                    "`{what}` expects {} or {} axes (channels, {axes} more, and perhaps a batch), gets {}: shape {}",
                    axes + 1,
                    axes + 2,
                    shape.len(),
                    shown(shape)
                );
                let help = "add or merge axes: `x.unsqueeze(1)`, `x.flatten(2)`, `x.permute(…)`";
                Err(self.fault(node, Fault::shape(message, help)))
            }
            _ => Ok(()),
        }
    }

    /// Evaluates a convolution.
    pub fn convolve(
        &mut self,
        what: &str,
        x: &Tensor<'t>,
        weight: &Tensor<'t>,
        convolution: &Convolution,
        node: Node<'t>,
    ) -> Eval<'t> {
        self.same_device(&[x, weight], node)?;
        let axes = convolution.window.kernel.len();
        self.spatial_rank(what, x, axes, node)?;
        let transposed = convolution.output_padding.is_some();
        let Some(shape) = &x.shape else {
            let dtype = x.dtype.filter(|_| !self.is_autocast());
            return Ok(self.made(None, dtype, &[x, weight]));
        };
        let batched = shape.len() == axes + 2;
        let at = usize::from(batched);
        let groups = convolution.groups;
        let (inputs, outputs) = if transposed {
            (weight.dim(0), weight.dim(1).zip(groups).and_then(|(each, groups)| each.checked_mul(groups)))
        } else {
            (weight.dim(1).zip(groups).and_then(|(each, groups)| each.checked_mul(groups)), weight.dim(0))
        };
        if let (Some(given), Some(expected)) = (shape[at], inputs)
            && given != expected
        {
            let channels = counted(expected, "channel");
            let message = format!("`{what}` expects {channels}, gets {given} (shape {})", shown(shape));
            let is_layer = what.starts_with(char::is_uppercase);
            let change = match is_layer {
                true => format!("set `in_channels` to {given}"),
                false => "use a weight with as many channels as the input".to_owned(),
            };
            let help = format!("{change}, or correct the example so that axis {at} is {expected}");
            return Err(self.fault(node, Fault::shape(message, help)));
        }
        self.same_dtype(what, &[x, weight], node)?;
        let mut result = shape[..at].to_vec();
        result.push(outputs);
        for axis in 0..axes {
            let size = shape[at + 1 + axis];
            result.push(if let Some(extra) = &convolution.output_padding {
                transposed_size(size, &convolution.window, extra, axis)
            } else {
                self.window_size(what, size, &convolution.window, axis, shape, node)?
            });
        }
        let dtype = x.dtype.filter(|_| !self.is_autocast());
        Ok(self.made(Some(result), dtype, &[x, weight]))
    }

    /// Evaluates a pooling.
    pub fn pool(&mut self, what: &str, x: &Tensor<'t>, window: &Window, node: Node<'t>) -> Eval<'t> {
        let axes = window.kernel.len();
        self.spatial_rank(what, x, axes, node)?;
        if what != "Unfold" {
            self.check_padding(what, window, node)?;
        }
        // The kernel of a pooling with one axis is converted to a number, and baked.
        if axes > 1 {
            self.note_constants(&window.kernel, node);
        }
        let Some(shape) = &x.shape else { return Ok(self.made(None, x.dtype, &[x])) };
        let at = shape.len() - axes;
        let mut result = shape[..at].to_vec();
        for axis in 0..axes {
            result.push(self.window_size(what, shape[at + axis], window, axis, shape, node)?);
        }
        Ok(self.made(Some(result), x.dtype, &[x]))
    }

    /// Returns the number of positions of a window along one axis, and reports a window that does not fit.
    fn window_size(
        &self,
        what: &str,
        size: Dim,
        window: &Window,
        axis: usize,
        shape: &[Dim],
        node: Node<'t>,
    ) -> Result<Dim, Stop> {
        let Padding::Sizes(padding) = &window.padding else { return Ok(size) };
        let parts = (size, window.kernel[axis], window.stride[axis], padding[axis], window.dilation[axis]);
        let (Some(size), Some(kernel), Some(stride), Some(padding), Some(dilation)) = parts else {
            return Ok(None);
        };
        let (Some(extent), Some(padded)) = (
            dilation.checked_mul(kernel - 1).and_then(|extent| extent.checked_add(1)),
            padding.checked_mul(2).and_then(|padding| padding.checked_add(size)),
        ) else {
            return Ok(None);
        };
        if stride < 1 {
            return Ok(None);
        }
        let Some(ceil) = window.ceil else { return Ok(None) };
        let rest = padded - extent;
        let mut count = (rest + if ceil { stride - 1 } else { 0 }).div_euclid(stride) + 1;
        if ceil && (count - 1) * stride >= size + padding {
            count -= 1;
        }
        if count < 1 {
            let message = format!(
                "the kernel of `{what}` is larger than its input: {extent} > {padded}{} (shape {})",
                if padding > 0 { ", with padding" } else { "" },
                shown(shape)
            );
            let help = "use a larger example, a smaller kernel, or fewer poolings before this layer";
            return Err(self.fault(node, Fault::shape(message, help)));
        }
        Ok(Some(count))
    }

    /// Evaluates an adaptive pooling to the sizes `output`; `None` keeps the size of the input.
    pub fn adaptive_pool(
        &mut self,
        what: &str,
        x: &Tensor<'t>,
        output: &Value<'t>,
        axes: usize,
        node: Node<'t>,
    ) -> Eval<'t> {
        self.spatial_rank(what, x, axes, node)?;
        let Some(shape) = &x.shape else { return Ok(self.made(None, x.dtype, &[x])) };
        let at = shape.len() - axes;
        let wanted: Vec<Value<'t>> = match output {
            Value::Int(_) | Value::None => vec![output.clone(); axes],
            other => match self.items(other) {
                Some(items) if items.len() == axes => items,
                _ => vec![Value::Unknown; axes],
            },
        };
        let mut result = shape[..at].to_vec();
        for (axis, wanted) in wanted.iter().enumerate() {
            if let (Some(size), Some(wanted)) = (shape[at + axis], wanted.int())
                && wanted > 0
                && size % wanted != 0
            {
                let is_average = what.to_lowercase().contains("avg");
                self.executed(if is_average { UNEVEN_AVERAGE } else { UNEVEN_MAXIMUM }, node, x.varies);
            }
            result.push(if *wanted == Value::None { shape[at + axis] } else { wanted.int() });
        }
        Ok(self.made(Some(result), x.dtype, &[x]))
    }
}

/// Returns the size of an axis of a transposed convolution.
fn transposed_size(size: Dim, window: &Window, extra: &[Dim], axis: usize) -> Dim {
    let Padding::Sizes(padding) = &window.padding else { return None };
    let strides = (size? - 1).checked_mul(window.stride[axis]?)?;
    let extent = window.dilation[axis]?.checked_mul(window.kernel[axis]? - 1)?;
    Some(strides - 2 * padding[axis]? + extent + extra[axis]? + 1)
}
