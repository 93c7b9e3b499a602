//! Functions of `torch.nn.functional`.

use super::calls::Call;
use super::interpreter::Interpreter;
use super::report;
use super::torch_names;
use super::value::{Dtype, Tensor, Value};

impl<'t> Interpreter<'t> {
    /// Evaluates a call of a function of `torch.nn.functional`.
    pub fn functional_call(&mut self, name: &str, call: &Call<'t>) -> Value {
        let result = Tensor { sure: true, rank: None, ..self.result(&call.tensors()) };
        self.ask_training(name, true, call);
        match name {
            "one_hot" => {
                let inferred = match call.value(1, "num_classes") {
                    None => call.arguments.spreads.is_empty(),
                    Some(Value::Number(Some(number))) => *number < 0.0,
                    Some(_) => false,
                };
                if inferred {
                    self.say(call.node, report::one_hot(call.node, self.source));
                }
                Value::Tensor(Tensor { dtype: Some(Dtype::Int), ..result })
            }
            "max_pool2d" | "max_pool1d" | "adaptive_max_pool2d"
                if call.keyword("return_indices").and_then(Value::truth) == Some(true) =>
            {
                Value::Items([Value::Tensor(result.clone()), Value::Tensor(result)].into())
            }
            "multi_head_attention_forward" => Value::Items([Value::Tensor(result), Value::Unknown].into()),
            _ => {
                let in_place = call.keyword("inplace").and_then(Value::truth) == Some(true);
                if (torch_names::is_in_place(name) || in_place)
                    && let Some(Value::Tensor(first)) = call.values.first()
                {
                    self.write(&first.clone(), name, call.arguments.positional.first().copied(), call.node);
                }
                Value::Tensor(Tensor {
                    dtype: if torch_names::is_in_place(name) { result.dtype } else { None },
                    ..result
                })
            }
        }
    }
}
