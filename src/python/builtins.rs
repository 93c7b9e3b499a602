//! Built-in functions of Python, and functions of `math`.

use tree_sitter::Node;

use super::calls::Call;
use super::interpreter::Interpreter;
use super::report::{self, Decision, Piece, Steps};
use super::syntax::{Arguments, bare, children, field, text};
use super::value::{Origin, Tensor, Value};
use crate::diag::Applicability;

impl<'t> Interpreter<'t> {
    /// Evaluates a call of a built-in function.
    pub fn builtin_call(&mut self, name: &str, call: &Call<'t>) -> Value {
        let first = call.values.first();
        match (name, first) {
            ("int" | "float" | "complex" | "operator.index", Some(value)) => {
                let written =
                    call.arguments.positional.first().map_or("", |argument| text(*argument, self.source));
                self.as_number(&value.clone(), written, call)
            }
            ("bool", Some(value)) => self.as_bool(&value.clone(), call),
            ("len", Some(Value::Tensor(tensor))) if tensor.sure => self.length(call),
            ("len", Some(Value::Shape(_))) => Value::Number(None),
            ("range", Some(_)) => self.range(call),
            ("sum" | "max" | "min" | "any" | "all" | "list" | "tuple" | "sorted", Some(value)) => {
                self.reduction(name, &value.clone(), call)
            }
            ("abs", Some(Value::Tensor(tensor))) => Value::Tensor(self.result(&[tensor])),
            ("round", Some(_))
                if call.arguments.positional.first().is_some_and(|argument| self.holds_size(*argument)) =>
            {
                self.say(call.node, report::rounded_size(text(call.node, self.source)));
                Value::Number(None)
            }
            ("abs" | "round", Some(size @ Value::Size(_))) => self.computed_size(self.has_fraction(size)),
            ("abs" | "round" | "pow", Some(Value::Taken)) => Value::Taken,
            ("abs" | "round" | "pow" | "len", _) => Value::Number(None),
            ("isinstance", Some(Value::Tensor(tensor))) if tensor.sure => self.is_instance(call),
            ("isinstance" | "hasattr" | "callable" | "issubclass", _) => Value::Bool(None),
            ("str" | "repr" | "format", _) => Value::Str,
            ("dict", _) | ("collections.OrderedDict", _) => Value::Dict,
            ("enumerate", Some(value)) => {
                Value::Each(Box::new(Value::Items([Value::Number(None), value.element()].into())))
            }
            ("zip", _) => {
                let elements: Vec<Value> = call.values.iter().map(Value::element).collect();
                Value::Each(Box::new(Value::Items(elements.into())))
            }
            ("reversed", Some(value)) => value.clone(),
            ("map", Some(_)) => self.mapped(call),
            ("functools.reduce", Some(_)) => self.folded(call),
            ("super", _) => self.parent(),
            _ => Value::Unknown,
        }
    }

    /// Returns true for a size of a shape, and for arithmetic on one, which are tensors while tracing.
    fn holds_size(&mut self, node: Node<'t>) -> bool {
        let node = bare(node);
        if node.kind() == "binary_operator" {
            return children(node).into_iter().any(|side| self.holds_size(side));
        }
        let value = self.look_at(node);
        self.is_of_shape(&value)
    }

    /// Evaluates `isinstance(x, …)` for a tensor.
    fn is_instance(&self, call: &Call<'t>) -> Value {
        let classes = call.arguments.positional.get(1).map_or("", |classes| text(*classes, self.source));
        let mut names = classes.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
        let plain =
            ["list", "tuple", "dict", "int", "float", "str", "bool", "np.ndarray", "numpy.ndarray", ""];
        if names.clone().any(|name| name.ends_with("Tensor")) {
            Value::Bool(Some(true))
        } else if names.all(|name| plain.contains(&name)) {
            Value::Bool(Some(false))
        } else {
            Value::Bool(None)
        }
    }

    /// Evaluates `super()` as an instance of the first base class that this file defines.
    fn parent(&self) -> Value {
        let function = self.frames.last().and_then(|frame| frame.function);
        let class = function.and_then(|function| self.program.functions[function].class);
        let base = class.and_then(|class| self.program.classes[class].local_bases.first());
        base.map_or(Value::Unknown, |base| Value::Instance(*base))
    }

