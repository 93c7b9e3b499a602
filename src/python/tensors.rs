//! Methods of tensors, and functions of `torch`.

use tree_sitter::Node;

use super::builtins::taken;
use super::calls::{Call, is_number_method};
use super::interpreter::Interpreter;
use super::report;
use super::syntax::{field, one_line, text};
use super::torch_names;
use super::value::{Array, Dtype, Origin, Tensor, Traced, Value, View};

impl<'t> Interpreter<'t> {
    /// Evaluates `tensor.name(…)`, where `object` is the expression of the tensor.
    pub fn tensor_method(
        &mut self,
        tensor: &Tensor,
        name: &'t str,
        object: Node<'t>,
        call: &Call<'t>,
    ) -> Value {
        match name {
            "item" | "tolist" => return self.item(tensor, object, call),
            "numpy" | "__array__" => return self.leave_for_numpy(tensor, call),
            _ if is_number_method(name) => {
                return self.as_number(&Value::Tensor(tensor.clone()), text(object, self.source), call);
            }
            "size" => {
                return match call.value(0, "dim") {
                    Some(Value::Number(_)) => {
                        let shape = self.identity();
                        self.size_of(shape, 0)
                    }
                    Some(_) => Value::Unknown,
                    None => Value::Shape(self.identity()),
                };
            }
            "numel" | "nelement" => return Value::Size(self.identity()),
            "dim" | "ndimension" => return Value::Number(None),
            _ if name.starts_with("is_") => return Value::Bool(None),
            _ if torch_names::is_python_valued(name) => return Value::Unknown,
            _ if torch_names::is_in_place(name) => {
                self.write(tensor, name, Some(object), call.node);
                if name == "index_put_" {
                    self.ask_index_put(call);
                }
                self.promote_arguments(name, call);
                return Value::Tensor(Tensor { sure: true, elements: None, ..tensor.clone() });
            }
            _ => {}
        }
        if !tensor.sure && !torch_names::is_tensor_attribute(name) {
            return Value::Unknown;
        }
        self.ask_mask(name, call);
        if let Some(many) = self.several(tensor, name, call) {
            return many;
        }
        if let Some(dtype) = self.converted(name, call) {
            let elements = tensor.elements.clone();
            let rank = tensor.rank;
            return Value::Tensor(Tensor { dtype, rank, elements, sure: true, ..self.result(&[tensor]) });
        }
        if let Some(view) = torch_names::view(name) {
            return Value::Tensor(self.reshaped(tensor, name, view, call));
        }
        self.new_of(tensor, name, call)
    }

    /// Returns the result of a method that computes a new tensor.
    fn new_of(&mut self, tensor: &Tensor, name: &str, call: &Call<'t>) -> Value {
        let mut of = call.tensors();
        of.push(tensor);
        let mut result = self.result(&of);
        result.sure = true;
        if call.has_size() && name.starts_with("new_") {
            result.origin = Origin::Input;
        }
        result.dtype = match name {
            _ if torch_names::is_comparison(name) => Some(Dtype::Bool),
            "argmax" | "argmin" | "argsort" | "nonzero" | "count_nonzero" | "bincount" => Some(Dtype::Int),
            _ => tensor.dtype,
        };
        let argument = call.arguments.positional.is_empty() && call.arguments.keyword("dim").is_none();
        let reduces = matches!(
            name,
            "sum"
                | "mean"
                | "max"
                | "min"
                | "prod"
                | "norm"
                | "std"
                | "var"
                | "any"
                | "all"
                | "amax"
                | "amin"
                | "argmax"
        );
        result.rank = match name {
            _ if reduces && argument => Some(0),
            _ if reduces => None,
            "clone" | "abs" | "exp" | "neg" | "log" | "sqrt" => tensor.rank,
            _ => None,
        };
        if let Some(dtype) = call.arguments.keyword("dtype") {
            result.dtype = self.named_dtype(dtype);
        }
        if name == "clone" {
            result.elements = tensor.elements.clone();
        }
        self.promote_arguments(name, call);
        Value::Tensor(result)
    }

