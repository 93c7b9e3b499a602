//! Elements of a traced model that differ from PyTorch's at other sizes, because a number is constant.
//!
//! A replay runs the model at other sizes with the numbers of the example. Where such a number meets a tensor, the
//! elements of the result differ from those of the natural run. The deviation is followed to the outputs; operators
//! that may undo it, such as a normalization after a product, end it.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::syntax::{children, field, text, within};
use super::calls::Args;
use super::machine::{Machine, Stop};
use super::tensor::Deviation::{self, Affine, Mixed, Scaled, Shifted};
use super::tensor::{Deviating, Tensor};
use super::value::Value;

/// Operators that move elements, or leave out some.
const MOVES: [&str; 34] = [
    "view",
    "reshape",
    "flatten",
    "unflatten",
    "transpose",
    "swapaxes",
    "permute",
    "movedim",
    "squeeze",
    "unsqueeze",
    "contiguous",
    "clone",
    "detach",
    "expand",
    "expand_as",
    "view_as",
    "repeat",
    "repeat_interleave",
    "flip",
    "roll",
    "narrow",
    "select",
    "chunk",
    "split",
    "unbind",
    "to",
    "float",
    "double",
    "half",
    "dropout",
    "masked_fill",
    "tile",
    "t",
    "type_as",
];

/// Operators that keep a common factor, and a common summand.
const AVERAGES: [&str; 5] = ["mean", "amax", "amin", "max_pool1d", "max_pool2d"];

/// Operators that keep a common factor, but not a common summand.
const HOMOGENEOUS: [&str; 18] = [
    "sum",
    "cumsum",
    "norm",
    "abs",
    "sqrt",
    "rsqrt",
    "square",
    "reciprocal",
    "relu",
    "leaky_relu",
    "pad",
    "interpolate",
    "avg_pool1d",
    "avg_pool2d",
    "matmul",
    "bmm",
    "mm",
    "einsum",
];

/// Operators whose results differ wherever their operands do.
const INJECTIVE: [&str; 12] = [
    "sigmoid", "tanh", "log1p", "gelu", "silu", "mish", "softplus", "elu", "linear", "cat", "concat", "stack",
];

impl<'t> Machine<'t> {
    /// Gives the result of an arithmetic operator the deviation of its operands, and records its number.
    pub fn deviate_binary(
        &mut self,
        operator: &str,
        operands: [&Value<'t>; 2],
        result: Value<'t>,
        node: Node<'t>,
    ) -> Value<'t> {
        let differs = self.note_operand(operands, node);
        if !self.is_replay() {
            return result;
        }
        let [left, right] = operands.map(|operand| self.deviation(operand));
        let deviation = match (left, right) {
            (None, None) if differs => match operator {
                "*" if operands.iter().any(|operand| operand.number() == Some(0.0)) => None,
                "*" | "/" => Some(Scaled),
                "+" | "-" => Some(Shifted),
                "**" => Some(Mixed),
                _ => None,
            },
            (Some(deviation), None) | (None, Some(deviation)) if !differs => {
                let is_number = operands.iter().any(|operand| operand.number().is_some());
                let is_divisor = operator == "/" && right.is_some();
                match (operator, deviation) {
                    ("*", _) if operands.iter().any(|operand| operand.number() == Some(0.0)) => None,
                    ("*" | "/", Scaled) => Some(Scaled),
                    ("+" | "-", Shifted) => Some(Shifted),
                    // The other tensor may be computed from the same one: `x - x / n` is scaled, too.
                    ("+" | "-", Scaled | Affine) => Some(Affine),
                    ("*" | "/", Shifted | Affine) if is_number && !is_divisor => Some(deviation),
                    ("*" | "/" | "+" | "-", _) => Some(Mixed),
                    ("@", _) => Some(if deviation == Scaled { Scaled } else { Mixed }),
                    _ => None,
                }
            }
            // A sum or product of tensors that differ in unlike ways does not cancel the difference.
            (Some(left), Some(right)) if !differs && matches!(operator, "+" | "*" | "@") => {
                if left == right && operator == "+" { Some(left) } else { Some(Mixed) }
            }
            _ => None,
        };
        self.with_deviation(result, deviation)
    }

