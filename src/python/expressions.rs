//! Abstract evaluation of expressions.

use std::rc::Rc;

use tree_sitter::Node;

use super::interpreter::{Interpreter, MAX_DEPTH};
use super::program::ClassKind;
use super::report::{self, Decision};
use super::syntax::{bare, children, field, text};
use super::torch_names;
use super::value::{Origin, Tensor, Value, View};

impl<'t> Interpreter<'t> {
    /// Returns the abstract value of an expression, and reports faults in it.
    pub fn evaluate(&mut self, node: Node<'t>) -> Value {
        self.deeper(|this| this.expression(node)).unwrap_or(Value::Unknown)
    }

    /// Runs `look` one expression level deeper; returns `None` at the depth limit.
    pub fn deeper<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let found = look(self);
        self.depth -= 1;
        Some(found)
    }

    fn expression(&mut self, node: Node<'t>) -> Value {
        match node.kind() {
            "identifier" => self.lookup(text(node, self.source)),
            "integer" => Value::Number(text(node, self.source).replace('_', "").parse().ok()),
            "float" => {
                let number = text(node, self.source).replace('_', "").parse();
                number.map_or(Value::Number(None), Value::Real)
            }
            "true" => Value::Bool(Some(true)),
            "false" => Value::Bool(Some(false)),
            "none" => Value::None,
            "string" | "concatenated_string" => self.string(node),
            "attribute" => self.attribute_of(node),
            "subscript" => self.subscript(node),
            "call" => self.call(node),
            "binary_operator" => self.binary(node),
            "unary_operator" => self.unary(node),
            "comparison_operator" => self.comparison(node),
            "boolean_operator" => self.choice(node),
            "not_operator" => {
                let truth = field(node, "argument").and_then(|of| self.decide(of, node, Decision::Operator));
                Value::Bool(truth.map(|truth| !truth))
            }
            "conditional_expression" => self.conditional(node),
            "named_expression" => {
                let value = field(node, "value").map(|value| self.evaluate(value)).unwrap_or_default();
                if let Some(name) = field(node, "name") {
                    self.assign(name, value.clone());
                }
                value
            }
            "list" | "tuple" | "set" | "expression_list" => self.items(node),
            "dictionary" => {
                let pairs = children(node).into_iter().flat_map(|pair| field(pair, "value"));
                pairs.for_each(|value| drop(self.evaluate(value)));
                Value::Dict
            }
            "list_comprehension" | "generator_expression" | "set_comprehension" => {
                Value::Each(Box::new(self.comprehension(node)))
            }
            "dictionary_comprehension" => {
                self.comprehension(node);
                Value::Dict
            }
            "parenthesized_expression" => self.evaluate(bare(node)),
            "lambda" => self.program.nested.get(&node.id()).copied().map(Value::Function).unwrap_or_default(),
            "await" | "list_splat" | "keyword_argument" | "interpolation" => {
                children(node).last().map(|inner| self.evaluate(*inner)).unwrap_or_default()
            }
            _ => Value::Unknown,
        }
    }

    fn string(&mut self, node: Node<'t>) -> Value {
        for part in children(node) {
            match part.kind() {
                "interpolation" => drop(self.evaluate(part)),
                "string" => drop(self.string(part)),
                _ => {}
            }
        }
        Value::Str
    }

    fn items(&mut self, node: Node<'t>) -> Value {
        let nodes = children(node);
        let splat = nodes.iter().any(|item| item.kind() == "list_splat");
        let mut values = Vec::with_capacity(nodes.len());
        for item in nodes {
            let value = self.evaluate(item);
            values.push(if item.kind() == "list_splat" { self.splat(value) } else { value });
        }
        if splat {
            return Value::Each(Box::new(values.into_iter().reduce(Value::join).unwrap_or_default()));
        }
        Value::Items(values.into())
    }

    fn splat(&mut self, value: Value) -> Value {
        match value {
            Value::Shape(_) => Value::Size(self.identity()),
            other => other.element(),
        }
    }

    /// Evaluates `a and b` and `a or b` as values, which converts `a` to a boolean.
    fn choice(&mut self, node: Node<'t>) -> Value {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
            return Value::Unknown;
        };
        let is_and = field(node, "operator").is_some_and(|operator| text(operator, self.source) == "and");
        let truth = self.decide(left, node, Decision::Operator);
        if truth == Some(!is_and) {
            return Value::Bool(truth);
        }
        let second = self.evaluate(right);
        if truth.is_some() {
            return second;
        }
        self.quiet += 1;
        let first = self.evaluate(left);
        self.quiet -= 1;
        // The second operand determines the result, as in `unknown or True`.
        if matches!(first, Value::Bool(_) | Value::Unknown) && second.truth() == Some(!is_and) {
            return Value::Bool(second.truth());
        }
        first.join(second)
    }

    fn conditional(&mut self, node: Node<'t>) -> Value {
        let [then, condition, other] = children(node)[..] else { return Value::Unknown };
        match self.decide(condition, node, Decision::Conditional) {
            Some(true) => self.evaluate(then),
            Some(false) => self.evaluate(other),
            None => {
                let before = self.variables();
                let then = self.alternative(condition, true, then);
                let after = self.variables();
                self.restore(before);
                let other = self.alternative(condition, false, other);
                self.join(after);
                then.join(other)
            }
        }
    }

    /// Evaluates an operand of a conditional expression, in which `exclude_tensor` may forget tensors.
    fn alternative(&mut self, condition: Node<'t>, is_true: bool, operand: Node<'t>) -> Value {
        let before = self.variables();
        self.exclude_tensor(condition, is_true);
        let excluded = self.variables();
        let needs_labels = u32::from(self.needs_labels(condition, is_true));
        self.checks += needs_labels;
        let value = self.evaluate(operand);
        self.checks -= needs_labels;
        let Some(frame) = self.frames.last_mut() else { return value };
        for (name, known) in before {
            let during = excluded.get(name);
            if during != Some(&known) && frame.variables.get(name) == during {
                frame.variables.insert(name, known);
            }
        }
        value
    }

    /// Returns the value of the elements of a comprehension.
    fn comprehension(&mut self, node: Node<'t>) -> Value {
        let before = self.frames.last().map(|frame| frame.variables.clone());
        for clause in children(node) {
            match clause.kind() {
                "for_in_clause" => {
                    if let (Some(left), Some(right)) = (field(clause, "left"), field(clause, "right")) {
                        let element = self.iterate(right, node);
                        self.assign(left, element);
                    }
                }
                "if_clause" => {
                    if let Some(condition) = children(clause).first() {
                        self.decide(*condition, node, Decision::Conditional);
                    }
                }
                _ => {}
            }
        }
        let element = field(node, "body").map(|body| self.evaluate(body)).unwrap_or_default();
        if let (Some(frame), Some(before)) = (self.frames.last_mut(), before) {
            frame.variables = before;
        }
        element
    }

    fn attribute_of(&mut self, node: Node<'t>) -> Value {
        let (Some(object), Some(name)) = (field(node, "object"), field(node, "attribute")) else {
            return Value::Unknown;
        };
        let value = self.evaluate(object);
        self.attribute(&value, text(name, self.source), node)
    }

    /// Returns the attribute `name` of `value`, as read at `node`.
    pub fn attribute(&mut self, value: &Value, name: &'t str, node: Node<'t>) -> Value {
        match value {
            Value::Tensor(tensor) => self.tensor_attribute(tensor, name, node),
            Value::Name(path) => Value::Name(Rc::from(format!("{path}.{name}"))),
            Value::Instance(class) => self.instance_attribute(*class, name),
            Value::Layer(_) if matches!(name, "weight" | "bias") => {
                Value::Tensor(self.fresh_tensor(Origin::State))
            }
            Value::Array(array) if !matches!(name, "shape" | "size" | "ndim" | "dtype") => {
                Value::Array(array.clone())
            }
            Value::Class(class) if name == "apply" && self.is_autograd_function(*class) => {
                Value::Apply(*class)
            }
            Value::Class(class) => self.program.method(*class, name).map(Value::Function).unwrap_or_default(),
            _ => Value::Unknown,
        }
    }

    fn is_autograd_function(&self, class: usize) -> bool {
        self.program.classes[class].kind == ClassKind::AutogradFunction
    }

    fn tensor_attribute(&mut self, tensor: &Tensor, name: &str, node: Node<'t>) -> Value {
        match name {
            "shape" => Value::Shape(self.identity()),
            "ndim" => Value::Number(None),
            "data" => {
                if tensor.varies() {
                    self.say(node, report::tensor_data(node, self.source));
                }
                // The result gets its own memory, so that a write to it is not also reported as lost for `x`.
                Value::Tensor(Tensor { memory: self.identity(), ..tensor.clone() })
            }
            _ if name.starts_with("is_") => Value::Bool(None),
            _ if torch_names::is_python_valued(name) => Value::Unknown,
            _ => match torch_names::view(name) {
                Some(view) => Value::Tensor(self.view(tensor, view)),
                None => Value::Unknown,
            },
        }
    }

    /// Returns a new tensor object that shares the memory of `tensor`.
    pub fn view(&mut self, tensor: &Tensor, view: View) -> Tensor {
        let object = self.identity();
        Tensor {
            object,
            sure: true,
            rank: None,
            elements: None,
            view: tensor.view.max(view),
            ..tensor.clone()
        }
    }

    /// Returns the result of an index or a loop step on a tensor.
    ///
    /// If `tensor` is only presumed to be a tensor, its row is only presumed, too: the object may be a list.
    pub fn row(&mut self, tensor: &Tensor) -> Tensor {
        let rank = tensor.rank.map(|rank| rank.saturating_sub(1));
        Tensor { sure: tensor.sure, rank, ..self.view(tensor, View::Slice) }
    }
}
