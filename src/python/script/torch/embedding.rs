//! Lookups in tables, and the range of indices.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::faults::Fault;
use super::super::machine::{Eval, Machine, Stop};
use super::super::tensor::{Dim, Shape, Tensor, shown};
use super::super::value::Value;

impl<'t> Machine<'t> {
    /// Evaluates a lookup in a table.
    pub fn embed(&mut self, index: &Tensor<'t>, table: &Tensor<'t>, node: Node<'t>) -> Eval<'t> {
        self.look_up("Embedding", index, table, node)?;
        let shape = index.shape.as_ref().map(|shape| {
            let mut shape = shape.clone();
            shape.push(table.dim(1));
            shape
        });
        Ok(self.rows_of(shape, index, table))
    }

    /// Evaluates a lookup in a table whose rows are reduced, one bag for each row of `index`.
    pub fn embed_bags(&mut self, index: &Tensor<'t>, table: &Tensor<'t>, node: Node<'t>) -> Eval<'t> {
        self.look_up("EmbeddingBag", index, table, node)?;
        if let Some(shape) = index.shape.as_ref().filter(|shape| !matches!(shape.len(), 1 | 2)) {
            let message =
                format!("`EmbeddingBag` expects 1 or 2 axes, gets {}: shape {}", shape.len(), shown(shape));
            let fault =
                Fault { kind: "ValueError", ..Fault::shape(message, "merge axes: `x.flatten(0, 1)`") };
            return Err(self.fault(node, fault));
        }
        // The offsets of a flat index determine the number of bags.
        let shape = match index.shape.as_deref() {
            Some([bags, _]) => vec![*bags, table.dim(1)],
            _ => vec![None, table.dim(1)],
        };
        Ok(self.rows_of(Some(shape), index, table))
    }

    fn rows_of(&mut self, shape: Shape, index: &Tensor<'t>, table: &Tensor<'t>) -> Value<'t> {
        let mut rows = self.made(shape, table.dtype, &[table]);
        if let Value::Tensor(rows) = &mut rows {
            Rc::make_mut(rows).varies |= index.varies && !self.is_changed(index);
        }
        rows
    }

    /// Checks the device, the dtype and the range of indices into a table.
    fn look_up(
        &self,
        what: &str,
        index: &Tensor<'t>,
        table: &Tensor<'t>,
        node: Node<'t>,
    ) -> Result<(), Stop> {
        self.same_device(&[index, table], node)?;
        if let Some(dtype) = index.dtype.filter(|dtype| !["int32", "int64"].contains(&dtype.name())) {
            let message = format!("`{what}` expects int32 or int64 indices, gets {}", dtype.name());
            let help = "create the indices with `torch.randint(…)`, or convert them: `.long()`";
            return Err(self.fault(node, Fault::dtype(message, help)));
        }
        self.in_table(what, index, table.dim(0), false, node)
    }

    /// Reports indices that are out of range for a table.
    ///
    /// Random indices are reported if an index is almost certainly out of range.
    pub fn in_table(
        &self,
        what: &str,
        index: &Tensor<'t>,
        rows: Dim,
        negative: bool,
        node: Node<'t>,
    ) -> Result<(), Stop> {
        let Some(rows) = rows else { return Ok(()) };
        #[expect(clippy::cast_precision_loss, reason = "sizes of tables are far below 2^52")]
        let (low, high) = (if negative { -(rows as f64) } else { 0.0 }, rows as f64);
        let is_beyond = |one: &f64| *one < low || *one >= high;
        let beyond = self.data(index).and_then(|data| data.iter().copied().find(is_beyond));
        let beyond = beyond.or(self.fill_left(index).filter(is_beyond));
        let random = index.bounds.filter(|_| self.data(index).is_none()).and_then(|(least, bound)| {
            #[expect(clippy::cast_precision_loss, reason = "a probability")]
            let within = (rows.min(bound) - least).max(0) as f64 / (bound - least) as f64;
            let count = i32::try_from(index.numel()?).unwrap_or(i32::MAX);
            // Random indices are within the table with a negligible probability.
            (bound > rows && within.powi(count) < 0.001).then_some(bound - 1)
        });
        let shown = match (beyond, random) {
            (Some(index), _) => format!("{index}"),
            (None, Some(greatest)) => format!("up to {greatest}"),
            _ => return Ok(()),
        };
        let message = format!("`{what}` expects indices from {low} to {}, gets {shown}", rows - 1);
        let larger = match what {
            "Embedding" | "EmbeddingBag" => "a larger table",
            "one_hot" => "more classes",
            _ => "a larger tensor",
        };
        let help = format!("use indices in this range, or {larger}");
        let fault = Fault {
            rule: crate::diag::rule_ids::INDEX_OUT_OF_RANGE,
            kind: "IndexError",
            ..Fault::shape(message, help)
        };
        Err(self.fault(node, fault))
    }
}
