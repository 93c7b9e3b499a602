//! Creation of tensors.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::library::named_dtype;
use super::super::machine::{Machine, Stop};
use super::super::record::Taken;
use super::super::tensor::{DType, Dim, Tensor};
use super::super::value::Value;
use super::layers::device_text;
use crate::diag::rule_ids;

/// Maximum number of elements of a tensor whose elements are kept.
pub const MAX_DATA: usize = 4096;

/// Constructors with a dtype in their name.
const TYPED: [(&str, DType); 8] = [
    ("FloatTensor", DType::Float32),
    ("Tensor", DType::Float32),
    ("DoubleTensor", DType::Float64),
    ("HalfTensor", DType::Float16),
    ("LongTensor", DType::Int64),
    ("IntTensor", DType::Int32),
    ("ByteTensor", DType::UInt8),
    ("BoolTensor", DType::Bool),
];

/// Returns the dtype and device that a tensor type such as `torch.cuda.FloatTensor` names.
pub fn typed(path: &str) -> Option<(DType, &'static str)> {
    let (name, device) = match path.strip_prefix("torch.cuda.") {
        Some(name) => (name, "cuda"),
        None => (path.strip_prefix("torch.")?, "cpu"),
    };
    // `torch.Tensor` has the default dtype.
    let (_, dtype) = TYPED.iter().find(|(typed, _)| *typed == name && name != "Tensor")?;
    Some((*dtype, device))
}

impl<'t> Machine<'t> {
    /// Creates a tensor; `None` if `name` is not a function that creates tensors.
    pub fn create(&mut self, name: &str, args: &Args<'t>) -> Result<Option<Value<'t>>, Stop> {
        let default = self.default_dtype;
        let int = |at: usize, name: &str| args.get(at, name).and_then(Value::int);
        let tensor = match name {
            "zeros" | "ones" | "empty" | "rand" | "randn" => {
                self.check_sizes(name, args)?;
                let shape = self.shape_argument(args, 0, "size");
                let mut tensor = self.with_options(shape, default, args);
                tensor.data = match name {
                    "zeros" => filled(&tensor, 0.0),
                    "ones" => filled(&tensor, 1.0),
                    _ => None,
                };
                tensor
            }
            "full" => {
                let shape = args.get(0, "size").and_then(|size| self.shape_of(size));
                let value = args.get(1, "fill_value");
                let dtype = match value {
                    Some(Value::Int(_)) => Some(DType::Int64),
                    Some(Value::Bool(_)) => Some(DType::Bool),
                    Some(Value::Float(_)) => default,
                    _ => None,
                };
                let number = value.and_then(Value::number);
                let mut tensor = self.with_options(shape, dtype, args);
                tensor.data = number.and_then(|number| filled(&tensor, number));
                if let Some(number) = number {
                    self.note_fill(&tensor, number);
                }
                tensor
            }
            "randint" => {
                let given = args.positional.len();
                let (low, high) = match (given >= 3 || args.keyword("low").is_some(), args.keyword("high")) {
                    (true, _) => (int(0, "low"), int(1, "high")),
                    (false, Some(high)) => match given {
                        0 => (Some(0), high.int()),
                        _ => (int(0, "low"), high.int()),
                    },
                    // The call is `randint(low, high, size=size)`.
                    (false, None) if given == 2 && args.keyword("size").is_some() => {
                        (int(0, "low"), int(1, "high"))
                    }
                    _ => (Some(0), int(0, "high")),
                };
                let size = args.keyword("size").or(args.positional.last().map(|(value, _)| value));
                let shape = size.and_then(|size| self.shape_of(size));
                let mut tensor = self.with_options(shape, Some(DType::Int64), args);
                tensor.bounds = low.zip(high).filter(|(low, high)| low < high);
                tensor
            }
            "normal" => match args.get(2, "size").and_then(|size| self.shape_of(size)) {
                Some(shape) => self.with_options(Some(shape), default, args),
                None => return Ok(None),
            },
            "arange" | "range" => return self.arange(name, args).map(Some),
            "linspace" | "logspace" => self.with_options(Some(vec![int(2, "steps")]), default, args),
            "randperm" => self.with_options(Some(vec![int(0, "n")]), Some(DType::Int64), args),
            "eye" => {
                let rows = int(0, "n");
                let columns = if args.get(1, "m").is_some() { int(1, "m") } else { rows };
                self.with_options(Some(vec![rows, columns]), default, args)
            }
            "tensor" | "as_tensor" | "asarray" | "from_numpy" => {
                match args.get(0, "data").or(args.keyword("obj")).cloned() {
                    Some(data) => {
                        let made = self.of_values(&data, args);
                        return Ok(Some(self.taken_elements(made, &data, args)));
                    }
                    None => return Ok(Some(Value::Unknown)),
                }
            }
            _ => match (TYPED.iter().find(|(typed, _)| *typed == name), name.strip_suffix("_like")) {
                (Some((_, dtype)), _) => match args.get(0, "data").cloned() {
                    Some(data @ (Value::Object(_) | Value::Tuple(_))) => {
                        let Value::Tensor(tensor) = self.of_values(&data, args) else {
                            return Ok(Some(Value::Unknown));
                        };
                        Tensor { dtype: Some(*dtype), ..(*tensor).clone() }
                    }
                    _ => {
                        let shape = self.shape_argument(args, 0, "size");
                        self.with_options(shape, Some(*dtype), args)
                    }
                },
                (None, Some(base)) => match args.get(0, "input").cloned() {
                    Some(Value::Tensor(like)) => {
                        let mut tensor = self.with_options(like.shape.clone(), like.dtype, args);
                        if args.keyword("device").is_none() {
                            tensor.device = like.device.clone();
                        }
                        tensor.data = match base {
                            "zeros" => filled(&tensor, 0.0),
                            "ones" => filled(&tensor, 1.0),
                            _ => None,
                        };
                        tensor
                    }
                    _ => return Ok(Some(Value::Unknown)),
                },
                _ => match self.special_creation(name, args) {
                    Some(tensor) => tensor,
                    None => return Ok(None),
                },
            },
        };
        let is_new =
            matches!(name, "zeros" | "ones" | "empty" | "rand" | "randn" | "full" | "randint" | "linspace");
        let tensor = if is_new { Self::contiguous(tensor) } else { tensor };
        Ok(Some(self.created(tensor, args)))
    }

    /// Records the expression that created a tensor.
    fn created(&mut self, mut tensor: Tensor<'t>, args: &Args<'t>) -> Value<'t> {
        tensor.origin = Some((self.file(), args.node));
        Value::Tensor(Rc::new(tensor))
    }

