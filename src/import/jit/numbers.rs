//! Arithmetic of numbers: constants are folded, and computed integers keep their expressions.

use super::fault::Fault;
use super::interpreter::Interpreter;
use super::item::Item;
use super::recorder::named;
use crate::graph::dim::{Bounds, Dim};
use crate::graph::{ElemType, Tensor};
use crate::infer;
use crate::torch::{Argument, Input, Op, Type};

/// Returns a 0-d constant of int64, or a 0-d boolean, as a tracked number.
pub fn scalar(tensor: &Tensor) -> Option<Item> {
    let elem = tensor.elem().filter(|elem| matches!(elem, ElemType::Int64 | ElemType::Bool))?;
    if !tensor.dims.is_empty() {
        return None;
    }
    let number = *infer::array(tensor)?.as_i64s().ok()?.first()?;
    let number = if elem == ElemType::Bool { Item::Bool(number != 0) } else { Item::Int(number) };
    Some(Item::Scalar(elem, Box::new(number)))
}

/// Python operator of a TorchScript operator on two numbers.
fn python_op(name: &str) -> Option<&'static str> {
    Some(match name {
        "add" => "add",
        "sub" => "sub",
        "mul" => "mul",
        "floordiv" | "floor_divide" => "floordiv",
        "remainder" => "mod",
        "div" | "true_divide" => "truediv",
        "pow" => "pow",
        "eq" => "eq",
        "ne" => "ne",
        "lt" => "lt",
        "le" => "le",
        "gt" => "gt",
        "ge" => "ge",
        _ => return None,
    })
}

