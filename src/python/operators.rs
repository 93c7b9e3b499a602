//! Arithmetic and comparison operators.

use std::rc::Rc;

use tree_sitter::Node;

use super::interpreter::Interpreter;
use super::report::{self, Decision};
use super::syntax::{children, field, fields, one_line, text};
use super::value::{Array, Dtype, Origin, Tensor, Value, integer};

/// Largest finite float16 number.
const GREATEST_HALF: f64 = 65504.0;

impl<'t> Interpreter<'t> {
    /// Evaluates a unary operator.
    pub fn unary(&mut self, node: Node<'t>) -> Value {
        let value = field(node, "argument").map(|of| self.evaluate(of)).unwrap_or_default();
        let negated = field(node, "operator").is_some_and(|operator| text(operator, self.source) == "-");
        match value {
            Value::Number(Some(number)) if negated => Value::Number(Some(-number)),
            Value::Real(number) if negated => Value::Real(-number),
            Value::Size(_) => Value::Size(self.identity()),
            Value::Tensor(tensor) => {
                let elements = tensor.elements.clone();
                let elements =
                    elements.map(|all| all.iter().map(|e| if negated { -e } else { *e }).collect());
                Value::Tensor(Tensor { elements, ..self.result(&[&tensor]) })
            }
            Value::Number(_) | Value::Real(_) | Value::Array(_) | Value::Taken => value,
            _ => Value::Unknown,
        }
    }

