//! Calls of NumPy functions, and the names of their equivalents in PyTorch.

use super::calls::Call;
use super::interpreter::Interpreter;
use super::report;
use super::value::{Array, Dtype, Tensor, Traced, Value};

impl<'t> Interpreter<'t> {
    /// Evaluates a call of a function of `numpy`.
    pub fn numpy_call(&mut self, name: &str, call: &Call<'t>) -> Value {
        let of_tensor = call.tensors().into_iter().any(Tensor::varies);
        let sure = call.tensors().into_iter().any(|tensor| tensor.sure && tensor.varies());
        let of_size = call.has_size();
        if of_tensor || of_size {
            let words = report::numpy_function(call.node, name, of_tensor, self.source);
            self.say(call.node, if sure || of_size { words } else { words.remark() });
        }
        if name.starts_with("random.") {
            self.say(call.node, report::random_numbers(call.node, self.source));
        }
        let own = match () {
            () if name.starts_with("random.") || of_tensor => Traced::Elements,
            () if of_size => Traced::Sizes,
            () => Traced::Nothing,
        };
        let traced = call.values.iter().map(Value::traced).fold(own, Traced::max);
        let last = name.rsplit('.').next().unwrap_or(name);
        let (_, elements) = call.values.first().map(Value::literal).unwrap_or_default();
        Value::Array(Array {
            traced,
            made_here: true,
            double: self.is_double(last, call),
            scalar: self.is_scalar(last, call),
            elements: elements.filter(|_| matches!(last, "array" | "asarray")),
        })
    }

    /// Returns true if the result is known to be float64, the default of NumPy.
    fn is_double(&mut self, name: &str, call: &Call<'t>) -> bool {
        let position = if matches!(name, "full") { 2 } else { 1 };
        let named = call.arguments.get(position, "dtype").and_then(|dtype| self.named_dtype(dtype));
        if let Some(dtype) = named {
            return dtype == Dtype::Double;
        }
        if call.arguments.keyword("dtype").is_some() {
            return false;
        }
        match name {
            "zeros" | "ones" | "empty" | "linspace" | "logspace" | "eye" | "identity" | "rand" | "randn"
            | "random" | "uniform" | "normal" | "float64" | "double" | "hanning" | "hamming" | "blackman"
            | "bartlett" | "kaiser" | "geomspace" | "tri" => true,
            "array" | "asarray" => call.values.first().is_some_and(has_float),
            "sqrt" | "exp" | "log" | "sin" | "cos" => {
                call.values.first().is_none_or(|v| matches!(v, Value::Array(a) if a.double))
            }
            _ => false,
        }
    }

    fn is_scalar(&self, name: &str, call: &Call<'t>) -> bool {
        let makes = matches!(
            name,
            "array"
                | "asarray"
                | "zeros"
                | "ones"
                | "empty"
                | "full"
                | "linspace"
                | "logspace"
                | "eye"
                | "identity"
                | "arange"
                | "rand"
                | "randn"
                | "random"
                | "uniform"
                | "meshgrid"
                | "stack"
                | "concatenate"
                | "tile"
                | "hanning"
                | "hamming"
                | "blackman"
                | "bartlett"
                | "kaiser"
                | "tri"
                | "triu"
                | "tril"
                | "indices"
                | "geomspace"
        );
        if name == "array" {
            return call
                .values
                .first()
                .is_some_and(|value| matches!(value, Value::Number(_) | Value::Real(_)));
        }
        let of_array = call.values.first().is_some_and(|v| matches!(v, Value::Array(a) if !a.scalar));
        !makes && !of_array
    }
}

/// Returns true if a literal contains a float, or if an array has the dtype float64.
fn has_float(value: &Value) -> bool {
    match value {
        Value::Real(_) => true,
        Value::Items(items) => items.iter().any(has_float),
        Value::Array(array) => array.double,
        _ => false,
    }
}

/// Returns the name of the equivalent function in `torch`.
pub fn torch_name(numpy: &str) -> Option<&str> {
    Some(match numpy {
        "concatenate" => "cat",
        "array" | "asarray" => "as_tensor",
        "absolute" => "abs",
        "power" => "pow",
        "transpose" => "permute",
        "expand_dims" => "unsqueeze",
        "ceil" | "floor" | "sqrt" | "exp" | "log" | "sum" | "mean" | "prod" | "max" | "min" | "abs"
        | "round" | "sin" | "cos" | "tanh" | "ones" | "zeros" | "linspace" | "arange" | "eye" | "full"
        | "where" | "stack" | "clip" | "argmax" | "argmin" | "argsort" | "cumsum" | "dot" | "matmul"
        | "maximum" | "minimum" | "meshgrid" | "ones_like" | "zeros_like" | "isnan" | "outer" | "flip"
        | "roll" | "tile" | "std" | "var" => numpy,
        _ => return None,
    })
}
