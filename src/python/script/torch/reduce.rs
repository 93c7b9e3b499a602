//! Reductions.

use tree_sitter::Node;

use super::super::machine::{Eval, Machine, Stop};
use super::super::tensor::{DType, Shape, Tensor};
use super::super::value::Value;
use super::function_calls::real;

impl<'t> Machine<'t> {
    /// Returns the shape of a tensor after a reduction of `axes`, or of all axes if `axes` is `None`.
    pub fn reduced(
        &mut self,
        what: &str,
        x: &Tensor<'t>,
        axes: Option<&Value<'t>>,
        keep: Option<&Value<'t>>,
        node: Node<'t>,
    ) -> Result<Shape, Stop> {
        let keep = match keep {
            None => Some(false),
            Some(keep) => self.truth(keep),
        };
        let axes: Vec<Option<i64>> = match axes {
            None | Some(Value::None) => {
                return Ok(match (keep, &x.shape) {
                    (Some(false), _) => Some(vec![]),
                    (Some(true), Some(shape)) => Some(vec![Some(1); shape.len()]),
                    _ => None,
                });
            }
            Some(Value::Int(axis)) => vec![Some(*axis)],
            Some(other) => match self.items(other) {
                // Some reductions reduce all axes, others none.
                Some(items) if items.is_empty() => return Ok(None),
                Some(items) => items.iter().map(Value::int).collect(),
                None => return Ok(None),
            },
        };
        let mut dropped = vec![];
        for axis in axes {
            match self.axis(what, axis, x.rank(), 0, node)? {
                Some(at) => dropped.push(at),
                None => return Ok(None),
            }
        }
        let (Some(shape), Some(keep)) = (&x.shape, keep) else { return Ok(None) };
        let left = shape.iter().enumerate().filter_map(|(at, size)| match dropped.contains(&at) {
            true => keep.then_some(Some(1)),
            false => Some(*size),
        });
        Ok(Some(left.collect()))
    }

    /// Evaluates a reduction to one tensor.
    pub fn reduce(
        &mut self,
        name: &str,
        x: &Tensor<'t>,
        axes: Option<&Value<'t>>,
        keep: Option<&Value<'t>>,
        node: Node<'t>,
    ) -> Eval<'t> {
        let shape = self.reduced(name, x, axes, keep, node)?;
        let dtype = match name {
            "argmax" | "argmin" | "count_nonzero" => Some(DType::Int64),
            "any" | "all" => x.dtype.map(|dtype| if dtype == DType::UInt8 { dtype } else { DType::Bool }),
            "logsumexp" => self.floating(x.dtype),
            "norm" | "std" | "var" => x.dtype.and_then(real),
            "sum" | "prod" | "nansum" => {
                x.dtype.map(|dtype| if dtype.is_float() || dtype.is_complex() { dtype } else { DType::Int64 })
            }
            _ => x.dtype,
        };
        Ok(self.made(shape, dtype, &[x]))
    }

    /// Evaluates a reduction to values and indices, such as `x.max(1)` and `torch.topk(x, 3)`.
    pub fn ranked(&mut self, x: &Tensor<'t>, shape: Shape) -> Value<'t> {
        let values = self.made(shape.clone(), x.dtype, &[x]);
        let indices = self.made(shape, Some(DType::Int64), &[x]);
        let mut result = vec![("values", values.clone()), ("indices", indices.clone())];
        result.push(("items", Value::tuple(vec![values, indices])));
        self.instance("torch.return_types", result, false)
    }
}
