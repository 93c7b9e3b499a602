//! PyTorch: layers, functions and tensor methods, with the shapes, dtypes and devices of their results.

mod along;
mod array_functions;
mod attention;
mod attention_shapes;
mod axes;
mod convolution;
mod create;
mod creations;
mod dtypes;
mod einops;
mod elementwise;
mod elementwise_functions;
mod elementwise_names;
mod embedding;
mod fills;
mod forward;
mod function_calls;
mod functions;
mod gradients;
mod images;
mod index;
mod join;
mod layer_checks;
mod layers;
mod layout;
mod loader;
mod loss;
mod matmul;
mod methods;
mod module_calls;
pub mod names;
mod numpy;
mod numpy_random;
mod operators;
mod pieces;
mod products;
mod rearranged;
mod reduce;
mod repeats;
mod reshape;
mod scatter;
mod select;
mod sequences;
mod shape_checks;
mod spectrum;
pub mod torchvision;
mod tuples;
mod windows;

pub use methods::ARRAY;
pub use numpy::GENERATOR;

use super::calls::Args;
use super::machine::{Eval, Machine};
use super::value::Value;

/// Class of a model whose linear layers compute with quantized weights.
pub const QUANTIZED: &str = "torch.ao.quantization.QuantizedModel";

/// Class of the symbolic dimensions of `torch.export`.
pub const DIM: &str = "torch.export.Dim";

impl<'t> Machine<'t> {
    /// Calls a function or class of `torch`; `name` is its path without `torch.`.
    pub fn torch_call(&mut self, path: &str, name: &str, args: &Args<'t>) -> Eval<'t> {
        if let Some(function) = name.strip_prefix("nn.functional.") {
            return self.operator(function, args);
        }
        if let Some(layer) = name.strip_prefix("nn.") {
            if layer == "utils.rnn.pack_padded_sequence" {
                return self.pack(args);
            }
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
            | "cpu.amp.autocast"
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
            "jit.load" => return Ok(self.instance("torch.jit.ScriptModule", vec![], true)),
            "quantization.quantize_dynamic" | "ao.quantization.quantize_dynamic" => {
                return Ok(self.quantize_dynamic(args));
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
            "export.Dim" | "export.dynamic_shapes.Dim" => {
                return Ok(self.dimension(args, args.get(0, "name")));
            }
            "export.dims" | "export.dynamic_shapes.dims" => {
                let names = args.values();
                return Ok(Value::tuple(names.iter().map(|name| self.dimension(args, Some(name))).collect()));
            }
            "save" => return Ok(self.save(args)),
            "load" => return self.load(args),
            "set_autocast_enabled" | "set_autocast_dtype" | "set_autocast_cpu_enabled" => {
                self.set_autocast(name, args);
                return Ok(Value::None);
            }
            "manual_seed" | "set_num_threads" => return Ok(Value::Unknown),
            _ => {}
        }
        if let Some(value) = self.data_call(path, args) {
            return Ok(value);
        }
        if let Some(value) = self.create(name, args)? {
            return Ok(value);
        }
        if name.starts_with("fft.") {
            self.executed(name, args.node, self.varies(args));
            if let Some(function) = name.strip_prefix("fft.").filter(|_| !args.open) {
                return self.spectrum(function, args);
            }
        }
        if name.contains('.') && !name.starts_with("linalg.") && !name.starts_with("special.") {
            if let Some(class) = name.strip_prefix("optim.")
                && class.starts_with(|first: char| first.is_ascii_uppercase())
            {
                return Ok(self.instance(path, vec![], true));
            }
            let is_safe = ["cuda.", "backends.", "utils.", "optim.", "random.", "onnx.", "ops."];
            if !is_safe.iter().any(|prefix| name.starts_with(prefix)) {
                self.havoc(args);
            }
            return Ok(Value::Unknown);
        }
        self.operator(name, args)
    }

    /// Evaluates `quantize_dynamic(model, qconfig_spec)`.
    ///
    /// The result is unknown unless the model is a `Sequential` that runs a linear layer.
    fn quantize_dynamic(&mut self, args: &Args<'t>) -> Value<'t> {
        let spec = args.get(1, "qconfig_spec").filter(|spec| **spec != Value::None);
        let is_linear = |class: &Value| class.path() == Some("torch.nn.Linear");
        let is_other = |name: &str| matches!(name, "dtype" | "mapping" | "inplace");
        let is_meant = spec.is_none_or(|spec| self.items(spec).is_some_and(|all| all.iter().any(is_linear)));
        let Some(model) = args.get(0, "model").cloned().filter(|_| is_meant && !args.open) else {
            self.havoc(args);
            return Value::Unknown;
        };
        let class_of = |value: &Value<'t>| {
            let instance = value.object().and_then(|object| self.heap.instance(object));
            instance.map(|instance| instance.class.clone()).unwrap_or_default()
        };
        let runs_linear = class_of(&model).path() == Some("torch.nn.Sequential")
            && self
                .items(&model)
                .is_some_and(|layers| layers.iter().any(|layer| is_linear(&class_of(layer))));
        // Other types and mappings quantize to other layers.
        if !runs_linear || args.positional.len() > 2 || args.keywords.iter().any(|(name, ..)| is_other(name))
        {
            return Value::Unknown;
        }
        let quantized = self.instance(QUANTIZED, vec![("training", Value::Bool(false))], true);
        self.set_origin(&quantized, args.node);
        quantized
    }

    /// Returns true if nothing changed a model that `quantize_dynamic` returned.
    pub fn is_as_created(&self, model: &Value<'t>) -> bool {
        let instance = model.object().and_then(|object| self.heap.instance(object));
        let attributes = instance.map(|instance| instance.attributes.as_slice());
        matches!(attributes, Some([(_, Value::Bool(_))]))
    }

    /// Sets a property of autocast, as a context that ends with the current function or `with` statement.
    fn set_autocast(&mut self, name: &str, args: &Args<'t>) {
        let of_cpu = name == "set_autocast_cpu_enabled";
        let (device, value) = match args.positional.as_slice() {
            [(device @ Value::Str(_), _), (value, _)] => (device.clone(), value.clone()),
            [(value, _)] => (Value::str(if of_cpu { "cpu" } else { "cuda" }), value.clone()),
            _ => return,
        };
        let is_meant = |machine: &Self, context: &Value<'t>| {
            machine.library_class(context).as_deref() == Some("torch.autocast")
                && machine.attribute_of(context, "device_type").as_ref() == Some(&device)
        };
        let known = self.contexts.iter().find(|context| is_meant(self, context)).cloned();
        let attribute = if name == "set_autocast_dtype" { "dtype" } else { "enabled" };
        match known {
            Some(context) => self.set_attribute(&context, attribute, value),
            None => {
                let mut attributes = vec![("device_type", device), (attribute, value)];
                if attribute == "dtype" {
                    attributes.push(("enabled", Value::Bool(false)));
                }
                let context = self.instance("torch.autocast", attributes, false);
                self.contexts.push(context);
            }
        }
    }

    /// Returns a `Dim` of `torch.export`.
    fn dimension(&mut self, args: &Args<'t>, name: Option<&Value<'t>>) -> Value<'t> {
        let limit = |limit: &str| args.keyword(limit).cloned().unwrap_or(Value::None);
        let name = name.cloned().unwrap_or_default();
        let attributes = vec![("name", name), ("min", limit("min")), ("max", limit("max"))];
        self.instance(DIM, attributes, false)
    }

