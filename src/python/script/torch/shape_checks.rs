//! Shapes that functions of `torch.nn.functional` refuse.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Eval, Machine, Stop};
use super::super::tensor::{Dim, Tensor, axis_index, differ, shown};
use super::super::value::Value;
use super::convolution::{Padding, Window};
use crate::diag::counted;

/// Losses and distances whose operands are broadcast.
const BROADCAST: [&str; 8] = [
    "l1_loss",
    "mse_loss",
    "smooth_l1_loss",
    "huber_loss",
    "kl_div",
    "hinge_embedding_loss",
    "cosine_similarity",
    "pairwise_distance",
];

/// Formats a number of axes: "1 axis", "2 axes".
fn counted_axes(axes: usize) -> String {
    if axes == 1 { "1 axis".to_owned() } else { format!("{axes} axes") }
}

impl<'t> Machine<'t> {
    /// Reports an operand whose shape a function certainly refuses.
    pub fn check_shapes(&self, name: &str, x: &Tensor<'t>, args: &Args<'t>) -> Result<(), Stop> {
        let Some(shape) = &x.shape else { return Ok(()) };
        let node = args.node;
        let int = |at: usize, name: &str| args.get(at, name).and_then(Value::int);
        let refuse = |kind, message: String, help: &str| {
            Err(self.fault(node, Fault { kind, ..Fault::shape(message, help) }))
        };
        let rank = shape.len();
        match name {
            "softmax2d" if !matches!(rank, 3 | 4) => {
                let message = format!("`Softmax2d` expects 3 or 4 axes, gets {rank}: shape {}", shown(shape));
                refuse("ValueError", message, "use `nn.Softmax(dim=…)` for the axis")
            }
            "local_response_norm" if rank < 3 => {
                let message = format!(
                    "`local_response_norm` expects 3 axes or more, gets {rank}: shape {}",
                    shown(shape)
                );
                refuse("ValueError", message, "add the axes of the batch and the channels")
            }
            "prelu" => {
                let weight = args.get(1, "weight").and_then(Value::tensor);
                if let Some(weight) = weight {
                    self.same_dtype("prelu", &[x, weight], node)?;
                }
                let count = weight.and_then(|weight| weight.numel());
                let channels = if rank < 2 { Some(1) } else { shape[1] };
                match count.zip(channels) {
                    Some((count, channels)) if count != 1 && count != channels && rank > 0 => {
                        let message = format!(
                            "`prelu` has {}, but the input has {} (shape {})",
                            counted(count, "parameter"),
                            counted(channels, "channel"),
                            shown(shape)
                        );
                        refuse("RuntimeError", message, "use one parameter, or one for each channel")
                    }
                    _ => Ok(()),
                }
            }
            "pixel_unshuffle" => {
                let by = int(1, "downscale_factor").filter(|by| *by > 0);
                let odd = |size: &Dim| size.zip(by).is_some_and(|(size, by)| size % by != 0);
                if rank >= 3 && !shape[rank - 2..].iter().any(odd) {
                    return Ok(());
                }
                let by = by.map_or("?".to_owned(), |by| by.to_string());
                let message = format!(
                    "`pixel_unshuffle` by {by} expects 3 axes or more and multiples of {by} as height and width, \
                     gets the shape {}",
                    shown(shape)
                );
                refuse("RuntimeError", message, "pad the height and the width")
            }
            "group_norm" => {
                let groups = int(1, "num_groups").filter(|groups| *groups > 0);
                let channels = shape.get(1).copied().flatten();
                match channels.zip(groups) {
                    Some((channels, groups)) if channels % groups != 0 => {
                        let message = format!(
                            "`group_norm` has {groups} groups, which do not divide {} (shape {})",
                            counted(channels, "channel"),
                            shown(shape)
                        );
                        refuse("RuntimeError", message, "choose a divisor of the number of channels")
                    }
                    _ => Ok(()),
                }
            }
            "binary_cross_entropy" | "binary_cross_entropy_with_logits" => {
                match args.get(1, "target").and_then(Value::tensor).and_then(|target| target.shape.as_ref()) {
                    Some(target) if differ(shape, target) => {
                        let message = format!(
                            "`{name}` expects a target of the shape {}, gets {}",
                            shown(shape),
                            shown(target)
                        );
                        refuse("ValueError", message, "reshape one of them: `logits.squeeze(1)`")
                    }
                    _ => Ok(()),
                }
            }
            "interpolate" | "upsample" => self.check_resizing(shape, args),
            "pad" => {
                let padding = args.get(1, "pad").and_then(|padding| self.items(padding));
                let Some(axes) = padding.map(|padding| padding.len() / 2) else { return Ok(()) };
                let mode = args.get(2, "mode").and_then(Value::text).unwrap_or("constant");
                let fits = match mode {
                    "constant" => axes <= rank,
                    "reflect" | "replicate" | "circular" => rank == axes + 1 || rank == axes + 2,
                    _ => true,
                };
                if fits {
                    return Ok(());
                }
                let message = format!(
                    "a `{mode}` padding of {} does not fit the shape {}",
                    counted_axes(axes),
                    shown(shape)
                );
                refuse("RuntimeError", message, "pass two numbers for each padded axis, the last axis first")
            }
            _ => Ok(()),
        }
    }

