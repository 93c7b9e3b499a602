//! Checks of the targets of classification losses.

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Dim, Tensor, shown};
use super::super::value::Value;

impl<'t> Machine<'t> {
    /// Evaluates a loss of class indices.
    ///
    /// Reports indices whose shape does not fit scores `[batch, classes]`.
    pub fn classification_loss(&self, what: &str, args: &Args<'t>) -> Eval<'t> {
        let (scores, targets) = (args.get(0, "input"), args.get(1, "target"));
        let (Some(Value::Tensor(scores)), Some(Value::Tensor(targets))) = (scores, targets) else {
            return Ok(Value::Unknown);
        };
        let (Some([batch, _]), Some(shape)) = (scores.shape.as_deref(), targets.shape.as_deref()) else {
            return Ok(Value::Unknown);
        };
        let other_rows = |rows: &Dim| batch.zip(*rows).map(|(batch, rows)| batch != rows);
        let (kind, help) = match shape {
            [rows] if other_rows(rows) == Some(true) => {
                ("ValueError", "pass one class index for each row of the scores")
            }
            [rows, _] if is_index(targets) => {
                let Some(other_rows) = other_rows(rows) else { return Ok(Value::Unknown) };
                let kind = if other_rows { "ValueError" } else { "RuntimeError" };
                (kind, "pass the indices without the last axis, as in `target.squeeze(1)`")
            }
            _ => return Ok(Value::Unknown),
        };
        let message = format!("`{what}` expects class indices [{}], gets {}", dim(*batch), shown(shape));
        Err(self.fault(args.node, Fault { kind, ..Fault::shape(message, help) }))
    }
}

fn is_index(tensor: &Tensor) -> bool {
    tensor.dtype.is_some_and(DType::is_integer)
}

fn dim(size: Option<i64>) -> String {
    size.map_or("?".to_owned(), |size| size.to_string())
}