    /// Returns a tensor with the dtype and device of the arguments.
    pub fn with_options(
        &mut self,
        shape: Option<Vec<Dim>>,
        dtype: Option<DType>,
        args: &Args<'t>,
    ) -> Tensor<'t> {
        let dtype = match args.keyword("dtype") {
            None | Some(Value::None) if !args.open => dtype,
            None => None,
            Some(value) => named_dtype(value),
        };
        let device = match args.keyword("device") {
            None | Some(Value::None) if !args.open => self.creation_device(),
            None => None,
            Some(value) => device_text(value),
        };
        self.tensor(if args.open { None } else { shape }, dtype, device)
    }

    /// Returns sizes that are passed as one argument, or as all positional arguments from `start` on.
    pub fn shape_argument(&self, args: &Args<'t>, start: usize, name: &str) -> Option<Vec<Dim>> {
        if args.open {
            return None;
        }
        if let Some(size) = args.keyword(name) {
            return self.shape_of(size);
        }
        match args.positional.get(start..)? {
            [(only, _)] if !matches!(only, Value::Int(_) | Value::Unknown) => self.shape_of(only),
            // One unknown argument is a size or a list of sizes.
            [(Value::Unknown, _)] => None,
            many => Some(many.iter().map(|(value, _)| value.int()).collect()),
        }
    }

    /// Reports a string among the sizes of a new tensor.
    fn check_sizes(&self, name: &str, args: &Args<'t>) -> Result<(), Stop> {
        let given = args.keyword("size").into_iter().chain(args.positional.iter().map(|(value, _)| value));
        let mut sizes = given.flat_map(|size| match size {
            Value::Str(_) => vec![size.clone()],
            other => self.items(other).unwrap_or_default(),
        });
        let Some(text) = sizes.find_map(|size| size.text().map(str::to_owned)) else {
            return Ok(());
        };
        let message = format!("`torch.{name}` expects integers as sizes, gets the string \"{text}\"");
        let help = "convert the size with `int(…)`; an argument of `argparse` needs `type=int`";
        let fault =
            Fault { rule: rule_ids::SHAPE_MISMATCH, kind: "TypeError", ..Fault::shape(message, help) };
        Err(self.fault(args.node, fault))
    }

    /// Returns the sizes in a list or tuple, or a single size.
    pub fn shape_of(&self, size: &Value<'t>) -> Option<Vec<Dim>> {
        match size {
            Value::Int(size) => Some(vec![Some(*size)]),
            other => Some(self.items(other)?.iter().map(Value::int).collect()),
        }
    }

    /// Evaluates `torch.arange`, and `torch.range`, which is floating-point and includes its end.
    fn arange(&mut self, name: &str, args: &Args<'t>) -> Result<Value<'t>, Stop> {
        let is_range = name == "range";
        let is_named = |name: &&str| args.keyword(name).is_some();
        let named = ["start", "end", "step"].iter().any(is_named);
        let ordered = args.bounds(&["start", "end", "step"]).filter(|_| named);
        let is_known = !args.open && (!named || ordered.is_some());
        let given = ordered.unwrap_or_else(|| args.values());
        let numbers: Vec<Option<f64>> = given.iter().map(Value::number).collect();
        let whole = given.iter().all(|value| matches!(value, Value::Int(_)));
        let (start, end, step) = match numbers.as_slice() {
            _ if !is_known => (None, None, None),
            [end] if !is_range => (Some(0.0), *end, Some(1.0)),
            [start, end] => (*start, *end, Some(1.0)),
            [start, end, step] => (*start, *end, *step),
            _ => (None, None, None),
        };
        let count = match (start, end, step) {
            (Some(start), Some(end), Some(step)) if step != 0.0 => {
                let steps = (end - start) / step;
                let count = if is_range { steps.floor() + 1.0 } else { steps.ceil() };
                super::super::library::whole_number(count.max(0.0))
            }
            _ => None,
        };
        let dtype = match is_known {
            true if is_range => self.default_dtype,
            true if whole => Some(DType::Int64),
            true if numbers.iter().all(Option::is_some) => self.default_dtype,
            _ => None,
        };
        let mut tensor = self.with_options(Some(vec![count]), dtype, args);
        #[expect(clippy::cast_precision_loss, reason = "there are few elements")]
        if let (Some(count), Some(start), Some(step)) = (count, start, step)
            && usize::try_from(count).is_ok_and(|count| count <= MAX_DATA)
        {
            tensor.data = Some((0..count).map(|at| start + step * at as f64).collect());
        }
        Ok(self.created(tensor, args))
    }

    /// Creates a tensor from nested lists, numbers or an array.
    pub fn of_values(&mut self, data: &Value<'t>, args: &Args<'t>) -> Value<'t> {
        let known = match data {
            Value::Tensor(tensor) => Some((**tensor).clone()),
            Value::Object(_) if self.library_class(data).as_deref() == Some(super::methods::ARRAY) => {
                match self.attribute_of(data, "tensor") {
                    Some(Value::Tensor(tensor)) => Some((*tensor).clone()),
                    _ => None,
                }
            }
            _ => None,
        };
        if let Some(known) = known {
            let mut tensor = self.with_options(known.shape.clone(), known.dtype, args);
            tensor.data = self.data(&known);
            return self.created(tensor, args);
        }
        let mut numbers = vec![];
        let mut dtype = Some(DType::Bool);
        let shape = self.literal(data, &mut numbers, &mut dtype, 0);
        let mut tensor = self.with_options(shape, dtype, args);
        let count = tensor.numel().and_then(|count| usize::try_from(count).ok());
        tensor.data = (count == Some(numbers.len())).then(|| numbers.into());
        if tensor.shape.is_none() && tensor.dtype.is_none() {
            return Value::Unknown;
        }
        self.created(tensor, args)
    }

    /// Returns a tensor of numbers, which are constants in a traced graph.
    fn taken_elements(&mut self, made: Value<'t>, data: &Value<'t>, args: &Args<'t>) -> Value<'t> {
        let Value::Tensor(tensor) = &made else { return made };
        let is_listed =
            matches!(data, Value::Object(_) | Value::Tuple(_)) && self.array_tensor(data).is_none();
        let known = tensor.data.clone().filter(|_| self.record.is_some() && is_listed);
        let Some(known) = known else { return made };
        let taken: Vec<f64> = known
            .iter()
            .map(|one| match super::super::library::whole_number(*one) {
                #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
                Some(whole) if *one == whole as f64 => self.taken(Taken::Number, args.node, whole) as f64,
                _ => *one,
            })
            .collect();
        Value::Tensor(Rc::new(Tensor { data: Some(taken.into()), ..(**tensor).clone() }))
    }

    /// Returns the shape of nested lists of numbers, and collects their elements and dtype.
    fn literal(
        &self,
        data: &Value<'t>,
        numbers: &mut Vec<f64>,
        dtype: &mut Option<DType>,
        depth: u32,
    ) -> Option<Vec<Dim>> {
        let own = match data {
            Value::Bool(_) => Some(DType::Bool),
            Value::Int(_) => Some(DType::Int64),
            Value::Float(_) => self.default_dtype,
            Value::Object(_) | Value::Tuple(_) | Value::Range(..) if depth < 8 => {
                let Some(items) = self.items(data) else {
                    *dtype = None;
                    return None;
                };
                let mut inner = Some(vec![]);
                for (at, item) in items.iter().enumerate() {
                    let shape = self.literal(item, numbers, dtype, depth + 1);
                    inner = if at == 0 || inner == shape { shape } else { None };
                }
                if items.is_empty() {
                    *dtype = self.default_dtype;
                }
                let mut shape = vec![i64::try_from(items.len()).ok()];
                shape.extend(inner?);
                return Some(shape);
            }
            _ => {
                *dtype = None;
                return None;
            }
        };
        *dtype = dtype.zip(own).map(|(a, b)| a.promote(b));
        if numbers.len() < MAX_DATA {
            numbers.extend(data.number());
        }
        Some(vec![])
    }
}

fn filled(tensor: &Tensor, number: f64) -> Option<Rc<[f64]>> {
    let count = usize::try_from(tensor.numel()?).ok()?;
    (count <= MAX_DATA).then(|| vec![number; count].into())
}
