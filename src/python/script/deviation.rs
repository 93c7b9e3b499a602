//! Elements of a traced model that differ from PyTorch's at other sizes, because a number is constant.
//!
//! A replay runs the model at other sizes with the numbers of the example. Where such a number meets a tensor, the
//! elements of the result differ from those of the natural run. The deviation is followed to the outputs by operators
//! that cannot undo it. The result of any other operator is [`Deviation::Unknown`].

use std::rc::Rc;

use tree_sitter::Node;

use super::calls::Args;
use super::machine::Machine;
use super::natural_numbers::Number;
use super::tensor::Deviation::{self, Mixed, Part, Scaled, Shifted, Unknown};
use super::tensor::{Deviating, Role, Tensor};
use super::value::Value;

/// Methods that move all elements of their object, or repeat them.
const MOVES: [&str; 26] = [
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
    "repeat",
    "flip",
    "roll",
    "tile",
    "t",
    "dropout",
    "view_as",
    "expand_as",
    "Identity",
    "Flatten",
    "Unflatten",
    "Dropout",
];

/// Functions whose results differ where their operand does, unless it is negative or very large.
const INCREASING: [&str; 16] = [
    "sigmoid",
    "tanh",
    "relu",
    "leaky_relu",
    "gelu",
    "silu",
    "elu",
    "softplus",
    "Sigmoid",
    "Tanh",
    "ReLU",
    "LeakyReLU",
    "GELU",
    "SiLU",
    "ELU",
    "Softplus",
];

/// Code that sets parameters to zero, so that a layer hides the deviation of its input.
const ZEROS: [&str; 5] = ["zeros_", "zero_(", "constant_", "Parameter(torch.zeros", "Parameter(0"];

impl<'t> Machine<'t> {
    /// Gives the result of an arithmetic operator the deviation that follows from its operands.
    pub fn deviate_binary(
        &mut self,
        operator: &str,
        operands: [&Value<'t>; 2],
        result: Value<'t>,
        node: Node<'t>,
    ) -> Value<'t> {
        let numbers: Vec<f64> = operands.iter().filter_map(|operand| self.scalar(operand)).collect();
        let compared: Vec<Number> = numbers.iter().map(|number| self.compared(*number, node)).collect();
        if !self.is_replay() {
            return result;
        }
        let is_number = |operand: &Value<'t>| self.scalar(operand).is_some();
        let deviation = match (operands, &compared[..]) {
            ([tensor, number] | [number, tensor], [compared])
                if tensor.tensor().is_some() && is_number(number) && !is_number(tensor) =>
            {
                let is_right = std::ptr::eq(operands[1], number);
                let varies = tensor.tensor().is_some_and(|tensor| tensor.varies);
                match (self.deviation(tensor), compared) {
                    (None, Number::Differs) if varies => match operator {
                        "*" | "/" => Some(Scaled),
                        "+" | "-" => Some(Shifted),
                        _ => Some(Unknown),
                    },
                    (None, Number::Same) => None,
                    (Some(deviation), Number::Same) => Some(match (operator, deviation) {
                        ("*" | "/", _) if numbers[0] != 0.0 && (is_right || operator == "*") => deviation,
                        ("+" | "-", Scaled) => Mixed,
                        ("+" | "-", _) => deviation,
                        _ => Unknown,
                    }),
                    _ => Some(Unknown),
                }
            }
            ([left, right], []) => self.of_tensors(operator, left, right),
            _ => Some(Unknown).filter(|_| operands.iter().any(|operand| self.deviation(operand).is_some())),
        };
        self.with_deviation(result, deviation)
    }

    /// Returns the deviation of an arithmetic operator on two tensors.
    fn of_tensors(&self, operator: &str, left: &Value<'t>, right: &Value<'t>) -> Option<Deviation> {
        let (deviation, other) = match (self.deviation(left), self.deviation(right)) {
            (None, None) => return None,
            (Some(deviation), None) => (deviation, right),
            (None, Some(deviation)) => (deviation, left),
            // The deviations may cancel each other.
            (Some(_), Some(_)) => return Some(Unknown),
        };
        let other = other.tensor()?;
        let is_learned = other.role == Role::Parameter && !self.mentions(&ZEROS);
        Some(match (operator, deviation) {
            ("+" | "-", Scaled) => Mixed,
            ("+" | "-", _) => deviation,
            ("*" | "@", Scaled) if other.varies || is_learned => Scaled,
            ("/", Scaled) if other.varies => Scaled,
            ("*", Shifted | Mixed) if other.varies => Mixed,
            ("@", Mixed) if other.varies || is_learned => Mixed,
            ("@", Shifted) if is_learned => Mixed,
            _ => Unknown,
        })
    }