    fn item(&mut self, tensor: &Tensor, object: Node<'t>, call: &Call<'t>) -> Value {
        if tensor.origin > Origin::Constant {
            let words = report::item(
                self.here(call.node),
                call.node,
                text(object, self.source),
                tensor.origin,
                self.source,
            );
            self.say(call.node, words);
        }
        let is_list = field(call.node, "function")
            .and_then(|function| field(function, "attribute"))
            .is_some_and(|name| text(name, self.source) == "tolist");
        if is_list { Value::Each(Box::new(taken(tensor))) } else { taken(tensor) }
    }

    fn leave_for_numpy(&mut self, tensor: &Tensor, call: &Call<'t>) -> Value {
        if tensor.varies() {
            self.say(call.node, report::to_numpy(call.node, self.source));
        }
        Value::Array(Array {
            traced: if tensor.varies() { Traced::Elements } else { Traced::Nothing },
            made_here: true,
            double: tensor.dtype == Some(Dtype::Double),
            scalar: false,
            elements: tensor.elements.clone(),
        })
    }

    /// Returns the dtype after `x.double()`, `x.to(torch.float16)` or `x.type_as(y)`.
    ///
    /// Returns `None` for methods that do not convert the dtype. The inner `None` is an unknown dtype.
    fn converted(&mut self, name: &str, call: &Call<'t>) -> Option<Option<Dtype>> {
        if let Some(dtype) = torch_names::conversion(name) {
            return Some(Some(dtype));
        }
        if !matches!(name, "to" | "type" | "type_as" | "cpu" | "cuda" | "contiguous") {
            return None;
        }
        if matches!(name, "cpu" | "cuda" | "contiguous") {
            return None;
        }
        let mut named = call.arguments.positional.clone();
        named.extend(call.arguments.keyword("dtype"));
        for argument in named {
            if let Some(dtype) = self.named_dtype(argument) {
                return Some(Some(dtype));
            }
        }
        let as_other = call.values.first().and_then(Value::tensor).map(|other| other.dtype);
        Some(as_other.flatten())
    }

    /// Returns the result of a method that returns a view, such as `x.view(2, 3)`.
    fn reshaped(&mut self, tensor: &Tensor, name: &str, view: View, call: &Call<'t>) -> Tensor {
        let mut result = self.view(tensor, view);
        result.rank = match (name, call.values.as_slice()) {
            ("flatten" | "ravel", []) => Some(1),
            ("unsqueeze", _) => tensor.rank.map(|rank| rank + 1),
            ("view" | "reshape", [Value::Items(sizes)]) => Some(sizes.len()),
            ("view" | "reshape", sizes) if sizes.len() > 1 => Some(sizes.len()),
            ("detach" | "contiguous" | "cpu" | "cuda" | "expand_as", _) => tensor.rank,
            _ => None,
        };
        result.elements = tensor.elements.clone();
        // `contiguous`, `cpu` and `cuda` return the tensor itself, or a copy that does not share memory.
        if matches!(name, "contiguous" | "cpu" | "cuda") {
            result.memory = self.identity();
            result.view = View::Whole;
        }
        result
    }

    /// Evaluates methods and functions that return several tensors.
    fn several(&mut self, tensor: &Tensor, name: &str, call: &Call<'t>) -> Option<Value> {
        let along = call.value(0, "dim").is_some_and(|dim| matches!(dim, Value::Number(_)));
        if matches!(name, "max" | "min" | "median" | "mode" | "kthvalue") && along {
            let values = Tensor { sure: true, rank: None, ..self.result(&[tensor]) };
            let places = Tensor { dtype: Some(Dtype::Int), ..values.clone() };
            return Some(Value::Items([Value::Tensor(values), Value::Tensor(places)].into()));
        }
        torch_names::several(name)?;
        let each = match torch_names::view(name) {
            // Each piece is a slice of the tensor.
            Some(_) => self.view(tensor, View::Slice),
            None => Tensor { sure: true, rank: None, ..self.result(&[tensor]) },
        };
        if matches!(name, "median" | "mode" | "nanmedian") {
            return Some(Value::Tensor(each));
        }
        if matches!(name, "sort" | "topk" | "kthvalue") {
            let places = Tensor { dtype: Some(Dtype::Int), ..each.clone() };
            return Some(Value::Items([Value::Tensor(each), Value::Tensor(places)].into()));
        }
        Some(Value::Each(Box::new(Value::Tensor(each))))
    }

