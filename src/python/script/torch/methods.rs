//! Attributes and methods of tensors.

use std::rc::Rc;

use tree_sitter::Node;

use crate::diag::rule_ids;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::library::named_dtype;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Role, Tensor, shown};
use super::super::value::Value;
use super::create::typed;
use super::layers::device_text;
use super::names::is_tensor_name;

/// Class of NumPy arrays, whose attribute `tensor` has the shape and dtype.
pub const ARRAY: &str = "numpy.ndarray";

impl<'t> Machine<'t> {
    /// Returns an attribute of a tensor.
    pub fn tensor_attribute(&mut self, x: &Rc<Tensor<'t>>, name: &str, node: Node<'t>) -> Eval<'t> {
        Ok(match name {
            "shape" => match x.rank().and_then(|rank| i64::try_from(rank).ok()) {
                Some(rank) => Value::tuple((0..rank).map(|axis| self.size_of(x, axis)).collect()),
                None => Value::Unknown,
            },
            "ndim" => Value::size(x.rank().and_then(|rank| i64::try_from(rank).ok())),
            "dtype" => {
                x.dtype.map_or(Value::Unknown, |dtype| Value::name(&format!("torch.{}", dtype.name())))
            }
            "device" => x.device.clone().map_or(Value::Unknown, Value::Device),
            "is_cuda" => {
                x.device.as_ref().map_or(Value::Unknown, |device| Value::Bool(device.starts_with("cuda")))
            }
            "data" => {
                Value::Tensor(Rc::new(Tensor { role: Role::Plain, needs_grad: false, ..(**x).clone() }))
            }
            "T" | "mT" | "H" | "mH" => match x.rank() {
                Some(2) => return self.transpose(x, Some(0), Some(1), node),
                _ if name.starts_with('m') => return self.transpose(x, Some(-2), Some(-1), node),
                _ => Value::Unknown,
            },
            "real" | "imag" => return self.operator(name, &Args::of(node, vec![Value::Tensor(x.clone())])),
            "grad" | "requires_grad" | "grad_fn" | "names" | "layout" | "is_leaf" | "itemsize" | "nbytes" => {
                Value::Unknown
            }
            _ if is_tensor_name(name) => Value::Method(Rc::new((Value::Tensor(x.clone()), Rc::from(name)))),
            _ => {
                let message = format!("tensors have no attribute `{name}`");
                let help = match is_tensor_name(&format!("{name}_")) {
                    true => format!("write `{name}_`"),
                    false => "see the reference of `torch.Tensor` for its name".to_owned(),
                };
                let fault = Fault {
                    rule: rule_ids::UNKNOWN_ATTRIBUTE,
                    kind: "AttributeError",
                    ..Fault::shape(message, help)
                };
                return Err(self.fault(node, fault));
            }
        })
    }

    /// Calls a method of a tensor.
    pub fn tensor_method(&mut self, x: &Rc<Tensor<'t>>, name: &str, args: &Args<'t>) -> Eval<'t> {
        let own = || Value::Tensor(x.clone());
        let to_dtype = match name {
            "half" => Some(DType::Float16),
            "float" => Some(DType::Float32),
            "double" => Some(DType::Float64),
            "bfloat16" => Some(DType::BFloat16),
            "long" => Some(DType::Int64),
            "int" => Some(DType::Int32),
            "short" => Some(DType::Int16),
            "byte" => Some(DType::UInt8),
            "char" => Some(DType::Int8),
            "bool" => Some(DType::Bool),
            "cfloat" => Some(DType::Complex64),
            "cdouble" => Some(DType::Complex128),
            _ => None,
        };
        if let Some(dtype) = to_dtype {
            return Ok(self.cast(x, Some(dtype)));
        }
        Ok(match name {
            "size" => match args.get(0, "dim") {
                None => return self.tensor_attribute(x, "shape", args.node),
                Some(Value::Int(axis)) => {
                    self.axis("size", Some(*axis), x.rank(), 0, args.node)?;
                    self.size_of(x, *axis)
                }
                _ => Value::Unknown,
            },
            "dim" | "ndimension" => Value::size(x.rank().and_then(|rank| i64::try_from(rank).ok())),
            "numel" | "nelement" if x.unbacked.is_some() => self.unbacked(x),
            "numel" | "nelement" => Value::size(x.numel()),
            "is_floating_point" => x.dtype.map_or(Value::Unknown, |dtype| Value::Bool(dtype.is_float())),
            "item" => self.item_of(x, args)?,
            "tolist" => match (self.data(x), &x.shape) {
                (Some(data), Some(shape)) if shape.len() == 1 => {
                    let items = data.iter().map(|one| number(*one, x.dtype)).collect();
                    self.list(items)
                }
                _ => Value::Unknown,
            },
            "numpy" if args.all().next().is_none() => {
                self.check_numpy(x, args)?;
                self.instance(ARRAY, vec![("tensor", own())], true)
            }
            "numpy" => self.instance(ARRAY, vec![("tensor", own())], true),
            "cpu" | "cuda" => {
                Value::Tensor(Rc::new(Tensor { device: Some(Rc::from(name)), ..(**x).clone() }))
            }
            "to" => self.tensor_to(x, args),
            "type" => self.tensor_type(x, args),
            "type_as" => match args.get(0, "other") {
                Some(Value::Tensor(other)) => {
                    let mut cast = (**x).clone();
                    cast.needs_grad &= other.dtype == x.dtype;
                    cast.dtype = other.dtype;
                    cast.device = other.device.clone();
                    Value::Tensor(Rc::new(cast))
                }
                _ => Value::Unknown,
            },
            "contiguous" | "clone" | "detach" | "requires_grad_" | "pin_memory" | "detach_" => {
                let mut same = Tensor { role: Role::Plain, ..(**x).clone() };
                same.needs_grad &= !name.starts_with("detach");
                same.layout = same.layout.filter(|_| args.all().next().is_none());
                let is_contiguous = name == "contiguous" && args.all().next().is_none();
                Value::Tensor(Rc::new(if is_contiguous { Self::contiguous(same) } else { same }))
            }
            "view" | "reshape" => {
                if args.get(0, "").and_then(named_dtype).is_some() {
                    return Ok(Value::Unknown);
                }
                let sizes = self.shape_argument(args, 0, "shape");
                return self.reshape(name, x, sizes, args.node);
            }
            "view_as" | "reshape_as" | "expand_as" => match args.get(0, "other") {
                Some(Value::Tensor(other)) => {
                    let sizes = other.shape.clone();
                    return match name {
                        "expand_as" => self.expand(x, sizes, args.node),
                        _ => self.reshape(name, x, sizes, args.node),
                    };
                }
                _ => Value::Unknown,
            },
            "permute" => {
                let axes = self.shape_argument(args, 0, "dims");
                return self.permute(x, axes, args.node);
            }
            "expand" => {
                let sizes = self.shape_argument(args, 0, "size");
                return self.expand(x, sizes, args.node);
            }
            "repeat" => {
                let times = self.shape_argument(args, 0, "repeats");
                return self.repeat(x, times, args.node);
            }
            "new_zeros" | "new_ones" | "new_empty" | "new_empty_strided" | "new_full" | "new_tensor" => {
                let shape = match name {
                    "new_tensor" => None,
                    "new_full" | "new_empty_strided" => {
                        args.get(0, "size").and_then(|size| self.shape_of(size))
                    }
                    _ => self.shape_argument(args, 0, "size"),
                };
                let mut made = self.with_options(shape, x.dtype, args);
                if args.keyword("device").is_none() {
                    made.device = x.device.clone();
                }
                Value::Tensor(Rc::new(made))
            }
            "where" => {
                let parts = vec![args.get(0, "condition").cloned().unwrap_or_default(), own()];
                let other = args.get(1, "y").or(args.keyword("other")).cloned().unwrap_or_default();
                let parts = parts.into_iter().chain([other]).collect();
                return self.operator("where", &Args::of(args.node, parts));
            }
            "untyped_storage" | "storage" | "__setitem__" | "data_ptr" => {
                self.write(x);
                Value::Unknown
            }
            _ if name.ends_with('_') && !name.ends_with("__") => return self.in_place(x, name, args),
            _ => {
                let mut all = args.clone();
                all.positional.insert(0, (own(), None));
                return self.operator(name, &all);
            }
        })
    }

    fn item_of(&mut self, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Eval<'t> {
        if let Some(count) = x.numel().filter(|count| *count != 1) {
            let shape = x.shape.as_deref().map(shown).unwrap_or_default();
            let message = format!("`item` needs a tensor of one element, gets {count} (shape {shape})");
            return Err(
                self.fault(args.node, Fault::shape(message, "reduce the tensor first: `.max()`, `.sum()`"))
            );
        }
        Ok(match self.data(x) {
            Some(data) if !self.is_program => number(data[0], x.dtype),
            _ => self.unbacked(x),
        })
    }

    /// Returns the size of an axis; for a size that depends on data, the result of [`Machine::unbacked`].
    fn size_of(&mut self, x: &Tensor<'t>, axis: i64) -> Value<'t> {
        let at = x.rank().and_then(|rank| super::super::tensor::axis_index(axis, rank));
        if at.is_some() && at == x.unbacked {
            return self.unbacked(x);
        }
        Value::size(x.dim(axis))
    }

    /// Returns a number that depends on data.
    ///
    /// The number is a 0-d tensor in a model that `torch.export` exports, and `Unknown` in other models.
    pub fn unbacked(&mut self, x: &Tensor<'t>) -> Value<'t> {
        if !self.is_program {
            return Value::Unknown;
        }
        let number = self.tensor(Some(vec![]), x.dtype, x.device.clone());
        Value::Tensor(Rc::new(Tensor { varies: x.varies && !self.is_changed(x), ..number }))
    }

    /// Converts a tensor to another dtype.
    pub fn cast(&mut self, x: &Rc<Tensor<'t>>, dtype: Option<DType>) -> Value<'t> {
        let keeps = dtype.is_some_and(|dtype| dtype.is_integer() || dtype.is_float())
            && x.dtype.is_some_and(|from| from.is_integer() || dtype == Some(from));
        let data = self.data(x).filter(|_| keeps);
        let bounds = x.bounds.filter(|_| keeps);
        let is_float = |dtype: Option<DType>| dtype.is_some_and(DType::is_float);
        let needs_grad = x.needs_grad && is_float(dtype) && is_float(x.dtype);
        Value::Tensor(Rc::new(Tensor { dtype, data, bounds, needs_grad, role: Role::Plain, ..(**x).clone() }))
    }

    /// Evaluates `x.type(…)`, whose argument may be a string such as `torch.cuda.FloatTensor`.
    fn tensor_type(&mut self, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Value<'t> {
        let text = match args.get(0, "dtype") {
            Some(Value::Str(text)) => text,
            // `x.type()` returns the name of the type.
            None | Some(Value::None) => return Value::Unknown,
            Some(_) => return self.tensor_to(x, args),
        };
        let (dtype, device) = typed(text).unzip();
        let Value::Tensor(cast) = self.cast(x, dtype) else { return Value::Unknown };
        Value::Tensor(Rc::new(Tensor { device: device.map(Rc::from), ..(*cast).clone() }))
    }

    fn tensor_to(&mut self, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Value<'t> {
        let mut to = (**x).clone();
        to.role = Role::Plain;
        let mut known = !args.open;
        for value in args.all() {
            match value {
                Value::Name(_) if named_dtype(value).is_some() => to.dtype = named_dtype(value),
                Value::Str(_) | Value::Device(_) => to.device = device_text(value),
                Value::Tensor(other) => {
                    to.dtype = other.dtype;
                    to.device = other.device.clone();
                }
                Value::Name(path) if path.ends_with("_format") => to.layout = None,
                Value::Bool(_) | Value::None => {}
                Value::Int(_) => to.device = Some(Rc::from("cuda")),
                _ => known = false,
            }
        }
        if !known {
            to.dtype = None;
            to.device = None;
        }
        if to.dtype != x.dtype {
            match self.cast(x, to.dtype) {
                Value::Tensor(cast) => {
                    to.data = cast.data.clone();
                    to.needs_grad = cast.needs_grad;
                    to.bounds = cast.bounds;
                }
                _ => to.data = None,
            }
        }
        Value::Tensor(Rc::new(to))
    }

    /// Calls an in-place method.
    fn in_place(&mut self, x: &Rc<Tensor<'t>>, name: &str, args: &Args<'t>) -> Eval<'t> {
        self.write(x);
        let base = name.trim_end_matches('_');
        self.executed(base, args.node, x.varies);
        self.check_shape_change(x, base, args);
        let mut all = args.clone();
        all.positional.insert(0, (Value::Tensor(x.clone()), None));
        match base {
            "unsqueeze" | "squeeze" | "transpose" | "swapaxes" | "swapdims" | "t" => {
                self.operator(base, &all)
            }
            "resize" | "resize_as" | "set" => Ok(Value::Unknown),
            "add" | "sub" | "mul" | "div" | "scatter" | "scatter_add" | "masked_fill" | "index_add"
            | "gather" => {
                let result = self.operator(base, &all)?;
                self.in_place_result(x, &result, args.node)
            }
            _ => {
                let kept = Tensor { data: None, bounds: None, ..(**x).clone() };
                Ok(Value::Tensor(Rc::new(kept)))
            }
        }
    }
}

/// Returns the Python number of an element.
pub fn number<'t>(element: f64, dtype: Option<DType>) -> Value<'t> {
    match dtype {
        Some(DType::Bool) => Value::Bool(element != 0.0),
        Some(dtype) if dtype.is_integer() => {
            super::super::library::whole_number(element).map_or(Value::Unknown, Value::Int)
        }
        Some(_) => Value::Float(element),
        None => Value::Unknown,
    }
}