    /// Evaluates `2 * dim`, `dim + 1` and `dim - 1`; `None` if no operand is a `Dim`.
    pub fn derived_dimension(
        &mut self,
        operator: &str,
        left: &Value<'t>,
        right: &Value<'t>,
    ) -> Option<Value<'t>> {
        let is_dim = |value: &Value<'t>| self.library_class(value).as_deref() == Some(DIM);
        let (dim, number) = match (is_dim(left), is_dim(right)) {
            (true, false) => (left, right.int()),
            (false, true) => (right, left.int()),
            _ => return None,
        };
        let part = |name: &str| self.attribute_of(dim, name);
        let whole = |name: &str, default: i64| part(name).and_then(|part| part.int()).unwrap_or(default);
        let (root, factor, offset) = (part("root"), whole("factor", 1), whole("offset", 0));
        let root = root.unwrap_or_else(|| dim.clone());
        let derived = number.and_then(|number| match operator {
            "*" => Some((factor.checked_mul(number)?, offset.checked_mul(number)?)),
            "+" => Some((factor, offset.checked_add(number)?)),
            "-" if dim == left => Some((factor, offset.checked_sub(number)?)),
            _ => None,
        });
        let Some((factor, offset)) = derived else { return Some(Value::Unknown) };
        let attributes = vec![("root", root), ("factor", Value::Int(factor)), ("offset", Value::Int(offset))];
        Some(self.instance(DIM, attributes, false))
    }
}
