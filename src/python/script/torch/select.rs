//! `torch.where`, `one_hot`, and operators with a data-dependent output size, such as `nonzero`.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Tensor};
use super::super::value::Value;

impl<'t> Machine<'t> {
    /// Evaluates `torch.where`.
    pub fn select(&mut self, args: &Args<'t>) -> Eval<'t> {
        let [condition, then, other] =
            [("condition", 0), ("input", 1), ("other", 2)].map(|(name, at)| args.get(at, name).cloned());
        let (Some(Value::Tensor(condition)), Some(then), Some(other)) = (condition, then, other) else {
            return Ok(Value::Unknown);
        };
        self.check_mask("where", &condition, args.node)?;
        if then.tensor().is_none() && other.tensor().is_none() {
            return Ok(Value::Unknown);
        }
        let picked = self.elementwise(&[then, other], false, false, args.node)?;
        let Value::Tensor(picked) = picked else { return Ok(Value::Unknown) };
        let shape = match (&condition.shape, &picked.shape) {
            (Some(a), Some(b)) => Some(self.broadcast(a, b, args.node)?),
            _ => None,
        };
        Ok(self.made(shape, picked.dtype, &[&condition, &picked]))
    }

    /// Evaluates `nonzero`, `masked_select` and `unique`, whose number of rows depends on data.
    pub fn selected_by_data(&mut self, name: &str, x: &Tensor<'t>) -> Value<'t> {
        let (shape, dtype) = match name {
            "nonzero" => {
                let axes = x.rank().and_then(|rank| i64::try_from(rank).ok());
                (vec![None, axes], Some(DType::Int64))
            }
            _ => (vec![None], x.dtype),
        };
        let mut rows = self.tensor(Some(shape), dtype, x.device.clone());
        // The tracing exporter folds constants.
        rows.unbacked = Some(0).filter(|_| self.is_program || self.examples.is_empty() || x.varies);
        rows.varies = x.varies;
        Value::Tensor(Rc::new(rows))
    }

    /// Evaluates `one_hot`.
    pub fn one_hot(&mut self, x: &Rc<Tensor<'t>>, classes: Option<&Value<'t>>, args: &Args<'t>) -> Eval<'t> {
        if let Some(dtype) = x.dtype.filter(|dtype| *dtype != DType::Int64) {
            let message = format!("`one_hot` expects int64 labels, gets {}", dtype.name());
            return Err(self.fault(args.node, Fault::dtype(message, "convert the labels: `.long()`")));
        }
        let classes = classes.and_then(Value::int).filter(|classes| *classes >= 0);
        self.in_table("one_hot", x, classes, false, args.node)?;
        let shape = x.shape.as_ref().map(|shape| {
            let mut shape = shape.clone();
            shape.push(classes);
            shape
        });
        Ok(self.made(shape, Some(DType::Int64), &[x]))
    }
}
