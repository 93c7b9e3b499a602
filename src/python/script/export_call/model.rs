//! Checks of the exported model: its type, wrappers, mode, dtype and weights.

use std::rc::Rc;

use crate::diag::rule_ids::{
    AUTOCAST_EXPORT, FLOAT64_MODEL, NOT_A_MODULE, TRAINING_MODE, UNSUPPORTED_WRAPPER, WEIGHTS_LEFT_OUT,
};
use crate::diag::{Applicability, Level};

use super::super::super::report::Piece;
use super::super::heap::Object;
use super::super::module_methods::LOADED_KEYS;
use super::super::tensor::DType;
use super::super::torch::QUANTIZED;
use super::super::torch::torchvision::classifier;
use super::super::value::Value;
use super::check::{Check, Words};
use super::request::Exporter;
use super::value_node;

/// Layers without float64 kernels in ONNX Runtime, by the start of their class name.
const WITHOUT_DOUBLE: [&str; 26] = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose",
    "LazyConv",
    "InstanceNorm",
    "GroupNorm",
    "AvgPool",
    "GELU",
    "SELU",
    "ELU",
    "PReLU",
    "Softplus",
    "Mish",
    "Upsample",
    "LeakyReLU",
    "Hardswish",
    "Hardsigmoid",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "LPPool",
    "LazyInstanceNorm",
    "RReLU",
    "LazyConvTranspose",
    "LSTM",
    "GRU",
];

impl<'t> Check<'_, '_, 't> {
    /// Checks the model.
    pub fn model(&mut self) {
        let request = self.request;
        if request.exporter == Exporter::Other {
            return;
        }
        let Some(model) = request.model().cloned() else { return };
        if self.not_a_module(&model) {
            return;
        }
        self.wrapper(&model);
        self.mode(&model);
        self.double(&model);
        if request.value("export_params") == Some(&Value::Bool(false))
            && request.function == "torch.onnx.export"
        {
            let node = request.node("export_params");
            self.say(
                Words::new(
                    WEIGHTS_LEFT_OUT,
                    node,
                    "`export_params=False` leaves the weights out of the file",
                )
                .note("ONNX Runtime refuses the file, or requires each weight as an input")
                .help("remove `export_params`: by default, the weights are exported")
                .rewrite(Piece::without_argument(node)),
            );
        }
    }

    /// Reports a value that is not a module; returns true if the value was reported.
    fn not_a_module(&mut self, model: &Value<'t>) -> bool {
        let request = self.request;
        if request.exporter == Exporter::Trace || !request.function.starts_with("torch.") {
            return false;
        }
        let (what, help): (&str, &str) = match model {
            Value::Function(_) => ("a function", "write a module whose `forward` calls the function"),
            Value::Bound(_) => ("a method", "pass the module itself"),
            Value::Method(method) if self.machine.is_module(&method.0) == Some(true) => {
                ("a method", "pass the module itself, and call the method before the export")
            }
            Value::Tensor(_) => {
                ("a tensor", "pass the module as the first argument, and the example as the second")
            }
            Value::Str(_) => ("a string", "load the model first, and pass the module"),
            Value::None => ("None", "pass a module"),
            Value::Tuple(_) => ("a tuple", "pass a module"),
            Value::Int(_) | Value::Float(_) => ("a number", "pass a module"),
            Value::Bool(_) => ("a boolean", "pass a module"),
            Value::Name(path) if is_layer_class(path) => ("a class", "create an instance of the class"),
            Value::Object(object) => match self.machine.heap.get(*object) {
                Object::Class(_) => ("a class", "create an instance of the class"),
                Object::Dict(_) => {
                    ("a dictionary", "create the module, and load the dictionary with `load_state_dict`")
                }
                Object::List(_) | Object::Set(_) => ("a list", "export each module with a separate call"),
                Object::Instance(_) | Object::Scope(_) => {
                    match self.machine.library_class(model).as_deref() {
                        Some("torch.nn.ModuleList" | "torch.nn.ModuleDict") => (
                            "a container without `forward`",
                            "use `nn.Sequential`, or write a module with `forward`",
                        ),
                        Some(LOADED_KEYS) => {
                            ("the result of `load_state_dict`", "load the weights in a separate statement")
                        }
                        Some(class) if class.starts_with("torch.optim.") => {
                            ("an optimizer", "pass the module")
                        }
                        _ if self.machine.is_module(model) == Some(false) => {
                            ("an instance of another class", "derive its class from `nn.Module`")
                        }
                        _ => return false,
                    }
                }
            },
            _ => return false,
        };
        let node = request.model_argument().and_then(|argument| argument.node).unwrap_or(request.call.node);
        let is_class = what == "a class" && matches!(node.kind(), "identifier" | "attribute");
        let by = format!("{}()", super::super::super::syntax::text(node, self.source()));
        let rewrite = Piece::instead(node, &by, Applicability::Unsafe, self.source()).filter(|_| is_class);
        let shown = self.shown(value_node(node));
        let (message, note) = if what.starts_with("a container") {
            (format!("`{shown}` is {what}"), "the exporter calls `forward`, and raises")
        } else {
            (
                format!("`{shown}` is {what}, not a module"),
                "the exporter requires an instance of `nn.Module`, and raises",
            )
        };
        self.say_raised(Words::new(NOT_A_MODULE, node, message).note(note).help(help).rewrite(rewrite));
        true
    }

