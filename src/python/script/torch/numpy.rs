//! Arrays of NumPy: functions that create them, their methods and operators.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::super::syntax::{bare, children};
use super::super::calls::Args;
use super::super::machine::{Eval, Machine};
use super::super::record::Taken;
use super::super::tensor::{DType, Dim, Tensor};
use super::super::value::Value;
use super::methods::{ARRAY, number};
use super::numpy_random::is_drawn_number;

/// Class of the random generators of NumPy.
pub const GENERATOR: &str = "numpy.random.Generator";

impl<'t> Machine<'t> {
    /// Calls a function of NumPy.
    pub fn numpy_call(&mut self, name: &str, args: &Args<'t>) -> Value<'t> {
        let by_size = |machine: &Self, at: usize, named: &str| {
            args.get(at, named).and_then(|size| machine.shape_of(size))
        };
        if is_drawn_number(name, args) {
            return Value::Unknown;
        }
        if let Some(number) = self.float_function(name, args) {
            return number;
        }
        let (shape, dtype): (Option<Vec<Dim>>, Option<DType>) = match name {
            "random.rand" | "random.randn" => {
                (Some(args.positional.iter().map(|(value, _)| value.int()).collect()), Some(DType::Float64))
            }
            "random.random" | "random.random_sample" | "random.standard_normal" => {
                (by_size(self, 0, "size"), Some(DType::Float64))
            }
            "random.uniform" | "random.normal" => (by_size(self, 2, "size"), Some(DType::Float64)),
            "random.randint" => (by_size(self, 2, "size"), Some(DType::Int64)),
            "random.integers" => (by_size(self, 2, "size"), Some(DType::Int64)),
            "random.default_rng" | "random.RandomState" => return self.instance(GENERATOR, vec![], true),
            "zeros" | "ones" | "empty" => (by_size(self, 0, "shape"), Some(DType::Float64)),
            "hanning" | "hamming" | "blackman" | "bartlett" | "kaiser" => {
                let count = args.get(0, "M").and_then(Value::int).filter(|count| *count >= 0);
                return self.array(Some(vec![count]), Some(DType::Float64), args);
            }
            "linspace"
                if args.keyword("retstep").is_some()
                    || [(0, "start"), (1, "stop")]
                        .iter()
                        .any(|(at, name)| args.get(*at, name).and_then(Value::number).is_none()) =>
            {
                return Value::Unknown;
            }
            "linspace" => (Some(vec![args.get(2, "num").map_or(Some(50), Value::int)]), Some(DType::Float64)),
            "array" | "asarray" | "ascontiguousarray" | "asanyarray" if args.keyword("ndmin").is_some() => {
                return Value::Unknown;
            }
            "array" | "asarray" | "ascontiguousarray" | "asanyarray" => {
                let Some(data) = args.get(0, "object").cloned() else { return Value::Unknown };
                if let Some(array) = self.array_of_image(&data, args) {
                    return array;
                }
                return self.array_of(&data, args);
            }
            "expand_dims" | "transpose" => {
                let array = args.get(0, "a").and_then(|array| self.array_tensor(array));
                let Some(array) = array else { return Value::Unknown };
                let changed = match (name, args.get(1, "axis").or(args.keyword("axes"))) {
                    ("expand_dims", Some(axis)) => self.unsqueeze(&array, axis.int(), args.node),
                    (_, Some(axes)) => {
                        let axes = self.shape_of(axes);
                        self.permute(&array, axes, args.node)
                    }
                    _ => return Value::Unknown,
                };
                return changed.map_or(Value::Unknown, |changed| self.array_like(&changed));
            }
            "int64" if args.get(0, "").is_some_and(|one| matches!(one, Value::Int(_))) => {
                return args.get(0, "").cloned().unwrap_or_default();
            }
            // The dtype of such a number decides about the dtype of an array.
            "float16" | "float32" | "float64"
                if args.get(0, "").is_some_and(|one| one.number().is_some()) =>
            {
                let dtype = DType::of_path(&format!("torch.{name}"));
                return self.array(Some(vec![]), dtype, args);
            }
            "full" => (by_size(self, 0, "shape"), fill_dtype(args.get(1, "fill_value"))),
            "eye" | "identity" => {
                let rows = args.get(0, "N").or(args.keyword("n")).and_then(Value::int);
                let columns = match args.get(1, "M") {
                    None => rows,
                    Some(columns) => columns.int().filter(|_| name == "eye"),
                };
                let dtype = args.keyword("dtype").map_or(Some(DType::Float64), numpy_dtype);
                let dtype = dtype.filter(|_| args.positional.len() <= 2 && name == "eye");
                return if args.open {
                    Value::Unknown
                } else {
                    self.array(Some(vec![rows, columns]), dtype, args)
                };
            }
            "arange" => return self.numpy_arange(args),
            "loadtxt" | "genfromtxt" => {
                let known =
                    ["delimiter", "skiprows", "skip_header", "usecols", "ndmin", "max_rows", "comments"];
                let is_known = |(name, ..): &(Rc<str>, Value<'t>, Option<Node<'t>>)| known.contains(&&**name);
                let is_plain = args.positional.len() == 1 && args.keywords.iter().all(is_known);
                return if is_plain { self.array(None, Some(DType::Float64), args) } else { Value::Unknown };
            }
            "stack" | "concatenate" | "vstack" | "hstack" => return self.joined_arrays(name, args),
            "meshgrid" => return self.grid_of_arrays(args),
            "prod" if args.positional.len() == 1 && args.keywords.is_empty() && !args.open => {
                if let Some((sizes @ (Value::Tuple(_) | Value::Object(_)), _)) = args.positional.first()
                    && self.array_tensor(sizes).is_none()
                {
                    return self.product_of(sizes);
                }
                return self.numpy_function(name, args);
            }
            _ => return self.numpy_function(name, args),
        };
        if args.open {
            return Value::Unknown;
        }
        let dtype = match args.keyword("dtype").or(match name {
            "random.randint" | "random.integers" => args.get(3, "dtype"),
            "random.random" | "random.standard_normal" => args.get(1, "dtype"),
            _ if name.starts_with("random") => None,
            _ => match name {
                "linspace" => args.get(5, "dtype"),
                "full" => args.get(2, "dtype"),
                _ => args.get(1, "dtype"),
            },
        }) {
            None => dtype,
            Some(dtype) => numpy_dtype(dtype),
        };
        self.array(shape, dtype, args)
    }

    /// Calls a function whose first argument is an array.
    fn numpy_function(&mut self, name: &str, args: &Args<'t>) -> Value<'t> {
        let Some((first, _)) = args.positional.first() else { return Value::Unknown };
        let Some(array) = self.array_tensor(first) else { return Value::Unknown };
        if matches!(name, "copyto" | "put" | "place" | "putmask" | "fill_diagonal" | "random.shuffle") {
            self.write(&array);
        }
        let mut rest = args.clone();
        rest.positional.remove(0);
        self.of_array(&array, name, &rest).unwrap_or_default()
    }

    fn numpy_arange(&mut self, args: &Args<'t>) -> Value<'t> {
        let numbers: Option<Vec<f64>> = args.positional.iter().map(|(value, _)| value.number()).collect();
        let is_whole = args.positional.iter().all(|(value, _)| matches!(value, Value::Int(_)));
        let is_known = !args.open && args.keywords.iter().all(|(name, ..)| &**name == "dtype");
        let Some(numbers) = numbers.filter(|_| is_known) else { return Value::Unknown };
        let (start, stop, step) = match numbers[..] {
            [stop] => (0.0, stop, 1.0),
            [start, stop] => (start, stop, 1.0),
            [start, stop, step] if step != 0.0 => (start, stop, step),
            _ => return Value::Unknown,
        };
        // The number of elements of fractional steps depends on rounding.
        let count = is_whole.then(|| ((stop - start) / step).ceil().max(0.0));
        let count = count.and_then(super::super::library::whole_number);
        let dtype = match args.keyword("dtype") {
            Some(dtype) => numpy_dtype(dtype),
            None if is_whole => Some(DType::Int64),
            None => Some(DType::Float64),
        };
        self.array(Some(vec![count]), dtype, args)
    }

    fn array(&mut self, shape: Option<Vec<Dim>>, dtype: Option<DType>, args: &Args<'t>) -> Value<'t> {
        let shape = shape.map(|shape| self.fixed_sizes(shape, args.node));
        let mut tensor = self.tensor(shape, dtype, Some(Rc::from("cpu")));
        tensor.origin = Some((self.file(), args.node));
        self.instance(ARRAY, vec![("tensor", Value::Tensor(Rc::new(tensor)))], true)
    }

    /// Returns the array of nested lists, whose floats become float64.
    fn array_of(&mut self, data: &Value<'t>, args: &Args<'t>) -> Value<'t> {
        let default = self.default_dtype.replace(DType::Float64);
        let plain = Args::none(args.node);
        let tensor = self.of_values(data, &plain);
        self.default_dtype = default;
        let Value::Tensor(mut tensor) = tensor else { return Value::Unknown };
        // The tracing exporter treats the numbers of an array as Python numbers.
        if let Some(data) = tensor.data.clone().filter(|_| tensor.dtype == Some(DType::Int64)) {
            let numbers: Vec<f64> = data.iter().map(|number| self.taken_element(*number, args)).collect();
            Rc::make_mut(&mut tensor).data = Some(numbers.into());
        }
        let dtype = match args.get(1, "dtype") {
            None => tensor.dtype,
            Some(dtype) => numpy_dtype(dtype),
        };
        let tensor = Tensor { dtype, ..(*tensor).clone() };
        self.instance(ARRAY, vec![("tensor", Value::Tensor(Rc::new(tensor)))], true)
    }

    /// Returns an element that Python reads from an array; an integer may have been computed from a size.
    ///
    /// A replay returns the integer that was recorded in the run on the example.
    fn taken_element(&mut self, number: f64, args: &Args<'t>) -> f64 {
        let whole = super::super::library::whole_number(number);
        #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
        whole.map_or(number, |whole| self.taken(Taken::Number, args.node, whole) as f64)
    }

    /// Calls a method of an array.
    pub fn array_method(&mut self, array: &Value<'t>, name: &str, args: &Args<'t>) -> Eval<'t> {
        let Some(Value::Tensor(tensor)) = self.attribute_of(array, "tensor") else {
            return Ok(Value::Unknown);
        };
        let changed = match name {
            "astype" => {
                let dtype = args.get(0, "dtype").and_then(numpy_dtype);
                match self.cast(&tensor, dtype) {
                    Value::Tensor(cast) => (*cast).clone(),
                    _ => return Ok(Value::Unknown),
                }
            }
            "copy" => (*tensor).clone(),
            "resize" => {
                self.forget(array);
                return Ok(Value::None);
            }
            "fill" | "put" | "partition" | "sort" | "itemset" => {
                self.write(&tensor);
                return Ok(Value::None);
            }
            "reshape" => {
                let sizes = self.shape_argument(args, 0, "shape");
                match self.reshape("reshape", &tensor, sizes, args.node)? {
                    Value::Tensor(tensor) => (*tensor).clone(),
                    _ => return Ok(Value::Unknown),
                }
            }
            "transpose" if args.positional.is_empty() => Tensor { shape: None, ..(*tensor).clone() },
            "transpose" => {
                let axes = self.shape_argument(args, 0, "axes");
                match self.permute(&tensor, axes, args.node)? {
                    Value::Tensor(tensor) => (*tensor).clone(),
                    _ => return Ok(Value::Unknown),
                }
            }
            _ if METHODS.contains(&name) => {
                return Ok(self.of_array(&tensor, name, args).unwrap_or_default());
            }
            _ => return Ok(Value::Unknown),
        };
        Ok(self.instance(ARRAY, vec![("tensor", Value::Tensor(Rc::new(changed)))], true))
    }

    /// Returns the tensor with the shape, dtype and elements of an array.
    pub fn array_tensor(&self, value: &Value<'t>) -> Option<Rc<Tensor<'t>>> {
        self.wrapped_tensor(value, ARRAY)
    }

    /// Returns the tensor that describes an object of the class `path`.
    pub fn wrapped_tensor(&self, value: &Value<'t>, path: &str) -> Option<Rc<Tensor<'t>>> {
        let instance = self.heap.instance(value.object()?)?;
        match instance.get("tensor") {
            Some(Value::Tensor(tensor)) if instance.class.path() == Some(path) => Some(tensor.clone()),
            _ => None,
        }
    }

    /// Returns an array of a tensor, or its element if it has no axes.
    pub fn array_like(&mut self, tensor: &Value<'t>) -> Value<'t> {
        match tensor {
            Value::Tensor(known) if known.rank() == Some(0) => match self.data(known).as_deref() {
                Some([one]) => number(*one, known.dtype),
                // The operators of arrays need the dtype of a float.
                _ if known.dtype.is_some_and(DType::is_float) => self.array_value((**known).clone()),
                _ => Value::Unknown,
            },
            Value::Tensor(_) => self.instance(ARRAY, vec![("tensor", tensor.clone())], true),
            _ => Value::Unknown,
        }
    }

    /// Evaluates an operator on arrays and numbers, or returns `None` if neither operand is an array.
    pub fn array_binary(
        &mut self,
        operator: &str,
        left: &Value<'t>,
        right: &Value<'t>,
        node: Node<'t>,
    ) -> Option<Value<'t>> {
        let (a, b) = (self.array_tensor(left), self.array_tensor(right));
        let dtype = match (&a, &b) {
            (None, None) => return None,
            // Old releases of NumPy do not promote an array by a number.
            (Some(a), Some(b)) if (a.rank() == Some(0)) != (b.rank() == Some(0)) => {
                a.dtype.filter(|dtype| Some(*dtype) == b.dtype && dtype.is_float())
            }
            (Some(a), Some(b)) => a.dtype.zip(b.dtype).and_then(|(a, b)| of_arrays(operator, a, b)),
            (Some(array), None) => array.dtype.and_then(|dtype| with_number(operator, dtype, right, node)),
            (None, Some(array)) => array.dtype.and_then(|dtype| with_number(operator, dtype, left, node)),
        };
        let operand = |known: &Option<Rc<Tensor<'t>>>, plain: &Value<'t>| {
            known.clone().map_or_else(|| plain.clone(), Value::Tensor)
        };
        let result = self.tensor_binary(operator, &operand(&a, left), &operand(&b, right), node);
        let Ok(Value::Tensor(result)) = result else { return Some(Value::Unknown) };
        Some(self.array_like(&Value::Tensor(Rc::new(Tensor { dtype, ..(*result).clone() }))))
    }

    /// Returns the items of an array of one axis, or its rows.
    pub fn array_items(&mut self, array: &Value<'t>) -> Option<Vec<Value<'t>>> {
        let tensor = self.array_tensor(array)?;
        if let (Some(1), Some(data)) = (tensor.rank(), self.data(&tensor)) {
            return Some(data.iter().map(|one| number(*one, tensor.dtype)).collect());
        }
        let rows = self.rows(&tensor)?;
        Some(rows.iter().map(|row| self.array_like(row)).collect())
    }
}

/// Methods of arrays that compute arrays.
const METHODS: [&str; 19] = [
    "mean", "std", "var", "sum", "prod", "min", "max", "argmin", "argmax", "clip", "round", "flatten",
    "ravel", "squeeze", "swapaxes", "dot", "repeat", "cumsum", "cumprod",
];

/// Operators of arithmetic.
const ARITHMETIC: [&str; 6] = ["+", "-", "*", "/", "//", "**"];

/// Returns the dtype of an operation on two arrays.
pub fn of_arrays(operator: &str, a: DType, b: DType) -> Option<DType> {
    if !ARITHMETIC.contains(&operator) || a.is_complex() || b.is_complex() {
        return None;
    }
    match (a.is_float(), b.is_float()) {
        (true, true) => Some(a.promote(b)),
        (false, false) if a == b && a.is_integer() && operator != "/" => Some(a),
        (false, false) if operator == "/" => Some(DType::Float64),
        (false, false) => None,
        (is_float, _) => match if is_float { (a, b) } else { (b, a) } {
            (DType::Float64, _) | (DType::Float32, DType::Int32 | DType::Int64) => Some(DType::Float64),
            (DType::Float32, _) => Some(DType::Float32),
            _ => None,
        },
    }
}

/// Returns the dtype of an operation on an array and a number.
///
/// A number that is no literal may be a NumPy scalar, whose dtype is not known.
fn with_number(operator: &str, array: DType, number: &Value, node: Node) -> Option<DType> {
    if !ARITHMETIC.contains(&operator) || number.number().is_none() {
        return None;
    }
    let operands = children(node);
    let is_literal = operands.iter().any(|operand| matches!(bare(*operand).kind(), "integer" | "float"));
    if array.is_float() {
        return Some(array).filter(|_| is_literal || array == DType::Float64);
    }
    match number {
        _ if !is_literal || !array.is_integer() => None,
        Value::Float(_) => Some(DType::Float64),
        _ if operator == "/" => Some(DType::Float64),
        _ => Some(array),
    }
}

/// Returns the dtype of an array that is filled with a value; an unknown value has no dtype.
fn fill_dtype(value: Option<&Value>) -> Option<DType> {
    match value? {
        Value::Float(_) => Some(DType::Float64),
        Value::Int(_) => Some(DType::Int64),
        _ => None,
    }
}

/// Returns the dtype that a value names for NumPy.
pub fn numpy_dtype(value: &Value) -> Option<DType> {
    let path = match value {
        Value::Name(path) => path.strip_prefix("numpy.").unwrap_or(path),
        Value::Str(text) => text,
        _ => return None,
    };
    DType::of_path(&format!("torch.{}", path.trim_end_matches('_')))
        .filter(|_| path != "float" && path != "int")
        .or_else(|| DType::of_path(path))
}
