//! Methods of modules: mode, dtype, device, registration and lists of submodules.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::syntax::within;
use super::calls::Args;
use super::export_call::is_tracing;
use super::exporting::ExportCall;
use super::machine::{Eval, Machine};
use super::tensor::{DType, Role, Tensor};
use super::value::Value;

impl<'t> Machine<'t> {
    /// Changes the parameters and buffers of a module and of its submodules.
    pub fn convert_module(&mut self, module: &Value<'t>, convert: &dyn Fn(&mut Tensor<'t>)) {
        for one in self.modules_of(module) {
            let Some(instance) = one.object().and_then(|object| self.heap.instance_mut(object)) else {
                continue;
            };
            for (_, value) in &mut instance.attributes {
                if let Value::Tensor(tensor) = value
                    && tensor.role != Role::Plain
                {
                    convert(Rc::make_mut(tensor));
                }
            }
        }
    }

    /// Sets the mode of a module and of its submodules.
    pub fn set_mode(&mut self, module: &Value<'t>, training: &Value<'t>) {
        for one in self.modules_of(module) {
            self.set_attribute(&one, "training", training.clone());
        }
    }

    /// Sets the mode in which an exporter runs a module. Returns the modules with their modes.
    ///
    /// The tracing exporter disables the training mode, unless `training` is given.
    pub fn enter_exported_mode(
        &mut self,
        module: &Value<'t>,
        call: &ExportCall<'t>,
    ) -> Vec<(Value<'t>, Value<'t>)> {
        let given = call.named("training");
        let mode = given.map_or("EVAL", |one| one.value.path().unwrap_or(""));
        let mode = match mode.rsplit('.').next() {
            Some("EVAL") => Value::Bool(false),
            Some("PRESERVE") => return vec![],
            _ => Value::Unknown,
        };
        if call.exporter != "torch.onnx.export" || !is_tracing(self, call) {
            return vec![];
        }
        let modules = self.modules_of(module).into_iter();
        let modes = modules.map(|one| (one.clone(), self.setting(&one, "training"))).collect();
        self.set_mode(module, &mode);
        modes
    }

    /// Calls a method of `torch.nn.Module`.
    pub fn module_method(&mut self, module: &Value<'t>, name: &str, args: &Args<'t>) -> Eval<'t> {
        let dtype = match name {
            "half" => Some(DType::Float16),
            "float" => Some(DType::Float32),
            "double" => Some(DType::Float64),
            "bfloat16" => Some(DType::BFloat16),
            _ => None,
        };
        if let Some(dtype) = dtype {
            self.convert_module(module, &|tensor| to_float(tensor, Some(dtype)));
            return Ok(module.clone());
        }
        match name {
            "eval" => self.set_mode(module, &Value::Bool(false)),
            "train" => {
                let mode = args.get(0, "mode").cloned().unwrap_or(Value::Bool(true));
                self.set_mode(module, &mode);
            }
            "cuda" | "cpu" | "xpu" => {
                let device: Rc<str> = Rc::from(name);
                self.convert_module(module, &|tensor| tensor.device = Some(device.clone()));
            }
            // A type such as `torch.FloatTensor` has a dtype and a device.
            "type" if args.all().any(|value| matches!(value, Value::Str(_))) => {
                self.convert_module(module, &|tensor| (tensor.dtype, tensor.device) = (None, None));
            }
            "to" | "to_empty" | "type" => self.module_to(module, args),
            "requires_grad_" | "share_memory" | "zero_grad" => {}
            "apply" => {
                // The function may change parameters, but not their shapes in practice.
                return Ok(module.clone());
            }
            "register_buffer" | "register_parameter" | "add_module" | "register_module" => {
                self.register(module, name, args);
                return Ok(Value::None);
            }
            "append" | "extend" | "insert" => return self.grow(module, name, args),
            "parameters" | "buffers" => {
                let tensors = self.parameters_of(module).into_iter();
                let role = if name == "parameters" { Role::Parameter } else { Role::Buffer };
                let tensors = tensors.filter(|tensor| tensor.role == role).map(Value::Tensor).collect();
                return Ok(if self.is_open(module) { self.open_list() } else { self.list(tensors) });
            }
            "modules" => {
                let modules = self.modules_of(module);
                return Ok(if self.is_open(module) { self.open_list() } else { self.list(modules) });
            }
            "children" | "named_children" | "values" | "items" | "keys" => {
                return Ok(self.children_of(module, name));
            }
            "state_dict" => return Ok(self.state_dict(module)),
            "compile" => {
                self.set_attribute(module, "_compiled_call_impl", Value::Bool(true));
                return Ok(Value::None);
            }
            "load_state_dict" => {
                self.fills.clear();
                return self.load_state_dict(module, args);
            }
            "named_parameters" | "named_modules" | "get_submodule" | "extra_repr" => {
                return Ok(Value::Unknown);
            }
            "register_forward_hook" | "register_forward_pre_hook" => {
                // A hook may replace the arguments or the result.
                if !args.get(0, "hook").is_some_and(returns_nothing) {
                    self.set_attribute(module, "forward", Value::Unknown);
                }
                return Ok(Value::Unknown);
            }
            "forward" | "__call__" => return self.call_module(module, args),
            _ => {
                self.forget(module);
                return Ok(Value::Unknown);
            }
        }
        Ok(module.clone())
    }

    fn children_of(&mut self, module: &Value<'t>, name: &str) -> Value<'t> {
        let instance = module.object().and_then(|object| self.heap.instance(object)).cloned();
        let Some(instance) = instance.filter(|instance| !instance.open) else { return self.open_list() };
        let own = instance.attributes.into_iter();
        let own: Vec<_> = own.filter(|(_, value)| self.is_module(value) == Some(true)).collect();
        let items = own.into_iter().map(|(key, value)| match name {
            "children" | "values" => value,
            "keys" => Value::Str(key),
            _ => Value::tuple(vec![Value::Str(key), value]),
        });
        let items = items.collect();
        self.list(items)
    }

    fn module_to(&mut self, module: &Value<'t>, args: &Args<'t>) {
        let mut known = !args.open;
        for value in args.all().cloned().collect::<Vec<_>>() {
            match &value {
                Value::Name(path) if DType::of_path(path).is_some() => {
                    let dtype = DType::of_path(path);
                    self.convert_module(module, &|tensor| to_float(tensor, dtype));
                }
                Value::Str(text) | Value::Device(text) => {
                    let device = text.clone();
                    self.convert_module(module, &|tensor| tensor.device = Some(device.clone()));
                }
                Value::Name(path) if path.starts_with("torch.") && path.ends_with("_format") => {}
                Value::Bool(_) | Value::None => {}
                Value::Int(_) => {
                    self.convert_module(module, &|tensor| tensor.device = Some(Rc::from("cuda")));
                }
                _ => known = false,
            }
        }
        if !known {
            // An unknown argument is a device in most scripts, but it may be a dtype.
            self.convert_module(module, &|tensor| {
                tensor.device = None;
                tensor.dtype = tensor.dtype.filter(|dtype| !dtype.is_float());
            });
        }
    }

    /// Evaluates a call that registers a buffer, parameter or submodule, such as `register_buffer`.
    fn register(&mut self, module: &Value<'t>, method: &str, args: &Args<'t>) {
        let names = ["tensor", "param", "module"];
        let value =
            args.get(1, "").cloned().or_else(|| names.iter().find_map(|name| args.keyword(name).cloned()));
        let (Some(Value::Str(name)), Some(value)) = (args.get(0, "name").cloned(), value) else {
            self.forget(module);
            return;
        };
        let role = match method {
            "register_buffer" => Role::Buffer,
            _ => Role::Parameter,
        };
        let value = match value {
            Value::Tensor(tensor) => Value::Tensor(Rc::new(Tensor { role, ..(*tensor).clone() })),
            other => other,
        };
        self.set_attribute(module, &name, value);
    }

    /// Adds submodules to a `ModuleList` or `Sequential`.
    fn grow(&mut self, module: &Value<'t>, name: &str, args: &Args<'t>) -> Eval<'t> {
        let count = module.object().and_then(|object| self.container_items(object)).map(|items| items.len());
        let added = match (name, args.get(0, "module").cloned()) {
            ("append", Some(item)) => Some(vec![item]),
            ("extend", Some(more)) => self.items(&more),
            _ => None,
        };
        let (Some(count), Some(added)) = (count, added) else {
            self.forget(module);
            return Ok(module.clone());
        };
        for (at, item) in added.into_iter().enumerate() {
            self.set_attribute(module, &(count + at).to_string(), item);
        }
        Ok(module.clone())
    }
}

/// Class of the result of `load_state_dict`.
pub const LOADED_KEYS: &str = "torch.nn.modules.module._IncompatibleKeys";

/// Converts a tensor of floats to another dtype.
fn to_float(tensor: &mut Tensor, dtype: Option<DType>) {
    if tensor.dtype.is_some_and(DType::is_float) {
        tensor.dtype = dtype;
    }
}

/// Returns true for a function of the script without a `return` of a value.
fn returns_nothing(hook: &Value) -> bool {
    let Value::Function(function) = hook else { return false };
    let returns = |node: &Node| node.kind() == "return_statement" && node.named_child_count() > 0;
    function.node.kind() == "function_definition" && !within(function.node).iter().any(returns)
}
