//! Operators that join and divide tensors.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::faults::Fault;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Dim, Tensor, shown};
use super::super::value::Value;

impl<'t> Machine<'t> {
    /// Returns the items of a list of tensors, if all are known.
    fn tensors(&self, list: &Value<'t>) -> Option<Vec<Rc<Tensor<'t>>>> {
        let items = self.items(list)?;
        items
            .into_iter()
            .map(|item| match item {
                Value::Tensor(tensor) => Some(tensor),
                _ => None,
            })
            .collect()
    }

    /// Evaluates `cat` and `stack`.
    pub fn concatenate(
        &mut self,
        list: &Value<'t>,
        axis: Option<i64>,
        stacks: bool,
        node: Node<'t>,
    ) -> Eval<'t> {
        let what = if stacks { "stack" } else { "cat" };
        let Some(tensors) = self.tensors(list).filter(|tensors| !tensors.is_empty()) else {
            return Ok(Value::Unknown);
        };
        let all: Vec<&Tensor<'t>> = tensors.iter().map(|tensor| &**tensor).collect();
        self.same_device(&all, node)?;
        let dtypes: Option<Vec<DType>> = all.iter().map(|tensor| tensor.dtype).collect();
        let dtype = dtypes.and_then(|dtypes| dtypes.into_iter().reduce(DType::promote));
        let shapes: Option<Vec<&Vec<Dim>>> = all.iter().map(|tensor| tensor.shape.as_ref()).collect();
        let Some(shapes) = shapes else { return Ok(self.made(None, dtype, &all)) };
        // `cat` skips empty tensors of rank 1; `stack` does not.
        let shapes: Vec<&Vec<Dim>> =
            shapes.into_iter().filter(|shape| stacks || shape.as_slice() != [Some(0)]).collect();
        let Some(first) = shapes.first() else { return Ok(Value::Unknown) };
        let at = self.axis(what, axis, Some(first.len()), usize::from(stacks), node)?;
        let mut sizes = (*first).clone();
        let mut total = at.and_then(|at| first.get(at).copied()).unwrap_or(Some(0));
        for shape in &shapes[1..] {
            let differs = shape.len() != first.len()
                || (0..first.len()).any(|axis| {
                    let (a, b) = (first[axis], shape[axis]);
                    (stacks || at.is_some() && at != Some(axis)) && a.is_some() && b.is_some() && a != b
                });
            if differs {
                let along = at.filter(|_| !stacks).map_or(String::new(), |at| format!(" along axis {at}"));
                let (what_differs, help) = match (stacks, shape.len() == first.len()) {
                    (true, _) => ("the shapes differ", "make the shapes equal"),
                    (_, false) => ("the ranks differ", "give the tensors the same number of axes"),
                    _ => ("the other sizes differ", "make the sizes of the other axes equal"),
                };
                let message =
                    format!("`{what}` of {} and {}{along}: {what_differs}", shown(first), shown(shape));
                return Err(self.fault(node, Fault::shape(message, help)));
            }
            for (axis, size) in sizes.iter_mut().enumerate() {
                *size = size.or(shape[axis]);
            }
            total = total.zip(at.and_then(|at| shape.get(at).copied().flatten())).map(|(a, b)| a + b);
        }
        let Some(at) = at else {
            return Ok(self.made(Some(vec![None; first.len() + usize::from(stacks)]), dtype, &all));
        };
        if stacks {
            sizes.insert(at, i64::try_from(tensors.len()).ok());
        } else if let Some(size) = sizes.get_mut(at) {
            *size = total;
        } else {
            let message = format!("`{what}` does not support 0-d tensors");
            return Err(self.fault(node, Fault::shape(message, "use `torch.stack`")));
        }
        Ok(self.made(Some(sizes), dtype, &all))
    }

