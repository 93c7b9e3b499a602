//! Indexing: subscripts, gather and scatter.

use std::rc::Rc;

use tree_sitter::Node;

use crate::diag::rule_ids;

use super::super::containers::slice_positions;
use super::super::faults::Fault;
use super::super::machine::{Eval, Machine, Stop};
use super::super::tensor::{DType, Dim, Role, Tensor, axis_index, numel, shown};
use super::super::value::Value;

/// Maximum number of rows over which a loop is followed.
const MAX_ROWS: i64 = 64;

impl<'t> Machine<'t> {
    /// Returns the rows of a tensor, if their number is known.
    pub fn rows(&mut self, x: &Tensor<'t>) -> Option<Vec<Value<'t>>> {
        let count = x.dim(0).filter(|count| *count <= MAX_ROWS)?;
        Some((0..count).map(|_| self.row(x)).collect())
    }

    /// Returns a row of a tensor.
    pub fn row(&mut self, x: &Tensor<'t>) -> Value<'t> {
        let shape = x.shape.as_ref().and_then(|shape| shape.get(1..)).map(<[Dim]>::to_vec);
        Value::Tensor(Rc::new(Tensor {
            shape,
            data: None,
            unbacked: None,
            layout: None,
            role: Role::Plain,
            ..x.clone()
        }))
    }

    /// Evaluates `x[index]`.
    pub fn tensor_item(&mut self, x: &Rc<Tensor<'t>>, index: &Value<'t>, node: Node<'t>) -> Eval<'t> {
        let parts = match index {
            Value::Tuple(parts) => parts.to_vec(),
            other => vec![other.clone()],
        };
        let parts = self.index_lists(parts);
        let shape = self.selected(x, &parts, node)?;
        let varies = |part: &Value| part.tensor().is_some_and(|part| part.varies);
        // The tracing exporter folds a mask of constants.
        let depends = self.is_program || self.examples.is_empty() || parts.iter().any(varies);
        let is_mask = matches!(parts[..], [Value::Tensor(_)]);
        let unbacked = unbacked_axis(&parts).filter(|_| !is_mask || depends);
        let varies = x.varies || parts.iter().any(varies);
        let mut item =
            Tensor { shape, data: None, unbacked, layout: None, varies, role: Role::Plain, ..(**x).clone() };
        item.data = match (self.data(x), &x.shape) {
            (Some(data), Some(shape)) => picked(&data, shape, &parts),
            _ => None,
        };
        Ok(Value::Tensor(Rc::new(item)))
    }

    /// Replaces lists of integers among indices by the tensors that PyTorch makes of them.
    fn index_lists(&mut self, parts: Vec<Value<'t>>) -> Vec<Value<'t>> {
        let tensor = |machine: &mut Self, part: Value<'t>| match &part {
            Value::Object(_) => match machine.items(&part) {
                Some(items) if items.iter().all(|item| matches!(item, Value::Int(_))) => {
                    let count = i64::try_from(items.len()).ok();
                    let device = Some(Rc::from("cpu"));
                    Value::Tensor(Rc::new(machine.tensor(Some(vec![count]), Some(DType::Int64), device)))
                }
                _ => part,
            },
            _ => part,
        };
        parts.into_iter().map(|part| tensor(self, part)).collect()
    }

    /// Returns the shape of `x[parts]`.
    fn selected(
        &self,
        x: &Tensor<'t>,
        parts: &[Value<'t>],
        node: Node<'t>,
    ) -> Result<Option<Vec<Dim>>, Stop> {
        let Some(shape) = &x.shape else { return Ok(None) };
        let consumed = |part: &Value<'t>| match part {
            Value::None | Value::Ellipsis | Value::Bool(_) => Some(0),
            Value::Tensor(index) if index.dtype == Some(DType::Bool) => index.rank(),
            Value::Tensor(index) => index.dtype.map(|_| 1),
            Value::Int(_) | Value::Slice(_) => Some(1),
            _ => None,
        };
        let counts: Option<Vec<usize>> = parts.iter().map(consumed).collect();
        let Some(counts) = counts else { return Ok(None) };
        let used: usize = counts.iter().sum();
        let Some(free) = shape.len().checked_sub(used) else {
            let indices = if used == 1 { "1 index".to_owned() } else { format!("{used} indices") };
            let message =
                format!("{indices} for a tensor of rank {} and shape {}", shape.len(), shown(shape));
            let fault =
                Fault { kind: "IndexError", ..Fault::shape(message, "remove an index, or add an axis") };
            return Err(self.fault(node, fault));
        };
        let mut axis = 0;
        let mut sizes: Vec<Dim> = vec![];
        let mut is_advanced = false;
        let mut seen_ellipsis = false;
        for part in parts {
            match part {
                Value::None => sizes.push(Some(1)),
                Value::Ellipsis => {
                    sizes.extend(&shape[axis..axis + free]);
                    axis += free;
                    seen_ellipsis = true;
                }
                Value::Int(at) => {
                    if let Some(size) = shape[axis]
                        && usize::try_from(size).is_ok_and(|size| axis_index(*at, size).is_none())
                    {
                        let message = format!(
                            "index {at} is out of range for axis {axis} of the shape {}",
                            shown(shape)
                        );
                        let fault = Fault {
                            rule: rule_ids::INDEX_OUT_OF_RANGE,
                            kind: "IndexError",
                            ..Fault::shape(message, "use an index within the axis")
                        };
                        return Err(self.fault(node, fault));
                    }
                    axis += 1;
                }
                Value::Slice(slice) => {
                    let positions = shape[axis].and_then(|size| slice_positions(slice, size));
                    let whole = slice.iter().all(|bound| *bound == Value::None);
                    let count = positions.and_then(|positions| i64::try_from(positions.len()).ok());
                    sizes.push(if whole { shape[axis] } else { count });
                    axis += 1;
                }
                Value::Tensor(index) => {
                    self.index_dtype("an index", index, node)?;
                    if index.dtype.is_some_and(|dtype| matches!(dtype, DType::Int64 | DType::Int32)) {
                        self.in_table("x[index]", index, shape[axis], true, node)?;
                    }
                    is_advanced = true;
                    axis += 1;
                }
                _ => is_advanced = true,
            }
        }
        if is_advanced {
            return Ok(self.advanced(shape, parts));
        }
        if !seen_ellipsis {
            sizes.extend(&shape[axis..]);
        }
        Ok(Some(sizes))
    }

    /// Returns the shape of `x[parts]` for a mask, or for adjacent index tensors.
    ///
    /// Returns `None` for any other index, for example if a part before or after the index tensors is not a
    /// full slice.
    fn advanced(&self, shape: &[Dim], parts: &[Value<'t>]) -> Option<Vec<Dim>> {
        if let [Value::Tensor(mask)] = parts
            && mask.dtype == Some(DType::Bool)
        {
            let mut sizes = vec![None];
            sizes.extend(&shape[mask.rank()?..]);
            return Some(sizes);
        }
        let is_full = |part: &Value<'t>| match part {
            Value::Slice(slice) => slice.iter().all(|bound| *bound == Value::None),
            _ => false,
        };
        let before = parts.iter().take_while(|part| is_full(part)).count();
        let is_index = |part: &Value<'t>| match part {
            Value::Tensor(index) => {
                index.dtype.is_some_and(DType::is_integer) && index.dtype != Some(DType::UInt8)
            }
            _ => false,
        };
        let count = parts[before..].iter().take_while(|part| is_index(part)).count();
        if count == 0 || !parts[before + count..].iter().all(is_full) {
            return None;
        }
        // Adjacent index tensors are broadcast to one shape.
        let mut joined: Vec<Dim> = vec![];
        for index in &parts[before..before + count] {
            let index = index.tensor()?.shape.as_ref()?;
            joined = super::elementwise::joined(&joined, index)?;
        }
        let mut sizes = shape[..before].to_vec();
        sizes.extend(joined);
        sizes.extend(&shape[before + count..]);
        Some(sizes)
    }

    /// Runs `x[index] = value`.
    pub fn write_item(
        &mut self,
        x: &Rc<Tensor<'t>>,
        index: &Value<'t>,
        value: &Value<'t>,
        node: Node<'t>,
    ) -> Result<(), Stop> {
        let parts = match index {
            Value::Tuple(parts) => parts.to_vec(),
            other => vec![other.clone()],
        };
        let parts = self.index_lists(parts);
        let target = self.selected(x, &parts, node)?;
        self.write_part(x, target.as_deref().and_then(numel));
        if let (Some(target), Value::Tensor(value)) = (target, value)
            && let Some(given) = &value.shape
        {
            // Leading axes of size 1 are dropped from the written value.
            let skip = given.iter().take_while(|size| **size == Some(1)).count();
            let kept = &given[skip.min(given.len().saturating_sub(target.len()))..];
            let fits = kept.len() <= target.len()
                && kept
                    .iter()
                    .rev()
                    .zip(target.iter().rev())
                    .all(|(a, b)| a.is_none() || b.is_none() || a == b || *a == Some(1));
            if !fits {
                let message = format!(
                    "a value of shape {} does not fit the selection {}",
                    shown(given),
                    shown(&target)
                );
                return Err(
                    self.fault(node, Fault::shape(message, "make the value broadcastable to the selection"))
                );
            }
        }
        Ok(())
    }

    /// Reports an index tensor whose dtype cannot index.
    pub fn index_dtype(&self, what: &str, index: &Tensor<'t>, node: Node<'t>) -> Result<(), Stop> {
        match index.dtype {
            Some(dtype) if dtype.is_float() || dtype.is_complex() => {
                let message = format!("{what} must have an integer dtype, but is {}", dtype.name());
                let help = "create the index with `torch.randint(…)`, or convert it: `.long()`";
                let fault = Fault { kind: "IndexError", ..Fault::dtype(message, help) };
                Err(self.fault(node, fault))
            }
            _ => Ok(()),
        }
    }

    /// Checks the index of `gather` and `scatter`.
    pub fn indexed(
        &mut self,
        what: &str,
        x: &Tensor<'t>,
        axis: Option<i64>,
        index: &Tensor<'t>,
        node: Node<'t>,
    ) -> Result<(), Stop> {
        let at = self.axis(what, axis, x.rank(), 0, node)?;
        if let Some(dtype) = index.dtype.filter(|dtype| !matches!(dtype, DType::Int64 | DType::Int32)) {
            let message = format!("`{what}` expects an int32 or int64 index, gets {}", dtype.name());
            let help = "create the index with `torch.randint(…)`, or convert it: `.long()`";
            return Err(self.fault(node, Fault::dtype(message, help)));
        }
        if let (Some(a), Some(b)) = (&x.shape, &index.shape) {
            if a.len() != b.len() && !a.is_empty() && !b.is_empty() {
                let message =
                    format!("`{what}` expects an index of rank {}, gets the shape {}", a.len(), shown(b));
                let help = match a.len() > b.len() {
                    true => "add axes to the index: `index.unsqueeze(…)`",
                    false => "remove axes from the index: `index.squeeze(…)`",
                };
                return Err(self.fault(node, Fault::shape(message, help)));
            }
            let beyond = (0..a.len().min(b.len()))
                .find(|axis| Some(*axis) != at && a[*axis].zip(b[*axis]).is_some_and(|(a, b)| b > a));
            if let Some(axis) = beyond.filter(|_| at.is_some()) {
                let message =
                    format!("`{what}`: axis {axis} of the index {} exceeds that of {}", shown(b), shown(a));
                return Err(self.fault(node, Fault::shape(message, "make the index as small as the tensor")));
            }
        }
        self.in_table(
            what,
            index,
            at.and_then(|at| x.shape.as_ref()?.get(at).copied().flatten()),
            false,
            node,
        )
    }
}

/// Returns the axis of `x[parts]` whose size depends on data.
///
/// The axis is 0 for a mask; otherwise, it is the axis of the first slice that has a tensor as a bound.
fn unbacked_axis(parts: &[Value]) -> Option<usize> {
    if let [Value::Tensor(mask)] = parts
        && mask.dtype == Some(DType::Bool)
    {
        return Some(0);
    }
    let is_plain = |part: &&Value| matches!(part, Value::Slice(_) | Value::Int(_) | Value::None);
    let parts: Vec<&Value> = parts.iter().take_while(is_plain).filter(|part| part.int().is_none()).collect();
    let depends = |part: &&Value| match part {
        Value::Slice(bounds) => bounds.iter().any(|bound| matches!(bound, Value::Tensor(_))),
        _ => false,
    };
    parts.iter().position(depends)
}

/// Returns the elements of `x[parts]` for integers and slices.
fn picked(data: &[f64], shape: &[Dim], parts: &[Value]) -> Option<Rc<[f64]>> {
    let mut chosen = vec![0usize];
    let mut parts = parts.iter();
    for size in shape {
        let size = (*size)?;
        let positions = match parts.next() {
            None => (0..size).collect(),
            Some(Value::Int(at)) => {
                let at = axis_index(*at, usize::try_from(size).ok()?)?;
                vec![i64::try_from(at).ok()?]
            }
            Some(Value::Slice(slice)) => slice_positions(slice, size)?,
            Some(_) => return None,
        };
        let (size, before) = (usize::try_from(size).ok()?, chosen);
        let next = |at: &i64| usize::try_from(*at).ok();
        chosen = before
            .iter()
            .flat_map(|base| positions.iter().filter_map(next).map(move |at| base * size + at))
            .collect();
    }
    let picked: Option<Vec<f64>> = chosen.iter().map(|at| data.get(*at).copied()).collect();
    picked.filter(|_| parts.next().is_none()).map(Into::into)
}
