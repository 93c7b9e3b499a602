//! Elements that keep the value of `torch.full` although the script writes to others.

use super::super::calls::Args;
use super::super::fill::Fill;
use super::super::machine::Machine;
use super::super::tensor::Tensor;
use super::super::value::Value;

impl<'t> Machine<'t> {
    /// Records the value of all elements of a new tensor.
    pub fn note_fill(&mut self, tensor: &Tensor<'t>, value: f64) {
        if let Some(count) = tensor.numel().filter(|count| *count > 0 && self.doubt == 0) {
            self.fills.insert(tensor.memory, Fill { value, count, left: count });
        }
    }

    /// Records a write to at most `selected` elements of a tensor.
    pub fn write_part(&mut self, tensor: &Tensor<'t>, selected: Option<i64>) {
        let fill = self.fills.get(&tensor.memory).copied();
        self.write(tensor);
        // A loop with an unknown number of iterations may write more often than it is interpreted.
        let Some((mut fill, selected)) = fill.zip(selected).filter(|_| self.doubt == 0) else { return };
        fill.left -= selected;
        if fill.left > 0 {
            self.fills.insert(tensor.memory, fill);
        }
    }

    /// Records the writes of functions that change their arguments.
    pub fn note_library_writes(&mut self, path: &str, args: &Args<'t>) {
        let name = path.rsplit('.').next().unwrap_or(path);
        let is_writer =
            path.starts_with("torch.nn.init.") || name.starts_with("_foreach_") || name == "from_dlpack";
        let written: Vec<Value<'t>> = match is_writer {
            true => args.values(),
            false => args.keyword("out").cloned().into_iter().collect(),
        };
        for value in written {
            let items =
                if value.tensor().is_some() { vec![value] } else { self.items(&value).unwrap_or_default() };
            for tensor in items.iter().filter_map(Value::tensor) {
                self.write(tensor);
            }
        }
    }

    /// Returns the value of `torch.full` that at least one element of a tensor certainly has.
    pub fn fill_left(&self, tensor: &Tensor<'t>) -> Option<f64> {
        let fill = self.fills.get(&tensor.memory)?;
        (Self::is_contiguous(tensor) && tensor.numel() == Some(fill.count)).then_some(fill.value)
    }
}