    /// Reports `nonzero`, `masked_select` and `argwhere`, whose result sizes depend on data.
    fn ask_mask(&mut self, name: &str, call: &Call<'t>) {
        if matches!(name, "nonzero" | "masked_select" | "argwhere") {
            self.say(call.node, report::boolean_mask(&one_line(call.node, self.source)));
        }
    }

    /// Evaluates a call of a function of `torch`.
    pub fn torch_call(&mut self, path: &str, call: &Call<'t>) -> Value {
        let name = path.rsplit('.').next().unwrap_or(path);
        let module = path.rsplit_once('.').map_or("", |(module, _)| module);
        if torch_names::is_python_predicate(&format!("torch.{path}")) {
            let of = self.result(&call.tensors());
            return Value::Tensor(Tensor { dtype: Some(Dtype::Bool), rank: Some(0), ..of });
        }
        if name == "numel" {
            return Value::Size(self.identity());
        }
        if name.starts_with("is_") {
            return Value::Bool(None);
        }
        if let Some(factory) = torch_names::factory(name).filter(|_| module.is_empty()) {
            return self.make(name, factory, call);
        }
        if !matches!(module, "" | "special" | "fft" | "linalg" | "functional" | "Tensor")
            || !torch_names::is_tensor_function(name)
        {
            return Value::Unknown;
        }
        self.ask_training(name, false, call);
        if matches!(name, "index_put" | "index_put_") {
            self.ask_index_put(call);
        }
        let alone = name == "where" && call.values.len() == 1;
        self.ask_mask(if alone { "nonzero" } else { name }, call);
        if alone {
            let each = Tensor { rank: Some(1), ..self.result(&call.tensors()) };
            return Value::Each(Box::new(Value::Tensor(each)));
        }
        self.of_first(name, call)
    }

    /// Evaluates a function as the method of the same name on its first argument.
    fn of_first(&mut self, name: &str, call: &Call<'t>) -> Value {
        if let Some(Value::Tensor(first)) = call.values.first() {
            let first = Tensor { sure: true, ..first.clone() };
            let rest = Call {
                node: call.node,
                arguments: call.arguments.clone(),
                values: call.values[1..].to_vec(),
                keywords: call.keywords.clone(),
            };
            if let Some(many) = self.several(&first, name, &rest) {
                return many;
            }
            if let Some(view) = torch_names::view(name) {
                return Value::Tensor(self.reshaped(&first, name, view, &rest));
            }
            if torch_names::is_in_place(name) {
                self.write(&first, name, call.arguments.positional.first().copied(), call.node);
                return Value::Tensor(first);
            }
        }
        if torch_names::several(name).is_some() {
            let each = Tensor { sure: true, ..self.result(&call.tensors()) };
            return Value::Each(Box::new(Value::Tensor(each)));
        }
        self.promote_arguments(name, call);
        let mut result = self.result(&call.tensors());
        result.sure = true;
        result.rank = None;
        if call.has_size() {
            result.origin = Origin::Input;
        }
        if torch_names::is_comparison(name) {
            result.dtype = Some(Dtype::Bool);
        }
        if let Some(dtype) = call.arguments.keyword("dtype") {
            result.dtype = self.named_dtype(dtype);
        }
        Value::Tensor(result)
    }
}
