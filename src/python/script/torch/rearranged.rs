//! Functions that rearrange or select elements: diagonals, stacks, grids and searches.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Dim, Tensor, axis_index, shown};
use super::super::value::Value;

impl<'t> Machine<'t> {
    /// Evaluates a product, a function of `torch.linalg`, or a function that rearranges its operand.
    pub fn further_operator(&mut self, name: &str, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Eval<'t> {
        let result = self.product(name, x, args).or_else(|| self.linear_algebra(name, x, args));
        result.or_else(|| self.rearrangement(name, x, args)).unwrap_or(Ok(Value::Unknown))
    }

    /// Evaluates a function of several tensors that joins or crosses them; `None` for other functions.
    pub fn crossed(&mut self, name: &str, args: &Args<'t>) -> Option<Eval<'t>> {
        if !matches!(name, "hstack" | "vstack" | "row_stack" | "dstack" | "column_stack" | "meshgrid") {
            return None;
        }
        let given = match args.values().as_slice() {
            [list @ (Value::Object(_) | Value::Tuple(_)), ..] => self.items(list).unwrap_or_default(),
            many => many.iter().filter(|value| matches!(value, Value::Tensor(_))).cloned().collect(),
        };
        let tensors: Option<Vec<Rc<Tensor<'t>>>> = given
            .iter()
            .map(|value| if let Value::Tensor(tensor) = value { Some(tensor.clone()) } else { None })
            .collect();
        let Some(tensors) = tensors.filter(|tensors| !tensors.is_empty()) else {
            return Some(Ok(Value::Unknown));
        };
        if name == "meshgrid" {
            return Some(Ok(self.grid(&tensors, args)));
        }
        let ranks: Vec<Option<usize>> = tensors.iter().map(|tensor| tensor.rank()).collect();
        let first = ranks[0].filter(|first| *first > 0 && ranks.iter().all(|rank| *rank == Some(*first)));
        let (axis, stacks) = match (name, first) {
            ("hstack", Some(1)) => (0, false),
            ("hstack", Some(_)) => (1, false),
            ("vstack" | "row_stack", Some(1)) => (0, true),
            ("vstack" | "row_stack", Some(_)) => (0, false),
            ("column_stack", Some(1)) => (1, true),
            ("column_stack", Some(_)) => (1, false),
            ("dstack", Some(3..)) => (2, false),
            ("dstack", Some(2)) => (2, true),
            _ => return Some(Ok(Value::Unknown)),
        };
        let list = Value::tuple(given);
        Some(self.concatenate(&list, Some(axis), stacks, args.node))
    }

    /// Evaluates `meshgrid` of vectors.
    pub fn grid(&mut self, tensors: &[Rc<Tensor<'t>>], args: &Args<'t>) -> Value<'t> {
        let sizes: Option<Vec<Dim>> = tensors
            .iter()
            .map(|tensor| match tensor.shape.as_deref() {
                Some([]) => Some(Some(1)),
                Some([size]) => Some(*size),
                _ => None,
            })
            .collect();
        let Some(mut sizes) = sizes else { return Value::Unknown };
        match args.keyword("indexing").map(Value::text) {
            None | Some(Some("ij")) => {}
            Some(Some("xy")) if sizes.len() < 2 => {}
            Some(Some("xy")) => sizes.swap(0, 1),
            _ => return Value::Unknown,
        }
        let made = tensors.iter().map(|tensor| self.made(Some(sizes.clone()), tensor.dtype, &[tensor]));
        Value::tuple(made.collect())
    }

    /// Evaluates a function of one tensor that rearranges it; `None` for other functions.
    fn rearrangement(&mut self, name: &str, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Option<Eval<'t>> {
        let int = |at: usize, name: &str, default: i64| args.get(at, name).map_or(Some(default), Value::int);
        let tensor = |at: usize, name: &str| args.get(at, name).and_then(Value::tensor).cloned();
        let shape = x.shape.clone();
        Some(match name {
            "movedim" | "moveaxis" => {
                let axes = [args.get(1, "source"), args.get(2, "destination")];
                let [Some(from), Some(to)] = axes.map(|axes| self.axis_places(axes, x.rank())) else {
                    return Some(Ok(self.made(x.rank().map(|rank| vec![None; rank]), x.dtype, &[x])));
                };
                self.permute(x, moved(&from, &to, x.rank().unwrap_or(0)), args.node)
            }
            "diagonal" => match self.diagonal(x, args) {
                Some(shape) => Ok(self.window(x, shape)),
                None => {
                    // A write to the unknown view would change the tensor.
                    self.write(x);
                    Ok(Value::Unknown)
                }
            },
            "diag" => {
                let offset = int(1, "diagonal", 0);
                let shape = match (shape.as_deref(), offset) {
                    (Some([size]), Some(offset)) => {
                        let size = size.map(|size| size + offset.abs());
                        Some(vec![size, size])
                    }
                    (Some([rows, columns]), Some(offset)) => {
                        Some(vec![diagonal_length(*rows, *columns, offset)])
                    }
                    _ => None,
                };
                Ok(self.made(shape, x.dtype, &[x]))
            }
            "pixel_unshuffle" => {
                let by = int(1, "downscale_factor", 0).filter(|by| *by > 0);
                let Some((mut shape, by)) = shape.filter(|shape| shape.len() >= 3).zip(by) else {
                    return Some(Ok(Value::Unknown));
                };
                let at = shape.len() - 3;
                shape[at] = shape[at].and_then(|channels| channels.checked_mul(by * by));
                for axis in [at + 1, at + 2] {
                    shape[axis] = shape[axis].map(|size| size / by);
                }
                Ok(self.made(Some(shape), x.dtype, &[x]))
            }
            "channel_shuffle" => Ok(Value::Tensor(Rc::new(self.derived(x)))),
            "bucketize" => Ok(self.made(shape, Some(DType::Int64), &[x]).without_dtype(args)),
            "searchsorted" => match tensor(1, "input") {
                Some(values) => {
                    Ok(self.made(values.shape.clone(), Some(DType::Int64), &[x, &values]).without_dtype(args))
                }
                None => Ok(Value::Unknown),
            },
            "kthvalue" | "mode" | "cummax" | "cummin" => {
                let (at, keep) = match name {
                    "kthvalue" => (2, args.get(3, "keepdim")),
                    _ => (1, args.get(2, "keepdim")),
                };
                let axis = args.get(at, "dim").cloned().unwrap_or(Value::Int(-1));
                let shape = match name {
                    "cummax" | "cummin" => shape,
                    _ => match self.reduced(name, x, Some(&axis), keep, args.node) {
                        Ok(shape) => shape,
                        Err(stop) => return Some(Err(stop)),
                    },
                };
                Ok(self.ranked(x, shape))
            }
            "var_mean" | "std_mean" => {
                let axis = args.get(1, "dim").filter(|axis| !matches!(axis, Value::Bool(_)));
                let axis = axis.cloned();
                let keep = args.get(3, "keepdim");
                let spread = self.reduce("std", x, axis.as_ref(), keep, args.node);
                let mean = self.reduce("mean", x, axis.as_ref(), keep, args.node);
                spread.and_then(|spread| Ok(Value::tuple(vec![spread, mean?])))
            }
            "broadcast_to" => {
                let sizes = args.get(1, "size").and_then(|sizes| self.shape_of(sizes));
                self.expand(x, sizes, args.node)
            }
            "grid_sample" => match tensor(1, "grid") {
                Some(grid) => self.sampled(x, &grid, args),
                None => Ok(Value::Unknown),
            },
            "affine_grid" => {
                let size = args.get(1, "size").and_then(|size| self.shape_of(size));
                let shape = size.filter(|size| matches!(size.len(), 4 | 5)).map(|size| {
                    let axes = i64::try_from(size.len() - 2).ok();
                    [&size[..1], &size[2..], &[axes]].concat()
                });
                Ok(self.made(shape, x.dtype, &[x]))
            }
            _ => return None,
        })
    }

    /// Returns one axis, or each axis of a tuple, as an index.
    fn axis_places(&self, axes: Option<&Value<'t>>, rank: Option<usize>) -> Option<Vec<usize>> {
        let axes = match axes? {
            Value::Int(axis) => vec![Value::Int(*axis)],
            other => self.items(other)?,
        };
        axes.iter().map(|axis| axis_index(axis.int()?, rank?)).collect()
    }

    /// Returns the shape of `diagonal`.
    fn diagonal(&self, x: &Tensor<'t>, args: &Args<'t>) -> Option<Vec<Dim>> {
        let int = |at: usize, name: &str, default: i64| args.get(at, name).map_or(Some(default), Value::int);
        let mut shape = x.shape.clone()?;
        let (offset, a, b) = (int(1, "offset", 0)?, int(2, "dim1", 0)?, int(3, "dim2", 1)?);
        let (a, b) = (axis_index(a, shape.len())?, axis_index(b, shape.len())?);
        if a == b {
            return None;
        }
        let length = diagonal_length(shape[a], shape[b], offset);
        shape.remove(a.max(b));
        shape.remove(a.min(b));
        shape.push(length);
        Some(shape)
    }

    /// Evaluates `grid_sample`.
    fn sampled(&mut self, x: &Tensor<'t>, grid: &Tensor<'t>, args: &Args<'t>) -> Eval<'t> {
        let (Some(a), Some(b)) = (&x.shape, &grid.shape) else {
            return Ok(self.made(None, x.dtype, &[x, grid]));
        };
        let axes = a.len().saturating_sub(2);
        let coordinates = b.last().copied().flatten();
        let fits = matches!(a.len(), 4 | 5)
            && a.len() == b.len()
            && a[0].zip(b[0]).is_none_or(|(a, b)| a == b)
            && coordinates.is_none_or(|count| usize::try_from(count) == Ok(axes));
        if !fits {
            let message =
                format!("`grid_sample` cannot sample {} with a grid of the shape {}", shown(a), shown(b));
            let help = "pass a grid of the shape (batch, height, width, 2)";
            return Err(self.fault(args.node, Fault::shape(message, help)));
        }
        let shape = [&a[..2], &b[1..b.len() - 1]].concat();
        Ok(self.made(Some(shape), x.dtype, &[x, grid]))
    }
}

impl Value<'_> {
    /// Forgets the dtype of a tensor if the call of its function has the argument `out_int32`.
    fn without_dtype(mut self, args: &Args) -> Self {
        if let Value::Tensor(tensor) = &mut self
            && (args.positional.len() > 2 || args.keyword("out_int32").is_some())
        {
            Rc::make_mut(tensor).dtype = None;
        }
        self
    }
}

/// Returns the order of axes after those in `from` moved to the places in `to`.
fn moved(from: &[usize], to: &[usize], rank: usize) -> Option<Vec<Dim>> {
    let is_distinct = |axes: &[usize]| (1..axes.len()).all(|at| !axes[..at].contains(&axes[at]));
    if from.len() != to.len() || !is_distinct(from) || !is_distinct(to) {
        return None;
    }
    let mut order: Vec<Option<usize>> = vec![None; rank];
    for (from, to) in from.iter().zip(to) {
        *order.get_mut(*to)? = Some(*from);
    }
    let mut rest = (0..rank).filter(|axis| !from.contains(axis));
    order.into_iter().map(|axis| axis.or_else(|| rest.next()).map(|axis| i64::try_from(axis).ok())).collect()
}

/// Returns the length of a diagonal of a matrix.
fn diagonal_length(rows: Dim, columns: Dim, offset: i64) -> Dim {
    let (rows, columns) = (rows?, columns?);
    Some(if offset >= 0 { rows.min(columns - offset) } else { (rows + offset).min(columns) }.max(0))
}