    /// Evaluates `split`, `chunk` and `unbind`, whose pieces are a tuple.
    pub fn divide(
        &mut self,
        name: &str,
        x: &Tensor<'t>,
        by: &Value<'t>,
        axis: Option<i64>,
        node: Node<'t>,
    ) -> Eval<'t> {
        let at = self.axis(name, axis, x.rank(), 0, node)?;
        let (Some(shape), Some(at)) = (x.shape.clone(), at) else { return Ok(Value::Unknown) };
        let Some(Some(size)) = shape.get(at).copied() else { return Ok(Value::Unknown) };
        let pieces: Option<Vec<i64>> = match (name, by) {
            ("unbind", _) => Some(vec![1; usize::try_from(size).unwrap_or(0)]),
            ("chunk", Value::Int(count)) if *count > 0 => pieces(size, (size + count - 1) / count),
            ("split", Value::Int(each)) if *each > 0 => pieces(size, *each),
            ("split" | "split_with_sizes", other) => {
                self.items(other).and_then(|items| items.iter().map(Value::int).collect())
            }
            _ => None,
        };
        let Some(pieces) = pieces.filter(|pieces| pieces.len() <= MAX_PIECES) else {
            return Ok(Value::Unknown);
        };
        if pieces.iter().sum::<i64>() != size {
            let message = format!(
                "`{name}` to sizes {}, whose sum is not {size} (shape {})",
                shown(&pieces.iter().copied().map(Some).collect::<Vec<Dim>>()),
                shown(&shape)
            );
            return Err(self.fault(node, Fault::shape(message, "correct the sizes")));
        }
        let parts = pieces.into_iter().map(|piece| {
            let mut sizes = shape.clone();
            if name == "unbind" {
                sizes.remove(at);
            } else {
                sizes[at] = Some(piece);
            }
            let part = Tensor { data: None, ..x.clone() };
            self.viewed(&part, Some(sizes))
        });
        Ok(Value::tuple(parts.collect()))
    }

    /// Evaluates `pad`.
    pub fn pad(&mut self, x: &Tensor<'t>, padding: &Value<'t>, mode: &str, node: Node<'t>) -> Eval<'t> {
        let items = self.items(padding).map(|items| items.iter().map(Value::int).collect::<Vec<Dim>>());
        let (Some(shape), Some(items)) = (&x.shape, items) else { return Ok(self.made(None, x.dtype, &[x])) };
        let mut sizes = shape.clone();
        // Reflect padding must be smaller than the axis, and circular padding at most as large.
        let beyond = |size: i64, pad: i64| match mode {
            "reflect" => pad >= size,
            "circular" => pad > size,
            _ => false,
        };
        for (at, pair) in items.chunks(2).enumerate() {
            let Some(axis) = sizes.len().checked_sub(at + 1) else { return Ok(Value::Unknown) };
            if let Some(size) = sizes[axis]
                && let Some(pad) = pair.iter().flatten().find(|pad| beyond(size, **pad))
            {
                let message = format!(
                    "a `{mode}` padding of {pad} is too large for axis {axis} of size {size} (shape {})",
                    shown(shape)
                );
                return Err(self.fault(node, Fault::shape(message, "use a larger example, or pad less")));
            }
            sizes[axis] = match (sizes[axis], pair) {
                (Some(size), [Some(before), Some(after)]) => Some(size + before + after),
                _ => None,
            };
        }
        Ok(self.made(Some(sizes), x.dtype, &[x]))
    }

    /// Evaluates `interpolate`.
    pub fn interpolate(&mut self, x: &Tensor<'t>, size: &Value<'t>, scale: &Value<'t>) -> Value<'t> {
        let Some(shape) = &x.shape else { return self.made(None, x.dtype, &[x]) };
        let axes = shape.len().saturating_sub(2);
        let mut sizes = shape[..shape.len() - axes].to_vec();
        match (size, scale) {
            (Value::None, scale) => {
                let scales: Vec<Option<f64>> = match scale.number() {
                    Some(scale) => vec![Some(scale); axes],
                    None => match self.items(scale) {
                        Some(items) if items.len() == axes => items.iter().map(Value::number).collect(),
                        _ => vec![None; axes],
                    },
                };
                #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
                let scaled = shape[2.min(shape.len())..].iter().zip(scales).map(|(size, scale)| {
                    super::super::library::whole_number((size.as_ref().copied()? as f64 * scale?).floor())
                });
                sizes.extend(scaled);
            }
            (size, _) => sizes.extend(self.sizes(size, axes)),
        }
        self.made(Some(sizes), x.dtype, &[x])
    }
}

/// Maximum number of pieces of a tensor.
const MAX_PIECES: usize = 512;

fn pieces(size: i64, each: i64) -> Option<Vec<i64>> {
    let count = usize::try_from((size + each - 1) / each.max(1)).ok()?;
    let piece = |at: usize| i64::try_from(at).map_or(0, |at| each.min(size - at * each));
    (count <= MAX_PIECES).then(|| (0..count).map(piece).collect())
}
