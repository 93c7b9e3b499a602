//! The functions of `torch.nn.functional`.

use super::calls::Call;
use super::interpreter::Interpreter;
use super::known;
use super::report;
use super::syntax::{field, text};
use super::value::{Dtype, Tensor, Value};

impl<'t> Interpreter<'t> {
    /// A function of `torch.nn.functional`.
    pub fn functional_call(&mut self, name: &str, call: &Call<'t>) -> Value {
        let result = Tensor { sure: true, rank: None, ..self.result(&call.tensors()) };
        match name {
            "one_hot" => {
                let inferred = match call.value(1, "num_classes") {
                    None => !call.arguments.spread,
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
                self.ask_training(name, call);
                let in_place = call.keyword("inplace").and_then(Value::truth) == Some(true);
                if (known::is_in_place(name) || in_place)
                    && let Some(Value::Tensor(first)) = call.values.first()
                {
                    self.write(&first.clone(), name, call.arguments.positional.first().copied(), call.node);
                }
                Value::Tensor(Tensor {
                    dtype: if known::is_in_place(name) { result.dtype } else { None },
                    ..result
                })
            }
        }
    }

    /// Functions that behave as in training unless told otherwise.
    pub fn ask_training(&mut self, name: &str, call: &Call<'t>) {
        let path = field(call.node, "function").map_or("", |function| text(function, self.source));
        if name == "scaled_dot_product_attention" {
            let drops = call.value(4, "dropout_p");
            if matches!(drops, Some(Value::Real(rate)) if *rate > 0.0) {
                self.say(call.node, report::training(path, "a `dropout_p` above 0 always drops"));
            }
            return;
        }
        let position = if name == "batch_norm" { 5 } else { 2 };
        let training = call.value(position, "training");
        // Without running statistics there is nothing that training and inference do differently.
        if name == "batch_norm" && matches!(call.value(1, "running_mean"), None | Some(Value::None)) {
            return;
        }
        let by_default = known::trains_by_default(name) && training.is_none() && !call.arguments.spread;
        let told = (known::is_dropout(name) || name == "batch_norm")
            && training.and_then(Value::truth) == Some(true);
        let never_drops = self.is_zero(call.value(1, "p"));
        if by_default && !never_drops {
            self.say(call.node, report::training(path, "`training` is True where it is not given"));
        } else if told && !never_drops {
            self.say(call.node, report::training(path, "`training=True` says so"));
        }
    }
}
