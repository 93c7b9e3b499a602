//! Operators on plain values; those on tensors are in `torch`.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::syntax::field;
use super::calls::Args;
use super::heap::Object;
use super::machine::{Eval, Machine, Stop};
use super::tensor::Tensor;
use super::value::Value;

impl<'t> Machine<'t> {
    /// Evaluates a binary operator.
    pub fn binary(
        &mut self,
        operator: &str,
        left: &Value<'t>,
        right: &Value<'t>,
        node: Node<'t>,
    ) -> Eval<'t> {
        if matches!(left, Value::Tensor(_)) || matches!(right, Value::Tensor(_)) {
            let result = self.tensor_binary(operator, left, right, node)?;
            return Ok(self.deviate_binary(operator, [left, right], result, node));
        }
        if let (Some(a), Some(b)) = (left.number(), right.number()) {
            return Ok(number(operator, left, right, a, b));
        }
        let derived = self.derived_dimension(operator, left, right);
        if let Some(value) = derived.or_else(|| self.array_binary(operator, left, right, node)) {
            return Ok(value);
        }
        Ok(match (operator, left, right) {
            ("+", Value::Str(a), Value::Str(b)) => Value::str(&format!("{a}{b}")),
            ("/", _, Value::Str(b)) if left.text().is_some() => {
                super::strings::path_of(left.text().map(|a| vec![a, &**b]))
            }
            ("%", Value::Str(text), _) => self.percent(text, right),
            ("+", Value::Tuple(a), Value::Tuple(b)) => {
                Value::tuple(a.iter().chain(b.iter()).cloned().collect())
            }
            ("*", Value::Tuple(items), Value::Int(times)) | ("*", Value::Int(times), Value::Tuple(items)) => {
                repeated(items, *times).map_or(Value::Unknown, Value::tuple)
            }
            ("+", Value::Object(_), Value::Object(_)) => match (self.listed(left), self.listed(right)) {
                (Some(a), Some(b)) => self.list(a.into_iter().chain(b).collect()),
                _ => Value::Unknown,
            },
            ("*", Value::Object(_), Value::Int(times)) | ("*", Value::Int(times), Value::Object(_)) => {
                let list = if left.object().is_some() { left } else { right };
                let items = self.listed(list).and_then(|items| repeated(&items, *times));
                items.map_or(Value::Unknown, |items| self.list(items))
            }
            ("|", Value::Object(_), Value::Object(_)) => {
                let joined = self.dict(vec![], false);
                self.update_dict(&joined, left);
                self.update_dict(&joined, right);
                joined
            }
            _ => Value::Unknown,
        })
    }

    /// Returns the items of a list, if all are known.
    fn listed(&self, value: &Value<'t>) -> Option<Vec<Value<'t>>> {
        match self.heap.get(value.object()?) {
            Object::List(list) if !list.open => Some(list.items.clone()),
            _ => None,
        }
    }

    /// Evaluates a unary operator.
    pub fn unary(&mut self, operator: &str, value: &Value<'t>, node: Node<'t>) -> Eval<'t> {
        Ok(match (operator, value) {
            (_, Value::Tensor(tensor)) => return self.tensor_unary(operator, &tensor.clone(), node),
            ("-", Value::Int(number)) => number.checked_neg().map_or(Value::Unknown, Value::Int),
            ("-", Value::Float(number)) => Value::Float(-number),
            ("-", Value::Bool(flag)) => Value::Int(-i64::from(*flag)),
            ("+", Value::Int(_) | Value::Float(_)) => value.clone(),
            ("~", Value::Int(number)) => Value::Int(!number),
            ("-", Value::Object(_)) if let Some(array) = self.array_tensor(value) => {
                let negative = Tensor { data: None, bounds: None, ..(*array).clone() };
                self.array_like(&Value::Tensor(Rc::new(negative)))
            }
            _ => Value::Unknown,
        })
    }

    /// Runs an augmented assignment.
    pub fn augmented(&mut self, node: Node<'t>) -> Result<(), Stop> {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { return Ok(()) };
        let operator = field(node, "operator").map_or("", |operator| self.text(operator));
        let operator = operator.trim_end_matches('=');
        let before = self.evaluate(left)?;
        let by = self.evaluate(right)?;
        let is_list = before.object().is_some_and(|object| matches!(self.heap.get(object), Object::List(_)));
        if is_list && operator == "+" {
            self.container_method(&before, "__iadd__", &Args::of(node, vec![by]))?;
            return Ok(());
        }
        if let Value::Tensor(tensor) = &before {
            let result = self.tensor_binary(operator, &before, &by, node)?;
            let result = self.deviate_binary(operator, [&before, &by], result, node);
            let deviation = self.deviation(&result);
            let tensor = tensor.clone();
            self.write(&tensor);
            let kept = self.in_place_result(&tensor, &result, node)?;
            let kept = self.with_deviation(kept, deviation);
            return self.assign(left, kept);
        }
        // An operator in place keeps the dtype of an array.
        let array = self.array_tensor(&before).filter(|array| array.rank().is_some_and(|rank| rank > 0));
        let after = match array {
            Some(array) => self.array_like(&Value::Tensor(Rc::new(Tensor {
                data: None,
                bounds: None,
                ..(*array).clone()
            }))),
            None => self.binary(operator, &before, &by, node)?,
        };
        self.assign(left, after)
    }

    /// Evaluates a comparison of two values.
    pub fn compare(
        &mut self,
        operator: &str,
        left: &Value<'t>,
        right: &Value<'t>,
        node: Node<'t>,
    ) -> Eval<'t> {
        let words: Vec<&str> = operator.split_whitespace().collect();
        let operator = words.join(" ");
        let negated =
            |flag: Option<bool>, not: bool| flag.map_or(Value::Unknown, |flag| Value::Bool(flag != not));
        match operator.as_str() {
            "is" | "is not" => return Ok(negated(self.is_same(left, right), operator == "is not")),
            "in" | "not in" if let Value::Tensor(tensor) = right => {
                self.coverage.read(self.file(), node, tensor.memory);
                return Ok(Value::Unknown);
            }
            "in" | "not in" => return Ok(negated(self.contains(right, left), operator == "not in")),
            _ => {}
        }
        if matches!(left, Value::Tensor(_)) || matches!(right, Value::Tensor(_)) {
            let result = self.tensor_binary(&operator, left, right, node)?;
            return Ok(self.deviate_binary(&operator, [left, right], result, node));
        }
        if let (Some(a), Some(b)) = (left.number(), right.number()) {
            return Ok(Value::Bool(match operator.as_str() {
                "==" => a == b,
                "!=" | "<>" => a != b,
                "<" => a < b,
                "<=" => a <= b,
                ">" => a > b,
                _ => a >= b,
            }));
        }
        let equal = self.equal(left, right);
        Ok(match operator.as_str() {
            "==" => negated(equal, false),
            "!=" | "<>" => negated(equal, true),
            _ => match (left.text(), right.text()) {
                (Some(a), Some(b)) => Value::Bool(match operator.as_str() {
                    "<" => a < b,
                    "<=" => a <= b,
                    ">" => a > b,
                    _ => a >= b,
                }),
                _ => Value::Unknown,
            },
        })
    }

    /// Returns whether two values are equal, if that is known.
    pub fn equal(&self, left: &Value<'t>, right: &Value<'t>) -> Option<bool> {
        match (left, right) {
            (Value::Unknown, _) | (_, Value::Unknown) => None,
            (Value::Tuple(a), Value::Tuple(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                let each: Vec<Option<bool>> = a.iter().zip(b.iter()).map(|(a, b)| self.equal(a, b)).collect();
                if each.contains(&Some(false)) {
                    return Some(false);
                }
                each.iter().all(Option::is_some).then_some(true)
            }
            (Value::Name(a), Value::Name(b)) => (a == b).then_some(true),
            // A path, which differs from its text, is represented by it.
            (Value::Str(a), Value::Str(b)) if a == b && a.contains(['/', '.']) && self.has_paths() => None,
            (Value::Object(a), Value::Object(b)) if self.is_member(left) && self.is_member(right) => {
                Some(a == b)
            }
            (a, b) if a.is_plain() && b.is_plain() => match (a.number(), b.number()) {
                (Some(a), Some(b)) => Some(a == b),
                _ => Some(a == b),
            },
            _ => None,
        }
    }

    fn is_same(&self, left: &Value<'t>, right: &Value<'t>) -> Option<bool> {
        match (left, right) {
            (Value::Unknown, _) | (_, Value::Unknown) => None,
            (Value::None, Value::None) => Some(true),
            // The value of a name in a library may be `None`.
            (Value::None, Value::Name(_)) | (Value::Name(_), Value::None) => None,
            (Value::None, _) | (_, Value::None) => Some(false),
            (Value::Object(a), Value::Object(b)) => Some(a == b),
            (Value::Bool(a), Value::Bool(b)) => Some(a == b),
            (Value::Name(a), Value::Name(b)) if a == b => Some(true),
            _ => None,
        }
    }

    fn contains(&self, container: &Value<'t>, item: &Value<'t>) -> Option<bool> {
        if let (Value::Str(text), Value::Str(part)) = (container, item) {
            return Some(text.contains(&**part));
        }
        let items = self.items(container)?;
        let each: Vec<Option<bool>> = items.iter().map(|other| self.equal(other, item)).collect();
        if each.contains(&Some(true)) {
            return Some(true);
        }
        each.iter().all(Option::is_some).then_some(false)
    }
}

