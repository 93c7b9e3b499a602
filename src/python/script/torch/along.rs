//! Functions that reduce, sort or rearrange along axes: quantiles, integrals, diagonals and rotations.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::machine::{Eval, Machine, Stop};
use super::super::tensor::{DType, Dim, Shape, Tensor, axis_index};
use super::super::value::Value;
use super::elementwise::joined;
use super::function_calls::real;

impl<'t> Machine<'t> {
    /// Evaluates a function of one tensor along its axes; the result is unknown for other functions.
    pub fn along_axes(&mut self, name: &str, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Eval<'t> {
        let node = args.node;
        let axis_of = |at: usize, default: i64| args.get(at, "dim").map_or(Some(default), Value::int);
        let operand = |at: usize, name: &str| args.get(at, name).and_then(Value::tensor).cloned();
        let float = x.dtype.filter(|dtype| dtype.is_float());
        match name {
            "quantile" | "nanquantile" => {
                let outer = match args.get(1, "q") {
                    Some(Value::Tensor(q)) => q.shape.clone(),
                    Some(Value::Float(_) | Value::Int(_)) => Some(vec![]),
                    _ => None,
                };
                let inner = self.reduced(name, x, args.get(2, "dim"), args.get(3, "keepdim"), node)?;
                let shape = outer.zip(inner).map(|(outer, inner)| [outer, inner].concat());
                Ok(self.made(shape, float, &[x]))
            }
            "nanmedian" => match args.get(1, "dim").cloned() {
                None => Ok(self.made(Some(vec![]), x.dtype, &[x])),
                Some(axis) => {
                    let shape = self.reduced(name, x, Some(&axis), args.get(2, "keepdim"), node)?;
                    Ok(self.ranked(x, shape))
                }
            },
            "aminmax" => {
                let shape = self.reduced(name, x, args.get(1, "dim"), args.get(2, "keepdim"), node)?;
                let [least, most] = [(), ()].map(|()| self.made(shape.clone(), x.dtype, &[x]));
                let items = Value::tuple(vec![least.clone(), most.clone()]);
                let named = vec![("min", least), ("max", most), ("items", items)];
                Ok(self.instance("torch.return_types", named, false))
            }
            "take_along_dim" => {
                let Some(index) = operand(1, "indices") else { return Ok(Value::Unknown) };
                let shape = match args.get(2, "dim") {
                    None | Some(Value::None) => Some(vec![index.numel()]),
                    Some(axis) => taken(x, &index, axis.int()),
                };
                Ok(self.made(shape, x.dtype, &[x]))
            }
            "trapezoid" | "cumulative_trapezoid" => {
                let at =
                    self.axis(name, args.keyword("dim").map_or(Some(-1), Value::int), x.rank(), 0, node)?;
                let is_plain = args.positional.len() <= 2 && args.get(1, "x").is_none_or(is_number);
                let Some((mut shape, at)) = x.shape.clone().zip(at).filter(|_| is_plain) else {
                    return Ok(Value::Unknown);
                };
                match (name, shape.get(at).copied()) {
                    (_, None) => return Ok(Value::Unknown),
                    ("trapezoid", _) => drop(shape.remove(at)),
                    (_, Some(size)) => shape[at] = size.map(|size| (size - 1).max(0)),
                }
                Ok(self.made(Some(shape), float, &[x]))
            }
            "linalg.matrix_norm" => {
                let last = Value::tuple(vec![Value::Int(-2), Value::Int(-1)]);
                let axes = args.get(2, "dim").cloned().unwrap_or(last);
                let shape = self.reduced(name, x, Some(&axes), args.get(3, "keepdim"), node)?;
                let dtype = x.dtype.and_then(real).filter(|_| args.keyword("dtype").is_none());
                Ok(self.made(shape, dtype, &[x]))
            }
            "linalg.vecdot" => {
                let Some(y) = operand(1, "y") else { return Ok(Value::Unknown) };
                let axis = axis_of(2, -1);
                let both = x.shape.as_ref().zip(y.shape.as_ref()).and_then(|(a, b)| joined(a, b));
                let shape = both.zip(axis).and_then(|(mut both, axis)| {
                    both.remove(axis_index(axis, both.len())?);
                    Some(both)
                });
                let dtype = x.dtype.filter(|_| x.dtype == y.dtype && !self.is_autocast());
                Ok(self.made(shape, dtype, &[x, &y]))
            }
            "linalg.diagonal" => {
                let mut moved = args.clone();
                for (name, axis) in [("dim1", -2), ("dim2", -1)] {
                    if args.keyword(name).is_none() {
                        moved.keywords.push((Rc::from(name), Value::Int(axis), None));
                    }
                }
                self.further_operator("diagonal", x, &moved)
            }
            "rot90" => {
                let shape = self.rotated(x, args);
                Ok(self.made(shape, x.dtype, &[x]))
            }
            "diag_embed" => {
                let shape = embedded(x, args);
                Ok(self.made(shape, x.dtype, &[x]))
            }
            "diagflat" => {
                let offset = args.get(1, "offset").map_or(Some(0), Value::int);
                let size = x.numel().zip(offset).map(|(count, offset)| count + offset.abs());
                Ok(self.made(Some(vec![size; 2]), x.dtype, &[x]))
            }
            "as_strided" => {
                let sizes = args.get(1, "size").and_then(|sizes| self.shape_of(sizes));
                Ok(match sizes {
                    Some(sizes) => self.window(x, sizes),
                    None => {
                        self.write(x);
                        Value::Unknown
                    }
                })
            }
            "sum_to_size" => {
                let sizes = self.shape_argument(args, 1, "size");
                let dtype = x.dtype.filter(|dtype| dtype.is_float() || dtype.is_complex());
                Ok(self.made(sizes, dtype, &[x]))
            }
            "tile" => {
                let times = match args.positional.len() {
                    0 | 1 => {
                        args.keyword("dims").or(args.keyword("repeats")).and_then(|one| self.shape_of(one))
                    }
                    _ => self.shape_argument(args, 1, "dims"),
                };
                let Some((mut times, rank)) = times.zip(x.rank()) else { return Ok(Value::Unknown) };
                while times.len() < rank {
                    times.insert(0, Some(1));
                }
                self.repeat(x, Some(times), node)
            }
            "repeat_interleave" => Ok(self.interleaved(x, args)),
            "gradient" => Ok(self.gradients(x, args)),
            "nonzero" if args.get(1, "as_tuple") == Some(&Value::Bool(true)) => {
                let Some(rank) = x.rank() else { return Ok(Value::Unknown) };
                let rows = self.selected_by_data("masked_select", x);
                let Value::Tensor(rows) = rows else { return Ok(Value::Unknown) };
                let row = || Value::Tensor(Rc::new(Tensor { dtype: Some(DType::Int64), ..(*rows).clone() }));
                Ok(Value::tuple((0..rank.max(1)).map(|_| row()).collect()))
            }
            "nonzero_static" => {
                let axes = x.rank().and_then(|rank| i64::try_from(rank).ok());
                let count = args.keyword("size").and_then(Value::int);
                Ok(self.made(Some(vec![count, axes]), Some(DType::Int64), &[x]))
            }
            "upsample_bilinear" | "upsample_nearest" => {
                let size = args.get(1, "size").cloned().unwrap_or(Value::None);
                let scale = args.get(2, "scale_factor").cloned().unwrap_or(Value::None);
                Ok(self.interpolate(x, &size, &scale))
            }
            _ => Ok(Value::Unknown),
        }
    }

