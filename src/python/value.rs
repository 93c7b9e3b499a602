//! Abstract values of the Python interpreter.

use std::ops::Range;
use std::rc::Rc;

/// Identifies a tensor object, the memory of tensors, a shape or a size.
pub type Identity = u32;

/// An abstract value, as far as the source determines it.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    #[default]
    Unknown,
    None,
    Tensor(Tensor),
    /// `x.shape`: all or some sizes of a tensor.
    Shape(Identity),
    /// A size of a tensor, or a number computed from sizes; a tensor while tracing.
    Size(Identity),
    /// A Python number, with its value if it is a known integer.
    Number(Option<f64>),
    /// A literal of the Python type `float`.
    Real(f64),
    /// A Python number or boolean taken from a tensor, or computed from one.
    Taken,
    Bool(Option<bool>),
    Str,
    Array(Array),
    /// `range(n)`, with the size, tensor or number that determines its length.
    Range(Box<Value>),
    /// A list or tuple with known items.
    Items(Rc<[Value]>),
    /// An iterable of which only the common value of the items is known.
    Each(Box<Value>),
    Dict,
    /// A dictionary that the caller passes, with the common value of its entries.
    Mapping(Box<Value>),
    /// A layer of `torch.nn`.
    Layer(Layer),
    /// A name that this file does not define, by its full path, such as `torch.nn.functional.one_hot`.
    Name(Rc<str>),
    /// A function of this file.
    Function(usize),
    Partial(Rc<Partial>),
    Class(usize),
    /// A method of this file, bound to an instance of a class of this file.
    Method {
        function: usize,
        class: usize,
    },
    /// An instance of a class of this file, such as `self` or a data class.
    Instance(usize),
    /// `Square.apply` of a `torch.autograd.Function` of this file.
    Apply(usize),
}

/// An object made by `functools.partial(callee, …)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    /// The function.
    pub callee: Value,
    /// Positional arguments.
    pub values: Vec<Value>,
    /// Keyword arguments; the name of each is a byte range of the source.
    pub keywords: Vec<(Range<usize>, Value)>,
}

/// A tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// False for a value that is only presumed to be a tensor, such as a parameter of unknown kind.
    pub sure: bool,
    /// Source of the elements.
    pub origin: Origin,
    /// Dtype, if known.
    pub dtype: Option<Dtype>,
    /// Rank, if known.
    pub rank: Option<usize>,
    /// The elements, if they are literal integers.
    pub elements: Option<Rc<[i64]>>,
    /// Identity of the memory.
    pub memory: Identity,
    /// The tensor object; views of one memory have different objects.
    pub object: Identity,
    /// Relation to the tensor that this one was created from.
    pub view: View,
}

/// Source of a tensor's elements; if there are several sources, the one that is the last variant here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Literals in the source, and values computed only from these.
    Constant,
    /// A parameter or buffer of the model, or another tensor that `__init__` stores in an attribute.
    State,
    Random,
    /// The inputs of `forward`, or their sizes.
    Input,
}

/// Relation of a tensor to the tensor that it was created from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum View {
    /// Not a view of another tensor.
    Whole,
    /// A view through slices and indices only; the tracing exporter follows some writes to it.
    Slice,
    /// Any other view.
    Other,
    /// `reshape` and similar: a view or a copy.
    Perhaps,
}

/// Category of a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    Bool,
    Int,
    Half,
    Float,
    Double,
}

/// A NumPy array or scalar.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Source of the elements.
    pub traced: Traced,
    /// Whether the array was created in the current code, not stored in an attribute.
    pub made_here: bool,
    /// Whether the dtype is float64.
    pub double: bool,
    /// A 0-d value, which does not affect type promotion.
    pub scalar: bool,
    /// The elements, if they are literal integers.
    pub elements: Option<Rc<[i64]>>,
}

/// Source of an array's elements; if there are several sources, the one that is the last variant here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Traced {
    Nothing,
    Sizes,
    /// The elements of a tensor, or random numbers, which should be new in each run of the graph.
    Elements,
}

/// A layer, classified by the result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// One tensor, as for nearly all of `torch.nn`.
    /// `fresh_training` marks a layer that depends on the mode and is created where it is called, so that it is
    /// in training mode.
    Tensor { fresh_training: bool },
    /// A tuple that begins with a tensor, as for recurrent layers and attention.
    Tuple,
    /// A container such as `ModuleList`, with the common value of its elements.
    List(Box<Value>),
}

impl Tensor {
    /// Returns a tensor with its own memory.
    pub fn new(origin: Origin, identity: Identity) -> Self {
        Tensor {
            sure: true,
            origin,
            dtype: None,
            rank: None,
            elements: None,
            memory: identity,
            object: identity,
            view: View::Whole,
        }
    }

    /// Returns true if the elements may differ between runs.
    pub fn varies(&self) -> bool {
        self.origin >= Origin::Random
    }
}

impl Value {
    /// Returns the tensor, if the value is one.
    pub fn tensor(&self) -> Option<&Tensor> {
        match self {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Returns the tensor if the value certainly is one.
    pub fn sure_tensor(&self) -> Option<&Tensor> {
        self.tensor().filter(|tensor| tensor.sure)
    }

    /// Returns true if the value is a size or a shape, or contains sizes.
    pub fn is_size(&self) -> bool {
        match self {
            Value::Size(_) | Value::Shape(_) => true,
            Value::Items(items) => items.iter().any(Value::is_size),
            Value::Each(each) => each.is_size(),
            _ => false,
        }
    }

    /// Returns the source of a NumPy array made from the arrays and sizes in the value.
    pub fn traced(&self) -> Traced {
        match self {
            Value::Array(array) => array.traced,
            Value::Items(items) if !self.is_size() => {
                items.iter().map(Value::traced).max().unwrap_or(Traced::Nothing)
            }
            value if value.is_size() => Traced::Sizes,
            _ => Traced::Nothing,
        }
    }

    /// Returns the value if it is a tensor, or the tensors among the items of a list.
    pub fn tensors(&self) -> Vec<&Tensor> {
        match self {
            Value::Tensor(tensor) => vec![tensor],
            Value::Items(items) => items.iter().flat_map(Value::tensors).collect(),
            Value::Each(each) => each.tensors(),
            _ => vec![],
        }
    }

    /// Returns the truth value of a known boolean, or of `None`.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Value::Bool(truth) => *truth,
            Value::None => Some(false),
            _ => None,
        }
    }

