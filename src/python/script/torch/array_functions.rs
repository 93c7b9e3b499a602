//! Functions and methods of NumPy that compute arrays from arrays.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::calls::Args;
use super::super::machine::{Machine, Stop};
use super::super::tensor::{DType, Tensor};
use super::super::value::Value;
use super::super::words::lists;
use super::numpy::{numpy_dtype, of_arrays};

/// Functions that keep the shape and the dtype of an array of floats.
const KEEPING: &str = "
    abs absolute fabs square negative positive sign round around rint floor ceil trunc nan_to_num flip flipud fliplr
    roll sort copy cumsum cumprod conj real triu tril";

/// Functions that keep the shape of an array, and give float64 for integers.
const FLOATING: &str = "
    exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan arcsin arccos arctan sinh cosh tanh deg2rad rad2deg
    radians degrees sinc";

/// Keyword arguments that are followed.
const KEYWORDS: [&str; 17] = [
    "fill_value",
    "axis",
    "dtype",
    "keepdims",
    "ddof",
    "decimals",
    "shift",
    "order",
    "a_min",
    "a_max",
    "min",
    "max",
    "axis1",
    "axis2",
    "reps",
    "repeats",
    "k",
];

/// Reductions of an array.
const REDUCTIONS: &str = "mean std var median sum prod min max amin amax nanmean nanstd argmin argmax";

