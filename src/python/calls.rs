//! Calls: resolution of the callee and evaluation of the arguments.

use std::rc::Rc;

use tree_sitter::Node;

use super::interpreter::Interpreter;
use super::program::ClassKind;
use super::report;
use super::syntax::{Arguments, children, field, text};
use super::torch_names;
use super::value::{Array, Dtype, Layer, Origin, Partial, Tensor, Value};

/// A call with evaluated arguments.
#[derive(Debug)]
pub struct Call<'t> {
    /// Syntax node of the call.
    pub node: Node<'t>,
    /// Argument expressions; empty if the call is not in the source.
    pub arguments: Arguments<'t>,
    /// Values of the positional arguments.
    pub values: Vec<Value>,
    /// Names and values of the keyword arguments.
    pub keywords: Vec<(&'t str, Value)>,
}

impl<'t> Call<'t> {
    /// Returns the value of the argument at a 0-based position, or of the keyword `name`.
    pub fn value(&self, position: usize, name: &str) -> Option<&Value> {
        self.values.get(position).or_else(|| self.keyword(name))
    }

    /// Returns the value of a keyword argument.
    pub fn keyword(&self, name: &str) -> Option<&Value> {
        self.keywords.iter().find(|(keyword, _)| *keyword == name).map(|(_, value)| value)
    }

    /// Returns the tensors among the arguments, including those in lists.
    pub fn tensors(&self) -> Vec<&Tensor> {
        let keywords = self.keywords.iter().map(|(_, value)| value);
        self.values.iter().chain(keywords).flat_map(Value::tensors).collect()
    }

    /// Returns true if an argument is a size or a shape, or contains one.
    pub fn has_size(&self) -> bool {
        self.values.iter().chain(self.keywords.iter().map(|(_, value)| value)).any(Value::is_size)
    }
}

impl<'t> Interpreter<'t> {
    /// Evaluates the call at `node`.
    pub fn call(&mut self, node: Node<'t>) -> Value {
        let Some(function) = field(node, "function") else { return Value::Unknown };
        if function.kind() == "attribute"
            && let (Some(object), Some(name)) = (field(function, "object"), field(function, "attribute"))
        {
            let value = self.evaluate(object);
            let call = self.arguments(node);
            return self.method(&value, text(name, self.source), object, function, &call);
        }
        let callee = self.evaluate(function);
        let call = self.arguments(node);
        self.invoke(&callee, &call)
    }