fn repeated<'t>(items: &[Value<'t>], times: i64) -> Option<Vec<Value<'t>>> {
    let times = usize::try_from(times.max(0)).ok()?;
    (items.len().checked_mul(times)? <= MAX_REPEATED)
        .then(|| std::iter::repeat_n(items.iter().cloned(), times).flatten().collect())
}

/// Maximum number of items of a repeated list, such as `[0] * n`.
const MAX_REPEATED: usize = 10_000;

/// Returns the result of an operator on two numbers.
fn number<'t>(operator: &str, left: &Value<'t>, right: &Value<'t>, a: f64, b: f64) -> Value<'t> {
    if let (Some(a), Some(b)) = (left.int(), right.int()) {
        let whole = match operator {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            "//" if b != 0 => a.checked_div_euclid(b).map(|q| q - i64::from(b < 0 && a.rem_euclid(b) != 0)),
            "%" if b > 0 => Some(a.rem_euclid(b)),
            "**" if b >= 0 => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            "&" => Some(a & b),
            "|" => Some(a | b),
            "^" => Some(a ^ b),
            "<<" => u32::try_from(b).ok().and_then(|b| 2i64.checked_pow(b)).and_then(|b| a.checked_mul(b)),
            ">>" => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
            "/" | "**" if b != 0 => return real(operator, a as f64, b as f64),
            _ => None,
        };
        return Value::size(whole);
    }
    if b == 0.0 && matches!(operator, "/" | "//" | "%") {
        return Value::Unknown;
    }
    real(operator, a, b)
}

fn real<'t>(operator: &str, a: f64, b: f64) -> Value<'t> {
    Value::Float(match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "//" => (a / b).floor(),
        "**" => a.powf(b),
        "%" => a - b * (a / b).floor(),
        _ => return Value::Unknown,
    })
}