impl Interpreter<'_> {
    /// Returns the truth value of a condition; `None` if it is computed at run time.
    pub fn truth(&mut self, item: &Item) -> Result<Option<bool>, Fault> {
        Ok(match item {
            Item::None => Some(false),
            Item::Float(float) => Some(*float != 0.0),
            Item::Bool(_) | Item::Int(_) => item.int().map(|int| int != 0),
            Item::Scalar(_, number) => return self.truth(&number.clone()),
            Item::Computed(_) | Item::Tensor(_) => None,
            other => return Err(format!("its condition is {}", other.kind()).into()),
        })
    }

    /// Applies an operator to numbers; `None` if it is not an operator on numbers.
    pub fn number_op(&mut self, name: &str, given: &[Item]) -> Result<Option<Item>, Fault> {
        match given {
            [one] => self.unary(name, one),
            [a, b] if a.is_number() && b.is_number() => self.binary(name, a, b),
            _ => Ok(None),
        }
    }

    fn unary(&mut self, name: &str, one: &Item) -> Result<Option<Item>, Fault> {
        if matches!(one, Item::Computed(_)) {
            return Ok(match name {
                "neg" => Some(self.binary("sub", &Item::Int(0), one)?.ok_or("it negates a boolean")?),
                "__not__" => Some(self.not(one)),
                "floor" | "ceil" | "round" if self.is_int(one) => Some(one.clone()),
                "floor" | "ceil" => Some(self.rounded(name, one)),
                _ => None,
            });
        }
        let Some(float) = one.float() else { return Ok(None) };
        let int = one.int();
        let whole = |float: f64| Item::Int(float as i64);
        Ok(Some(match (name, int) {
            ("neg", Some(int)) => Item::Int(int.wrapping_neg()),
            ("neg", None) => Item::Float(-float),
            ("__not__", _) => Item::Bool(float == 0.0),
            ("abs", Some(int)) => Item::Int(int.wrapping_abs()),
            ("abs", None) => Item::Float(float.abs()),
            ("floor" | "ceil" | "round", Some(int)) => Item::Int(int),
            ("floor", None) => whole(float.floor()),
            ("ceil", None) => whole(float.ceil()),
            ("round", None) => whole(float.round_ties_even()),
            ("sqrt", _) => Item::Float(float.sqrt()),
            ("exp", _) => Item::Float(float.exp()),
            ("log", _) => Item::Float(float.ln()),
            ("log2", _) => Item::Float(float.log2()),
            _ => return Ok(None),
        }))
    }

    fn binary(&mut self, name: &str, a: &Item, b: &Item) -> Result<Option<Item>, Fault> {
        if matches!(name, "__and__" | "__or__" | "__xor__") {
            return match (a, b) {
                (Item::Int(a), Item::Int(b)) => Ok(Some(Item::Int(match name {
                    "__and__" => a & b,
                    "__or__" => a | b,
                    _ => a ^ b,
                }))),
                (a, b) if self.is_bool(a) && self.is_bool(b) => self.logic(name, a, b).map(Some),
                _ => Err("it combines the bits of a computed integer".into()),
            };
        }
        if let (Some(x), Some(y)) = (a.float(), b.float()) {
            return Ok(folded(name, (a.int(), b.int()), (x, y))?);
        }
        match name {
            "max" | "min" => return self.extremum(name, a, b).map(Some),
            _ => {}
        }
        let Some(op) = python_op(name) else { return Ok(None) };
        let dims = self.recorder.dim(a).zip(self.recorder.dim(b));
        let is_comparison = matches!(op, "eq" | "ne" | "lt" | "le" | "gt" | "ge");
        if is_comparison
            && let Some((x, y)) = &dims
            && let Some(known) = compared(op, x, y)
        {
            return Ok(Some(Item::Bool(known)));
        }
        // A power of integers is a float in TorchScript.
        let are_ints = self.is_int(a) && self.is_int(b) && op != "pow";
        let dim = dims.as_ref().and_then(|(x, y)| match op {
            "add" => x.add(y),
            "sub" => x.sub(y),
            "mul" => x.mul(y),
            "floordiv" => x.floor_div(y),
            "mod" => x.modulo(y),
            _ => None,
        });
        let ty = match op {
            _ if is_comparison => Type::Bool,
            "truediv" => Type::Float,
            _ if are_ints => Type::Int,
            "floordiv" | "mod" => return Err("it divides computed floats, rounding down".into()),
            _ => Type::Float,
        };
        let (mut a, mut b) = (a.clone(), b.clone());
        if !are_ints {
            (a, b) = (self.floated(&a), self.floated(&b));
        }
        let inputs = self.operands(&[&a, &b])?;
        let op = Op::parse(&format!("_operator.{op}"));
        Ok(Some(self.recorder.number(op, inputs, ty, dim)))
    }

    /// Returns true for an integer or a boolean.
    fn is_int(&self, item: &Item) -> bool {
        match item {
            Item::Computed(value) => matches!(self.recorder.ty(*value), Type::Int),
            other => other.int().is_some(),
        }
    }

    fn is_bool(&self, item: &Item) -> bool {
        match item {
            Item::Computed(value) => matches!(self.recorder.ty(*value), Type::Bool),
            other => matches!(other, Item::Bool(_)),
        }
    }

    fn logic(&mut self, name: &str, a: &Item, b: &Item) -> Result<Item, Fault> {
        let known = match (self.truth(a)?, self.truth(b)?) {
            (Some(known), None) => Some((known, b)),
            (None, Some(known)) | (Some(_), Some(known)) => Some((known, a)),
            _ => None,
        };
        match (name, known) {
            ("__and__", Some((true, other))) | ("__or__" | "__xor__", Some((false, other))) => {
                Ok(other.clone())
            }
            ("__and__", Some((false, _))) => Ok(Item::Bool(false)),
            ("__or__", Some((true, _))) => Ok(Item::Bool(true)),
            ("__xor__", Some((true, other))) => Ok(self.not(&other.clone())),
            _ => {
                let op = match name {
                    "__and__" => "logical_and",
                    "__or__" => "logical_or",
                    _ => "logical_xor",
                };
                let Input { argument: a, .. } = self.operands(&[a])?.remove(0);
                let Input { argument: b, .. } = self.operands(&[b])?.remove(0);
                let inputs = vec![named("self", a), named("other", b)];
                Ok(self.recorder.number(Op::parse(&format!("aten::{op}")), inputs, Type::Bool, None))
            }
        }
    }

    /// Returns the negation of a computed boolean.
    fn not(&mut self, item: &Item) -> Item {
        let value = match item {
            Item::Computed(value) => value,
            constant => return Item::Bool(constant.int() == Some(0)),
        };
        let inputs = vec![named("self", Argument::Value(*value))];
        self.recorder.number(Op::parse("aten::logical_not"), inputs, Type::Bool, None)
    }

    fn extremum(&mut self, name: &str, a: &Item, b: &Item) -> Result<Item, Fault> {
        if !self.is_int(a) || !self.is_int(b) {
            return Err("it compares computed floats".into());
        }
        let dims = self.recorder.dim(a).zip(self.recorder.dim(b));
        let dim = dims.and_then(|(a, b)| if name == "max" { a.maximum(&b) } else { a.minimum(&b) });
        let inputs = self.operands(&[a, b])?;
        Ok(self.recorder.number(Op::parse(&format!("torch.sym_{name}")), inputs, Type::Int, dim))
    }

    /// Converts a number to a float.
    pub fn floated(&mut self, item: &Item) -> Item {
        match item {
            Item::Computed(value) if !matches!(self.recorder.ty(*value), Type::Float) => {
                let inputs = vec![Input { name: None, argument: Argument::Value(*value) }];
                self.recorder.number(Op::parse("torch.sym_float"), inputs, Type::Float, None)
            }
            Item::Bool(_) | Item::Int(_) => Item::Float(item.float().unwrap_or_default()),
            other => other.clone(),
        }
    }

    /// Converts a computed float to an integer: `trunc`, `floor` or `ceil`.
    pub fn rounded(&mut self, how: &str, item: &Item) -> Item {
        let Item::Computed(value) = item else { return item.clone() };
        let inputs = vec![Input { name: None, argument: Argument::Value(*value) }];
        self.recorder.number(Op::parse(&format!("math.{how}")), inputs, Type::Int, None)
    }

    /// Returns numbers as arguments without names.
    fn operands(&mut self, items: &[&Item]) -> Result<Vec<Input>, Fault> {
        let argument = |item: &&Item| Ok(Input { name: None, argument: self.argument(item)? });
        items.iter().map(argument).collect()
    }
}

