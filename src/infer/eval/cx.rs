//! Kernel context: checked access to inputs, attributes and budget.

use std::cell::Cell;
use std::sync::Arc;

use super::shape::numel;
use super::{Array, Attr, Budget, KernelCall, Refusal, Result, Val, bad};

/// Context of a kernel: the call, its inputs and its budget.
pub(super) struct Cx<'a> {
    pub(super) call: &'a KernelCall<'a>,
    inputs: &'a [Option<Val>],
    pub(super) budget: Budget,
    /// Work and elements requested by the kernel.
    spent: Cell<usize>,
}

impl<'a> Cx<'a> {
    /// Creates a context that has spent no work.
    pub(super) fn new(call: &'a KernelCall<'a>, inputs: &'a [Option<Val>], budget: Budget) -> Self {
        Cx { call, inputs, budget, spent: Cell::new(0) }
    }

    /// Returns the `since_version` of the schema in force.
    pub(super) fn version(&self) -> u16 {
        self.call.version
    }

    /// Returns the number of inputs, including omitted ones before the last.
    pub(super) fn count(&self) -> usize {
        self.inputs.len()
    }

    /// Returns an input of any kind; `None` if the input is absent.
    pub(super) fn val(&self, i: usize) -> Option<&'a Val> {
        self.inputs.get(i)?.as_ref()
    }

    /// Returns a required tensor.
    pub(super) fn tensor(&self, i: usize) -> Result<&'a Array> {
        self.maybe(i)?.ok_or(Refusal::BadInput("a required input is absent"))
    }

    /// Returns a tensor; `None` if the input is absent or an empty optional.
    pub(super) fn maybe(&self, i: usize) -> Result<Option<&'a Array>> {
        let value = match self.val(i) {
            Some(Val::Optional(inner)) => inner.as_deref(),
            value => value,
        };
        match value {
            None => Ok(None),
            // An empty tensor costs no memory, but kernels iterate over its other dimensions.
            Some(Val::Tensor(array)) if array.is_empty() && self.room(array.shape()).is_err() => {
                Err(Refusal::TooLarge)
            }
            Some(Val::Tensor(array)) => Ok(Some(array)),
            Some(_) => bad("an input must be a tensor"),
        }
    }

    /// Returns all inputs of a variadic operator.
    pub(super) fn tensors(&self) -> Result<Vec<&'a Array>> {
        (0..self.count()).map(|i| self.tensor(i)).collect()
    }

    /// Returns the items of a required sequence, unwrapping an optional.
    pub(super) fn sequence(&self, i: usize) -> Result<&'a [Val]> {
        match self.val(i) {
            Some(Val::Sequence(items)) => Ok(items),
            Some(Val::Optional(Some(inner))) => match inner.as_ref() {
                Val::Sequence(items) => Ok(items),
                _ => bad("an input must be a sequence"),
            },
            _ => bad("an input must be a sequence"),
        }
    }

    /// Returns an attribute that the call sets.
    pub(super) fn attr(&self, name: &str) -> Option<Attr<'a>> {
        self.call.attrs.get(name)
    }

    /// Returns an integer attribute; `None` if the attribute is absent or not an integer.
    pub(super) fn int_attr(&self, name: &str) -> Option<i64> {
        match self.attr(name)? {
            Attr::Int(value) => Some(value),
            _ => None,
        }
    }

    /// Returns an integer attribute, or `default` if the attribute is absent or not an integer.
    pub(super) fn int(&self, name: &str, default: i64) -> i64 {
        self.int_attr(name).unwrap_or(default)
    }

    /// Returns a boolean attribute; values other than 0 and 1 are refused, as runtimes disagree on them.
    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool> {
        match self.int_attr(name) {
            None => Ok(default),
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            Some(_) => bad("a boolean attribute must be 0 or 1"),
        }
    }

    /// Returns a float attribute; `None` if the attribute is absent or not a float.
    pub(super) fn float_attr(&self, name: &str) -> Option<f64> {
        match self.attr(name)? {
            Attr::Float(value) => Some(f64::from(value)),
            _ => None,
        }
    }

    /// Returns a float attribute; the default is rounded to `f32`, like the specification's defaults.
    pub(super) fn float(&self, name: &str, default: f32) -> f64 {
        self.float_attr(name).unwrap_or(f64::from(default))
    }

    /// Returns an attribute with a list of integers.
    pub(super) fn ints(&self, name: &str) -> Option<Vec<i64>> {
        match self.attr(name)? {
            Attr::Ints(values) => Some(values.to_vec()),
            _ => None,
        }
    }

    /// Returns an attribute with a list of floats.
    pub(super) fn floats(&self, name: &str) -> Option<Vec<f64>> {
        match self.attr(name)? {
            Attr::Floats(values) => Some(values.iter().map(|&x| f64::from(x)).collect()),
            _ => None,
        }
    }

    /// Returns an attribute with a list of strings, as bytes.
    pub(super) fn texts(&self, name: &str) -> Option<Vec<Vec<u8>>> {
        match self.attr(name)? {
            Attr::Strs(values) => Some(values.into_iter().map(<[u8]>::to_vec).collect()),
            _ => None,
        }
    }

    /// Returns a string attribute, or `default` if no string is set; invalid UTF-8 is replaced.
    pub(super) fn text(&self, name: &str, default: &'static str) -> String {
        match self.attr(name) {
            Some(Attr::Str(value)) => String::from_utf8_lossy(value).into_owned(),
            _ => default.to_owned(),
        }
    }

    /// Returns a tensor attribute; `None` if the attribute is absent or not a tensor.
    pub(super) fn array_attr(&self, name: &str) -> Option<Arc<Array>> {
        match self.attr(name)? {
            Attr::Tensor(array) => Some(array),
            _ => None,
        }
    }

    /// Returns integers that are an input in newer versions and an attribute in older ones, if given.
    pub(super) fn ints_at(&self, i: usize, name: &str) -> Result<Option<Vec<i64>>> {
        match self.maybe(i)? {
            Some(array) if array.rank() > 1 => bad("a list of integers must have rank 1"),
            Some(array) => array.as_i64s().map(Some),
            None => Ok(self.ints(name)),
        }
    }

    /// Returns the integer of an input with one element; `None` if the input is absent.
    pub(super) fn scalar_int(&self, i: usize) -> Result<Option<i64>> {
        self.maybe(i)?.map(only_int).transpose()
    }

    /// Returns the number of an input with one element; `None` if the input is absent.
    pub(super) fn scalar(&self, i: usize) -> Result<Option<f64>> {
        let Some(array) = self.maybe(i)? else { return Ok(None) };
        match array.f64s()?.as_slice() {
            [x] => Ok(Some(*x)),
            _ => bad("an input must have one element"),
        }
    }

    /// Returns the operations and elements that the kernel has requested so far.
    pub(super) fn spent(&self) -> usize {
        self.spent.get()
    }

    /// Returns the number of elements of an output, if the budget allows it.
    /// Even if a dimension is 0, the product of the nonzero dimensions counts against the budget.
    pub(super) fn room(&self, shape: &[usize]) -> Result<usize> {
        self.spend(shape, self.budget.elements)?;
        numel(shape)
    }

    /// Adds the product of all nonzero factors to the cost; fails if the product exceeds the work budget.
    pub(super) fn work(&self, factors: &[usize]) -> Result<()> {
        self.spend(factors, self.budget.work)
    }

    /// Adds the product of all nonzero factors to the cost; fails if the product exceeds `limit`.
    fn spend(&self, factors: &[usize], limit: usize) -> Result<()> {
        let product = factors.iter().try_fold(1usize, |product, &n| product.checked_mul(n.max(1)));
        let product = product.filter(|&product| product <= limit).ok_or(Refusal::TooLarge)?;
        self.spent.set(self.spent.get().saturating_add(product));
        Ok(())
    }
}

/// Returns the integer of a tensor with one element.
pub(super) fn only_int(array: &Array) -> Result<i64> {
    match array.as_i64s()?.as_slice() {
        [value] => Ok(*value),
        _ => bad("an input must have one element"),
    }
}
