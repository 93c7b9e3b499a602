//! Element-wise operators: broadcasting, type promotion and devices.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::super::syntax::children;
use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Eval, Machine, Stop};
use super::super::tensor::{DType, Dim, Role, Shape, Tensor, shown};
use super::super::unsupported::{BITWISE_AND, BITWISE_NOT, BITWISE_OR, BITWISE_XOR};
use super::super::value::Value;

impl<'t> Machine<'t> {
    /// Returns a new tensor on the device of its operands.
    pub fn made(&mut self, shape: Shape, dtype: Option<DType>, of: &[&Tensor<'t>]) -> Value<'t> {
        let devices: Vec<&Option<Rc<str>>> =
            of.iter().filter(|one| one.rank() != Some(0)).map(|one| &one.device).collect();
        let first = devices.first().copied().or(of.first().map(|one| &one.device)).cloned().flatten();
        let device = first.filter(|_| devices.iter().all(|device| device.is_some()));
        let mut made = self.tensor(shape, dtype, device);
        made.varies = of.iter().any(|one| one.varies && !self.is_changed(one));
        made.needs_grad = of.iter().any(|one| one.needs_grad || one.role == Role::Parameter)
            && made.dtype.is_some_and(DType::is_float)
            && self.records_gradients();
        Value::Tensor(Rc::new(made))
    }

    /// Evaluates a binary operator of which at least one operand is a tensor.
    pub fn tensor_binary(
        &mut self,
        operator: &str,
        left: &Value<'t>,
        right: &Value<'t>,
        node: Node<'t>,
    ) -> Eval<'t> {
        if operator == "@" {
            return match (left, right) {
                (Value::Tensor(a), Value::Tensor(b)) => self.matmul(&a.clone(), &b.clone(), node),
                _ => Ok(Value::Unknown),
            };
        }
        if operator == "-" {
            self.check_subtraction(left, right, node)?;
        }
        self.note_bitwise(operator, left, right, node);
        let is_comparison = matches!(operator, "==" | "!=" | "<" | "<=" | ">" | ">=");
        let divides = operator == "/";
        self.elementwise(&[left.clone(), right.clone()], is_comparison, divides, node)
    }

    /// Records a bitwise operator on integers.
    ///
    /// Operators on booleans are logical, and supported.
    fn note_bitwise(&mut self, operator: &str, left: &Value<'t>, right: &Value<'t>, node: Node<'t>) {
        let name = match operator {
            "&" => BITWISE_AND,
            "|" => BITWISE_OR,
            "^" => BITWISE_XOR,
            _ => return,
        };
        let operands = [left.clone(), right.clone()];
        // `x &= y` writes in place, by other operators.
        if node.kind() == "binary_operator" && self.promoted(&operands).is_some_and(DType::is_integer) {
            let varies = self.varies(&Args::of(node, operands.to_vec()));
            self.executed(name, node, varies);
        }
    }

    /// Reports a subtraction with an operand that is a boolean tensor, or a literal `True` or `False`.
    ///
    /// Other booleans are not reported: they may be NumPy booleans, which PyTorch can subtract.
    pub fn check_subtraction(&self, left: &Value<'t>, right: &Value<'t>, node: Node<'t>) -> Result<(), Stop> {
        let is_literal = children(node).iter().any(|operand| matches!(operand.kind(), "true" | "false"));
        let is_bool = |value: &Value| match value {
            Value::Tensor(tensor) => tensor.dtype == Some(DType::Bool),
            value => is_literal && matches!(value, Value::Bool(_)),
        };
        if is_bool(left) || is_bool(right) {
            let message = "a subtraction of a boolean tensor or number raises";
            let help = "invert a mask by `~mask`, or convert it first: `mask.float()`";
            return Err(self.fault(node, Fault::dtype(message, help)));
        }
        Ok(())
    }

    /// Returns the result of an element-wise operator with broadcasting.
    pub fn elementwise(
        &mut self,
        operands: &[Value<'t>],
        is_comparison: bool,
        divides: bool,
        node: Node<'t>,
    ) -> Eval<'t> {
        let tensors: Vec<Rc<Tensor<'t>>> = operands
            .iter()
            .filter_map(|value| match value {
                Value::Tensor(tensor) => Some(tensor.clone()),
                _ => None,
            })
            .collect();
        let is_known = |value: &Value| matches!(value, Value::Tensor(_)) || value.number().is_some();
        if !operands.iter().all(is_known) || tensors.is_empty() {
            self.coverage.compute(self.file(), node, false);
            return Ok(Value::Unknown);
        }
        let file = self.file();
        let is_narrow = self.promoted(operands).is_some_and(|dtype| dtype != DType::Float64);
        self.coverage.compute(file, node, is_narrow);
        let mut shape: Shape = Some(vec![]);
        for tensor in &tensors {
            shape = match (shape, &tensor.shape) {
                (Some(a), Some(b)) => Some(self.broadcast(&a, b, node)?),
                _ => None,
            };
        }
        let all: Vec<&Tensor<'t>> = tensors.iter().map(|tensor| &**tensor).collect();
        self.same_device(&all, node)?;
        let dtype = match is_comparison {
            true => Some(DType::Bool),
            false if divides => self.floating(self.promoted(operands)),
            false => self.promoted(operands),
        };
        Ok(Self::contiguous_as(self.made(shape, dtype, &all), &all))
    }

    /// Returns the shape to which two shapes are broadcast.
    pub fn broadcast(&self, a: &[Dim], b: &[Dim], node: Node<'t>) -> Result<Vec<Dim>, Stop> {
        let rank = a.len().max(b.len());
        let at = |shape: &[Dim], axis: usize| {
            (axis + shape.len()).checked_sub(rank).map_or(Some(1), |index| shape[index])
        };
        let mut joined = vec![];
        for axis in 0..rank {
            joined.push(match (at(a, axis), at(b, axis)) {
                (Some(x), Some(y)) if x == y => Some(x),
                (Some(1), other) | (other, Some(1)) => other,
                (Some(x), Some(y)) => {
                    let message = format!(
                        "shapes {} and {} cannot be broadcast: axis {axis} is {x} and {y}",
                        shown(a),
                        shown(b)
                    );
                    let help = "make the sizes of each axis equal, or 1";
                    return Err(self.fault(node, Fault::shape(message, help)));
                }
                (Some(x), None) | (None, Some(x)) => Some(x),
                (None, None) => None,
            });
        }
        Ok(joined)
    }

    /// Returns the dtype to which operands are promoted.
    pub fn promoted(&self, operands: &[Value<'t>]) -> Option<DType> {
        match self.default_dtype {
            Some(default) => Self::promoted_by(operands, default),
            None => {
                let both = [DType::Float32, DType::Float64].map(|dtype| Self::promoted_by(operands, dtype));
                both[0].filter(|_| both[0] == both[1])
            }
        }
    }

    fn promoted_by(operands: &[Value<'t>], default: DType) -> Option<DType> {
        let mut whole: Option<DType> = None;
        let mut scalar: Option<DType> = None;
        let join =
            |known: Option<DType>, dtype: DType| Some(known.map_or(dtype, |known| known.promote(dtype)));
        let mut number: Option<DType> = None;
        for operand in operands {
            match operand {
                Value::Tensor(tensor) => {
                    let dtype = tensor.dtype?;
                    match tensor.rank()? {
                        0 => scalar = join(scalar, dtype),
                        _ => whole = join(whole, dtype),
                    }
                }
                Value::Float(_) => number = join(number, default),
                Value::Int(_) => number = join(number, DType::Int64),
                Value::Bool(_) => number = join(number, DType::Bool),
                _ => return None,
            }
        }
        let mut result = whole.or(scalar).or(number)?;
        if let (Some(_), Some(scalar)) = (whole, scalar) {
            result = result.promote_by_scalar(scalar, scalar)?;
        }
        match number {
            Some(number) => result.promote_by_scalar(number, default),
            None => Some(result),
        }
    }

    /// Reports tensors, except 0-d ones, on different types of devices, such as `cpu` and `cuda`.
    pub fn same_device(&self, tensors: &[&Tensor<'t>], node: Node<'t>) -> Result<(), Stop> {
        let kind = |tensor: &&Tensor<'t>| {
            let device = tensor.device.as_ref().filter(|_| tensor.rank().is_some_and(|rank| rank > 0))?;
            Some(device.split(':').next().unwrap_or(device).to_owned())
        };
        let kinds: Vec<String> = tensors.iter().filter_map(kind).collect();
        let other = kinds.iter().find(|other| **other != kinds[0]);
        if let Some(other) = other {
            let message = format!("the operands are on `{}` and `{other}`", kinds[0]);
            let help =
                "move the model and the example to one device: `.to(device)`; create tensors on it, too";
            return Err(self.fault(node, Fault::device(message, help)));
        }
        Ok(())
    }

    /// Evaluates a unary operator on a tensor.
    pub fn tensor_unary(&mut self, operator: &str, tensor: &Tensor<'t>, node: Node<'t>) -> Eval<'t> {
        if operator == "~" && tensor.dtype.is_some_and(|dtype| dtype.is_float() || dtype.is_complex()) {
            let dtype = tensor.dtype.map_or("", DType::name);
            let message = format!("`~` expects integers or booleans, gets {dtype}");
            let fault = Fault { kind: "TypeError", ..Fault::dtype(message, "compare first: `x == 0`") };
            return Err(self.fault(node, fault));
        }
        if operator == "-" && tensor.dtype == Some(DType::Bool) {
            let message = "`-` of a boolean tensor raises";
            return Err(self.fault(node, Fault::dtype(message, "invert a mask by `~mask`")));
        }
        if operator == "~" && tensor.dtype.is_some_and(DType::is_integer) {
            self.executed(BITWISE_NOT, node, tensor.varies);
        }
        let mut result = tensor.clone();
        result.data = match operator {
            "-" => self.data(tensor).map(|data| data.iter().map(|one| -one).collect()),
            _ => None,
        };
        result.bounds = None;
        result.memory = self.fresh_memory();
        result.role = super::super::tensor::Role::Plain;
        Ok(Value::Tensor(Rc::new(result)))
    }

    /// Returns the tensor after an in-place operator, and reports a change of its shape.
    ///
    /// The out-of-place form of the operator returns `result`.
    pub fn in_place_result(&mut self, tensor: &Tensor<'t>, result: &Value<'t>, node: Node<'t>) -> Eval<'t> {
        if let (Some(before), Some(after)) =
            (&tensor.shape, result.tensor().and_then(|result| result.shape.as_ref()))
        {
            let grows = before.len() < after.len()
                || before
                    .iter()
                    .rev()
                    .zip(after.iter().rev())
                    .any(|(before, after)| before.is_some() && after.is_some() && before != after);
            if grows {
                let message = format!(
                    "an in-place operator cannot change the shape {} to {}",
                    shown(before),
                    shown(after)
                );
                return Err(self.fault(node, Fault::shape(message, "assign the result to a new name")));
            }
        }
        let mut kept = tensor.clone();
        kept.data = None;
        kept.bounds = None;
        Ok(Value::Tensor(Rc::new(kept)))
    }
}

/// Returns the shape to which two shapes are broadcast, or `None` if the shapes cannot be broadcast.
pub fn joined(a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let mut sizes = long.to_vec();
    for (size, other) in sizes.iter_mut().rev().zip(short.iter().rev()) {
        *size = match (*size, *other) {
            (Some(1), other) => other,
            (size, Some(1)) => size,
            (a, b) if a == b => a,
            (Some(_), Some(_)) => return None,
            (a, b) => a.or(b),
        };
    }
    Some(sizes)
}
