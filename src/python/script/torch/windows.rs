//! Functions that slide a window: convolutions and poolings.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Tensor, numel};
use super::super::value::Value;
use super::convolution::{Convolution, Padding, Window};

impl<'t> Machine<'t> {
    /// Evaluates `conv1d`, `conv_transpose1d` and their variants of two and three axes.
    pub fn functional_convolution(
        &mut self,
        name: &str,
        x: &Rc<Tensor<'t>>,
        weight: &Rc<Tensor<'t>>,
        args: &Args<'t>,
    ) -> Eval<'t> {
        let Some(shape) = weight.shape.clone().filter(|shape| shape.len() > 2) else {
            return Ok(Value::Unknown);
        };
        let axes = shape.len() - 2;
        let is_transposed = name.starts_with("conv_transpose");
        let sizes = |at: usize, name: &str, default: i64| {
            let value = args.get(at, name).cloned().unwrap_or(Value::Int(default));
            self.sizes(&value, axes)
        };
        let padding = match args.get(4, "padding") {
            Some(Value::Str(text)) if &**text == "same" && !is_transposed => Padding::Same,
            Some(Value::Str(text)) if &**text == "valid" => Padding::Sizes(vec![Some(0); axes]),
            _ => Padding::Sizes(sizes(4, "padding", 0)),
        };
        let window = Window {
            kernel: shape[2..].to_vec(),
            stride: sizes(3, "stride", 1),
            padding,
            dilation: sizes(if is_transposed { 7 } else { 5 }, "dilation", 1),
            ceil: Some(false),
        };
        let groups = args.get(6, "groups").map_or(Some(1), Value::int);
        let output_padding = is_transposed.then(|| sizes(5, "output_padding", 0));
        let convolution = Convolution { window, groups, output_padding };
        self.convolve(name, x, weight, &convolution, args.node)
    }

    /// Evaluates `unfold` of images, whose windows become columns.
    pub fn unfold(&mut self, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Eval<'t> {
        // `x.unfold(dim, size, step)` of tensors has three integers.
        if args.positional.len() == 4 {
            return Ok(Value::Unknown);
        }
        let get = |at: usize, name: &str, default: i64| {
            let value = args.get(at, name).cloned().unwrap_or(Value::Int(default));
            self.sizes(&value, 2)
        };
        let window = Window {
            kernel: get(1, "kernel_size", 0),
            dilation: get(2, "dilation", 1),
            padding: Padding::Sizes(get(3, "padding", 0)),
            stride: get(4, "stride", 1),
            ceil: Some(false),
        };
        let pooled = self.pool("Unfold", x, &window, args.node)?;
        let shape = pooled.tensor().and_then(|pooled| pooled.shape.clone());
        let shape = shape.map(|shape| {
            let columns = numel(&[shape[1], window.kernel[0], window.kernel[1]]);
            vec![shape[0], columns, numel(&shape[2..])]
        });
        Ok(self.made(shape, x.dtype, &[x]))
    }

    /// Evaluates a pooling function.
    pub fn functional_pool(&mut self, name: &str, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Eval<'t> {
        let axes = name.chars().rev().nth(1).and_then(|digit| digit.to_digit(10));
        let Some(axes) = axes.and_then(|axes| usize::try_from(axes).ok()) else { return Ok(Value::Unknown) };
        // The argument may be given by position, too.
        let at = if name.starts_with("adaptive_") { 2 } else { 6 };
        let is_max = name.starts_with("max_pool");
        let is_adaptive_max = name.starts_with("adaptive_max");
        let returns_indices = match args.get(at, "return_indices").filter(|_| is_max || is_adaptive_max) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => return Ok(Value::Unknown),
        };
        if name.contains("unpool") {
            return Ok(self.unpooled(x, axes, args));
        }
        if name.starts_with("fractional_") {
            return Ok(self.fractional_pool(x, axes, args));
        }
        if name.contains("lp_") {
            return Ok(Value::Unknown);
        }
        if name.starts_with("adaptive_") {
            let output = args.get(1, "output_size").cloned().unwrap_or_default();
            let sizes = self.sizes(&output, axes);
            self.note_constants(&sizes, args.node);
            let pooled = self.adaptive_pool(name, x, &output, axes, args.node)?;
            return Ok(if returns_indices { self.with_indices(pooled) } else { pooled });
        }
        if !is_max && !name.starts_with("avg_pool") {
            return Ok(Value::Unknown);
        }
        let get = |at: usize, name: &str| args.get(at, name).cloned();
        let kernel = self.sizes(&get(1, "kernel_size").unwrap_or_default(), axes);
        let stride = match get(2, "stride") {
            None | Some(Value::None) => kernel.clone(),
            Some(stride) => self.sizes(&stride, axes),
        };
        let padding = self.sizes(&get(3, "padding").unwrap_or(Value::Int(0)), axes);
        let dilation = match is_max {
            true => self.sizes(&get(4, "dilation").unwrap_or(Value::Int(1)), axes),
            false => vec![Some(1); axes],
        };
        let ceil = if is_max { get(5, "ceil_mode") } else { get(4, "ceil_mode") };
        let ceil = ceil.map_or(Some(false), |ceil| self.truth(&ceil));
        let window = Window { kernel, stride, padding: Padding::Sizes(padding), dilation, ceil };
        let pooled = self.pool(name, x, &window, args.node)?;
        Ok(if returns_indices { self.with_indices(pooled) } else { pooled })
    }

    /// Evaluates `max_unpool1d` and its variants.
    fn unpooled(&mut self, x: &Tensor<'t>, axes: usize, args: &Args<'t>) -> Value<'t> {
        let Some(shape) = x.shape.clone().filter(|shape| shape.len() > axes) else { return Value::Unknown };
        let mut sizes = shape[..shape.len() - axes].to_vec();
        let given = |at: usize, name: &str| args.get(at, name).filter(|value| **value != Value::None);
        if let Some(output) = given(5, "output_size") {
            let Some(output) = self.shape_of(output).filter(|output| output.len() >= axes) else {
                return Value::Unknown;
            };
            sizes.extend_from_slice(&output[output.len() - axes..]);
            return self.made(Some(sizes), x.dtype, &[x]);
        }
        let kernel = self.sizes(given(2, "kernel_size").unwrap_or(&Value::Unknown), axes);
        let stride = given(3, "stride").map_or(kernel.clone(), |stride| self.sizes(stride, axes));
        let padding = self.sizes(given(4, "padding").unwrap_or(&Value::Int(0)), axes);
        for (axis, size) in shape[shape.len() - axes..].iter().enumerate() {
            let parts = (size, stride[axis], padding[axis], kernel[axis]);
            sizes.push(match parts {
                (Some(size), Some(stride), Some(padding), Some(kernel)) => {
                    Some((size - 1) * stride - 2 * padding + kernel)
                }
                _ => None,
            });
        }
        self.made(Some(sizes), x.dtype, &[x])
    }

    /// Evaluates `fractional_max_pool2d` and `fractional_max_pool3d` with an output size.
    fn fractional_pool(&mut self, x: &Tensor<'t>, axes: usize, args: &Args<'t>) -> Value<'t> {
        let given = |at: usize, name: &str| args.get(at, name).filter(|value| **value != Value::None);
        let (Some(shape), Some(output)) = (&x.shape, given(2, "output_size")) else { return Value::Unknown };
        if shape.len() <= axes {
            return Value::Unknown;
        }
        let sizes = [&shape[..shape.len() - axes], &self.sizes(output, axes)].concat();
        let pooled = self.made(Some(sizes), x.dtype, &[x]);
        match args.get(4, "return_indices") {
            None | Some(Value::Bool(false)) => pooled,
            Some(Value::Bool(true)) => self.with_indices(pooled),
            Some(_) => Value::Unknown,
        }
    }

    /// Returns the result of a max pooling with the indices of the maxima.
    pub fn with_indices(&mut self, pooled: Value<'t>) -> Value<'t> {
        let Value::Tensor(tensor) = &pooled else { return Value::Unknown };
        let made = self.tensor(tensor.shape.clone(), Some(DType::Int64), tensor.device.clone());
        let indices = Tensor { varies: tensor.varies, ..made };
        Value::tuple(vec![pooled.clone(), Value::Tensor(Rc::new(indices))])
    }
}