    /// Reports wrappers that the exporter does not support.
    fn wrapper(&mut self, model: &Value<'t>) {
        let class = self.machine.library_class(model).unwrap_or_default();
        let exporter = self.request.exporter;
        let is_script = class.starts_with("torch.jit.");
        let compiled = self.machine.attribute_of(model, "_compiled_call_impl");
        let is_compiled = compiled == Some(Value::Bool(true));
        let (message, note, help): (&str, &str, &str) = match (class.as_str(), exporter) {
            ("torch.nn.DataParallel", Exporter::Tracing) => (
                "the model is wrapped in `DataParallel`",
                "the tracing exporter raises a ValueError",
                "export the inner module: `model.module`",
            ),
            (_, Exporter::Tracing | Exporter::Trace) if class.ends_with("torch.compile") || is_compiled => (
                "the model is compiled by `torch.compile`",
                "the tracing exporter raises a RuntimeError",
                "export the module before it is compiled, or `model._orig_mod`",
            ),
            (_, Exporter::Dynamo | Exporter::Program) if is_script => (
                "the model is a ScriptModule",
                "torch.export supports no ScriptModule, and raises",
                "export the module without `torch.jit`, or use `dynamo=False`",
            ),
            (QUANTIZED, Exporter::Tracing | Exporter::Dynamo) if self.machine.is_as_created(model) => (
                "the model is quantized by `quantize_dynamic`",
                "the exporter supports no quantized linear layer, and raises",
                "export the model before it is quantized, and quantize the file with `quantize_dynamic` of ONNX Runtime",
            ),
            _ => return,
        };
        let is_quantized = class == QUANTIZED;
        let node = self.request.model_argument().and_then(|argument| argument.node);
        let node = node.unwrap_or(self.request.call.node);
        let inner = if class.ends_with("DataParallel") { "module" } else { "_orig_mod" };
        let by = format!("{}.{inner}", super::super::super::syntax::text(node, self.source()));
        let rewrite = Piece::instead(node, &by, Applicability::Safe, self.source());
        let rewrite =
            rewrite.filter(|_| !is_script && !is_compiled && !is_quantized && node.kind() == "identifier");
        self.say_raised(
            Words::new(UNSUPPORTED_WRAPPER, node, message).note(note).help(help).rewrite(rewrite),
        );
    }

