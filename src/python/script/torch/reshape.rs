//! Operators that rearrange axes and sizes.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::faults::Fault;
use super::super::machine::{Eval, Machine, Stop};
use super::super::tensor::{Dim, Tensor, axis_index, numel, shown};
use super::super::value::Value;
use super::create::MAX_DATA;
use crate::diag::counted;

impl<'t> Machine<'t> {
    /// Returns the index of an axis, or `None` if it is unknown; reports an axis that is out of range.
    ///
    /// `extra` is the number of axes that the operator adds: 1 for `unsqueeze`.
    pub fn axis(
        &self,
        what: &str,
        axis: Option<i64>,
        rank: Option<usize>,
        extra: usize,
        node: Node<'t>,
    ) -> Result<Option<usize>, Stop> {
        let (Some(axis), Some(rank)) = (axis, rank) else { return Ok(None) };
        // A 0-d tensor has the axes 0 and -1.
        let count = (rank + extra).max(1);
        match axis_index(axis, count) {
            Some(index) => Ok(Some(index)),
            None => {
                let message = format!("`{what}` gets axis {axis}, but the tensor has rank {rank}");
                let help =
                    format!("use an axis from {} to {}", -i64::try_from(count).unwrap_or(0), count - 1);
                let fault = Fault { kind: "IndexError", ..Fault::shape(message, help) };
                Err(self.fault(node, fault))
            }
        }
    }

    /// Returns a view of a tensor with another shape: the elements are the same.
    pub fn viewed(&self, x: &Tensor<'t>, shape: Option<Vec<Dim>>) -> Value<'t> {
        let data = self.data(x);
        let role = super::super::tensor::Role::Plain;
        Value::Tensor(Rc::new(Tensor { shape, data, unbacked: None, layout: None, role, ..x.clone() }))
    }

    /// Evaluates `view` and `reshape`.
    pub fn reshape(
        &mut self,
        what: &str,
        x: &Tensor<'t>,
        sizes: Option<Vec<Dim>>,
        node: Node<'t>,
    ) -> Eval<'t> {
        let Some(mut sizes) = sizes else { return Ok(self.viewed(x, None)) };
        self.note_reshape(x, &sizes, node);
        let inferred: Vec<usize> = (0..sizes.len()).filter(|at| sizes[*at] == Some(-1)).collect();
        let total = x.numel();
        let rest: Vec<Dim> = sizes.iter().copied().filter(|size| *size != Some(-1)).collect();
        let product = numel(&rest);
        let differs = match (total, product, inferred.as_slice()) {
            (Some(total), Some(product), []) => total != product,
            (Some(total), Some(product), [_]) => product != 0 && total % product != 0,
            _ => false,
        };
        if differs {
            let (total, given) = (total.unwrap_or(0), x.shape.as_deref().map(shown).unwrap_or_default());
            let elements = counted(total, "element");
            let message = format!("`{what}` to {} does not fit {elements} (shape {given})", shown(&sizes));
            let help = "correct the sizes, or derive them from the tensor: `x.flatten(1)`, `x.shape[0]`";
            return Err(self.fault(node, Fault::shape(message, help)));
        }
        for at in inferred {
            sizes[at] = match (total, product) {
                (Some(total), Some(product)) if product != 0 => Some(total / product),
                _ => None,
            };
        }
        if what == "view" {
            self.check_view(x, &sizes, node)?;
        }
        Ok(Self::contiguous_as(self.viewed(x, Some(sizes)), &[x]))
    }