    /// Gives the result of a function or method of PyTorch the deviation of its operands.
    ///
    /// `own` is the object of a method.
    pub fn deviate(
        &mut self,
        name: &str,
        own: Option<&Value<'t>>,
        args: &Args<'t>,
        result: Value<'t>,
    ) -> Value<'t> {
        if self.record.is_none() {
            return result;
        }
        let operands: Vec<Value<'t>> = own.into_iter().chain(args.all()).cloned().collect();
        if let ([left, right], Some(operator)) = (&operands[..], operator_of(name)) {
            return self.deviate_binary(operator, [left, right], result, args.node);
        }
        self.with_deviation(result, self.joint(name, operands, false))
    }

    /// Gives the result of a layer of PyTorch the deviation of its inputs.
    pub fn deviate_layer(
        &self,
        layer: &Value<'t>,
        name: &str,
        args: &Args<'t>,
        result: Value<'t>,
    ) -> Value<'t> {
        if !self.is_replay() {
            return result;
        }
        let has_bias = self.setting(layer, "bias").tensor().is_some();
        self.with_deviation(result, self.joint(name, args.all().cloned().collect(), has_bias))
    }

    /// Returns the deviation of the result of `name`.
    ///
    /// `has_bias` is true for a layer that adds a different number to each element.
    fn joint(&self, name: &str, operands: Vec<Value<'t>>, has_bias: bool) -> Option<Deviation> {
        let items = operands.iter().filter_map(|operand| match operand {
            Value::Tuple(_) | Value::Object(_) => self.items(operand),
            _ => None,
        });
        let mut all: Vec<Value<'t>> = items.flatten().collect();
        let is_joined = !all.is_empty();
        all.extend(operands);
        let mut found = all.iter().filter_map(|value| self.deviation(value));
        match (found.next(), found.next()) {
            (Some(deviation), None) => carried(name, deviation, has_bias),
            // The parts of a joined tensor cannot cancel each other.
            (Some(first), Some(second)) if is_joined && matches!(name, "cat" | "concat" | "stack") => {
                Some(if first == second && found.all(|other| other == first) { first } else { Mixed })
            }
            _ => None,
        }
    }

    /// Marks the variables that a loop updates, after a replay with another number of iterations.
    pub fn deviate_recurrence(&mut self, left: Node<'t>, body: Option<Node<'t>>) -> Result<(), Stop> {
        let source = self.source(self.file());
        for target in body.map(|body| updated(left, body, source)).unwrap_or_default() {
            let value = self.evaluate(target)?;
            if value.tensor().is_some_and(|tensor| tensor.varies) {
                let value = self.with_deviation(value, Some(Mixed));
                self.assign(target, value)?;
            }
        }
        Ok(())
    }

    /// Returns true if an output of a replay certainly differs from PyTorch's.
    pub fn deviates(&self, output: &Value<'t>) -> bool {
        match output {
            Value::Tensor(_) => self.deviation(output).is_some(),
            Value::Str(_) => false,
            _ => self.items(output).is_some_and(|items| items.iter().any(|item| self.deviates(item))),
        }
    }

    /// Returns the deviation of a tensor.
    pub fn deviation(&self, value: &Value<'t>) -> Option<Deviation> {
        let tensor = value.tensor()?;
        let deviating = tensor.deviation.filter(|one| one.writes == self.writes(tensor))?;
        Some(deviating.deviation)
    }

    /// Returns a value whose tensors have a deviation.
    pub fn with_deviation(&self, value: Value<'t>, deviation: Option<Deviation>) -> Value<'t> {
        match value {
            Value::Tensor(tensor) if tensor.deviation.is_some() || deviation.is_some() => {
                let writes = self.writes(&tensor);
                let deviation = deviation.map(|deviation| Deviating { deviation, writes });
                Value::Tensor(Rc::new(Tensor { deviation, ..(*tensor).clone() }))
            }
            Value::Tuple(items) => {
                let items = items.iter().map(|item| self.with_deviation(item.clone(), deviation));
                Value::tuple(items.collect())
            }
            value => value,
        }
    }

    fn is_replay(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.at.is_some())
    }

    /// Records the number that meets a tensor, and returns true if it differs from that of the natural run.
    fn note_operand(&mut self, operands: [&Value<'t>; 2], node: Node<'t>) -> bool {
        let number = match operands {
            [Value::Tensor(tensor), number] | [number, Value::Tensor(tensor)] if tensor.varies => {
                self.number_of(number)
            }
            _ => None,
        };
        let (file, Some(number)) = (self.file(), number) else { return false };
        let Some(record) = &mut self.record else { return false };
        let natural = record.natural.get(record.operands.len());
        let differs = natural.is_some_and(|(other_file, other, natural)| {
            (*other_file, *other) == (file, node) && *natural != number
        });
        record.operands.push((file, node, number));
        differs
    }

    /// Returns a number, or the only element of a tensor.
    fn number_of(&self, value: &Value<'t>) -> Option<f64> {
        match value {
            Value::Tensor(tensor) => match &*self.data(tensor)? {
                [number] => Some(*number),
                _ => None,
            },
            value => value.number(),
        }
    }
}

