//! Calls of the functions in the table: they bind the sizes of the operands, and return the results.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::library::named_dtype;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Dim, Shape, Tensor, shown};
use super::super::value::Value;
use super::elementwise::joined;
use super::functions::{Axis, Form, Kind, Output, forms, value};

/// Keywords that do not change the shape of a result.
const OPTIONS: [&str; 5] = ["generator", "dtype", "layout", "device", "requires_grad"];

/// Sizes and operands of a call.
#[derive(Default)]
struct Bound<'t> {
    sizes: FxHashMap<&'static str, Dim>,
    batches: FxHashMap<&'static str, Shape>,
    tensors: Vec<(&'static str, Rc<Tensor<'t>>)>,
    is_scalar: bool,
}

/// Whether a call has a form.
enum Fit<'t> {
    Yes(Bound<'t>),
    /// The call has another form.
    Other,
    /// The operands do not fit, for a reason.
    Fault(String),
    Unknown,
}

impl<'t> Machine<'t> {
    /// Calls a function of the table; the result is unknown for other functions.
    pub fn tabulated(&mut self, name: &str, args: &Args<'t>) -> Eval<'t> {
        let forms = forms(name);
        let mut faults = vec![];
        for form in forms {
            match self.fit(form, args, forms.len() == 1) {
                Fit::Yes(bound) => return Ok(self.outputs(form, &bound, args)),
                Fit::Fault(fault) => faults.push(fault),
                Fit::Other => {}
                Fit::Unknown => return Ok(Value::Unknown),
            }
        }
        match faults.pop() {
            Some(fault) if forms.iter().all(|form| form.is_strict) => {
                let help = format!("correct the sizes: see `{name}` in the reference of PyTorch");
                Err(self.fault(args.node, Fault::shape(format!("`{name}` {fault}"), help)))
            }
            _ => Ok(Value::Unknown),
        }
    }

    /// Binds the arguments of a call to the parameters of a form.
    fn fit(&self, form: &Form, args: &Args<'t>, is_only: bool) -> Fit<'t> {
        let is_known = |name: &str| {
            OPTIONS.contains(&name) || form.parameters.iter().any(|parameter| parameter.name == name)
        };
        let too_many = args.positional.len() > form.parameters.len();
        if too_many || args.keywords.iter().any(|(name, ..)| !is_known(name)) {
            return Fit::Other;
        }
        let mut bound = Bound::default();
        for (at, parameter) in form.parameters.iter().enumerate() {
            let given = args.get(at, parameter.name);
            match (&parameter.kind, given) {
                (Kind::Ignored, _) | (Kind::Plain, None) | (Kind::Loss, None) => {
                    bound.is_scalar |= matches!(parameter.kind, Kind::Loss);
                }
                (Kind::Tensor(axes), Some(Value::Tensor(tensor))) => {
                    if let Err(other) = bound.bind(parameter.name, axes, tensor, is_only) {
                        return other;
                    }
                }
                (Kind::Values(_, true), None) => {}
                (Kind::Int(Some(default)), None) => {
                    bound.sizes.insert(parameter.name, Some(*default));
                }
                (_, Some(Value::Unknown)) => return Fit::Unknown,
                (Kind::Plain, Some(Value::Tensor(_)))
                | (Kind::Tensor(_) | Kind::Int(_) | Kind::Values(..), None) => {
                    return Fit::Other;
                }
                (Kind::Plain, Some(_)) => {}
                (Kind::Tensor(_), Some(_)) => return Fit::Other,
                (Kind::Int(_), Some(given)) => match given.int() {
                    Some(number) => {
                        bound.sizes.insert(parameter.name, Some(number));
                    }
                    None => return Fit::Other,
                },
                (Kind::Values(values, _), Some(given)) => match written(given) {
                    Some(given) if values.contains(&&*given) => {}
                    Some(_) => return Fit::Other,
                    None => return Fit::Unknown,
                },
                (Kind::Loss, Some(given)) => match given.text() {
                    Some(text) => bound.is_scalar = text != "none",
                    None => return Fit::Unknown,
                },
            }
        }
        Fit::Yes(bound)
    }

    fn outputs(&mut self, form: &Form, bound: &Bound<'t>, args: &Args<'t>) -> Value<'t> {
        let results: Vec<(Option<&str>, Value<'t>)> =
            form.results.iter().map(|output| (output.name, self.output(output, bound, args))).collect();
        if let [(None, only)] = results.as_slice() {
            return only.clone();
        }
        let items = Value::tuple(results.iter().map(|(_, value)| value.clone()).collect());
        if results.iter().any(|(name, _)| name.is_none()) {
            return items;
        }
        let mut named: Vec<(&str, Value<'t>)> =
            results.into_iter().filter_map(|(name, value)| Some((name?, value))).collect();
        named.push(("items", items));
        self.instance("torch.return_types", named, false)
    }

    fn output(&mut self, output: &Output, bound: &Bound<'t>, args: &Args<'t>) -> Value<'t> {
        let shape = if bound.is_scalar { Some(vec![]) } else { bound.shape(&output.axes) };
        let values: Vec<Value<'t>> =
            bound.tensors.iter().map(|(_, tensor)| Value::Tensor(tensor.clone())).collect();
        let mut dtype = bound.tensors.first().and_then(|(_, tensor)| tensor.dtype);
        for word in &output.dtype {
            dtype = match *word {
                "bool" => Some(DType::Bool),
                "i32" => Some(DType::Int32),
                "i64" => Some(DType::Int64),
                "promote" => self.promoted(&values),
                "real" => dtype.and_then(real),
                "complex" => dtype.and_then(complex),
                "float" => self.floating(dtype),
                "fractional" => dtype.filter(|dtype| !is_whole(*dtype)),
                "unknown" => None,
                "sum" => dtype.map(|dtype| if is_whole(dtype) { DType::Int64 } else { dtype }),
                word => match word.strip_prefix('=') {
                    Some(name) => {
                        bound.tensors.iter().find(|(own, _)| *own == name).and_then(|(_, x)| x.dtype)
                    }
                    None => dtype,
                },
            };
        }
        if let Some(named) = args.keyword("dtype").filter(|dtype| **dtype != Value::None) {
            dtype = named_dtype(named);
        }
        dtype = dtype.filter(|dtype| is_whole(*dtype) || !self.is_autocast());
        let operands: Vec<&Tensor<'t>> = bound.tensors.iter().map(|(_, tensor)| &**tensor).collect();
        let Value::Tensor(made) = self.made(shape, dtype, &operands) else { return Value::Unknown };
        // Whether PyTorch records gradients differs from function to function.
        let mut made = Tensor { needs_grad: false, ..(*made).clone() };
        if let ("view", Some((_, first))) =
            (output.dtype.last().copied().unwrap_or(""), bound.tensors.first())
        {
            made.memory = first.memory;
        }
        Value::Tensor(Rc::new(made))
    }

    /// Returns a floating-point dtype: the default for integers and booleans.
    pub fn floating(&self, dtype: Option<DType>) -> Option<DType> {
        dtype.and_then(|dtype| if is_whole(dtype) { self.default_dtype } else { Some(dtype) })
    }
}

impl<'t> Bound<'t> {
    /// Binds the axes of a pattern to the sizes of a tensor.
    fn bind(
        &mut self,
        name: &'static str,
        axes: &[Axis],
        tensor: &Rc<Tensor<'t>>,
        is_only: bool,
    ) -> Result<(), Fit<'t>> {
        self.tensors.push((name, tensor.clone()));
        let batch =
            axes.first().and_then(|axis| if let Axis::Batch(name) = axis { Some(*name) } else { None });
        let own = &axes[usize::from(batch.is_some())..];
        let Some(shape) = &tensor.shape else {
            if let Some(batch) = batch {
                self.batches.insert(batch, None);
            }
            return if is_only || own.is_empty() { Ok(()) } else { Err(Fit::Unknown) };
        };
        let fits = if batch.is_some() { shape.len() >= own.len() } else { shape.len() == own.len() };
        if !fits {
            let least = if batch.is_some() { " at least" } else { "" };
            let axes = if own.len() == 1 { "axis" } else { "axes" };
            return Err(Fit::Fault(format!(
                "expects{least} {} {axes} as `{name}`, gets {}: shape {}",
                own.len(),
                shape.len(),
                shown(shape)
            )));
        }
        let (outer, inner) = shape.split_at(shape.len() - own.len());
        for (axis, size) in own.iter().zip(inner) {
            let Axis::Size(letter) = axis else { continue };
            let known = match letter.parse::<i64>() {
                // The size decides which form a call has.
                Ok(_) if size.is_none() => return Err(Fit::Unknown),
                Ok(number) => Some(number),
                Err(_) => self.sizes.get(letter).copied().flatten(),
            };
            if let (Some(known), Some(size)) = (known, size)
                && known != *size
            {
                return Err(Fit::Fault(format!(
                    "expects {known} as the size of an axis of `{name}`, gets {size}: shape {}",
                    shown(shape)
                )));
            }
            self.sizes.insert(letter, known.or(*size));
        }
        if let Some(batch) = batch {
            let broadcast = match self.batches.get(batch) {
                None => Some(outer.to_vec()),
                Some(None) => None,
                Some(Some(known)) => match joined(known, outer) {
                    Some(both) => Some(both),
                    None => {
                        let (known, outer) = (shown(known), shown(outer));
                        return Err(Fit::Fault(format!("cannot broadcast {outer} of `{name}` with {known}")));
                    }
                },
            };
            self.batches.insert(batch, broadcast);
        }
        Ok(())
    }

    fn shape(&self, axes: &[Axis]) -> Shape {
        let mut shape = vec![];
        for axis in axes {
            match axis {
                Axis::Batch(name) => shape.extend(self.batches.get(name)?.clone()?),
                Axis::Size(size) => shape.push(value(size, &self.sizes)),
                Axis::Unknown => return None,
            }
        }
        Some(shape)
    }
}

/// Returns a value as it stands in the table.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::None => Some("None".to_owned()),
        Value::Bool(flag) => Some(if *flag { "True" } else { "False" }.to_owned()),
        Value::Int(number) => Some(number.to_string()),
        Value::Str(text) => Some((**text).to_owned()),
        Value::Tensor(_) => Some("tensor".to_owned()),
        _ => None,
    }
}

fn is_whole(dtype: DType) -> bool {
    !dtype.is_float() && !dtype.is_complex()
}

/// Returns the dtype of the parts of a complex number; other dtypes are real.
pub fn real(dtype: DType) -> Option<DType> {
    Some(match dtype {
        DType::Complex64 => DType::Float32,
        DType::Complex128 => DType::Float64,
        other => other,
    })
}

/// Returns the dtype of complex numbers whose parts have a dtype.
pub fn complex(dtype: DType) -> Option<DType> {
    match dtype {
        DType::Float32 | DType::Complex64 => Some(DType::Complex64),
        DType::Float64 | DType::Complex128 => Some(DType::Complex128),
        _ => None,
    }
}