    fn arguments(&mut self, node: Node<'t>) -> Call<'t> {
        let arguments = Arguments::of(node, self.source);
        let values = arguments.positional.iter().map(|argument| self.evaluate(*argument)).collect();
        let keywords =
            arguments.keywords.iter().map(|(name, value)| (*name, self.evaluate(*value))).collect();
        arguments.spreads.iter().flat_map(|spread| children(*spread)).for_each(|of| drop(self.evaluate(of)));
        Call { node, arguments, values, keywords }
    }

    fn method(
        &mut self,
        value: &Value,
        name: &'t str,
        object: Node<'t>,
        function: Node<'t>,
        call: &Call<'t>,
    ) -> Value {
        match value {
            Value::Tensor(tensor) => self.tensor_method(tensor, name, object, call),
            Value::Shape(_) if name == "numel" => Value::Size(self.identity()),
            Value::Size(_) if is_number_method(name) => {
                self.as_number(value, text(object, self.source), call)
            }
            Value::Mapping(each) => match name {
                "values" => Value::Each(each.clone()),
                "items" => Value::Each(Box::new(Value::Items([Value::Str, (**each).clone()].into()))),
                "get" | "pop" => (**each).clone(),
                _ => Value::Unknown,
            },
            Value::Array(array) => match name {
                "item" | "tolist" => Value::Number(None),
                "astype" => {
                    let dtype = call.arguments.get(0, "dtype").and_then(|dtype| self.named_dtype(dtype));
                    Value::Array(Array { double: dtype == Some(Dtype::Double), ..array.clone() })
                }
                _ => Value::Array(array.clone()),
            },
            Value::Items(_) | Value::Each(_) | Value::Dict => {
                self.container_method(value, name, object, call)
            }
            Value::Instance(class) if matches!(name, "register_buffer" | "register_parameter") => {
                self.register(*class, call);
                Value::None
            }
            _ => {
                if let Some(module) = self.train(value, name, object, call) {
                    return module;
                }
                if let Some(value) = self.inherited_call(value, name, object, call) {
                    return value;
                }
                let callee = self.attribute(value, name, function);
                let is_part = matches!(value, Value::Instance(_)) && callee == Value::Unknown;
                let tensors: Vec<&Tensor> = call.values.iter().filter_map(Value::tensor).collect();
                if is_part && !tensors.is_empty() {
                    // The class of the submodule is not in this file; most submodules map tensors to tensors.
                    return Value::Tensor(Tensor { sure: false, rank: None, ..self.result(&tensors) });
                }
                self.invoke(&callee, call)
            }
        }
    }

    /// Evaluates a call of `register_buffer` or `register_parameter`, which sets an attribute.
    fn register(&mut self, class: usize, call: &Call<'t>) {
        let name = call.arguments.get(0, "name").and_then(|name| super::syntax::string(name, self.source));
        let value = call.values.get(1).or_else(|| call.keyword("tensor")).or_else(|| call.keyword("param"));
        if let (Some(name), Some(value)) = (name, value) {
            let tensor = match value {
                Value::Tensor(tensor) => tensor.clone(),
                _ => self.fresh_tensor(Origin::State),
            };
            self.changed.insert((class, name), Value::Tensor(tensor));
        }
    }

    /// Evaluates methods of lists and dictionaries.
    fn container_method(&mut self, value: &Value, name: &str, object: Node<'t>, call: &Call<'t>) -> Value {
        let added = match (name, call.values.as_slice()) {
            ("append" | "add", [item]) => item.clone(),
            ("extend", [items]) => items.element(),
            ("insert", [_, item]) => item.clone(),
            ("pop", _) => return value.element(),
            _ => return Value::Unknown,
        };
        if matches!(object.kind(), "identifier" | "attribute") && *value != Value::Dict {
            let is_empty = matches!(value, Value::Items(items) if items.is_empty());
            let each = if is_empty { added } else { value.element().join(added) };
            self.assign(object, Value::Each(Box::new(each)));
        }
        Value::None
    }

    /// Calls the value `callee`.
    pub fn invoke(&mut self, callee: &Value, call: &Call<'t>) -> Value {
        match callee {
            Value::Name(path) => self.named_call(&path.clone(), call),
            Value::Function(index) => self.enter(*index, None, call.values.clone(), &call.keywords),
            Value::Partial(partial) => self.complete(partial, call),
            Value::Method { function, class } => {
                let bare =
                    self.program.functions[*function].decorators.iter().any(|d| d.ends_with("staticmethod"));
                let first = (!bare).then_some(Value::Instance(*class));
                let arguments = first.into_iter().chain(call.values.iter().cloned()).collect();
                self.enter(*function, Some(*class), arguments, &call.keywords)
            }
            Value::Class(class) => match self.program.classes[*class].kind {
                ClassKind::AutogradFunction => Value::Unknown,
                _ => Value::Instance(*class),
            },
            Value::Apply(class) => self.apply(*class, call),
            Value::Instance(class) if self.replaces_forward(*class) => Value::Unknown,
            Value::Instance(class) => match self.program.method(*class, "forward") {
                Some(function) => self.invoke(&Value::Method { function, class: *class }, call),
                None => Value::Unknown,
            },
            Value::Layer(layer) => self.layer_call(&layer.clone(), call),
            _ => Value::Unknown,
        }
    }

    /// Evaluates a call of `functools.partial`, such as `functools.partial(scaled, how=peak)`.
    fn partial(&mut self, call: &Call<'t>) -> Value {
        let Some((callee, values)) = call.values.split_first() else { return Value::Unknown };
        let named = call.arguments.keywords.iter().filter_map(|(_, value)| field(value.parent()?, "name"));
        let keywords = call.keywords.iter().map(|(_, value)| value.clone());
        let keywords = named.map(|name| name.byte_range()).zip(keywords).collect();
        Value::Partial(Rc::new(Partial { callee: callee.clone(), values: values.to_vec(), keywords }))
    }

    /// Calls the callee of a partial object.
    ///
    /// Returns `Unknown` for a layer or a function of another file, and for a call with `*args` or `**kwargs`.
    fn complete(&mut self, partial: &Partial, call: &Call<'t>) -> Value {
        if matches!(partial.callee, Value::Name(_) | Value::Layer(_)) || !call.arguments.spreads.is_empty() {
            return Value::Unknown;
        }
        let given = partial.keywords.iter().filter_map(|(name, value)| {
            let name = self.source.get(name.clone())?;
            call.keyword(name).is_none().then(|| (name, value.clone()))
        });
        let all = Call {
            node: call.node,
            arguments: call.arguments.clone(),
            values: partial.values.iter().chain(&call.values).cloned().collect(),
            keywords: given.chain(call.keywords.iter().cloned()).collect(),
        };
        self.invoke(&partial.callee, &all)
    }

    fn apply(&mut self, class: usize, call: &Call<'t>) -> Value {
        if self.program.method(class, "symbolic").is_none() {
            self.say(call.node, report::python_operator(self.program.classes[class].name));
        }
        Value::Tensor(self.result(&call.tensors()))
    }

    fn layer_call(&mut self, layer: &Layer, call: &Call<'t>) -> Value {
        let mut result = self.result(&call.tensors());
        result.sure = true;
        result.rank = None;
        match layer {
            Layer::Tensor { fresh_training } => {
                if *fresh_training {
                    let name =
                        field(call.node, "function").map_or("", |function| text(function, self.source));
                    self.say(
                        call.node,
                        report::training(
                            name,
                            "a layer created where it is called is in training mode",
                            "create the layer in `__init__`".into(),
                        ),
                    );
                }
                Value::Tensor(result)
            }
            Layer::Tuple => Value::Items([Value::Tensor(result), Value::Unknown].into()),
            Layer::List(_) => Value::Unknown,
        }
    }

    /// Calls a function that is not defined in this file.
    fn named_call(&mut self, path: &str, call: &Call<'t>) -> Value {
        let functional = path.strip_prefix("torch.nn.functional.");
        if let Some(name) = functional {
            return self.functional_call(name, call);
        }
        if let Some(name) = path.strip_prefix("numpy.") {
            return self.numpy_call(name, call);
        }
        if let Some(name) = path.strip_prefix("torch.nn.") {
            return self.construct_layer(name, call);
        }
        match path {
            "functools.partial" => return self.partial(call),
            "torch.jit.is_scripting" | "torch.jit.is_scripting()" => return Value::Bool(Some(false)),
            "torch.jit.is_tracing" | "torch.onnx.is_in_onnx_export" | "torchvision._is_tracing" => {
                return Value::Bool(Some(true));
            }
            _ if path.ends_with(".is_torch_available") => return Value::Bool(Some(true)),
            // No exporter supports the kernels of FlashAttention.
            _ if path.ends_with(".is_flash_attention_requested") => return Value::Bool(Some(false)),
            _ => {}
        }
        if let Some(name) = path.strip_prefix("torch.") {
            return self.torch_call(name, call);
        }
        if is_flash_attention(path) {
            return Value::Tensor(Tensor { sure: true, rank: None, ..self.result(&call.tensors()) });
        }
        if let Some(name) = path.strip_prefix("math.") {
            return self.math_call(name, call);
        }
        let last = path.rsplit('.').next().unwrap_or(path);
        if last.contains("Output") && last.starts_with(|c: char| c.is_ascii_uppercase()) {
            return Value::Dict;
        }
        if path.starts_with("einops.") {
            return Value::Tensor(Tensor { sure: true, rank: None, ..self.result(&call.tensors()) });
        }
        if let Some(value) = self.imported_call(path, call) {
            return value;
        }
        self.builtin_call(path, call)
    }

    /// Evaluates the creation of a layer, a container of layers or a parameter, such as `nn.Linear(3, 4)`.
    fn construct_layer(&mut self, name: &str, call: &Call<'t>) -> Value {
        let class = name.rsplit('.').next().unwrap_or(name);
        if !class.starts_with(|c: char| c.is_ascii_uppercase()) {
            return Value::Unknown;
        }
        match class {
            "Parameter" | "Buffer" => Value::Tensor(match call.values.first() {
                Some(Value::Tensor(tensor)) => Tensor { origin: Origin::State, ..tensor.clone() },
                _ => self.fresh_tensor(Origin::State),
            }),
            "ModuleList" | "ModuleDict" | "ParameterList" => {
                let each = call.values.first().map(Value::element).unwrap_or_default();
                Value::Layer(Layer::List(Box::new(each)))
            }
            _ if torch_names::gives_tuple(class) => Value::Layer(Layer::Tuple),
            _ => {
                let drops = torch_names::is_dropout(class) && !self.is_zero(call.value(0, "p"));
                let fresh_training = (drops || class.starts_with("BatchNorm")) && self.quiet == 0;
                Value::Layer(Layer::Tensor { fresh_training })
            }
        }
    }

    /// Returns true if a probability is known to be 0.
    pub fn is_zero(&self, value: Option<&Value>) -> bool {
        matches!(value, Some(Value::Number(Some(number)) | Value::Real(number)) if *number == 0.0)
    }
}

/// Returns true for functions that run the kernels of FlashAttention, which no exporter supports.
fn is_flash_attention(path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or(path).trim_start_matches('_');
    name == "flash_attention_forward" || name.starts_with("flash_attn_")
}

/// Returns true for methods that convert their object to a Python number.
pub fn is_number_method(name: &str) -> bool {
    matches!(name, "__int__" | "__float__" | "__index__")
}
