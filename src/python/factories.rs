//! Creation of tensors from sizes, numbers and arrays.

use crate::diag::Level;

use super::calls::Call;
use super::interpreter::Interpreter;
use super::report;
use super::syntax::text;
use super::torch_names::Factory;
use super::value::{Dtype, Origin, Tensor, Traced, Value, integer};

/// The elements of a `torch.arange` are evaluated if there are fewer than this many.
const MAX_LINE: i64 = 64;

impl<'t> Interpreter<'t> {
    /// Creates a tensor from sizes or Python values, as in `torch.zeros(2, 3)` or `torch.tensor([1, -2])`.
    pub fn make(&mut self, name: &str, factory: Factory, call: &Call<'t>) -> Value {
        let mut result = self.result(&call.tensors());
        result.sure = true;
        result.rank = None;
        if call.has_size() {
            result.origin = Origin::Input;
        }
        let named = call.arguments.keyword("dtype").and_then(|dtype| self.named_dtype(dtype));
        match factory {
            Factory::Values => self.make_of_values(name, &mut result, call),
            Factory::Random => result.origin = result.origin.max(Origin::Random),
            Factory::Line => {
                result.rank = Some(1);
                self.line_elements(name, &mut result, call);
            }
            Factory::Plane => result.rank = Some(2),
            Factory::Sized => {
                let filled = call.value(1, "fill_value").and_then(whole);
                result.elements = filled.filter(|_| name == "full").map(|element| [element].into());
                result.rank = match call.values.as_slice() {
                    [Value::Items(sizes), ..] => Some(sizes.len()),
                    [Value::Shape(_), ..] | [] => None,
                    sizes if name != "full" => Some(sizes.len()),
                    _ => None,
                };
            }
        }
        if named.is_some() || call.arguments.keyword("dtype").is_some() {
            result.dtype = named;
        } else if matches!(factory, Factory::Sized | Factory::Random) && name != "full" {
            result.dtype = Some(Dtype::Float);
        }
        Value::Tensor(result)
    }

    /// Sets the elements and dtype of a `torch.arange` with constant bounds, such as `torch.arange(-2, 0)`.
    fn line_elements(&mut self, name: &str, result: &mut Tensor, call: &Call<'t>) {
        let numbers: Option<Vec<i64>> = call.values.iter().map(whole).collect();
        if name != "arange" || result.origin == Origin::Input {
            return;
        }
        result.elements = match numbers.as_deref() {
            Some([end]) if (0..MAX_LINE).contains(end) => Some((0..*end).collect()),
            Some([start, end]) if start <= end && end - start < MAX_LINE => Some((*start..*end).collect()),
            _ => None,
        };
        if numbers.is_some() {
            result.dtype = Some(Dtype::Int);
        }
    }

    fn make_of_values(&mut self, name: &str, result: &mut Tensor, call: &Call<'t>) {
        let Some(value) = call.value(0, "data") else { return };
        let (rank, elements) = value.literal();
        result.rank = rank;
        result.dtype = match name {
            "LongTensor" | "IntTensor" => Some(Dtype::Int),
            "FloatTensor" | "Tensor" => Some(Dtype::Float),
            "DoubleTensor" => Some(Dtype::Double),
            "BoolTensor" => Some(Dtype::Bool),
            _ => literal_dtype(value),
        };
        result.elements = elements;
        self.say_if_copied(name, value, call);
        if let Value::Array(array) = value {
            // Constants and most sizes never vary: only tensor elements and random numbers deserve a warning.
            let level = if array.traced == Traced::Elements { Level::Warning } else { Level::Info };
            let words = report::from_numpy(call.node, self.source, level);
            let shown = !array.scalar || array.traced > Traced::Nothing;
            if shown {
                self.say(call.node, words);
            }
            result.dtype = array.double.then_some(Dtype::Double);
            result.rank = if array.scalar { Some(0) } else { None };
        }
    }
}

impl<'t> Interpreter<'t> {
    /// Reports `torch.tensor(t)` and `torch.tensor([t, 1.0])`, which copy the elements of `t` as numbers.
    fn say_if_copied(&mut self, name: &str, value: &Value, call: &Call<'t>) {
        let Some(argument) = call.arguments.positional.first() else { return };
        let written = text(*argument, self.source);
        let (origin, write) = match value {
            // `torch.as_tensor(t)` and `torch.asarray(t)` return the tensor `t` itself.
            Value::Tensor(_) if matches!(name, "as_tensor" | "asarray") => return,
            Value::Tensor(tensor) => (tensor.origin, format!("{written}.clone()")),
            Value::Shape(_) => return self.say(call.node, report::sizes_copied(call.node, self.source)),
            Value::Items(items) if value.is_size() && items.iter().all(|item| item.tensor().is_none()) => {
                return self.say(call.node, report::sizes_copied(call.node, self.source));
            }
            Value::Items(items) => {
                let origins = items.iter().filter_map(|item| match item {
                    Value::Tensor(tensor) => Some(tensor.origin),
                    _ => None,
                });
                let Some(origin) = origins.max() else { return };
                let write = match items.iter().all(|item| matches!(item, Value::Tensor(_))) {
                    true => format!("torch.stack({written})"),
                    false => format!("torch.stack([torch.as_tensor(item) for item in {written}])"),
                };
                (origin, write)
            }
            _ => return,
        };
        if origin > Origin::Constant {
            let words = report::copied(self.here(call.node), call.node, &write, origin, self.source);
            self.say(call.node, words);
        }
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(Some(number)) => integer(*number),
        _ => None,
    }
}

/// Returns the dtype of `torch.tensor(value)`, if it is known.
fn literal_dtype(value: &Value) -> Option<Dtype> {
    match value {
        Value::Number(Some(_)) => Some(Dtype::Int),
        Value::Real(_) => Some(Dtype::Float),
        Value::Bool(_) => Some(Dtype::Bool),
        Value::Items(items) => {
            let all: Vec<Option<Dtype>> = items.iter().map(literal_dtype).collect();
            if all.contains(&Some(Dtype::Float)) {
                Some(Dtype::Float)
            } else {
                all.first().copied().flatten()
            }
        }
        Value::Tensor(tensor) => tensor.dtype,
        _ => None,
    }
}
