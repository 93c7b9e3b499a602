//! Element-wise functions by name, such as `torch.sigmoid` and `torch.atan2`.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::library::named_dtype;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Tensor};
use super::super::value::Value;
use super::super::words::lists;
use super::elementwise_names::{COMPARISONS, DIVIDING, FLOATING};
use super::function_calls::real;

impl<'t> Machine<'t> {
    /// Evaluates an element-wise function of two operands.
    pub fn binary_function(&mut self, name: &str, args: &Args<'t>) -> Eval<'t> {
        let left = args.get(0, "input").or(args.keyword("self")).cloned().unwrap_or_default();
        let names = ["other", "exponent", "values", "end", "n"];
        let named = names.iter().find_map(|name| args.keyword(name));
        let right = args.positional.get(1).map(|(value, _)| value).or(named).cloned().unwrap_or_default();
        if !matches!(left, Value::Tensor(_)) && !matches!(right, Value::Tensor(_)) {
            return Ok(Value::Unknown);
        }
        if matches!(name, "sub" | "subtract" | "rsub") {
            self.check_subtraction(&left, &right, args.node)?;
        }
        let rounds = match args.keyword("rounding_mode") {
            None | Some(Value::None) => false,
            Some(Value::Str(_)) => true,
            Some(_) => return Ok(Value::Unknown),
        };
        let mut operands = vec![left, right];
        if let ("lerp", Some(weight @ Value::Tensor(_))) = (name, args.get(2, "weight")) {
            operands.push(weight.clone());
        }
        let divides = lists(DIVIDING, name) && !rounds;
        let result = self.elementwise(&operands, lists(COMPARISONS, name), divides, args.node)?;
        let Value::Tensor(mut tensor) = result else { return Ok(Value::Unknown) };
        let dtype = match (name, tensor.dtype) {
            ("float_power", Some(dtype)) if dtype.is_complex() => Some(DType::Complex128),
            ("float_power", Some(_)) => Some(DType::Float64),
            // The dtype differs between releases.
            ("ldexp", _) => None,
            (_, dtype) => dtype,
        };
        if dtype != tensor.dtype {
            Rc::make_mut(&mut tensor).dtype = dtype;
        }
        Ok(Value::Tensor(tensor))
    }

    /// Evaluates a function of one tensor whose result has its shape.
    pub fn unary_function(&mut self, name: &str, x: &Tensor<'t>, args: &Args<'t>) -> Eval<'t> {
        let mut result = self.dense(x);
        result.needs_grad &= name != "detach";
        let named = args.all().find(|value| named_dtype(value).is_some());
        let is_unknown = args.keyword("dtype").is_some_and(|dtype| *dtype != Value::None);
        result.dtype = match named {
            Some(dtype) => named_dtype(dtype),
            None if is_unknown => None,
            None if lists(FLOATING, name) => self.floating(x.dtype),
            None if name.starts_with("is") || name == "logical_not" => Some(DType::Bool),
            None => match name {
                "softsign" | "tanhshrink" | "local_response_norm" => self.floating(x.dtype),
                "abs" => x.dtype.and_then(real),
                "cumsum" | "cumprod" | "square" => x.dtype.map(|dtype| {
                    let widens = dtype == DType::Bool || dtype.is_integer() && name != "square";
                    if widens { DType::Int64 } else { dtype }
                }),
                _ => x.dtype,
            },
        };
        if let ("masked_fill", Some(Value::Tensor(mask))) = (name, args.get(1, "mask")) {
            // The tensor and the mask are broadcast.
            result.shape = match (&x.shape, &mask.shape) {
                (Some(a), Some(b)) => Some(self.broadcast(a, b, args.node)?),
                _ => None,
            };
            if result.shape != x.shape {
                result.layout = None;
            }
        }
        Ok(Value::Tensor(Rc::new(result)))
    }
}