    /// Reports arguments of `interpolate` that do not fit its operand.
    fn check_resizing(&self, shape: &[Dim], args: &Args<'t>) -> Result<(), Stop> {
        let given = |at: usize, name: &str| args.get(at, name).filter(|value| **value != Value::None);
        let axes = shape.len().saturating_sub(2);
        let (size, scale) = (given(1, "size"), given(2, "scale_factor"));
        let fault = |kind, message: String, help: &str| {
            Err(self.fault(args.node, Fault { kind, ..Fault::shape(message, help) }))
        };
        match (size, scale) {
            (None, None) => {
                let message = "`interpolate` gets neither a size nor a scale".to_owned();
                return fault("ValueError", message, "pass `size` or `scale_factor`");
            }
            (Some(size), Some(scale)) if *size != Value::Unknown && *scale != Value::Unknown => {
                let message = "`interpolate` gets both a size and a scale".to_owned();
                return fault("ValueError", message, "pass only one of `size` and `scale_factor`");
            }
            _ => {}
        }
        if let Some(mode) = given(3, "mode").and_then(Value::text) {
            let expected = match mode {
                "linear" => Some(1),
                "bilinear" | "bicubic" => Some(2),
                "trilinear" => Some(3),
                _ => None,
            };
            if let Some(expected) = expected.filter(|expected| *expected != axes) {
                let message = format!(
                    "`interpolate` with the mode \"{mode}\" expects {} axes, gets {}: shape {}",
                    expected + 2,
                    shape.len(),
                    shown(shape)
                );
                let help = "use the mode for this number of axes: \"linear\" (3), \"bilinear\" (4), \"trilinear\" (5)";
                return fault("NotImplementedError", message, help);
            }
        }
        let count = size.or(scale).and_then(|value| self.items(value)).map(|items| items.len());
        match count {
            Some(count) if count != axes => {
                let message = format!(
                    "`interpolate` gets {}, but {} after the channels: shape {}",
                    counted(count, "size"),
                    counted_axes(axes),
                    shown(shape)
                );
                fault("ValueError", message, "pass one size for each axis after the channels")
            }
            _ => Ok(()),
        }
    }

    /// Evaluates a loss or distance whose operands are broadcast; `None` for other functions.
    pub fn broadcast_loss(&mut self, name: &str, args: &Args<'t>) -> Option<Eval<'t>> {
        if !BROADCAST.contains(&name) {
            return None;
        }
        let tensor = |at: usize, names: [&str; 3]| {
            let named = names.iter().find_map(|name| args.keyword(name));
            args.positional.get(at).map(|(value, _)| value).or(named).and_then(Value::tensor).cloned()
        };
        let first = tensor(0, ["input", "x1", "input1"]);
        let second = tensor(1, ["target", "x2", "input2"]);
        let Some((a, b)) = first.zip(second) else { return Some(Ok(Value::Unknown)) };
        let Some(shapes) = a.shape.as_ref().zip(b.shape.as_ref()) else { return Some(Ok(Value::Unknown)) };
        Some(self.broadcast(shapes.0, shapes.1, args.node).map(|shape| {
            let shape = match name {
                "cosine_similarity" => {
                    let axis = args.get(2, "dim").map_or(Some(1), Value::int);
                    axis.and_then(|axis| axis_index(axis, shape.len())).map(|at| (at, shape))
                }
                "pairwise_distance" => {
                    let keeps = args.get(4, "keepdim").map_or(Some(false), |keep| self.truth(keep));
                    let at = shape.len().checked_sub(1);
                    return match at.zip(keeps) {
                        Some((at, keeps)) => {
                            let mut shape = shape;
                            shape.truncate(at);
                            shape.extend(keeps.then_some(Some(1)));
                            self.made(
                                Some(shape),
                                a.dtype.filter(|dtype| a.dtype == b.dtype && dtype.is_float()),
                                &[&a, &b],
                            )
                        }
                        None => Value::Unknown,
                    };
                }
                _ => None,
            };
            let Some((at, mut shape)) = shape else { return Value::Unknown };
            shape.remove(at);
            self.made(Some(shape), a.dtype.filter(|_| a.dtype == b.dtype), &[&a, &b])
        }))
    }

    /// Reports a pooling whose padding is larger than half of its kernel.
    pub fn check_padding(&self, what: &str, window: &Window, node: Node<'t>) -> Result<(), Stop> {
        let Padding::Sizes(padding) = &window.padding else { return Ok(()) };
        for ((kernel, padding), dilation) in window.kernel.iter().zip(padding).zip(&window.dilation) {
            let (Some(kernel), Some(padding), Some(dilation)) = (kernel, padding, dilation) else { continue };
            let extent = dilation.saturating_mul(kernel - 1).saturating_add(1);
            if *padding > extent / 2 && *padding > 0 {
                let message =
                    format!("the padding {padding} of `{what}` is more than half of its kernel, {extent}");
                let help = "pad by at most half of the kernel, or pad before with `F.pad`";
                return Err(self.fault(node, Fault::shape(message, help)));
            }
        }
        Ok(())
    }

    /// Returns the axes that a `glu` halves.
    pub fn halved(&self, x: &Rc<Tensor<'t>>, at: usize, node: Node<'t>) -> Result<Dim, Stop> {
        let size = x.shape.as_ref().and_then(|shape| shape.get(at).copied().flatten());
        match size {
            Some(odd) if odd % 2 != 0 => {
                let shape = x.shape.as_deref().map(shown).unwrap_or_default();
                let message = format!("`glu` halves axis {at}, which has {odd} (shape {shape})");
                Err(self.fault(node, Fault::shape(message, "produce two values for each output")))
            }
            size => Ok(size.map(|size| size / 2)),
        }
    }
}
