//! Values of a script, exact as far as the source determines them.

use std::rc::Rc;

use tree_sitter::Node;

use super::tensor::Tensor;

/// Index of an object in the heap.
pub type Ref = usize;

/// A Python value. `Unknown` values are never reported.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value<'t> {
    #[default]
    Unknown,
    None,
    Ellipsis,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
    /// A tuple or `torch.Size`.
    Tuple(Rc<[Value<'t>]>),
    /// `a:b:c` in a subscript.
    Slice(Rc<[Value<'t>; 3]>),
    /// `range(start, stop, step)`.
    Range(i64, i64, i64),
    /// A list, set, dictionary, instance, class or file.
    Object(Ref),
    Function(Rc<Function<'t>>),
    /// A method of a class of the script, bound to its object.
    Bound(Rc<(Value<'t>, Rc<Function<'t>>)>),
    /// `super()`: the object, and the class after which methods are looked up.
    Super(Rc<(Value<'t>, Ref)>),
    /// A name of a library, by its full path, such as `torch.nn.Linear`.
    Name(Rc<str>),
    /// A method of a library type, bound to its object, such as `x.view`.
    Method(Rc<(Value<'t>, Rc<str>)>),
    Tensor(Rc<Tensor<'t>>),
    /// `torch.device("cuda:0")`, by its text.
    Device(Rc<str>),
}

/// A function or lambda of the script.
#[derive(Clone, Debug)]
pub struct Function<'t> {
    /// Name, or `<lambda>` for a lambda.
    pub name: &'t str,
    /// Definition.
    pub node: Node<'t>,
    /// Index of the file that defines the function.
    pub file: usize,
    /// Scope in which the function is defined.
    pub scope: Ref,
    /// Class in whose body the function is defined, for `super()`.
    pub class: Option<Ref>,
    /// Values of the defaults, by parameter name.
    pub defaults: Vec<(&'t str, Value<'t>)>,
    pub kind: FunctionKind,
    /// Contexts that decorators of the function enter, such as `torch.no_grad`.
    pub contexts: Vec<Value<'t>>,
}

/// Binding of the first parameter of a function in a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    Plain,
    Static,
    OfClass,
    Property,
}

impl PartialEq for Function<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node && self.scope == other.scope && self.file == other.file
    }
}

impl<'t> Value<'t> {
    /// Returns a string.
    pub fn str(text: &str) -> Self {
        Value::Str(Rc::from(text))
    }

    /// Returns a library name.
    pub fn name(path: &str) -> Self {
        Value::Name(Rc::from(path))
    }

    /// Returns a tuple.
    pub fn tuple(items: Vec<Value<'t>>) -> Self {
        Value::Tuple(items.into())
    }

    /// Returns a size, which may be unknown.
    pub fn size(size: Option<i64>) -> Self {
        size.map_or(Value::Unknown, Value::Int)
    }

    /// Returns the integer, if the value is a known integer or boolean.
    pub fn int(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            Value::Bool(flag) => Some(i64::from(*flag)),
            _ => None,
        }
    }

    /// Returns the number, if it is known.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Float(number) => Some(*number),
            #[expect(clippy::cast_precision_loss, reason = "Python converts in the same way")]
            other => other.int().map(|number| number as f64),
        }
    }

    /// Returns the string, if the value is a known string.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the path of a library name.
    pub fn path(&self) -> Option<&str> {
        match self {
            Value::Name(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the tensor, if the value is a tensor.
    pub fn tensor(&self) -> Option<&Tensor<'t>> {
        match self {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Returns the reference, if the value is an object of the heap.
    pub fn object(&self) -> Option<Ref> {
        match self {
            Value::Object(object) => Some(*object),
            _ => None,
        }
    }

    /// Returns true if the value is certainly not a tensor, array or other object with its own operators.
    pub fn is_plain(&self) -> bool {
        matches!(
            self,
            Value::None
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::Str(_)
                | Value::Tuple(_)
                | Value::Range(..)
        )
    }

    /// Joins the values of two paths.
    ///
    /// Values that differ become `Unknown`, but tuples are joined item by item, and tensors property by property.
    pub fn join(self, other: &Self) -> Self {
        if self == *other {
            return self;
        }
        match (self, other) {
            (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() => {
                Value::Tuple(a.iter().zip(b.iter()).map(|(a, b)| a.clone().join(b)).collect())
            }
            (Value::Tensor(a), Value::Tensor(b)) => Value::Tensor(Rc::new(a.join(b))),
            _ => Value::Unknown,
        }
    }
}