/// Returns the variables that a loop computes from their last values and from the variable of the loop.
fn updated<'t>(left: Node<'t>, body: Node<'t>, source: &'t str) -> Vec<Node<'t>> {
    let names = |node: Node<'t>| -> Vec<&'t str> {
        let found = within(node).into_iter().filter(|node| node.kind() == "identifier");
        found.map(|node| text(node, source)).collect()
    };
    let mut dependent = names(left);
    let mut updated: Vec<Node<'t>> = vec![];
    for statement in children(body).into_iter().filter(|node| node.kind() == "expression_statement") {
        let Some(assignment) = children(statement).first().copied() else { continue };
        let (Some(target), Some(value)) = (field(assignment, "left"), field(assignment, "right")) else {
            continue;
        };
        let used = names(value);
        if !used.iter().any(|name| dependent.contains(name)) {
            continue;
        }
        let targets = if target.kind() == "identifier" { vec![target] } else { children(target) };
        for target in targets.into_iter().filter(|target| target.kind() == "identifier") {
            let name = text(target, source);
            if assignment.kind() == "augmented_assignment" || used.contains(&name) {
                updated.push(target);
            }
            dependent.push(name);
        }
    }
    updated
}

/// Returns the operator that a function or method computes.
fn operator_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "mul" | "mul_" | "multiply" => "*",
        "div" | "div_" | "divide" | "true_divide" => "/",
        "add" | "add_" => "+",
        "sub" | "sub_" | "subtract" => "-",
        "pow" | "pow_" => "**",
        "matmul" | "bmm" | "mm" => "@",
        _ => return None,
    })
}

/// Returns the deviation of a result whose only deviating operand is `deviation`.
fn carried(name: &str, deviation: Deviation, has_bias: bool) -> Option<Deviation> {
    let name = name.strip_prefix("linalg.").unwrap_or(name);
    let scaled = Some(if deviation == Scaled { Scaled } else { Mixed });
    match (name, deviation) {
        ("Identity" | "Flatten" | "Unflatten" | "Dropout", _) => Some(deviation),
        _ if MOVES.contains(&name) || AVERAGES.contains(&name) => Some(deviation),
        _ if HOMOGENEOUS.contains(&name) => scaled,
        ("exp", Shifted) => Some(Scaled),
        ("log", Scaled) => Some(Shifted),
        ("exp" | "log", _) => Some(Mixed),
        _ if INJECTIVE.contains(&name) => Some(Mixed),
        ("softmax" | "log_softmax" | "Softmax" | "LogSoftmax", Scaled | Affine | Mixed) => Some(Mixed),
        ("ReLU" | "LeakyReLU", _) => scaled,
        ("Sigmoid" | "Tanh" | "GELU" | "SiLU" | "Mish" | "Softplus" | "ELU", _) => Some(Mixed),
        ("Linear" | "Conv1d" | "Conv2d" | "Conv3d", _) if has_bias => Some(Mixed),
        ("Linear" | "Conv1d" | "Conv2d" | "Conv3d", _) => scaled,
        ("LayerNorm" | "BatchNorm1d" | "BatchNorm2d" | "GroupNorm" | "RMSNorm" | "layer_norm", Mixed) => {
            Some(Mixed)
        }
        ("LSTM" | "GRU" | "RNN", _) => Some(Mixed),
        _ => None,
    }
}