    /// Reports a model with a Dropout or BatchNorm that is exported in training mode.
    fn mode(&mut self, model: &Value<'t>) {
        let request = self.request;
        let mode = request.value("training").and_then(Value::path).unwrap_or("");
        let is_training = |machine: &super::super::machine::Machine<'t>, module: &Value<'t>| {
            matches!(machine.attribute_of(module, "training"), Some(Value::Bool(true)))
        };
        let (forced, node) = match request.exporter {
            Exporter::Tracing if mode.ends_with("TrainingMode.TRAINING") => (true, request.node("training")),
            Exporter::Tracing if mode.ends_with("TrainingMode.PRESERVE") => (false, request.node("training")),
            Exporter::Dynamo | Exporter::Trace | Exporter::Program => (false, request.call.node),
            _ => return,
        };
        let modules = self.machine.modules_of(model);
        let has_running_statistics = |class: &str| class.contains("BatchNorm");
        let is_dropout = |class: &str| class.contains("Dropout");
        let mut affected: Option<&str> = None;
        for module in &modules {
            let Some(class) = self.machine.library_class(module) else { continue };
            let name = class.rsplit('.').next().unwrap_or("");
            let has_norm = classifier(&class).is_some_and(|classifier| classifier.has_norm);
            if !(forced || is_training(self.machine, module)) || !(has_norm || class.starts_with("torch.nn."))
            {
                continue;
            }
            let rate = self.machine.attribute_of(module, "p").and_then(|p| p.number());
            if is_dropout(name) && rate.is_none_or(|rate| rate > 0.0) {
                affected = Some("Dropout");
                break;
            }
            // `dynamo=True` writes BatchNorm as in inference.
            if (has_norm || has_running_statistics(name)) && request.exporter != Exporter::Dynamo {
                affected = Some("BatchNorm");
            }
        }
        let Some(affected) = affected else { return };
        let (level, note) = match request.exporter {
            Exporter::Dynamo => {
                (Level::Warning, "the file has a Dropout, which some runtimes run as in training")
            }
            Exporter::Program if self.is_trained() => (Level::Info, "the program computes as in training"),
            Exporter::Program => (Level::Error, "the program computes as in training"),
            _ => (
                Level::Error,
                "the file computes as in training: its results differ from those after `model.eval()`",
            ),
        };
        let help = if forced {
            "remove `training`: by default, the exporter uses inference mode".to_owned()
        } else {
            "call `model.eval()` before".to_owned()
        };
        let rewrite = if node == request.call.node { None } else { Piece::without_argument(node) };
        self.say(
            Words::new(
                TRAINING_MODE,
                node,
                format!("the model is exported in training mode, with a {affected}"),
            )
            .at(level)
            .note(note)
            .help(help)
            .rewrite(rewrite),
        );
    }

    /// Returns true if the script trains after the export, so that a program in training mode is intended.
    fn is_trained(&self) -> bool {
        let after = self.source().get(self.request.call.node.end_byte()..).unwrap_or("");
        ["prepare_qat", ".backward("].iter().any(|part| after.contains(part))
    }

    /// Reports a float64 model, as an error if ONNX Runtime has no float64 kernel for one of its layers.
    fn double(&mut self, model: &Value<'t>) {
        if !matches!(self.request.exporter, Exporter::Tracing | Exporter::Dynamo) {
            return;
        }
        let is_double =
            |value: &Value| value.tensor().is_some_and(|tensor| tensor.dtype == Some(DType::Float64));
        let tensors = self.request.tensors(self.machine).unwrap_or_default();
        let modules = self.machine.modules_of(model);
        let of_double = |weights: &[Rc<super::super::tensor::Tensor<'t>>]| {
            !weights.is_empty()
                && weights.iter().all(|weight| {
                    weight.dtype == Some(DType::Float64) || weight.dtype.is_none_or(|dtype| !dtype.is_float())
                })
                && weights.iter().any(|weight| weight.dtype == Some(DType::Float64))
        };
        if !of_double(&self.machine.parameters_of(model)) || !tensors.iter().any(is_double) {
            return;
        }
        let layer = modules.iter().find_map(|module| {
            let class = self.machine.library_class(module)?;
            if classifier(&class).is_some() {
                return Some("Conv2d".to_owned());
            }
            let name = class.strip_prefix("torch.nn.")?.rsplit('.').next()?.to_owned();
            WITHOUT_DOUBLE.iter().any(|start| name.starts_with(start)).then_some(name)
        });
        let node = self.request.model_argument().and_then(|argument| argument.node);
        let node = node.unwrap_or(self.request.call.node);
        let (level, note, message) = match &layer {
            Some(layer) => (
                Level::Error,
                "ONNX Runtime does not load the file",
                format!("the model is float64, and ONNX Runtime has no float64 kernel for `{layer}`"),
            ),
            None => (
                Level::Info,
                "many runtimes and devices have no float64 kernels",
                "the model is float64".to_owned(),
            ),
        };
        self.say(
            Words::new(FLOAT64_MODEL, node, message)
                .at(level)
                .note(note)
                .help("export in float32: `model.float()`, with a float32 example"),
        );
    }