    fn rotated(&self, x: &Tensor<'t>, args: &Args<'t>) -> Shape {
        let mut shape = x.shape.clone()?;
        let turns = args.get(1, "k").map_or(Some(1), Value::int)?;
        let axes = match args.get(2, "dims") {
            None => vec![0, 1],
            Some(axes) => {
                let place = |axis: &Value| axis_index(axis.int()?, shape.len());
                self.items(axes)?.iter().map(place).collect::<Option<Vec<usize>>>()?
            }
        };
        let [a, b] = axes.as_slice() else { return None };
        if *a.max(b) >= shape.len() {
            return None;
        }
        if turns % 2 != 0 {
            shape.swap(*a, *b);
        }
        Some(shape)
    }

    /// Evaluates `repeat_interleave` without an axis, or with a tensor of repeats.
    fn interleaved(&mut self, x: &Tensor<'t>, args: &Args<'t>) -> Value<'t> {
        let repeats = args.get(1, "repeats");
        let length = args.get(3, "output_size").and_then(Value::int);
        let total =
            repeats.and_then(Value::int).zip(x.numel()).and_then(|(times, count)| times.checked_mul(count));
        let shape = match (args.get(2, "dim"), repeats) {
            (_, None) => return Value::Unknown,
            (None | Some(Value::None), _) => Some(vec![length.or(total)]),
            (Some(axis), _) => {
                let axis = axis.int().zip(x.rank()).and_then(|(axis, rank)| axis_index(axis, rank));
                x.shape.clone().zip(axis).map(|(mut shape, at)| {
                    let each = repeats.and_then(Value::int).zip(shape[at]).map(|(times, size)| times * size);
                    shape[at] = length.or(each);
                    shape
                })
            }
        };
        self.made(shape, x.dtype, &[x])
    }

    /// Evaluates `gradient`, which has one result for each axis.
    fn gradients(&mut self, x: &Tensor<'t>, args: &Args<'t>) -> Value<'t> {
        let count = match args.keyword("dim") {
            None | Some(Value::None) => x.rank(),
            Some(Value::Int(_)) => Some(1),
            Some(axes) => self.items(axes).map(|axes| axes.len()),
        };
        let Some(count) = count else { return Value::Unknown };
        let dtype = x.dtype.filter(|dtype| dtype.is_float());
        Value::tuple((0..count).map(|_| self.made(x.shape.clone(), dtype, &[x])).collect())
    }

    /// Evaluates `stft`; the number of frames is unknown if the sizes are.
    pub fn short_time_transform(&mut self, x: &Tensor<'t>, args: &Args<'t>) -> Result<Value<'t>, Stop> {
        let flag = |at: usize, name: &str| args.get(at, name).map(|flag| self.truth(flag));
        let int =
            |at: usize, name: &str| args.get(at, name).filter(|one| **one != Value::None).map(Value::int);
        let (Some(Some(size)), Some(Some(is_complex))) = (int(1, "n_fft"), flag(9, "return_complex")) else {
            return Ok(Value::Unknown);
        };
        let Some((length, outer)) = x.shape.as_ref().and_then(|shape| shape.split_last()) else {
            return Ok(Value::Unknown);
        };
        let hop = int(2, "hop_length").unwrap_or(Some(size / 4));
        let center = flag(5, "center").unwrap_or(Some(true));
        let Some(one_sided) = flag(8, "onesided").unwrap_or(Some(true)) else { return Ok(Value::Unknown) };
        let is_real = x.dtype.is_some_and(DType::is_float);
        if outer.len() > 1 || !is_real {
            return Ok(Value::Unknown);
        }
        let frames = match (length, hop, center) {
            (Some(length), Some(hop), Some(center)) if hop > 0 => {
                let padded = if center { length + size / 2 * 2 } else { *length };
                Some((padded - size) / hop + 1)
            }
            _ => None,
        };
        let mut shape = outer.to_vec();
        shape.extend([Some(if one_sided { size / 2 + 1 } else { size }), frames]);
        let dtype = match is_complex {
            true => x.dtype.and_then(super::function_calls::complex),
            false => x.dtype,
        };
        if !is_complex {
            shape.push(Some(2));
        }
        Ok(self.made(Some(shape), dtype, &[x]))
    }
}

