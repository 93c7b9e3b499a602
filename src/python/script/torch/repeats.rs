//! `diff` and `repeat_interleave`, which change the size of one axis.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::machine::{Eval, Machine};
use super::super::tensor::Tensor;
use super::super::value::Value;

impl<'t> Machine<'t> {
    /// Evaluates `diff` or `repeat_interleave`.
    pub fn resized(&mut self, name: &str, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Eval<'t> {
        let is_diff = name == "diff";
        let (count, axis, default) = match is_diff {
            true => (args.get(1, "n").map_or(Some(1), Value::int), args.get(2, "dim"), Some(-1)),
            false => (args.get(1, "repeats").and_then(Value::int), args.get(2, "dim"), None),
        };
        let is_other = ["prepend", "append", "output_size"].iter().any(|name| args.keyword(name).is_some());
        let (Some(count), false) = (count, is_other || args.positional.len() > 3) else {
            return Ok(Value::Unknown);
        };
        let axis = axis.map_or(default, Value::int);
        if !is_diff && axis.is_none() {
            return Ok(Value::Unknown);
        }
        let at = self.axis(name, axis, x.rank(), 0, args.node)?;
        let mut shape = x.shape.clone().filter(|_| at.is_some());
        if let (Some(shape), Some(at)) = (&mut shape, at) {
            let Some(size) = shape.get_mut(at) else { return Ok(Value::Unknown) };
            *size = match is_diff {
                true => size.map(|size| (size - count).max(0)),
                false => size.and_then(|size| size.checked_mul(count)),
            };
        }
        let dtype = x.dtype.filter(|dtype| !is_diff || dtype.is_float());
        Ok(self.made(shape, dtype, &[x]))
    }
}
