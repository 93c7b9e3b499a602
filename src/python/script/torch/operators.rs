//! Functions of `torch` and `torch.nn.functional`, and the tensor methods of the same names.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::library::named_dtype;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Tensor, shown};
use super::super::value::Value;
use super::super::words::lists;
use super::elementwise_names::{BINARY, COMPARISONS, FLOATING, KEEPING, REDUCTIONS};
use super::functions::{canonical, order};
use super::scatter::{is_measured, recorded_name};
use crate::diag::counted;

impl<'t> Machine<'t> {
    /// Calls a function of PyTorch on tensors. Unknown functions have unknown results.
    pub fn operator(&mut self, name: &str, args: &Args<'t>) -> Eval<'t> {
        let recorded = recorded_name(name, args);
        let is_measured = recorded != name || is_measured(args);
        self.executed(recorded, args.node, is_measured && self.varies(args));
        if args.open {
            return Ok(Value::Unknown);
        }
        let result = self.evaluated(name, args)?;
        self.written_to(result, args)
    }

    /// Returns the tensor to which a call writes its result, or the result.
    fn written_to(&mut self, result: Value<'t>, args: &Args<'t>) -> Eval<'t> {
        let is_out = |name: &str| name == "out";
        let Some((_, out, node)) = args.keywords.iter().find(|(name, ..)| is_out(name)) else {
            return Ok(result);
        };
        if *out == Value::None {
            return Ok(result);
        }
        self.forget(out);
        // PyTorch resizes the tensor, which keeps its dtype.
        let written = match (out, &result) {
            (Value::Tensor(out), Value::Tensor(result)) => {
                let shape = result.shape.clone();
                let kept = Tensor {
                    shape,
                    data: None,
                    bounds: None,
                    layout: None,
                    needs_grad: false,
                    ..(**out).clone()
                };
                Value::Tensor(Rc::new(kept))
            }
            _ => Value::Unknown,
        };
        let is_name = |node: &Node| matches!(node.kind(), "identifier" | "attribute");
        if let (Some(node), Value::Tensor(_)) = (node.filter(is_name), out) {
            self.assign(node, written.clone())?;
        }
        Ok(written)
    }