    /// Evaluates a conversion to a number, such as `int(x)`. `written` is the source text of the operand.
    pub fn as_number(&mut self, value: &Value, written: &str, call: &Call<'t>) -> Value {
        match value {
            Value::Tensor(tensor) => {
                if tensor.origin > Origin::Constant {
                    let words =
                        report::item(self.here(call.node), call.node, written, tensor.origin, self.source);
                    // The operands of a computation are often sizes.
                    let computed = call.arguments.positional.first();
                    let is_computed = computed.is_some_and(|one| one.kind() == "binary_operator");
                    self.say(call.node, if is_computed && !tensor.sure { words.remark() } else { words });
                }
                taken(tensor)
            }
            Value::Taken => Value::Taken,
            Value::Size(_) => {
                self.say_size_made_number(value, written, call);
                Value::Number(None)
            }
            Value::Number(number) => Value::Number(*number),
            _ => Value::Number(None),
        }
    }

    fn say_size_made_number(&mut self, size: &Value, written: &str, call: &Call<'t>) {
        let code = text(call.node, self.source);
        let words = if self.has_fraction(size) && code.starts_with("int") {
            let piece = Piece::quotient(call.node, self.source);
            let of_whole = piece.filter(|(_, divided)| {
                let divided = self.look_at(*divided);
                self.is_of_shape(&divided)
            });
            report::fraction_made_number(code, of_whole.map(|(piece, _)| piece))
        } else {
            let function = field(call.node, "function").map_or("", |function| text(function, self.source));
            let to_integer = matches!(function, "int" | "operator.index") || function.ends_with(".__int__");
            let is_same = to_integer && self.is_of_shape(size);
            let piece = || Piece::instead(call.node, written, Applicability::Safe, self.source);
            report::size_made_number(code, written, is_same.then(piece).flatten())
        };
        self.say(call.node, words);
    }

    fn as_bool(&mut self, value: &Value, call: &Call<'t>) -> Value {
        if let Some(tensor) = value.sure_tensor().filter(|tensor| tensor.origin > Origin::Constant)
            && let Some(argument) = call.arguments.positional.first()
        {
            let origin = tensor.origin;
            let words = report::traced_branch(call.node, *argument, Decision::Operator, origin, self.source);
            self.say(call.node, words);
        }
        if *value == Value::Taken { Value::Taken } else { Value::Bool(value.truth()) }
    }

    fn length(&mut self, call: &Call<'t>) -> Value {
        let counted =
            call.node.parent().and_then(|list| list.parent()).and_then(|outer| field(outer, "function"));
        if counted.is_none_or(|function| text(function, self.source) != "range") {
            let code = text(call.node, self.source);
            let size = call.arguments.positional.first();
            let piece = size.and_then(|of| Piece::first_size(call.node, *of, self.source));
            let written = piece.as_ref().map_or("x.shape[0]", Piece::text).to_owned();
            self.say(call.node, report::size_made_number(code, &written, piece));
        }
        Value::Size(self.identity())
    }

    fn range(&mut self, call: &Call<'t>) -> Value {
        let size = call.values.iter().find(|value| value.is_size());
        let tensor =
            call.values.iter().find(|value| value.sure_tensor().is_some() || **value == Value::Taken);
        Value::Range(Box::new(size.or(tensor).cloned().unwrap_or(Value::Number(None))))
    }

    /// Evaluates built-in functions that iterate over their argument, or compare their arguments.
    fn reduction(&mut self, name: &str, value: &Value, call: &Call<'t>) -> Value {
        let varying = |value: &Value| value.sure_tensor().is_some_and(Tensor::varies);
        if call.values.len() > 1 && call.values.contains(&Value::Taken) {
            return Value::Taken;
        }
        if call.values.len() > 1 {
            // `max(a, b)` converts the result of a comparison to a boolean.
            if matches!(name, "max" | "min") && call.values.iter().any(varying) {
                let origin = Origin::Input;
                let words =
                    report::traced_branch(call.node, call.node, Decision::Operator, origin, self.source);
                self.say(call.node, words);
            }
            if matches!(name, "max" | "min")
                && call.values.iter().any(|value| matches!(value, Value::Size(_)))
            {
                self.say(call.node, report::lesser_size(call.node, self.source));
            }
            let all = call.values.iter().cloned();
            return all.reduce(Value::join).unwrap_or_default();
        }
        match value {
            Value::Tensor(tensor) if tensor.sure => {
                // `x[tuple(index)]` has one number for each axis of `x`.
                let is_index = name == "tuple"
                    && call.node.parent().is_some_and(|outer| {
                        outer.kind() == "subscript" && field(outer, "value") != Some(call.node)
                    });
                if tensor.varies()
                    && !is_index
                    && let Some(argument) = call.arguments.positional.first()
                {
                    let words = report::unrolled(call.node, *argument, Steps::Rows, self.source);
                    self.say(call.node, words);
                }
                let row = Value::Tensor(self.row(tensor));
                if matches!(name, "list" | "tuple" | "sorted") { Value::Each(Box::new(row)) } else { row }
            }
            Value::Items(_) | Value::Each(_) if matches!(name, "list" | "tuple") => value.clone(),
            Value::Items(_) | Value::Each(_) => value.element(),
            Value::Shape(shape) if matches!(name, "list" | "tuple") => Value::Shape(*shape),
            Value::Shape(_) => Value::Size(self.identity()),
            Value::Range(_) => value.clone(),
            _ => Value::Unknown,
        }
    }