fn is_number(value: &Value) -> bool {
    value.number().is_some()
}

/// Returns the shape of `take_along_dim` along an axis.
fn taken(x: &Tensor, index: &Tensor, axis: Option<i64>) -> Shape {
    let (a, b) = (x.shape.as_ref()?, index.shape.as_ref()?);
    let at = axis_index(axis?, a.len()).filter(|_| a.len() == b.len())?;
    let mut own = a.clone();
    own[at] = Some(1);
    let mut other = b.clone();
    other[at] = Some(1);
    let mut both = joined(&own, &other)?;
    both[at] = b[at];
    Some(both)
}

/// Returns the shape of `diag_embed`.
fn embedded(x: &Tensor, args: &Args) -> Shape {
    let int = |at: usize, name: &str, default: i64| args.get(at, name).map_or(Some(default), Value::int);
    let (last, outer) = x.shape.as_ref()?.split_last()?;
    let rank = outer.len() + 2;
    let size: Dim = last.zip(int(1, "offset", 0)).map(|(size, offset)| size + offset.abs());
    let (a, b) = (axis_index(int(2, "dim1", -2)?, rank)?, axis_index(int(3, "dim2", -1)?, rank)?);
    if a == b {
        return None;
    }
    let mut rest = outer.iter().copied();
    Some((0..rank).map(|at| if at == a || at == b { size } else { rest.next().flatten() }).collect())
}