impl<'t> Machine<'t> {
    /// Calls a function or method of NumPy whose first argument is `array`.
    ///
    /// `args` are the arguments after the array. Returns `None` if the function is not modeled.
    pub fn of_array(&mut self, array: &Rc<Tensor<'t>>, name: &str, args: &Args<'t>) -> Option<Value<'t>> {
        if args.open || args.keyword("out").is_some() || args.keyword("where").is_some() {
            return None;
        }
        if args.keywords.iter().any(|(name, ..)| !KEYWORDS.contains(&&**name)) {
            return None;
        }
        let plain = |machine: &mut Self, dtype: Option<DType>| {
            let kept = machine.tensor(array.shape.clone(), dtype, array.device.clone());
            Some(machine.array_value(kept))
        };
        let is_float = array.dtype.is_some_and(DType::is_float);
        if lists(KEEPING, name) {
            // Without an axis, sums of more than one axis are flat.
            let is_sum = name.starts_with("cum");
            // Further positional arguments are the array for the result, or its dtype.
            let most = match name {
                "cumsum" | "cumprod" | "roll" => 2,
                "flip" | "round" | "around" | "sort" | "copy" | "triu" | "tril" => 1,
                _ => 0,
            };
            if args.positional.len() > most {
                return None;
            }
            let given = if is_sum { args.get(1, "dtype") } else { args.keyword("dtype") };
            let dtype = given.map_or(array.dtype.filter(|_| is_float), numpy_dtype);
            // The triangle of a vector is a matrix.
            if matches!(name, "triu" | "tril") && array.rank().is_none_or(|rank| rank < 2) {
                return None;
            }
            let axis = args.get(0, "axis");
            let is_flat = array.rank() != Some(1)
                && (is_sum && axis.is_none()
                    || (is_sum || name == "sort") && axis.is_some_and(|axis| axis.int().is_none()));
            return if is_flat { None } else { plain(self, dtype) };
        }
        if lists(FLOATING, name) {
            let dtype = args.keyword("dtype").map_or(array.dtype.and_then(float_of), numpy_dtype);
            return if args.positional.is_empty() { plain(self, dtype) } else { None };
        }
        if lists(REDUCTIONS, name) {
            return self.array_reduction(array, name, args);
        }
        match name {
            "clip" => {
                let bounds: Vec<&Value<'t>> = args.all().collect();
                let are_numbers =
                    bounds.iter().all(|bound| bound.number().is_some() || **bound == Value::None);
                plain(self, array.dtype.filter(|_| is_float && are_numbers))
            }
            "zeros_like" | "ones_like" | "empty_like" | "full_like" => {
                let at = usize::from(name == "full_like");
                let dtype = args.get(at, "dtype").map_or(array.dtype, numpy_dtype);
                plain(self, dtype)
            }
            "float16" | "float32" | "float64" | "int32" | "int64" | "uint8" => {
                let dtype = DType::of_path(&format!("torch.{name}"));
                plain(self, dtype)
            }
            "flatten" | "ravel" => {
                let count = array.numel();
                let flat = self.tensor(Some(vec![count]), array.dtype, array.device.clone());
                Some(self.array_value(flat))
            }
            "squeeze" => {
                let axis = args.get(0, "axis").cloned();
                let changed = self.quietly(|machine| machine.squeeze(array, axis.as_ref(), args.node));
                self.moved_array(changed)
            }
            "swapaxes" => {
                let [a, b] = [(0, "axis1"), (1, "axis2")].map(|(at, name)| args.get(at, name)?.int());
                let changed = self.quietly(|machine| machine.transpose(array, a, b, args.node));
                self.moved_array(changed)
            }
            "moveaxis" => {
                let [from, to] =
                    [(0, "source"), (1, "destination")].map(|(at, name)| args.get(at, name)?.int());
                let rank = array.rank()?;
                let place = |axis: i64| super::super::tensor::axis_index(axis, rank);
                let (from, to) = (place(from?)?, place(to?)?);
                let mut shape = array.shape.clone()?;
                let size = shape.remove(from);
                shape.insert(to, size);
                let moved = self.tensor(Some(shape), array.dtype, array.device.clone());
                Some(self.array_value(moved))
            }
            "dot" | "matmul" => {
                let other = self.array_tensor(args.get(0, "b")?)?;
                let (a, b) = (array.rank()?, other.rank()?);
                if name == "dot" && (a > 2 || b > 2) || a == 0 || b == 0 {
                    return None;
                }
                let dtype = array.dtype.zip(other.dtype).and_then(|(a, b)| of_arrays("*", a, b));
                // The dtypes of the product are those of NumPy.
                let [left, right] =
                    [array, &other].map(|one| Tensor { dtype: Some(DType::Float32), ..(**one).clone() });
                match self.quietly(|machine| machine.matmul(&left, &right, args.node))? {
                    Value::Tensor(product) => {
                        Some(self.array_value(Tensor { dtype, varies: false, ..(*product).clone() }))
                    }
                    _ => None,
                }
            }
            "repeat" => {
                let (times, axis) = (args.get(0, "repeats")?.int(), args.get(1, "axis")?.int());
                let mut shape = array.shape.clone()?;
                let at = super::super::tensor::axis_index(axis?, shape.len())?;
                shape[at] = shape[at].zip(times).and_then(|(size, times)| size.checked_mul(times));
                let repeated = self.tensor(Some(shape), array.dtype, array.device.clone());
                Some(self.array_value(repeated))
            }
            "tile" => {
                let times = self.shape_of(args.get(0, "reps")?)?;
                let shape = array.shape.clone()?;
                let rank = shape.len().max(times.len());
                let at = |sizes: &[Option<i64>], axis: usize| {
                    (axis + sizes.len()).checked_sub(rank).map_or(Some(1), |at| sizes[at])
                };
                let sizes = (0..rank).map(|axis| at(&shape, axis)?.checked_mul(at(&times, axis)?)).collect();
                let tiled = self.tensor(Some(sizes), array.dtype, array.device.clone());
                Some(self.array_value(tiled))
            }
            "pad" => {
                let rank = array.rank()?;
                let padded = self.tensor(Some(vec![None; rank]), array.dtype, array.device.clone());
                Some(self.array_value(padded))
            }
            _ => None,
        }
    }

    /// Evaluates a reduction, whose result is an array without axes if no axis is given.
    fn array_reduction(&mut self, array: &Rc<Tensor<'t>>, name: &str, args: &Args<'t>) -> Option<Value<'t>> {
        let known = ["axis", "keepdims", "dtype", "ddof"];
        if args.positional.len() > 1 || args.keywords.iter().any(|(name, ..)| !known.contains(&&**name)) {
            return None;
        }
        let dtype = match (name, args.keyword("dtype")) {
            (_, Some(dtype)) => numpy_dtype(dtype),
            ("argmin" | "argmax", _) => Some(DType::Int64),
            ("mean" | "std" | "var" | "median" | "nanmean" | "nanstd", _) => match array.dtype? {
                dtype if dtype.is_float() => Some(dtype),
                dtype if dtype.is_complex() => None,
                _ => Some(DType::Float64),
            },
            _ => array.dtype.filter(|dtype| dtype.is_float()),
        };
        let axes = args.get(0, "axis").cloned();
        let keep = args.keyword("keepdims").cloned();
        let node = args.node;
        let shape =
            self.quietly(|machine| machine.reduced(name, array, axes.as_ref(), keep.as_ref(), node))?;
        let reduced = self.tensor(shape, dtype, array.device.clone());
        // The type of an unknown number matters: a float64 changes the dtype of an array.
        match (reduced.rank(), dtype) {
            (Some(0), Some(dtype)) if !dtype.is_float() => Some(Value::Unknown),
            _ => Some(self.array_value(reduced)),
        }
    }

    /// Joins arrays: `concatenate`, `stack` and their short forms.
    pub fn joined_arrays(&mut self, name: &str, args: &Args<'t>) -> Value<'t> {
        let names = ["arrays", "tup"];
        let list = args.positional.first().map(|(list, _)| list);
        let list = list.or_else(|| names.iter().find_map(|name| args.keyword(name))).cloned();
        let items = list.and_then(|list| self.items(&list)).unwrap_or_default();
        let arrays: Option<Vec<Rc<Tensor<'t>>>> = items.iter().map(|item| self.array_tensor(item)).collect();
        let is_plain = !args.open
            && args.positional.len() <= 2
            && args.keywords.iter().all(|(name, ..)| ["arrays", "tup", "axis", "dtype"].contains(&&**name));
        let Some(arrays) = arrays.filter(|arrays| !arrays.is_empty() && is_plain) else {
            return Value::Unknown;
        };
        let rank = arrays[0].rank();
        let axis = match (name, rank) {
            ("concatenate" | "stack", _) => args.get(1, "axis").map_or(Some(0), Value::int),
            ("vstack", Some(1)) => Some(0),
            ("hstack", Some(1)) => Some(0),
            ("vstack", Some(_)) => Some(0),
            ("hstack", Some(_)) => Some(1),
            _ => return Value::Unknown,
        };
        // With `axis=None`, the result is flat.
        if axis.is_none() {
            return Value::Unknown;
        }
        let is_new_axis = name == "stack" || name == "vstack" && rank == Some(1);
        let mut dtype = match args.keyword("dtype") {
            Some(dtype) => numpy_dtype(dtype),
            None => arrays[0].dtype,
        };
        if args.keyword("dtype").is_none() {
            for array in &arrays[1..] {
                dtype = dtype.zip(array.dtype).and_then(|(a, b)| of_arrays("+", a, b));
            }
        }
        let tensors = arrays.iter().map(|array| {
            Value::Tensor(Rc::new(Tensor {
                dtype: Some(DType::Float32),
                device: Some(Rc::from("cpu")),
                ..(**array).clone()
            }))
        });
        let tensors = Value::tuple(tensors.collect());
        match self.quietly(|machine| machine.concatenate(&tensors, axis, is_new_axis, args.node)) {
            Some(Value::Tensor(joined)) => {
                self.array_value(Tensor { dtype, varies: false, ..(*joined).clone() })
            }
            _ => Value::Unknown,
        }
    }

    /// Evaluates `meshgrid`, whose default indexing is that of images.
    pub fn grid_of_arrays(&mut self, args: &Args<'t>) -> Value<'t> {
        let arrays: Option<Vec<Rc<Tensor<'t>>>> =
            args.positional.iter().map(|(array, _)| self.array_tensor(array)).collect();
        let Some(arrays) = arrays.filter(|_| args.keyword("sparse").is_none() && !args.open) else {
            return Value::Unknown;
        };
        let mut args = args.clone();
        if args.keyword("indexing").is_none() {
            args.keywords.push((Rc::from("indexing"), Value::str("xy"), None));
        }
        let grids = self.grid(&arrays, &args);
        let grids = self.items(&grids).unwrap_or_default().into_iter();
        let grids: Option<Vec<Value<'t>>> =
            grids.map(|grid| Some(self.array_value(grid.tensor()?.clone()))).collect();
        grids.filter(|grids| !grids.is_empty()).map_or(Value::Unknown, Value::tuple)
    }

    /// Returns an attribute of an array, or `None` for a method.
    pub fn array_attribute(
        &mut self,
        array: &Rc<Tensor<'t>>,
        name: &str,
        node: Node<'t>,
    ) -> Result<Option<Value<'t>>, Stop> {
        Ok(Some(match name {
            "shape" | "ndim" => self.tensor_attribute(array, name, node)?,
            "size" => Value::size(array.numel()),
            "dtype" => {
                array.dtype.map_or(Value::Unknown, |dtype| Value::name(&format!("numpy.{}", dtype.name())))
            }
            "T" => {
                let shape = array.shape.as_ref().map(|shape| shape.iter().rev().copied().collect());
                let transposed = self.tensor(shape, array.dtype, array.device.clone());
                self.array_value(transposed)
            }
            _ => return Ok(None),
        }))
    }

    /// Returns an array with the shape and dtype of a tensor.
    pub fn array_value(&mut self, tensor: Tensor<'t>) -> Value<'t> {
        self.instance(super::methods::ARRAY, vec![("tensor", Value::Tensor(Rc::new(tensor)))], true)
    }

    fn moved_array(&mut self, changed: Option<Value<'t>>) -> Option<Value<'t>> {
        match changed? {
            Value::Tensor(tensor) => Some(self.array_value((*tensor).clone())),
            _ => None,
        }
    }

    /// Evaluates an operator whose faults are not reported.
    fn quietly<T>(&mut self, code: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Option<T> {
        self.quiet += 1;
        let result = code(self);
        self.quiet -= 1;
        result.ok()
    }
}

/// Returns the dtype of a function that computes floats.
fn float_of(dtype: DType) -> Option<DType> {
    match dtype {
        DType::Int32 | DType::Int64 => Some(DType::Float64),
        _ => Some(dtype).filter(|dtype| dtype.is_float()),
    }
}
