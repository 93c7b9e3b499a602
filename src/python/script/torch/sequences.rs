//! Packed sequences.

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Eval, Machine};
use super::super::value::Value;

impl<'t> Machine<'t> {
    /// Evaluates `pack_padded_sequence`.
    ///
    /// Reports lengths that are not sorted, if the call requires it.
    pub fn pack(&mut self, args: &Args<'t>) -> Eval<'t> {
        let is_sorted_required = match args.get(3, "enforce_sorted") {
            None => !args.open,
            Some(value) => *value == Value::Bool(true),
        };
        let lengths: Option<Vec<f64>> = match args.get(1, "lengths") {
            Some(Value::Tensor(lengths)) => self.data(lengths).map(|data| data.to_vec()),
            Some(list) => self.items(list).and_then(|items| items.iter().map(Value::number).collect()),
            None => None,
        };
        let is_unsorted = lengths.is_some_and(|lengths| lengths.windows(2).any(|pair| pair[0] < pair[1]));
        if is_sorted_required && is_unsorted {
            let message = "`pack_padded_sequence` expects lengths in descending order";
            let help = "sort the sequences of the example by length, or pass `enforce_sorted=False`";
            return Err(self.fault(args.node, Fault::shape(message, help)));
        }
        Ok(Value::Unknown)
    }
}