    /// Evaluates a function by its name.
    fn evaluated(&mut self, name: &str, args: &Args<'t>) -> Eval<'t> {
        let name = canonical(name);
        if let Some(base) = name.strip_suffix("_copy").filter(|base| !matches!(*base, "index" | "unfold")) {
            let base = if base == "expand" { "broadcast_to" } else { base };
            let result = self.evaluated(base, args)?;
            return Ok(self.detached_copy(result));
        }
        if let (true, [(Value::Tensor(x), _), rest @ ..]) = (
            name.ends_with('_') && !name.ends_with("__") && !name.starts_with("resize"),
            args.positional.as_slice(),
        ) {
            let rest = Args { positional: rest.to_vec(), ..args.clone() };
            return self.tensor_method(&x.clone(), name, &rest);
        }
        let ordered = order(name).and_then(|order| args.in_order(order));
        let args = ordered.as_ref().unwrap_or(args);
        let result = match self.known_operator(name, args)? {
            Value::Unknown => match self.divided_or_joined(name, args) {
                Some(result) => result?,
                None => self.of_axes(name, args)?,
            },
            known => known,
        };
        match result {
            Value::Unknown => self.tabulated(name, args),
            known => Ok(known),
        }
    }

    fn of_axes(&mut self, name: &str, args: &Args<'t>) -> Eval<'t> {
        let first = args.get(0, "input").or(args.keyword("A")).or(args.keyword("x"));
        let Some(Value::Tensor(x)) = first.cloned() else { return Ok(Value::Unknown) };
        match name {
            "stft" => self.short_time_transform(&x, args),
            _ => self.along_axes(name, &x, args),
        }
    }

    /// Returns new tensors with the shapes and dtypes of a result.
    fn detached_copy(&mut self, result: Value<'t>) -> Value<'t> {
        match result {
            Value::Tensor(tensor) => {
                let memory = self.fresh_memory();
                let copy = Tensor { memory, layout: None, needs_grad: false, ..(*tensor).clone() };
                Value::Tensor(Rc::new(copy))
            }
            Value::Tuple(items) => {
                Value::tuple(items.iter().map(|item| self.detached_copy(item.clone())).collect())
            }
            _ => Value::Unknown,
        }
    }

    fn known_operator(&mut self, name: &str, args: &Args<'t>) -> Eval<'t> {
        match name {
            "einsum" => return self.einsum(args),
            "cross_entropy" | "nll_loss" => return self.classification_loss(name, args),
            "cat" | "concat" | "concatenate" | "stack" => {
                let list = args.get(0, "tensors").cloned().unwrap_or_default();
                let axis = axis_argument(args, 1, &["dim", "axis"]).map_or(Some(0), |axis| axis.int());
                return self.concatenate(&list, axis, name == "stack", args.node);
            }
            "where" => return self.select(args),
            "is_tensor" => {
                let first = args.get(0, "obj");
                return Ok(first
                    .filter(|first| **first != Value::Unknown)
                    .map_or(Value::Unknown, |first| Value::Bool(matches!(first, Value::Tensor(_)))));
            }
            _ => {}
        }
        if let Some(result) = self.broadcast_loss(name, args).or_else(|| self.crossed(name, args)) {
            return result;
        }
        if lists(BINARY, name) || lists(COMPARISONS, name) {
            return self.binary_function(name, args);
        }
        let Some(Value::Tensor(x)) = args.get(0, "input").cloned() else { return Ok(Value::Unknown) };
        self.tensor_operator(name, &x, args)
    }

    fn tensor_operator(&mut self, name: &str, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Eval<'t> {
        let node = args.node;
        let int = |at: usize, name: &str| args.get(at, name).and_then(Value::int);
        let tensor = |at: usize, name: &str| match args.get(at, name) {
            Some(Value::Tensor(tensor)) => Some(tensor.clone()),
            _ => None,
        };
        self.check_dtypes(name, x, args)?;
        self.check_shapes(name, x, args)?;
        if lists(KEEPING, name)
            || lists(FLOATING, name)
            || matches!(name, "logical_not" | "isnan" | "isinf" | "isfinite")
        {
            let takes_axis = matches!(name, "softmax" | "log_softmax" | "cumsum" | "cumprod" | "softmin");
            if takes_axis && let Some(axis) = axis_argument(args, 1, &["dim"]) {
                self.axis(name, axis.int(), x.rank(), 0, node)?;
            }
            return self.unary_function(name, x, args);
        }
        if lists(REDUCTIONS, name) {
            let (axis, keep) = match name {
                "norm" => (args.get(2, "dim"), args.get(3, "keepdim")),
                "std" | "var" if args.get(1, "").is_some_and(|value| matches!(value, Value::Bool(_))) => {
                    (None, None)
                }
                // The third argument is `unbiased`.
                "std" | "var" => (axis_argument(args, 1, &["dim", "axis"]), args.get(3, "keepdim")),
                _ => (
                    axis_argument(args, 1, &["dim", "axis"]),
                    args.get(2, "keepdim").or(args.keyword("keepdims")),
                ),
            };
            let mut result = self.reduce(name, x, axis, keep, node)?;
            if let (Some(dtype), Value::Tensor(tensor)) = (args.keyword("dtype"), &mut result) {
                Rc::make_mut(tensor).dtype = named_dtype(dtype);
            }
            return Ok(result);
        }
        match name {
            "nonzero" | "masked_select" | "unique" if args.keywords.is_empty() => {
                Ok(self.selected_by_data(name, x))
            }
            "max" | "min" | "median" => match axis_argument(args, 1, &["dim"]) {
                None => self.reduce("amax", x, None, None, node),
                Some(Value::Tensor(other)) => {
                    let pair = [Value::Tensor(x.clone()), Value::Tensor(other.clone())];
                    self.elementwise(&pair, false, false, node)
                }
                Some(axis) => {
                    let axis = axis.clone();
                    let shape = self.reduced(name, x, Some(&axis), args.get(2, "keepdim"), node)?;
                    Ok(self.ranked(x, shape))
                }
            },
            "clamp" | "clip" | "clamp_min" | "clamp_max" => {
                let bounds =
                    [args.get(1, if name == "clamp_max" { "max" } else { "min" }), args.get(2, "max")];
                let bounds = bounds.into_iter().flatten().filter(|bound| **bound != Value::None);
                let operands: Vec<Value<'t>> =
                    std::iter::once(Value::Tensor(x.clone())).chain(bounds.cloned()).collect();
                if operands[1..].iter().any(|bound| matches!(bound, Value::Tensor(_))) {
                    return self.elementwise(&operands, false, false, node);
                }
                let dtype = self.promoted(&operands);
                Ok(Value::Tensor(Rc::new(Tensor { dtype, ..self.derived(x) })))
            }
            "topk" | "sort" => {
                let axis =
                    if name == "topk" { int(2, "dim").or(Some(-1)) } else { int(1, "dim").or(Some(-1)) };
                let at = self.axis(name, axis, x.rank(), 0, node)?;
                let mut shape = x.shape.clone();
                if let (Some(shape), Some(at), "topk") = (&mut shape, at, name)
                    && let Some(size) = shape.get_mut(at)
                {
                    let k = int(1, "k");
                    if let (Some(k), Some(whole)) = (k, *size)
                        && k > whole
                    {
                        let message =
                            format!("`topk` of {}, but axis {at} has {whole}", counted(k, "element"));
                        return Err(self.fault(node, Fault::shape(message, "use a smaller `k`")));
                    }
                    *size = k;
                }
                Ok(self.ranked(x, shape))
            }
            "diff" | "repeat_interleave" => self.resized(name, x, args),
            "argsort" => Ok(self.made(x.shape.clone(), Some(DType::Int64), &[x])),
            "reshape" => {
                let sizes = args.get(1, "shape").and_then(|sizes| self.shape_of(sizes));
                self.reshape("reshape", x, sizes, node)
            }
            "flatten" => {
                let start = args.get(1, "start_dim").cloned().unwrap_or(Value::Int(0));
                let end = args.get(2, "end_dim").cloned().unwrap_or(Value::Int(-1));
                self.flatten(x, &start, &end, node)
            }
            "ravel" => self.flatten(x, &Value::Int(0), &Value::Int(-1), node),
            "unflatten" => {
                let axis = args.get(1, "dim").cloned().unwrap_or_default();
                let sizes = args.get(2, "sizes").cloned().unwrap_or_default();
                self.unflatten(x, &axis, &sizes, node)
            }
            "permute" => {
                let axes = args.get(1, "dims").and_then(|axes| self.shape_of(axes));
                self.permute(x, axes, node)
            }
            "transpose" | "swapaxes" | "swapdims" => {
                let axes = (int(1, "dim0").or(int(1, "axis0")), int(2, "dim1").or(int(2, "axis1")));
                self.transpose(x, axes.0, axes.1, node)
            }
            "t" => match x.rank() {
                Some(2) => self.transpose(x, Some(0), Some(1), node),
                Some(0 | 1) => Ok(Value::Tensor(x.clone())),
                Some(rank) => {
                    let message = format!("`t` expects at most 2 axes, gets {rank}");
                    Err(self.fault(node, Fault::shape(message, "use `transpose(-1, -2)`")))
                }
                None => Ok(self.made(None, x.dtype, &[x])),
            },
            "unsqueeze" => self.unsqueeze(x, int(1, "dim"), node),
            "squeeze" => {
                let axis = args.get(1, "dim").cloned();
                self.squeeze(x, axis.as_ref(), node)
            }
            "split" | "chunk" | "unbind" | "split_with_sizes" => {
                let (by, at) = if name == "unbind" { (None, 1) } else { (args.positional.get(1), 2) };
                let named = ["split_size_or_sections", "split_size", "chunks"];
                let by = by.map(|(value, _)| value).or(named.iter().find_map(|name| args.keyword(name)));
                let axis = args.get(at, "dim").map_or(Some(0), Value::int);
                let by = by.cloned().unwrap_or_default();
                self.divide(name, x, &by, axis, node)
            }
            "pad" => {
                let padding = args.get(1, "pad").cloned().unwrap_or_default();
                let mode = args.get(2, "mode").and_then(Value::text).unwrap_or("");
                self.pad(x, &padding, mode, node)
            }
            "interpolate" | "upsample" => {
                if let Some(shape) = x.shape.as_ref().filter(|shape| !matches!(shape.len(), 3..=5)) {
                    let message = format!(
                        "`interpolate` expects 3 to 5 axes, gets {}: shape {}",
                        shape.len(),
                        shown(shape)
                    );
                    return Err(
                        self.fault(node, Fault::shape(message, "add the axes of the batch and the channels"))
                    );
                }
                let size = args.get(1, "size").cloned().unwrap_or(Value::None);
                let scale = args.get(2, "scale_factor").cloned().unwrap_or(Value::None);
                Ok(self.interpolate(x, &size, &scale))
            }
            "matmul" | "mm" | "bmm" => match (name, tensor(1, "other").or(tensor(1, "mat2"))) {
                (_, None) => Ok(Value::Unknown),
                ("matmul", Some(other)) => self.matmul(x, &other, node),
                ("mm", Some(other)) => self.ranked_product("mm", 2, x, &other, node),
                (_, Some(other)) => self.ranked_product("bmm", 3, x, &other, node),
            },
            "linear" => match tensor(1, "weight") {
                Some(weight) => self.linear("linear", x, &weight, node),
                None => Ok(Value::Unknown),
            },
            "embedding" => match tensor(1, "weight") {
                Some(weight) => self.embed(x, &weight, node),
                None => Ok(Value::Unknown),
            },
            "layer_norm" => {
                let shape = args.get(1, "normalized_shape").cloned().unwrap_or_default();
                self.layer_norm("layer_norm", x, &shape, node)
            }
            "batch_norm" | "instance_norm" | "group_norm" => Ok(Value::Tensor(Rc::new(self.derived(x)))),
            "conv1d" | "conv2d" | "conv3d" | "conv_transpose1d" | "conv_transpose2d" | "conv_transpose3d" => {
                match tensor(1, "weight") {
                    Some(weight) => self.functional_convolution(name, x, &weight, args),
                    None => Ok(Value::Unknown),
                }
            }
            "one_hot" => self.one_hot(x, args.get(1, "num_classes"), args),
            "gather" | "scatter" | "scatter_add" | "index_add" | "index_put" => self.scattered(name, x, args),
            "index_select" => match tensor(2, "index") {
                Some(index) => {
                    self.index_dtype("the index of `index_select`", &index, node)?;
                    let at = self.axis(name, int(1, "dim"), x.rank(), 0, node)?;
                    let mut shape = x.shape.clone();
                    if let (Some(shape), Some(at)) = (&mut shape, at)
                        && let Some(size) = shape.get_mut(at)
                    {
                        self.in_table("index_select", &index, *size, false, node)?;
                        *size = index.numel();
                    }
                    Ok(self.made(shape, x.dtype, &[x]))
                }
                None => Ok(Value::Unknown),
            },
            "narrow" | "select" | "roll" | "flip" | "unfold" if args.keywords.is_empty() => {
                self.along_axis(name, x, args)
            }
            "unfold" if args.get(1, "kernel_size").is_some() && x.rank() == Some(4) => self.unfold(x, args),
            "pixel_shuffle" => {
                let shape = x.shape.clone().filter(|shape| shape.len() >= 3);
                let by = int(1, "upscale_factor").filter(|by| *by > 0);
                let (Some(mut shape), Some(by)) = (shape, by) else { return Ok(Value::Unknown) };
                let at = shape.len() - 3;
                if let Some(channels) = shape[at]
                    && channels % (by * by) != 0
                {
                    let message = format!(
                        "`pixel_shuffle` by {by} expects a multiple of {} as channels, gets {channels}",
                        by * by
                    );
                    return Err(self.fault(node, Fault::shape(message, "correct the number of channels")));
                }
                shape[at] = shape[at].map(|channels| channels / (by * by));
                for axis in [at + 1, at + 2] {
                    shape[axis] = shape[axis].map(|size| size * by);
                }
                Ok(self.made(Some(shape), x.dtype, &[x]))
            }
            "glu" => {
                let at = self.axis(name, int(1, "dim").or(Some(-1)), x.rank(), 0, node)?;
                let mut shape = x.shape.clone();
                if let (Some(shape), Some(at)) = (&mut shape, at)
                    && let Some(size) = shape.get_mut(at)
                {
                    *size = self.halved(x, at, node)?;
                }
                Ok(self.made(shape, x.dtype, &[x]))
            }
            _ if name.contains("pool") => self.functional_pool(name, x, args),
            _ => self.further_operator(name, x, args),
        }
    }
}

/// Returns an argument by position, or by one of its names.
fn axis_argument<'a, 't>(args: &'a Args<'t>, at: usize, names: &[&str]) -> Option<&'a Value<'t>> {
    let by_position = args.positional.get(at).map(|(value, _)| value);
    by_position.or_else(|| names.iter().find_map(|name| args.keyword(name)))
}
