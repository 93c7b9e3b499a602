//! Methods of values of library types.

use tree_sitter::Node;

use super::super::syntax::field;
use super::argparse::PARSER;
use super::calls::Args;
use super::configs::ATTRIBUTE_DICT;
use super::export;
use super::heap::Object;
use super::library::EXIT_STACK;
use super::machine::{Eval, Machine, Stop};
use super::value::{FunctionKind, Ref, Value};

impl<'t> Machine<'t> {
    /// Calls a method of a value of a library type.
    pub fn method(&mut self, object: &Value<'t>, name: &str, args: &Args<'t>) -> Eval<'t> {
        if let Some((base, method)) = name.strip_prefix("super:").and_then(|rest| rest.rsplit_once(':')) {
            return self.super_method(object, base, method, args);
        }
        if let Some(image) = self.image_method(object, name, args) {
            return Ok(image);
        }
        match object {
            Value::Tensor(tensor) => {
                let result = self.tensor_method(&tensor.clone(), name, args)?;
                Ok(self.deviate(name, Some(object), args, result))
            }
            Value::Str(text) => {
                let text = text.clone();
                self.note_path_method(&text, name, args);
                Ok(self.string_method(&text, name, args))
            }
            Value::Tuple(_) | Value::Range(..) => self.container_method(object, name, args),
            Value::Object(reference) => match self.heap.get(*reference) {
                Object::Instance(instance) => {
                    let instance_class = instance.class.path().map(str::to_owned);
                    if instance.class.path() == Some(PARSER) {
                        return self.parser_method(object, name, args);
                    }
                    if instance.class.path() == Some(super::torch::ARRAY) {
                        return self.array_method(object, name, args);
                    }
                    if instance.class.path() == Some(super::model_file::SESSION) {
                        return self.session_method(object, name, args);
                    }
                    if instance.class.path() == Some(super::torch::GENERATOR) {
                        return Ok(self.numpy_call(&format!("random.{name}"), args));
                    }
                    if instance.class.path() == Some(ATTRIBUTE_DICT) {
                        match (name, args.get(0, "key").and_then(Value::text)) {
                            ("get", Some(key)) => return Ok(instance.get(key).cloned().unwrap_or_default()),
                            ("keys" | "values" | "items", _) => {}
                            _ => self.forget(object),
                        }
                        return Ok(Value::Unknown);
                    }
                    if instance.class.path().is_some_and(is_parameter_container) {
                        self.forget(object);
                        self.havoc(args);
                        return Ok(Value::Unknown);
                    }
                    if instance.class.path() == Some(EXIT_STACK) && name == "enter_context" {
                        let context = args.get(0, "cm").cloned().unwrap_or_default();
                        self.contexts.push(context.clone());
                        return Ok(self.entered(&context));
                    }
                    if name == "to_onnx" && self.is_module(object) == Some(true) {
                        let args = self.lightning_arguments(object, args);
                        return self.export_call("torch.onnx.export", None, &args);
                    }
                    if export::is_export_method(name) {
                        return self.export_call(&format!(".{name}"), Some(object), args);
                    }
                    if self.is_module(object) == Some(true) {
                        return self.module_method(object, name, args);
                    }
                    self.forget_files(args);
                    if name == "save" && instance_class.as_deref() == Some(export::ONNX_PROGRAM) {
                        self.save_program(object, args);
                    }
                    if !matches!(name, "parse_args" | "module" | "run_decompositions" | "save" | "optimize") {
                        self.havoc(args);
                    }
                    Ok(Value::Unknown)
                }
                Object::Class(_) if name == "apply" => self.apply_function(*reference, args),
                Object::Class(_) => Ok(Value::Unknown),
                _ => self.container_method(object, name, args),
            },
            _ => Ok(Value::Unknown),
        }
    }

    /// Runs the `forward` of a `torch.autograd.Function`, for `Function.apply(…)`.
    fn apply_function(&mut self, class: Ref, args: &Args<'t>) -> Eval<'t> {
        let Ok(Value::Function(forward)) = self.class_attribute(class, "forward", None) else {
            return Ok(Value::Unknown);
        };
        if !matches!(forward.kind, FunctionKind::Static | FunctionKind::Plain) {
            return Ok(Value::Unknown);
        }
        let has = |name| self.class_attribute(class, name, None).is_ok();
        let (is_separate, has_symbolic) = (has("setup_context"), has("symbolic"));
        let mut given = args.clone();
        if !is_separate {
            given.positional.insert(0, (Value::Unknown, None));
        }
        let count = self.operators.len();
        let result = self.call_function(&forward, None, &given);
        if has_symbolic {
            // The exporter writes the result of `symbolic` instead of these operators.
            self.operators.truncate(count);
        }
        result
    }

    /// Calls a method of an unknown object, if it exports a model.
    pub fn unknown_method(&mut self, function: Node<'t>, args: &Args<'t>) -> Result<Option<Value<'t>>, Stop> {
        let name = field(function, "attribute").map_or("", |name| self.text(name));
        if function.kind() != "attribute" || !export::is_export_method(name) {
            return Ok(None);
        }
        self.export_call(&format!(".{name}"), Some(&Value::Unknown), args).map(Some)
    }

    /// Returns the value that `with … as x` binds.
    pub fn entered(&self, context: &Value<'t>) -> Value<'t> {
        let instance = context.object().and_then(|object| self.heap.instance(object));
        let class = instance.and_then(|instance| instance.class.path());
        match context {
            Value::Name(_) => Value::Unknown,
            folder if class == Some("tempfile.TemporaryDirectory") => {
                self.attribute_of(folder, "name").unwrap_or_default()
            }
            other => other.clone(),
        }
    }
}

/// Returns true for containers of parameters, whose methods may add parameters.
fn is_parameter_container(class: &str) -> bool {
    matches!(class, "torch.nn.ParameterList" | "torch.nn.ParameterDict")
}