    /// Evaluates a binary operator.
    pub fn binary(&mut self, node: Node<'t>) -> Value {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
            return Value::Unknown;
        };
        let operator = field(node, "operator").map_or("", |operator| text(operator, self.source));
        let (left, right) = (self.evaluate(left), self.evaluate(right));
        self.arithmetic(&left, &right, operator, node)
    }

    /// Returns the result of an arithmetic operator.
    pub fn arithmetic(&mut self, left: &Value, right: &Value, operator: &str, node: Node<'t>) -> Value {
        match (left, right) {
            (Value::Tensor(_), _) | (_, Value::Tensor(_)) => {
                self.tensor_arithmetic(left, right, operator, node)
            }
            (Value::Taken, _) | (_, Value::Taken) => Value::Taken,
            (Value::Array(a), b) | (b, Value::Array(a)) => {
                let traced = a.traced.max(b.traced());
                let scalar = a.scalar && !matches!(b, Value::Array(b) if !b.scalar);
                Value::Array(Array { traced, scalar, elements: None, ..a.clone() })
            }
            (Value::Shape(shape), _) if operator == "+" => Value::Shape(*shape),
            (Value::Size(_) | Value::Number(_) | Value::Real(_), Value::Size(_))
            | (Value::Size(_), Value::Number(_) | Value::Real(_)) => {
                let is_real = |side: &Value| matches!(side, Value::Real(_)) || self.has_fraction(side);
                let may_have_fraction = operator == "/" || is_real(left) || is_real(right);
                self.computed_size(may_have_fraction)
            }
            (Value::Number(a), Value::Number(b)) => {
                Value::Number(a.zip(*b).and_then(|(a, b)| match operator {
                    "+" => Some(a + b),
                    "-" => Some(a - b),
                    "*" => Some(a * b),
                    _ => None,
                }))
            }
            (Value::Number(_) | Value::Real(_), Value::Number(_) | Value::Real(_)) => Value::Number(None),
            (Value::Items(a), Value::Items(b)) if operator == "+" => {
                Value::Items(a.iter().chain(b.iter()).cloned().collect())
            }
            (Value::Each(_) | Value::Items(_), Value::Each(_) | Value::Items(_)) if operator == "+" => {
                Value::Each(Box::new(left.element().join(right.element())))
            }
            (Value::Items(_) | Value::Each(_), Value::Number(_) | Value::Size(_)) if operator == "*" => {
                if let (Value::Size(_), Some(size)) = (right, field(node, "right")) {
                    let words =
                        report::size_made_number(&one_line(node, self.source), text(size, self.source), None);
                    self.say(node, words);
                }
                Value::Each(Box::new(left.element()))
            }
            (Value::Str, _) | (_, Value::Str) => Value::Str,
            (Value::Bool(Some(true)), Value::Bool(_) | Value::Unknown) if operator == "|" => left.clone(),
            (Value::Bool(Some(false)), Value::Bool(_) | Value::Unknown) if operator == "&" => left.clone(),
            _ => Value::Unknown,
        }
    }

    fn tensor_arithmetic(&mut self, left: &Value, right: &Value, operator: &str, node: Node<'t>) -> Value {
        if let (Value::Tensor(tensor), Value::Array(array)) | (Value::Array(array), Value::Tensor(tensor)) =
            (left, right)
            && !array.scalar
            && tensor.sure
        {
            self.say(node, report::array_meets_tensor(&one_line(node, self.source)));
        }
        if operator == "*"
            && let (Value::Tensor(tensor), Value::Real(number)) | (Value::Real(number), Value::Tensor(tensor)) =
                (left, right)
            && tensor.dtype == Some(Dtype::Half)
            && number.abs() > GREATEST_HALF
        {
            self.say(node, report::overflow(&one_line(node, self.source), *number));
        }
        let elements = shifted(left, right, operator);
        let mut result = self.promoted(left, right, node);
        result.elements = elements;
        Value::Tensor(result)
    }

    /// Evaluates a comparison, and reports it if it converts a tensor to a boolean.
    pub fn comparison(&mut self, node: Node<'t>) -> Value {
        let operators: Vec<&str> =
            fields(node, "operators").into_iter().map(|operator| text(operator, self.source)).collect();
        let sides: Vec<Value> = children(node).into_iter().map(|side| self.evaluate(side)).collect();
        if let Some(truth) = self.assumed(node, &operators) {
            return Value::Bool(Some(truth));
        }
        if operators.iter().any(|operator| operator.starts_with("is")) {
            let is_literal =
                |side: &Value| matches!(side, Value::Number(Some(_)) | Value::Real(_) | Value::Str);
            let differs = sides.len() == 2 && sides.contains(&Value::None) && sides.iter().any(is_literal);
            return Value::Bool(differs.then(|| operators != ["is"]));
        }
        if sides.contains(&Value::Taken) {
            return Value::Taken;
        }
        let tensors: Vec<&Tensor> = sides.iter().filter_map(Value::tensor).collect();
        let member = operators.iter().any(|operator| matches!(*operator, "in" | "not in" | "not"));
        if tensors.is_empty() || (member && sides.last().is_some_and(|last| *last == Value::Unknown)) {
            return Value::Bool(None);
        }
        let mut result = self.result(&tensors);
        result.dtype = Some(Dtype::Bool);
        // `0 < x < 1` and `x in [a, b]` convert a tensor to a boolean.
        if (member || operators.len() > 1) && result.sure && result.origin >= Origin::State {
            self.say(node, report::traced_branch(node, node, Decision::Operator, result.origin, self.source));
            return Value::Bool(None);
        }
        Value::Tensor(result)
    }

    /// Returns a new tensor that is computed from the tensors `of`.
    pub fn result(&mut self, of: &[&Tensor]) -> Tensor {
        let origin = of.iter().map(|tensor| tensor.origin).max().unwrap_or(Origin::Constant);
        let mut result = self.fresh_tensor(origin);
        // Presumed tensors may be numbers, so a result of only presumed tensors is presumed, too.
        result.sure = of.iter().any(|tensor| tensor.sure);
        result.rank =
            of.iter().map(|tensor| tensor.rank).reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))).flatten();
        result
    }
}

/// Returns the elements of a literal tensor after `+`, `-` or `*` with an integer.
fn shifted(left: &Value, right: &Value, operator: &str) -> Option<Rc<[i64]>> {
    let elements = left.tensor()?.elements.as_ref()?;
    let Value::Number(Some(number)) = right else { return None };
    let by = integer(*number)?;
    elements
        .iter()
        .map(|element| match operator {
            "+" => element.checked_add(by),
            "-" => element.checked_sub(by),
            "*" => element.checked_mul(by),
            _ => None,
        })
        .collect()
}