    /// Returns the element obtained by iteration.
    pub fn element(&self) -> Value {
        match self {
            Value::Each(each) => (**each).clone(),
            Value::Items(items) => items.iter().cloned().reduce(Value::join).unwrap_or_default(),
            Value::Range(_) => Value::Number(None),
            Value::Layer(Layer::List(each)) => (**each).clone(),
            _ => Value::Unknown,
        }
    }

    /// Returns the rank of a literal, list or tensor, and the elements if they are integers.
    pub fn literal(&self) -> (Option<usize>, Option<Rc<[i64]>>) {
        match self {
            Value::Number(number) => (Some(0), number.and_then(integer).map(|value| Rc::from([value]))),
            Value::Bool(_) | Value::Real(_) => (Some(0), None),
            Value::Items(items) => {
                let inner: Vec<_> = items.iter().map(Value::literal).collect();
                let rank = inner.first().and_then(|(rank, _)| *rank).map(|rank| rank + 1);
                let elements: Option<Vec<_>> = inner.into_iter().map(|(_, elements)| elements).collect();
                (rank, elements.map(|all| all.iter().flat_map(|some| some.iter().copied()).collect()))
            }
            Value::Tensor(tensor) => (tensor.rank, tensor.elements.clone()),
            Value::Array(array) => (None, array.elements.clone()),
            _ => (None, None),
        }
    }

    /// Returns a value that covers both of two possible values.
    pub fn join(self, other: Value) -> Value {
        match (self, other) {
            (a, b) if a == b => a,
            // `x = None` before a branch is only a placeholder: later uses of `x` expect the value of the branch.
            (Value::None, known) | (known, Value::None) => known,
            (Value::Tensor(a), Value::Tensor(b)) => Value::Tensor(join_tensors(&a, &b)),
            (Value::Size(a), Value::Size(_) | Value::Number(_)) | (Value::Number(_), Value::Size(a)) => {
                Value::Size(a)
            }
            (Value::Number(_) | Value::Real(_), Value::Number(_) | Value::Real(_)) => Value::Number(None),
            (Value::Taken, Value::Number(_) | Value::Real(_) | Value::Bool(_) | Value::Size(_))
            | (Value::Number(_) | Value::Real(_) | Value::Bool(_) | Value::Size(_), Value::Taken) => {
                Value::Taken
            }
            (Value::Bool(_), Value::Bool(_)) => Value::Bool(None),
            (Value::Each(a), Value::Each(b)) => Value::Each(Box::new(a.join(*b))),
            (Value::Items(items), Value::Each(each)) | (Value::Each(each), Value::Items(items)) => {
                Value::Each(Box::new(items.iter().cloned().fold(*each, Value::join)))
            }
            (Value::Items(a), Value::Items(b)) if a.len() == b.len() => {
                Value::Items(a.iter().zip(b.iter()).map(|(a, b)| a.clone().join(b.clone())).collect())
            }
            (Value::Items(a), Value::Items(b)) => {
                let all = a.iter().chain(b.iter()).cloned();
                Value::Each(Box::new(all.reduce(Value::join).unwrap_or_default()))
            }
            _ => Value::Unknown,
        }
    }
}

fn join_tensors(a: &Tensor, b: &Tensor) -> Tensor {
    Tensor {
        sure: a.sure && b.sure,
        origin: a.origin.max(b.origin),
        dtype: a.dtype.filter(|_| a.dtype == b.dtype),
        rank: a.rank.filter(|_| a.rank == b.rank),
        elements: None,
        ..a.clone()
    }
}

/// Converts a float to an integer if the value is integral and its magnitude is below 9e15.
#[expect(clippy::cast_possible_truncation, reason = "checked: a whole number within 2^53")]
pub fn integer(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64)
}

impl Value {
    /// Replaces every identity in the value with `rename`, except inside a [`Partial`].
    pub fn renumber(&mut self, rename: &mut dyn FnMut(Identity) -> Identity) {
        match self {
            Value::Tensor(tensor) => {
                tensor.memory = rename(tensor.memory);
                tensor.object = rename(tensor.object);
            }
            Value::Shape(identity) | Value::Size(identity) => *identity = rename(*identity),
            Value::Range(inner)
            | Value::Each(inner)
            | Value::Mapping(inner)
            | Value::Layer(Layer::List(inner)) => inner.renumber(rename),
            Value::Items(items) => {
                let mut renamed = items.to_vec();
                renamed.iter_mut().for_each(|item| item.renumber(rename));
                *items = renamed.into();
            }
            _ => {}
        }
    }

    /// Returns the value as stored in an attribute by `__init__`.
    pub fn kept(self) -> Value {
        match self {
            Value::Tensor(tensor) => Value::Tensor(Tensor { origin: Origin::State, sure: true, ..tensor }),
            Value::Array(array) => Value::Array(Array { made_here: false, ..array }),
            other => other,
        }
    }
}