    /// Evaluates functions of `math`, which return Python numbers.
    pub fn math_call(&mut self, name: &str, call: &Call<'t>) -> Value {
        if let Some((Value::Tensor(tensor), argument)) =
            call.values.first().zip(call.arguments.positional.first())
        {
            let origin = tensor.origin;
            if origin > Origin::Constant {
                let write = format!("torch.{name}({})", text(*argument, self.source));
                self.say(
                    call.node,
                    report::item(self.here(call.node), call.node, &write, origin, self.source),
                );
            }
        }
        if !call.has_size() {
            return Value::Number(None);
        }
        // `math.prod` of sizes is a size, but every other function converts the size to a number. The last
        // axis is not reported, because it usually counts features and is static, as in
        // `math.sqrt(q.size(-1))`.
        let of = call.arguments.positional.first().map_or("", |of| text(*of, self.source));
        if name != "prod" && !of.ends_with("(-1)") && !of.ends_with("[-1]") {
            let code = text(call.node, self.source);
            self.say(call.node, report::size_made_number(code, of, None));
        }
        Value::Size(self.identity())
    }

    /// Evaluates a call of `map`, such as `map(int, x.shape)` or `map(self.encode, x)`.
    fn mapped(&mut self, call: &Call<'t>) -> Value {
        let (Some(function), [_, of, ..]) = (call.values.first(), call.values.as_slice()) else {
            return Value::Unknown;
        };
        let to_number = matches!(function, Value::Name(name) if matches!(&**name, "int" | "float"));
        if to_number && of.is_size() {
            let written = call.arguments.positional.get(1).map_or("", |of| text(*of, self.source));
            self.say(call.node, report::size_made_number(text(call.node, self.source), written, None));
        }
        let (function, of) = (function.clone(), of.clone());
        let element = self.each_step(1, &of, call);
        if to_number {
            let number = element.tensor().map_or(Value::Number(None), taken);
            return Value::Each(Box::new(number));
        }
        let made = if call.values.len() == 2 {
            self.invoke_on(&function, vec![element], call)
        } else {
            Value::Unknown
        };
        Value::Each(Box::new(made))
    }

    /// Evaluates a call of `functools.reduce`, such as `reduce(torch.maximum, x.unbind(0))`.
    fn folded(&mut self, call: &Call<'t>) -> Value {
        let [function, of, ..] = call.values.as_slice() else { return Value::Unknown };
        let (function, of) = (function.clone(), of.clone());
        let element = self.each_step(1, &of, call);
        self.invoke_on(&function, vec![element.clone(), element], call)
    }

    /// Returns an element of `of`, the value of the iterable argument at `position`.
    ///
    /// Reports the call if it is unrolled, that is, if the trace fixes the number of elements.
    fn each_step(&mut self, position: usize, of: &Value, call: &Call<'t>) -> Value {
        let argument = call.arguments.positional.get(position).copied();
        if let Some((argument, steps)) = argument.and_then(|node| Some((node, self.steps(node, of)?))) {
            self.say(call.node, report::unrolled(call.node, argument, steps, self.source));
        }
        match of {
            Value::Tensor(tensor) => Value::Tensor(self.row(tensor)),
            Value::Shape(_) => Value::Size(self.identity()),
            _ => of.element(),
        }
    }

    /// Calls a function that was passed as a value, as `map` does.
    ///
    /// The arguments have values, but no expressions.
    fn invoke_on(&mut self, function: &Value, values: Vec<Value>, call: &Call<'t>) -> Value {
        let arguments = Arguments::default();
        self.invoke(function, &Call { node: call.node, arguments, values, keywords: vec![] })
    }
}

/// Returns the Python number that code takes from a tensor, as `x.item()` does.
pub fn taken(tensor: &Tensor) -> Value {
    if tensor.varies() { Value::Taken } else { Value::Number(None) }
}
