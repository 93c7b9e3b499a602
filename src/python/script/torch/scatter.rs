//! Gather and scatter, and the forms of functions that an exporter does not support.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Tensor};
use super::super::unsupported::{
    ANTIALIASED, COMPLEX_STFT, NEAREST_EXACT, REPEATED_INDEX, REPEATED_PUT, REPEATED_SCATTER, SCATTERED_MEAN,
    SCATTERED_ONLY,
};
use super::super::value::Value;

impl<'t> Machine<'t> {
    /// Evaluates `gather`, and functions that write to elements at an index.
    pub fn scattered(&mut self, name: &str, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Eval<'t> {
        let node = args.node;
        let axis = args.get(1, "dim").and_then(Value::int);
        if name == "index_put" {
            let indices = args.get(1, "indices").and_then(|indices| self.items(indices));
            let accumulates = args.get(3, "accumulate") == Some(&Value::Bool(true));
            if let (true, Some([Value::Tensor(index)])) = (accumulates, indices.as_deref())
                && index.dtype.is_some_and(DType::is_integer)
                && self.repeats(index, x.dim(0))
            {
                self.executed(REPEATED_PUT, node, self.varies(args));
            }
            return Ok(Value::Unknown);
        }
        let Some(Value::Tensor(index)) = args.get(2, "index").cloned() else {
            return Ok(match name {
                "index_add" => Value::Tensor(Rc::new(self.derived(x))),
                _ => Value::Unknown,
            });
        };
        let size = axis.and_then(|axis| x.dim(axis));
        if name == "index_add" {
            if self.repeats(&index, size) {
                self.executed(REPEATED_INDEX, node, self.varies(args));
            }
            return Ok(Value::Tensor(Rc::new(self.derived(x))));
        }
        // PyTorch does not check an empty index.
        if index.numel() != Some(0) {
            self.indexed(name, x, axis, &index, node)?;
        }
        // A line of the index may have more elements than the line that it adds to.
        let length = axis.and_then(|axis| index.dim(axis));
        if name == "scatter_add" && length.zip(size).is_some_and(|(length, size)| length > size) {
            self.executed(REPEATED_SCATTER, node, self.varies(args));
        }
        let shape = if name == "gather" { index.shape.clone() } else { x.shape.clone() };
        Ok(self.made(shape, x.dtype, &[x]))
    }

    /// Returns true if an index certainly contains a row twice, of `size` rows.
    fn repeats(&self, index: &Tensor<'t>, size: Option<i64>) -> bool {
        // An index with more elements than there are rows contains a row twice.
        let is_longer = index.numel().zip(size).is_some_and(|(count, rows)| count > rows);
        let repeats = |data: Rc<[f64]>| {
            let mut rows = data.to_vec();
            rows.sort_by(f64::total_cmp);
            rows.windows(2).any(|pair| pair[0] == pair[1])
        };
        is_longer || self.data(index).is_some_and(repeats)
    }
}

/// Returns the name of a function, or a description of a form of it that an exporter does not support.
pub fn recorded_name<'n>(name: &'n str, args: &Args) -> &'n str {
    let is = |argument: &str, flag: bool| args.keyword(argument) == Some(&Value::Bool(flag));
    let text = |at: usize, argument: &str| args.get(at, argument).and_then(Value::text);
    match name {
        "stft" if is("return_complex", true) => COMPLEX_STFT,
        "scatter_reduce" if text(4, "reduce") == Some("mean") => SCATTERED_MEAN,
        "scatter_reduce" if is("include_self", false) => SCATTERED_ONLY,
        "interpolate" if text(3, "mode") == Some("nearest-exact") => NEAREST_EXACT,
        "interpolate" if is("antialias", true) => ANTIALIASED,
        name => name,
    }
}

/// Keywords with which the exporters were measured.
const MEASURED: [&str; 14] = [
    "input",
    "other",
    "target",
    "dim",
    "keepdim",
    "axis",
    "align_corners",
    "diagonal",
    "kernel_size",
    "size",
    "n",
    "norm",
    "mode",
    "padding_mode",
];

/// Returns true if a call has only arguments with which the exporters were measured.
pub fn is_measured(args: &Args) -> bool {
    args.positional.len() < 5 && args.keywords.iter().all(|(name, ..)| MEASURED.contains(&&**name))
}
