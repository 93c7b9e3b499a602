//! PyTorch: layers, functions and tensor methods, with the shapes, dtypes and devices of their results.

mod attention;
mod axes;
mod convolution;
mod create;
mod elementwise;
mod forward;
mod index;
mod join;
mod layers;
mod matmul;
mod methods;
pub mod names;
mod numpy;
mod operators;
mod reduce;
mod reshape;
mod select;
mod torchvision;
mod windows;

pub use methods::ARRAY;
pub use numpy::GENERATOR;

use super::calls::Args;
use super::machine::{Eval, Machine};
use super::value::Value;

impl<'t> Machine<'t> {
    /// Calls a function or class of `torch`; `name` is its path without `torch.`.
    pub fn torch_call(&mut self, path: &str, name: &str, args: &Args<'t>) -> Eval<'t> {
        if let Some(function) = name.strip_prefix("nn.functional.") {
            return self.operator(function, args);
        }
        if let Some(layer) = name.strip_prefix("nn.") {
            if layer.contains('.') {
                // Initializers and normalizations of weights keep shapes.
                let keeps = layer.starts_with("init.") || layer.ends_with("_norm");
                let first = args.values().into_iter().next().filter(|_| keeps);
                if first.is_none() && !layer.ends_with("clip_grad_norm_") {
                    self.havoc(args);
                }
                return Ok(first.unwrap_or_default());
            }
            return self.construct(layer, args);
        }
        match name {
            "device" => {
                return Ok(match args.get(0, "type") {
                    Some(Value::Str(text)) if args.positional.len() == 1 => Value::Device(text.clone()),
                    Some(device @ Value::Device(_)) => device.clone(),
                    _ => Value::Unknown,
                });
            }
            "no_grad"
            | "inference_mode"
            | "enable_grad"
            | "autocast"
            | "amp.autocast"
            | "cuda.amp.autocast"
            | "set_grad_enabled"
            | "onnx.select_model_mode_for_export" => {
                let mut attributes = vec![];
                for (at, (value, _)) in args.positional.iter().enumerate() {
                    attributes.push((["0", "1", "2"][at.min(2)], value.clone()));
                }
                for (name, value, _) in &args.keywords {
                    attributes.push((&**name, value.clone()));
                }
                return Ok(self.instance(path, attributes, false));
            }
            "set_default_dtype" => {
                self.default_dtype = args.get(0, "d").and_then(super::library::named_dtype);
                return Ok(Value::None);
            }
            "set_default_device" | "set_default_tensor_type" => {
                self.default_dtype = None;
                self.default_device = None;
                return Ok(Value::None);
            }
            "compile" => {
                let Some(model) = args.get(0, "model").cloned() else { return Ok(Value::Unknown) };
                return Ok(match self.is_module(&model) {
                    Some(true) => {
                        let wrapper = self.instance("torch.compile", vec![("_orig_mod", model)], true);
                        self.set_origin(&wrapper, args.node);
                        wrapper
                    }
                    _ => model,
                });
            }
            "manual_seed" | "save" | "load" | "set_num_threads" => return Ok(Value::Unknown),
            _ => {}
        }
        if let Some(value) = self.create(name, args)? {
            return Ok(value);
        }
        if name.starts_with("fft.") {
            self.executed(name, args.node);
        }
        if name.contains('.') && !name.starts_with("linalg.") && !name.starts_with("special.") {
            let is_safe = ["cuda.", "backends.", "utils.", "optim.", "random.", "onnx.", "ops."];
            if !is_safe.iter().any(|prefix| name.starts_with(prefix)) {
                self.havoc(args);
            }
            return Ok(Value::Unknown);
        }
        self.operator(name, args)
    }
}