    /// Evaluates `flatten`.
    pub fn flatten(
        &mut self,
        x: &Rc<Tensor<'t>>,
        start: &Value<'t>,
        end: &Value<'t>,
        node: Node<'t>,
    ) -> Eval<'t> {
        let rank = x.rank();
        let start = self.axis("flatten", start.int(), rank, 0, node)?;
        let end = self.axis("flatten", end.int(), rank, 0, node)?;
        let (Some(shape), Some(start), Some(end)) = (&x.shape, start, end) else {
            return Ok(self.viewed(x, None));
        };
        if shape.is_empty() {
            return Ok(self.viewed(x, Some(vec![Some(1)])));
        }
        if start > end {
            let message =
                format!("`flatten` gets the first axis {start}, which is after the last axis {end}");
            return Err(self.fault(node, Fault::shape(message, "pass the first axis before the last")));
        }
        let mut sizes = shape[..start].to_vec();
        sizes.push(numel(&shape[start..=end]));
        sizes.extend(&shape[end + 1..]);
        Ok(Self::contiguous_as(self.viewed(x, Some(sizes)), &[x]))
    }

    /// Evaluates `unflatten`.
    pub fn unflatten(
        &mut self,
        x: &Tensor<'t>,
        axis: &Value<'t>,
        sizes: &Value<'t>,
        node: Node<'t>,
    ) -> Eval<'t> {
        let at = self.axis("unflatten", axis.int(), x.rank(), 0, node)?;
        let parts = self.items(sizes).map(|items| items.iter().map(Value::int).collect::<Vec<Dim>>());
        let (Some(shape), Some(at), Some(mut parts)) = (&x.shape, at, parts) else {
            return Ok(self.viewed(x, None));
        };
        let rest: Vec<Dim> = parts.iter().copied().filter(|size| *size != Some(-1)).collect();
        if let (Some(whole), Some(product)) = (shape[at], numel(&rest)) {
            let fits = if rest.len() == parts.len() {
                whole == product
            } else {
                product != 0 && whole % product == 0
            };
            if !fits {
                let message = format!("`unflatten` of axis {at}, which is {whole}, to {}", shown(&parts));
                return Err(self.fault(node, Fault::shape(message, "correct the sizes")));
            }
            for part in &mut parts {
                if *part == Some(-1) {
                    *part = Some(whole / product);
                }
            }
        } else {
            parts.iter_mut().filter(|part| **part == Some(-1)).for_each(|part| *part = None);
        }
        let mut sizes = shape[..at].to_vec();
        sizes.extend(parts);
        sizes.extend(&shape[at + 1..]);
        Ok(Self::contiguous_as(self.viewed(x, Some(sizes)), &[x]))
    }

    /// Evaluates `permute`.
    pub fn permute(&mut self, x: &Tensor<'t>, axes: Option<Vec<Dim>>, node: Node<'t>) -> Eval<'t> {
        let (Some(shape), Some(axes)) = (&x.shape, axes) else { return Ok(self.moved(x, None)) };
        if shape.len() != axes.len() {
            let message = format!(
                "`permute` gets a list of length {}, but the tensor has rank {}: shape {}",
                axes.len(),
                shape.len(),
                shown(shape)
            );
            return Err(self.fault(node, Fault::shape(message, "list each axis once")));
        }
        let (mut sizes, mut order) = (vec![], vec![]);
        for axis in axes {
            let at = self.axis("permute", axis, Some(shape.len()), 0, node)?;
            sizes.push(at.and_then(|at| shape[at]));
            order.extend(at);
        }
        Ok(Self::reordered(self.moved(x, Some(sizes)), x, &order))
    }

    /// Returns a view of a tensor with its elements in another order.
    fn moved(&self, x: &Tensor<'t>, shape: Option<Vec<Dim>>) -> Value<'t> {
        match self.viewed(x, shape) {
            Value::Tensor(tensor) => Value::Tensor(Rc::new(Tensor { data: None, ..(*tensor).clone() })),
            other => other,
        }
    }

    /// Evaluates `transpose`.
    pub fn transpose(&mut self, x: &Tensor<'t>, a: Option<i64>, b: Option<i64>, node: Node<'t>) -> Eval<'t> {
        let a = self.axis("transpose", a, x.rank(), 0, node)?;
        let b = self.axis("transpose", b, x.rank(), 0, node)?;
        let shape = match (&x.shape, a, b) {
            (Some(shape), Some(a), Some(b)) if !shape.is_empty() => {
                let mut sizes = shape.clone();
                sizes.swap(a, b);
                let mut order: Vec<usize> = (0..sizes.len()).collect();
                order.swap(a, b);
                return Ok(Self::reordered(self.moved(x, Some(sizes)), x, &order));
            }
            (Some(shape), ..) => Some(vec![None; shape.len()]),
            _ => None,
        };
        Ok(self.moved(x, shape))
    }

    /// Evaluates `unsqueeze`.
    pub fn unsqueeze(&mut self, x: &Tensor<'t>, axis: Option<i64>, node: Node<'t>) -> Eval<'t> {
        let at = self.axis("unsqueeze", axis, x.rank(), 1, node)?;
        let shape = match (&x.shape, at) {
            (Some(shape), Some(at)) => {
                let mut sizes = shape.clone();
                sizes.insert(at, Some(1));
                Some(sizes)
            }
            _ => None,
        };
        Ok(Self::contiguous_as(self.viewed(x, shape), &[x]))
    }

    /// Evaluates `squeeze`.
    pub fn squeeze(&mut self, x: &Tensor<'t>, axis: Option<&Value<'t>>, node: Node<'t>) -> Eval<'t> {
        let Some(shape) = x.shape.clone() else { return Ok(self.viewed(x, None)) };
        let sizes = match axis {
            None if shape.iter().all(Option::is_some) => {
                Some(shape.into_iter().filter(|size| *size != Some(1)).collect())
            }
            Some(Value::Int(axis)) => match self.axis("squeeze", Some(*axis), Some(shape.len()), 0, node)? {
                Some(at) if shape.get(at) == Some(&Some(1)) => {
                    let mut sizes = shape;
                    sizes.remove(at);
                    Some(sizes)
                }
                Some(at) if shape.get(at).is_none_or(Option::is_some) => Some(shape),
                _ => None,
            },
            Some(axes) => {
                let axes: Option<Vec<Dim>> =
                    self.items(axes).map(|axes| axes.iter().map(Value::int).collect());
                let mut dropped = vec![];
                for axis in axes.iter().flatten() {
                    dropped.push(self.axis("squeeze", *axis, Some(shape.len()), 0, node)?);
                }
                let is_known = axes.is_some()
                    && dropped
                        .iter()
                        .all(|at| at.is_some_and(|at| shape.get(at).is_none_or(Option::is_some)));
                let stays = |at: usize| !dropped.contains(&Some(at)) || shape[at] != Some(1);
                is_known.then(|| (0..shape.len()).filter(|at| stays(*at)).map(|at| shape[at]).collect())
            }
            None => None,
        };
        Ok(self.viewed(x, sizes))
    }

    /// Evaluates `expand`.
    pub fn expand(&mut self, x: &Tensor<'t>, sizes: Option<Vec<Dim>>, node: Node<'t>) -> Eval<'t> {
        let (Some(shape), Some(mut sizes)) = (&x.shape, sizes) else { return Ok(self.moved(x, None)) };
        let Some(added) = sizes.len().checked_sub(shape.len()) else {
            let message = format!("`expand` to {} drops axes of the shape {}", shown(&sizes), shown(shape));
            return Err(self.fault(node, Fault::shape(message, "list a size for each axis")));
        };
        for (at, size) in shape.iter().enumerate() {
            let wanted = &mut sizes[added + at];
            match (*size, *wanted) {
                (size, Some(-1)) => *wanted = size,
                (Some(size), Some(other)) if size != 1 && size != other => {
                    let message = format!(
                        "`expand` of the shape {}: axis {at} is {size}, not 1 or {other}",
                        shown(shape)
                    );
                    return Err(self.fault(node, Fault::shape(message, "expand only axes of size 1")));
                }
                _ => {}
            }
        }
        let data = self.data(x).and_then(|data| expanded(&data, shape, &sizes));
        let moved = self.moved(x, Some(sizes));
        Ok(match (data, moved) {
            (Some(data), Value::Tensor(mut tensor)) => {
                Rc::make_mut(&mut tensor).data = Some(data);
                Value::Tensor(tensor)
            }
            (_, moved) => moved,
        })
    }

    /// Evaluates `repeat`.
    pub fn repeat(&mut self, x: &Tensor<'t>, times: Option<Vec<Dim>>, node: Node<'t>) -> Eval<'t> {
        let (Some(shape), Some(times)) = (&x.shape, times) else { return Ok(self.made(None, x.dtype, &[x])) };
        let Some(added) = times.len().checked_sub(shape.len()) else {
            let message = format!(
                "`repeat` gets a list of length {}, but the tensor has rank {}",
                times.len(),
                shape.len()
            );
            return Err(self.fault(node, Fault::shape(message, "list a number for each axis")));
        };
        let size = |at: usize| if at < added { Some(1) } else { shape[at - added] };
        let sizes = times.iter().enumerate().map(|(at, times)| size(at).zip(*times).map(|(a, b)| a * b));
        let sizes = sizes.collect();
        Ok(self.made(Some(sizes), x.dtype, &[x]))
    }
}

/// Returns the elements of a tensor that is expanded along its first axes.
fn expanded(data: &Rc<[f64]>, shape: &[Dim], sizes: &[Dim]) -> Option<Rc<[f64]>> {
    let first = shape.iter().position(|size| *size != Some(1)).unwrap_or(shape.len());
    let count = usize::try_from(numel(sizes)?).ok()?;
    if !sizes.ends_with(&shape[first..]) || data.is_empty() || count > MAX_DATA {
        return None;
    }
    Some(data.iter().copied().cycle().take(count).collect())
}
