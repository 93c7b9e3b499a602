//! Functions that create tensors of particular kinds: windows, indices of triangles, strided tensors.

use super::super::calls::Args;
use super::super::machine::Machine;
use super::super::tensor::{DType, Tensor};
use super::super::value::Value;

/// Largest number of rows of a triangle whose elements are counted.
const MAX_ROWS: i64 = 4096;

impl<'t> Machine<'t> {
    /// Creates a window, a scalar or the indices of a triangle; `None` for other functions.
    pub fn special_creation(&mut self, name: &str, args: &Args<'t>) -> Option<Tensor<'t>> {
        let int = |at: usize, name: &str| args.get(at, name).and_then(Value::int);
        let default = self.default_dtype;
        Some(match name {
            "hann_window" | "hamming_window" | "blackman_window" | "bartlett_window" | "kaiser_window" => {
                self.with_options(Some(vec![int(0, "window_length")]), default, args)
            }
            "scalar_tensor" => self.with_options(Some(vec![]), default, args),
            "empty_strided" | "empty_permuted" => {
                let shape = args.get(0, "size").and_then(|size| self.shape_of(size));
                self.with_options(shape, default, args)
            }
            "tril_indices" | "triu_indices" => {
                let offset = args.get(2, "offset").map_or(Some(0), Value::int);
                let sides = int(0, "row").zip(int(1, "col"));
                let count = sides.zip(offset).and_then(|((rows, columns), offset)| {
                    let below = |row: i64| match name {
                        "tril_indices" => (row + offset + 1).clamp(0, columns),
                        _ => columns - (row + offset).clamp(0, columns),
                    };
                    ((0..MAX_ROWS).contains(&rows) && columns >= 0).then(|| (0..rows).map(below).sum())
                });
                self.with_options(Some(vec![Some(2), count]), Some(DType::Int64), args)
            }
            _ if name.starts_with("signal.windows.") => {
                self.with_options(Some(vec![int(0, "M")]), default, args)
            }
            _ => return None,
        })
    }
}
