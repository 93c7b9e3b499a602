//! Functions that divide or join tensors, such as `tensor_split`, `block_diag` and `kron`.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Dim, Tensor};
use super::super::value::Value;

/// Maximum number of tensors that a call joins or returns.
const MAX_TENSORS: i64 = 512;

impl<'t> Machine<'t> {
    /// Evaluates a function of several tensors, or with several results; `None` for other functions.
    pub fn divided_or_joined(&mut self, name: &str, args: &Args<'t>) -> Option<Eval<'t>> {
        match name {
            "tensor_split" | "hsplit" | "vsplit" | "dsplit" => {
                let x = args.get(0, "input")?.tensor()?.clone();
                Some(self.tensor_split(name, &x, args))
            }
            "block_diag" | "cartesian_prod" | "broadcast_tensors" | "linalg.multi_dot" | "chain_matmul" => {
                let tensors = self.operands(args)?;
                Some(self.joined_operands(name, &tensors, args))
            }
            "atleast_1d" | "atleast_2d" | "atleast_3d" => {
                let tensors = self.operands(args)?;
                let is_one = matches!(args.positional.as_slice(), [(Value::Tensor(_), _)]);
                let raised: Vec<Value<'t>> = tensors.iter().map(|x| self.raised(name, x)).collect();
                Some(Ok(match raised.as_slice() {
                    [only] if is_one => only.clone(),
                    _ => Value::tuple(raised),
                }))
            }
            "combinations" => {
                let x = args.get(0, "input")?.tensor()?.clone();
                let Some([size]) = x.shape.as_deref() else { return None };
                let width = args.get(1, "r").map_or(Some(2), Value::int).filter(|width| *width > 0)?;
                let repeats = args.get(2, "with_replacement").map_or(Some(false), |flag| self.truth(flag))?;
                let count =
                    size.and_then(|size| choices(if repeats { size + width - 1 } else { size }, width));
                Some(Ok(self.made(Some(vec![count, Some(width)]), x.dtype, &[&x])))
            }
            "kron" => {
                let x = args.get(0, "input")?.tensor()?.clone();
                let y = args.get(1, "other")?.tensor()?.clone();
                let (a, b) = (x.shape.as_ref()?, y.shape.as_ref()?);
                let rank = a.len().max(b.len());
                let at = |shape: &[Dim], axis: usize| {
                    (axis + shape.len()).checked_sub(rank).map_or(Some(1), |at| shape[at])
                };
                let sizes = (0..rank).map(|axis| at(a, axis)?.checked_mul(at(b, axis)?)).collect();
                let dtype =
                    self.promoted(&[Value::Tensor(Rc::new(x.clone())), Value::Tensor(Rc::new(y.clone()))]);
                Some(Ok(self.made(Some(sizes), dtype, &[&x, &y])))
            }
            "tensordot" => {
                let x = args.get(0, "a")?.tensor()?.clone();
                let y = args.get(1, "b")?.tensor()?.clone();
                let shape = self.contracted(&x, &y, args.get(2, "dims"))?;
                let dtype = x.dtype.filter(|_| x.dtype == y.dtype && !self.is_autocast());
                Some(Ok(self.made(Some(shape), dtype, &[&x, &y])))
            }
            _ => None,
        }
    }

    /// Returns the tensors of a call whose arguments are tensors, or one list of tensors.
    fn operands(&self, args: &Args<'t>) -> Option<Vec<Rc<Tensor<'t>>>> {
        if !args.keywords.is_empty() {
            return None;
        }
        let values = match args.values().as_slice() {
            [list @ (Value::Object(_) | Value::Tuple(_))] => self.items(list)?,
            many => many.to_vec(),
        };
        let tensor = |value: Value<'t>| if let Value::Tensor(tensor) = value { Some(tensor) } else { None };
        let tensors: Option<Vec<Rc<Tensor<'t>>>> = values.into_iter().map(tensor).collect();
        tensors.filter(|tensors| !tensors.is_empty())
    }

    /// Evaluates `tensor_split`, and its forms for one axis.
    fn tensor_split(&mut self, name: &str, x: &Tensor<'t>, args: &Args<'t>) -> Eval<'t> {
        let Some(shape) = x.shape.clone() else { return Ok(Value::Unknown) };
        let axis = match name {
            "vsplit" => Some(0),
            "hsplit" => Some(i64::from(shape.len() > 1)),
            "dsplit" => Some(2),
            _ => args.get(2, "dim").map_or(Some(0), Value::int),
        };
        let at = self.axis(name, axis, Some(shape.len()), 0, args.node)?;
        let size = at.and_then(|at| shape.get(at).copied().flatten());
        let names = ["indices_or_sections", "sections", "indices"];
        let by =
            args.positional.get(1).map(|(by, _)| by).or(names.iter().find_map(|name| args.keyword(name)));
        let (Some(at), Some(size), Some(by)) = (at, size, by.cloned()) else { return Ok(Value::Unknown) };
        let lengths: Option<Vec<i64>> = match &by {
            Value::Int(count) if (1..=MAX_TENSORS).contains(count) => {
                // The first pieces are one element longer.
                Some((0..*count).map(|piece| size / count + i64::from(piece < size % count)).collect())
            }
            Value::Int(_) | Value::Tensor(_) => None,
            list => self.items(list).and_then(|ends| {
                let place = |end: i64| (if end < 0 { end + size } else { end }).clamp(0, size);
                let ends: Option<Vec<i64>> = ends.iter().map(|end| end.int().map(place)).collect();
                let ends = ends?;
                let starts = std::iter::once(0).chain(ends.iter().copied());
                let ends = ends.iter().copied().chain([size]);
                Some(starts.zip(ends).map(|(start, end)| (end - start).max(0)).collect())
            }),
        };
        let Some(lengths) = lengths else { return Ok(Value::Unknown) };
        let pieces = lengths.into_iter().map(|length| {
            let mut sizes = shape.clone();
            sizes[at] = Some(length);
            self.viewed(&Tensor { data: None, ..x.clone() }, Some(sizes))
        });
        Ok(Value::tuple(pieces.collect()))
    }

    fn joined_operands(&mut self, name: &str, tensors: &[Rc<Tensor<'t>>], args: &Args<'t>) -> Eval<'t> {
        let all: Vec<&Tensor<'t>> = tensors.iter().map(|tensor| &**tensor).collect();
        let dtypes: Option<Vec<DType>> = all.iter().map(|one| one.dtype).collect();
        let dtype = dtypes.and_then(|dtypes| dtypes.into_iter().reduce(DType::promote));
        let shapes: Option<Vec<&[Dim]>> = all.iter().map(|one| one.shape.as_deref()).collect();
        let Some(shapes) = shapes else { return Ok(Value::Unknown) };
        match name {
            "block_diag" => {
                let place = |shape: &&[Dim], from_end: usize| match shape.len() {
                    0 => Some(1),
                    1 if from_end == 2 => Some(1),
                    rank => shape[rank - from_end],
                };
                let total = |from_end: usize| {
                    shapes.iter().try_fold(0i64, |sum, shape| sum.checked_add(place(shape, from_end)?))
                };
                Ok(self.made(Some(vec![total(2), total(1)]), dtype, &all))
            }
            "cartesian_prod" => {
                let count = shapes.iter().try_fold(1i64, |product, shape| match shape {
                    [size] => product.checked_mul((*size)?),
                    _ => None,
                });
                let width = i64::try_from(shapes.len()).ok();
                let shape = if shapes.len() == 1 { vec![count] } else { vec![count, width] };
                Ok(self.made(Some(shape), dtype, &all))
            }
            "broadcast_tensors" => {
                let mut joined = vec![];
                for shape in &shapes {
                    joined = self.broadcast(&joined, shape, args.node)?;
                }
                let views = all.iter().map(|one| {
                    let view = Tensor { data: None, ..(*one).clone() };
                    self.viewed(&view, Some(joined.clone()))
                });
                Ok(Value::tuple(views.collect()))
            }
            _ => {
                let mut product = Value::Tensor(tensors[0].clone());
                for tensor in &tensors[1..] {
                    let Value::Tensor(left) = &product else { return Ok(Value::Unknown) };
                    product = self.matmul(&left.clone(), tensor, args.node)?;
                }
                Ok(product)
            }
        }
    }

    /// Evaluates `atleast_1d` and its forms for two and three axes.
    fn raised(&mut self, name: &str, x: &Rc<Tensor<'t>>) -> Value<'t> {
        let one = Some(1);
        let shape = x.shape.as_ref().map(|shape| match (name, shape.as_slice()) {
            ("atleast_1d", []) => vec![one],
            ("atleast_2d", []) => vec![one; 2],
            ("atleast_2d", [size]) => vec![one, *size],
            ("atleast_3d", []) => vec![one; 3],
            ("atleast_3d", [size]) => vec![one, *size, one],
            ("atleast_3d", [a, b]) => vec![*a, *b, one],
            (_, other) => other.to_vec(),
        });
        self.viewed(x, shape)
    }

    /// Returns the shape of `tensordot`.
    fn contracted(&self, x: &Tensor<'t>, y: &Tensor<'t>, dims: Option<&Value<'t>>) -> Option<Vec<Dim>> {
        let (a, b) = (x.shape.as_ref()?, y.shape.as_ref()?);
        let (left, right): (Vec<usize>, Vec<usize>) = match dims {
            None => ((a.len().checked_sub(2)?..a.len()).collect(), (0..2).collect()),
            Some(Value::Int(count)) => {
                let count = usize::try_from(*count).ok()?;
                ((a.len().checked_sub(count)?..a.len()).collect(), (0..count).collect())
            }
            Some(pair) => match self.items(pair)?.as_slice() {
                [left, right] => (self.places(left, a.len())?, self.places(right, b.len())?),
                _ => return None,
            },
        };
        let rest = |shape: &[Dim], used: &[usize]| -> Vec<Dim> {
            (0..shape.len()).filter(|at| !used.contains(at)).map(|at| shape[at]).collect()
        };
        (left.len() == right.len()).then(|| [rest(a, &left), rest(b, &right)].concat())
    }

    /// Returns the axes in a list as indices.
    fn places(&self, axes: &Value<'t>, rank: usize) -> Option<Vec<usize>> {
        let axes = self.items(axes)?;
        axes.iter().map(|axis| super::super::tensor::axis_index(axis.int()?, rank)).collect()
    }
}

/// Returns the number of subsets of `width` of `count` elements.
fn choices(count: i64, width: i64) -> Option<i64> {
    if width < 0 || count < 0 {
        return None;
    }
    let mut product = 1i64;
    for at in 0..width {
        product = product.checked_mul((count - at).max(0))? / (at + 1);
    }
    Some(product)
}
