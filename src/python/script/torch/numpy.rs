//! Arrays of NumPy, as far as tensors are made of them.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Dim, Tensor};
use super::super::value::Value;
use super::methods::ARRAY;

/// Class of the random generators of NumPy.
pub const GENERATOR: &str = "numpy.random.Generator";

impl<'t> Machine<'t> {
    /// Calls a function of NumPy.
    pub fn numpy_call(&mut self, name: &str, args: &Args<'t>) -> Value<'t> {
        let by_size = |machine: &Self, at: usize, named: &str| {
            args.get(at, named).and_then(|size| machine.shape_of(size))
        };
        let (shape, dtype): (Option<Vec<Dim>>, DType) = match name {
            "random.rand" | "random.randn" => {
                (Some(args.positional.iter().map(|(value, _)| value.int()).collect()), DType::Float64)
            }
            "random.random" | "random.random_sample" | "random.standard_normal" => {
                (by_size(self, 0, "size"), DType::Float64)
            }
            "random.uniform" | "random.normal" => (by_size(self, 2, "size"), DType::Float64),
            "random.randint" => (by_size(self, 2, "size"), DType::Int64),
            "random.integers" => (by_size(self, 2, "size"), DType::Int64),
            "random.default_rng" | "random.RandomState" => return self.instance(GENERATOR, vec![], true),
            "zeros" | "ones" | "empty" => (by_size(self, 0, "shape"), DType::Float64),
            "array" | "asarray" => {
                let Some(data) = args.get(0, "object").cloned() else { return Value::Unknown };
                return self.array_of(&data, args);
            }
            _ => return Value::Unknown,
        };
        if args.open {
            return Value::Unknown;
        }
        let dtype = match args.keyword("dtype").or(if name.starts_with("random") {
            None
        } else {
            args.get(1, "dtype")
        }) {
            None => Some(dtype),
            Some(dtype) => numpy_dtype(dtype),
        };
        self.array(shape, dtype, args)
    }

    fn array(&mut self, shape: Option<Vec<Dim>>, dtype: Option<DType>, args: &Args<'t>) -> Value<'t> {
        let mut tensor = self.tensor(shape, dtype, Some(Rc::from("cpu")));
        tensor.origin = Some((self.file(), args.node));
        self.instance(ARRAY, vec![("tensor", Value::Tensor(Rc::new(tensor)))], true)
    }

    /// Returns the array of nested lists. Its floats are float64.
    fn array_of(&mut self, data: &Value<'t>, args: &Args<'t>) -> Value<'t> {
        let default = self.default_dtype.replace(DType::Float64);
        let plain = Args::none(args.node);
        let tensor = self.of_values(data, &plain);
        self.default_dtype = default;
        let Value::Tensor(tensor) = tensor else { return Value::Unknown };
        let dtype = match args.get(1, "dtype") {
            None => tensor.dtype,
            Some(dtype) => numpy_dtype(dtype),
        };
        let tensor = Tensor { dtype, ..(*tensor).clone() };
        self.instance(ARRAY, vec![("tensor", Value::Tensor(Rc::new(tensor)))], true)
    }

    /// Calls a method of an array.
    pub fn array_method(&mut self, array: &Value<'t>, name: &str, args: &Args<'t>) -> Eval<'t> {
        let Some(Value::Tensor(tensor)) = self.attribute_of(array, "tensor") else {
            return Ok(Value::Unknown);
        };
        let changed = match name {
            "astype" => {
                let dtype = args.get(0, "dtype").and_then(numpy_dtype);
                Tensor { dtype, data: None, ..(*tensor).clone() }
            }
            "copy" => (*tensor).clone(),
            "reshape" => {
                let sizes = self.shape_argument(args, 0, "shape");
                match self.reshape("reshape", &tensor, sizes, args.node)? {
                    Value::Tensor(tensor) => (*tensor).clone(),
                    _ => return Ok(Value::Unknown),
                }
            }
            "transpose" => Tensor { shape: None, ..(*tensor).clone() },
            _ => return Ok(Value::Unknown),
        };
        Ok(self.instance(ARRAY, vec![("tensor", Value::Tensor(Rc::new(changed)))], true))
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