/// Decides a comparison of two integers, if it has the same result for all sizes.
fn compared(op: &str, a: &Dim, b: &Dim) -> Option<bool> {
    let bounds = Bounds::default();
    let less = |a: &Dim, b: &Dim| b.at_least(a, &bounds);
    let answer = match op {
        "eq" => a.equals(b, &bounds),
        "ne" => a.differs(b, &bounds),
        "le" => less(a, b),
        "ge" => less(b, a),
        "lt" => less(b, a).negated(),
        _ => less(a, b).negated(),
    };
    match () {
        () if answer.is_always() => Some(true),
        () if answer.is_never() => Some(false),
        () => None,
    }
}

/// Folds an operator on two constants, as Python does.
fn folded(name: &str, ints: (Option<i64>, Option<i64>), (x, y): (f64, f64)) -> Result<Option<Item>, String> {
    let zero = || "it divides by 0".to_owned();
    let overflow = || "a constant integer overflows".to_owned();
    if let (Some(a), Some(b)) = ints {
        let int = |result: Option<i64>| Ok(Some(Item::Int(result.ok_or_else(overflow)?)));
        return match name {
            "add" => int(a.checked_add(b)),
            "sub" => int(a.checked_sub(b)),
            "mul" => int(a.checked_mul(b)),
            "floordiv" | "floor_divide" | "remainder" if b == 0 => Err(zero()),
            "floordiv" | "floor_divide" => int(Dim::known(a).floor_div(b).and_then(|dim| dim.as_const())),
            "remainder" => int(Dim::known(a).modulo(b).and_then(|dim| dim.as_const())),
            "max" => Ok(Some(Item::Int(a.max(b)))),
            "min" => Ok(Some(Item::Int(a.min(b)))),
            "eq" => Ok(Some(Item::Bool(a == b))),
            "ne" => Ok(Some(Item::Bool(a != b))),
            "lt" => Ok(Some(Item::Bool(a < b))),
            "le" => Ok(Some(Item::Bool(a <= b))),
            "gt" => Ok(Some(Item::Bool(a > b))),
            "ge" => Ok(Some(Item::Bool(a >= b))),
            _ => floats(name, x, y),
        };
    }
    floats(name, x, y)
}

fn floats(name: &str, x: f64, y: f64) -> Result<Option<Item>, String> {
    Ok(Some(match name {
        "add" => Item::Float(x + y),
        "sub" => Item::Float(x - y),
        "mul" => Item::Float(x * y),
        "div" | "true_divide" | "floordiv" | "remainder" if y == 0.0 => {
            return Err("it divides by 0".to_owned());
        }
        "div" | "true_divide" => Item::Float(x / y),
        "floordiv" => Item::Float((x / y).floor()),
        "remainder" => Item::Float((y + x % y) % y),
        "pow" => Item::Float(x.powf(y)),
        "max" => Item::Float(x.max(y)),
        "min" => Item::Float(x.min(y)),
        "eq" => Item::Bool(x == y),
        "ne" => Item::Bool(x != y),
        "lt" => Item::Bool(x < y),
        "le" => Item::Bool(x <= y),
        "gt" => Item::Bool(x > y),
        "ge" => Item::Bool(x >= y),
        _ => return Ok(None),
    }))
}