    /// Reports an export under autocast.
    pub fn context(&mut self) {
        let request = self.request;
        if !matches!(
            request.exporter,
            Exporter::Tracing | Exporter::Dynamo | Exporter::Program | Exporter::Trace
        ) {
            return;
        }
        // A decorator of `forward` is a context, too.
        let forward = request.model().and_then(|model| self.machine.forward_function(model));
        let inner = forward.map(|forward| forward.contexts.clone()).unwrap_or_default();
        for context in request.call.contexts.iter().chain(&inner) {
            let Some(autocast) = self.autocast(context) else { continue };
            let (dtype, device) = autocast;
            if !device.starts_with("cpu") && !self.is_on_gpu() {
                continue;
            }
            let is_bfloat = dtype == DType::BFloat16;
            let level = if is_bfloat { Level::Error } else { Level::Warning };
            let note = if is_bfloat {
                "ONNX Runtime has no bfloat16 kernels for the CPU, and does not load the file"
            } else {
                "the file casts weights and inputs, and computes in 16 bits"
            };
            self.say(
                Words::new(
                    AUTOCAST_EXPORT,
                    request.call.node,
                    format!("the model is exported under autocast, in {}", dtype.name()),
                )
                .at(level)
                .note(note)
                .help("export outside of `torch.autocast`, and convert the file to 16 bits: `onnx-fix --to float16`"),
            );
            return;
        }
    }

    /// Returns the dtype and device of an enabled autocast context.
    fn autocast(&self, context: &Value<'t>) -> Option<(DType, String)> {
        let class = match context {
            Value::Name(path) => path.to_string(),
            other => self.machine.library_class(other)?,
        };
        if !class.ends_with("autocast") {
            return None;
        }
        // The signatures are `torch.autocast(device_type, dtype, enabled)` and
        // `torch.cuda.amp.autocast(enabled, dtype)`.
        let is_general = !class.contains(".amp.") || class == "torch.amp.autocast";
        let attribute =
            |names: [&str; 2]| names.iter().find_map(|name| self.machine.attribute_of(context, name));
        let (place_of_dtype, place_of_enabled) = if is_general { ("1", "2") } else { ("1", "0") };
        if matches!(attribute(["enabled", place_of_enabled]), Some(Value::Bool(false) | Value::Unknown)) {
            return None;
        }
        let device = match attribute(["device_type", if is_general { "0" } else { "-" }]) {
            Some(Value::Str(device)) => device.to_string(),
            Some(_) => return None,
            None if class.contains("cuda") => "cuda".to_owned(),
            None if class.contains("cpu") => "cpu".to_owned(),
            None => return None,
        };
        let default = if device == "cpu" { DType::BFloat16 } else { DType::Float16 };
        let dtype = match attribute(["dtype", place_of_dtype]) {
            None | Some(Value::None) => default,
            Some(Value::Name(path)) => DType::of_path(&path)?,
            Some(_) => return None,
        };
        Some((dtype, device))
    }

    fn is_on_gpu(&self) -> bool {
        let model = self.request.model().cloned().unwrap_or_default();
        let weights = self.machine.parameters_of(&model);
        weights.iter().any(|weight| weight.device.as_deref().is_some_and(|device| device.starts_with("cuda")))
    }
}

/// Returns true for the path of a layer of `torch.nn`.
fn is_layer_class(path: &str) -> bool {
    let name = path.strip_prefix("torch.nn.").map(|path| path.rsplit('.').next().unwrap_or(path));
    name.is_some_and(|name| name.starts_with(|first: char| first.is_ascii_uppercase()))
}