    /// Gives the result of a function or method of a library the deviation that follows from its operands.
    ///
    /// `own` is the object of a method.
    pub fn deviate(
        &mut self,
        path: &str,
        own: Option<&Value<'t>>,
        args: &Args<'t>,
        result: Value<'t>,
    ) -> Value<'t> {
        if self.record.is_none() {
            return result;
        }
        let name = path.rsplit('.').next().unwrap_or(path);
        let operands: Vec<Value<'t>> = own.into_iter().chain(args.all()).cloned().collect();
        if let ([left, right], Some(operator), true) =
            (&operands[..], operator_of(name), args.keywords.is_empty())
        {
            return self.deviate_binary(operator, [left, right], result, args.node);
        }
        let is_known = self.are_known(&operands, args.node);
        if !self.is_replay() {
            return result;
        }
        let Some((first, rest)) = operands.split_first() else { return result };
        let is_joined = matches!(name, "cat" | "concat" | "stack") && self.deviation(first).is_none();
        let parts = if is_joined { self.items(first).unwrap_or_default() } else { vec![] };
        let rest_deviates = rest.iter().any(|value| self.contains_deviation(value));
        let deviation = match self.deviation(first) {
            _ if !is_known || rest_deviates => Some(Unknown),
            None if is_joined => self.of_parts(&parts),
            None if self.contains_deviation(first) => Some(Unknown),
            None => None,
            Some(deviation) => Some(self.carried(name, deviation, first, args, own.is_some(), &result)),
        };
        self.deviate_fields(&result, deviation);
        self.with_deviation(result, deviation)
    }

    /// Gives the result of a layer of a library the deviation that follows from its inputs.
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
        let operands: Vec<&Value<'t>> = args.all().collect();
        let deviation = match &operands[..] {
            [x] => match self.deviation(x) {
                Some(deviation) if matches!(name, "Linear" | "Conv1d" | "Conv2d" | "Conv3d") => {
                    let has_bias = self.setting(layer, "bias").tensor().is_some();
                    Some(match deviation {
                        _ if self.mentions(&ZEROS) => Unknown,
                        Scaled if !has_bias => Scaled,
                        Scaled | Shifted | Mixed => Mixed,
                        other => other,
                    })
                }
                Some(deviation) => {
                    Some(self.carried(name, deviation, x, &Args::none(args.node), false, &result))
                }
                None => None,
            },
            many => many.iter().any(|value| self.contains_deviation(value)).then_some(Unknown),
        };
        self.with_deviation(result, deviation)
    }

    /// Gives the fields of a result of PyTorch, such as that of `max`, a deviation.
    fn deviate_fields(&mut self, result: &Value<'t>, deviation: Option<Deviation>) {
        let is_named = self.library_class(result).is_some_and(|class| class.starts_with("torch."));
        let Some(object) = result.object().filter(|_| is_named && deviation.is_some()) else { return };
        let fields = self.heap.instance(object).map(|one| one.attributes.clone()).unwrap_or_default();
        for (name, field) in fields {
            let field = self.with_deviation(field, deviation);
            self.set_attribute(result, &name, field);
        }
    }

    /// Returns the deviation of a tensor that joins others.
    fn of_parts(&self, parts: &[Value<'t>]) -> Option<Deviation> {
        let mut found = parts.iter().filter_map(|part| self.deviation(part));
        match (found.next(), found.next()) {
            (None, _) => None,
            (Some(Unknown), _) => Some(Unknown),
            (Some(_), None) => Some(Part),
            // A later sum of the parts may cancel their deviations.
            (Some(_), Some(_)) => Some(Unknown),
        }
    }

    /// Returns the deviation of the result of `name`, whose only deviating operand is the first.
    fn carried(
        &self,
        name: &str,
        deviation: Deviation,
        operand: &Value<'t>,
        args: &Args<'t>,
        is_method: bool,
        result: &Value<'t>,
    ) -> Deviation {
        let rank = operand.tensor().and_then(Tensor::rank);
        let given = args.get(usize::from(!is_method), "dim").and_then(Value::int);
        let axis = given.zip(rank).and_then(|(axis, rank)| super::tensor::axis_index(axis, rank));
        let is_last = axis.zip(rank).is_none_or(|(axis, rank)| axis + 1 == rank);
        let is_float =
            result.tensor().is_some_and(|tensor| tensor.dtype.is_some_and(|dtype| dtype.is_float()));
        match (name, deviation) {
            (_, Unknown) => Unknown,
            _ if !is_float => Unknown,
            _ if MOVES.contains(&name) => deviation,
            ("float" | "double" | "to" | "type_as", _) => deviation,
            ("select" | "narrow" | "chunk" | "split" | "unbind", Scaled | Shifted) => deviation,
            // The last axis may be normalized: the sum of a Softmax is 1, and that of a LayerNorm is 0.
            ("sum" | "mean", Scaled | Shifted | Mixed) if !is_last => deviation,
            ("softmax" | "log_softmax", Scaled)
                if !self.mentions(&ZEROS)
                    && given.is_some_and(|axis| operand.tensor().is_some_and(|x| x.dim(axis) != Some(1))) =>
            {
                Mixed
            }
            ("exp", Scaled) => Mixed,
            ("exp", Shifted) => Scaled,
            (_, Scaled | Shifted | Mixed) if INCREASING.contains(&name) => Mixed,
            (_, Part) if INCREASING.contains(&name) => Part,
            _ => Unknown,
        }
    }

    /// Gives a part of a tensor the deviation that follows from the whole.
    pub fn deviate_item(
        &mut self,
        x: &Value<'t>,
        index: &Value<'t>,
        item: Value<'t>,
        node: Node<'t>,
    ) -> Value<'t> {
        if self.record.is_none() {
            return item;
        }
        let is_known = self.are_known(std::slice::from_ref(index), node);
        if !self.is_replay() {
            return item;
        }
        let deviation = match self.deviation(x) {
            _ if !is_known || self.contains_deviation(index) => Some(Unknown),
            Some(Mixed | Part) => Some(Unknown),
            other => other,
        };
        self.with_deviation(item, deviation)
    }

    /// Returns true if an output of a replay certainly differs from PyTorch's.
    pub fn deviates(&self, output: &Value<'t>) -> bool {
        match output {
            Value::Tensor(_) => self.deviation(output).is_some_and(|deviation| deviation != Unknown),
            Value::Str(_) => false,
            _ => self.items(output).is_some_and(|items| items.iter().any(|item| self.deviates(item))),
        }
    }

    /// Returns the deviation of a tensor; `None` if its elements certainly equal those of the natural run.
    pub fn deviation(&self, value: &Value<'t>) -> Option<Deviation> {
        let tensor = value.tensor()?;
        match tensor.deviation {
            Some(one) if one.writes == self.writes(tensor) => Some(one.deviation),
            // The writes may have been those of a number.
            None if self.writes(tensor) == 0 => None,
            _ => Some(Unknown),
        }
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

    fn contains_deviation(&self, value: &Value<'t>) -> bool {
        match value {
            Value::Tensor(_) => self.deviation(value).is_some(),
            Value::Tuple(_) | Value::Object(_) => {
                self.items(value).is_some_and(|items| items.iter().any(|item| self.contains_deviation(item)))
            }
            _ => false,
        }
    }

    /// Returns true while a model runs with numbers of the example.
    /// Returns true while a model runs with numbers of the example.
    pub fn is_replay(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.at.is_some())
    }
}

/// Returns the operator that a function or method computes.
fn operator_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "mul" | "mul_" | "multiply" => "*",
        "div" | "div_" | "divide" | "true_divide" => "/",
        "add" | "add_" => "+",
        "sub" | "sub_" | "subtract" => "-",
        "matmul" | "bmm" | "mm" => "@",
        _ => return None,
    })
}
