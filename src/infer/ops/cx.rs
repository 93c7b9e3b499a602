//! Context of a shape rule: inputs and attributes to read, outputs and faults to write.

use std::sync::Arc;

use crate::graph::dim::{Bounds, Dim, Interval};
use crate::graph::{AttrValue, ElemType, Tensor, TensorId};
use crate::infer::call::{Fresh, OpCall};
use crate::infer::eval::{self, Array};
use crate::infer::fact::{Fact, TensorFact};
use crate::infer::fault::{Expected, Fault};
use crate::infer::shape::{Shape, Size};
use crate::schema::{AttrDefault, Schema};

/// A call under inference, with inputs and attributes to read and outputs to fill in.
pub(in crate::infer) struct Cx<'c> {
    call: &'c OpCall<'c>,
    /// Schema of the operator, or `None` if the operator is unknown.
    pub schema: Option<&'static Schema>,
    fresh: &'c mut dyn Fresh,
    /// Facts of the requested outputs.
    pub outs: Vec<Fact>,
    faults: Vec<Fault>,
}

impl<'c> Cx<'c> {
    /// Creates the context of a call, with unknown outputs and no faults.
    pub fn new(call: &'c OpCall<'c>, schema: Option<&'static Schema>, fresh: &'c mut dyn Fresh) -> Self {
        Cx { call, schema, fresh, outs: vec![Fact::Unknown; call.outputs], faults: Vec::new() }
    }

    /// Returns the inferred outputs and the recorded faults.
    pub fn finish(self) -> (Vec<Fact>, Vec<Fault>) {
        (self.outs, self.faults)
    }

    /// Returns the call under inference.
    pub fn call(&self) -> &'c OpCall<'c> {
        self.call
    }

    /// Returns the operator name, without its domain.
    pub fn op(&self) -> &'c str {
        self.call.op
    }

    /// Returns the value ranges of the symbols in dimensions.
    pub fn bounds(&self) -> &'c Bounds {
        self.call.bounds
    }

    /// Returns true if the call runs whenever the model does.
    pub fn runs(&self) -> bool {
        self.call.runs
    }

    /// Returns the `since_version` of the schema, or the opset version if there is no schema.
    pub fn since(&self) -> i64 {
        self.schema.map_or(self.call.opset, |schema| schema.since.into())
    }

    /// Applies a rule to the same call with other inputs, and returns the fact of the first output.
    pub fn with_inputs(&mut self, inputs: &[Option<&Fact>], rule: super::Rule) -> Option<Fact> {
        let call = OpCall { inputs, outputs: 1, ..*self.call };
        let mut cx = Cx::new(&call, self.schema, self.fresh);
        rule(&mut cx)?;
        let (outs, faults) = cx.finish();
        self.faults.extend(faults);
        outs.into_iter().next()
    }

    /// Records a fault.
    pub fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }
}

/// Inputs, by position.
impl<'c> Cx<'c> {
    /// Returns the number of inputs, including absent ones.
    pub fn inputs(&self) -> usize {
        self.call.inputs.len()
    }

    /// Returns the fact of an input, or `None` if the input is absent.
    pub fn fact(&self, input: usize) -> Option<&'c Fact> {
        self.call.inputs.get(input).copied().flatten()
    }

    /// Returns true if an input is present.
    pub fn has(&self, input: usize) -> bool {
        self.fact(input).is_some()
    }

    /// Returns the tensor fact of an input, or `None` if the input is absent or not known to be a tensor.
    pub fn tensor(&self, input: usize) -> Option<&'c TensorFact> {
        self.fact(input)?.as_tensor()
    }

    /// Returns the element type of an input, if it is known.
    pub fn elem(&self, input: usize) -> Option<ElemType> {
        self.fact(input)?.elem()
    }

    /// Returns the shape of an input, which is unknown for an absent input.
    pub fn shape(&self, input: usize) -> Shape {
        self.fact(input).and_then(Fact::shape).cloned().unwrap_or_default()
    }

    /// Returns the dimensions of an input, or `None` if the rank is unknown.
    pub fn dims(&self, input: usize) -> Option<&'c [Size]> {
        self.fact(input)?.dims()
    }

    /// Returns one dimension of an input, or `None` if the dimension is unknown or does not exist.
    pub fn dim(&self, input: usize, axis: usize) -> Size {
        self.dims(input)?.get(axis)?.clone()
    }

    /// Returns the rank of an input, or `None` if the rank is unknown.
    pub fn rank(&self, input: usize) -> Option<usize> {
        Some(self.dims(input)?.len())
    }

    /// Returns the whole-number elements of an input (see [`Fact::as_ints`]). Unknown elements are `None`.
    pub fn ints(&self, input: usize) -> Option<Vec<Size>> {
        self.tensor(input)?.as_ints()
    }

    /// Returns the elements as in [`Cx::ints`], if all are numbers.
    pub fn const_ints(&self, input: usize) -> Option<Vec<i64>> {
        self.ints(input)?.iter().map(|size| size.as_ref()?.as_const()).collect()
    }

    /// Returns the first element as in [`Cx::ints`].
    pub fn int_scalar(&self, input: usize) -> Size {
        self.ints(input)?.into_iter().next()?
    }

    /// Returns the first element of a real tensor, or `None` for a fraction, large float or unknown value.
    pub fn whole_scalar(&self, input: usize) -> Size {
        let float = || {
            let float = *self.const_floats(input)?.first()?;
            (float.fract() == 0.0 && float.abs() < f64::from(i32::MAX)).then(|| Dim::known(float as i64))
        };
        self.int_scalar(input).or_else(float)
    }

    /// Returns the first element as in [`Cx::ints`], if it is a number.
    pub fn const_int(&self, input: usize) -> Option<i64> {
        self.int_scalar(input)?.as_const()
    }

    /// Returns the elements of a constant in memory.
    pub fn array(&self, input: usize) -> Option<&'c Arc<Array>> {
        self.fact(input)?.as_const()
    }

    /// Returns the elements of a constant of real numbers in memory.
    pub fn const_floats(&self, input: usize) -> Option<Vec<f64>> {
        self.array(input)?.f64s().ok()
    }

    /// Returns the number of elements of a rank-1 input, or `None` if this number is unknown.
    pub fn length(&self, input: usize) -> Option<usize> {
        match self.dims(input)? {
            [length] => usize::try_from(length.as_ref()?.as_const()?).ok(),
            _ => None,
        }
    }
}

/// Attributes, by name.
///
/// Typed getters return the schema default for an absent attribute, unless noted otherwise.
impl<'c> Cx<'c> {
    /// Returns an attribute, or `None` if the attribute is absent.
    pub fn attr(&self, name: &str) -> Option<&'c AttrValue> {
        self.call.attrs.attr(name)
    }

    /// Returns the tensor of an attribute.
    pub fn tensor_of(&self, id: TensorId) -> &'c Tensor {
        self.call.attrs.tensor(id)
    }

    fn default(&self, name: &str) -> Option<AttrDefault> {
        self.schema?.attr(name)?.default
    }

    /// Returns an integer attribute, or `None` if the attribute has no value or is not an integer.
    pub fn int(&self, name: &str) -> Option<i64> {
        match (self.attr(name), self.default(name)) {
            (Some(value), _) => value.as_int(),
            (None, Some(AttrDefault::Int(int))) => Some(int),
            _ => None,
        }
    }

    /// Returns an integer attribute, or `default` if neither the call nor the schema has a value.
    pub fn int_or(&self, name: &str, default: i64) -> i64 {
        self.int(name).unwrap_or(default)
    }

    /// Returns true if an integer attribute is nonzero; false if it has no value.
    pub fn flag(&self, name: &str) -> bool {
        self.int(name).is_some_and(|int| int != 0)
    }

    /// Returns the integers of an attribute of the call; ignores the default in the schema.
    pub fn ints_attr(&self, name: &str) -> Option<&'c [i64]> {
        self.attr(name)?.as_ints()
    }

    /// Returns a string attribute, or `None` if the attribute has no value or is not a string.
    pub fn text(&self, name: &str) -> Option<&'c str> {
        match (self.attr(name), self.default(name)) {
            (Some(value), _) => value.as_str(),
            (None, Some(AttrDefault::String(text))) => Some(text),
            _ => None,
        }
    }

    /// Returns the element type whose number is the value of an attribute.
    pub fn elem_attr(&self, name: &str) -> Option<ElemType> {
        ElemType::from_number(i32::try_from(self.int(name)?).ok()?)
    }
}

/// Outputs, by position. Writes to outputs that are not requested have no effect.
impl Cx<'_> {
    /// Replaces the fact of an output.
    pub fn put(&mut self, output: usize, fact: Fact) {
        if let Some(out) = self.outs.get_mut(output) {
            *out = fact;
        }
    }

    /// Returns the tensor fact of an output, creating it if necessary.
    fn out(&mut self, output: usize) -> Option<&mut TensorFact> {
        let out = self.outs.get_mut(output)?;
        if !matches!(out, Fact::Tensor(_)) {
            *out = Fact::Tensor(TensorFact::default());
        }
        if let Fact::Tensor(tensor) = out { Some(tensor) } else { None }
    }

    /// Sets the shape of an output, and keeps its element type.
    pub fn set_shape(&mut self, output: usize, shape: Shape) {
        if let Some(out) = self.out(output) {
            out.shape = shape;
        }
    }

    /// Sets the dimensions of an output, and keeps its element type.
    pub fn set_dims(&mut self, output: usize, dims: impl Into<Arc<[Size]>>) {
        self.set_shape(output, Shape::new(dims));
    }

    /// Sets the element type of an output, and keeps its shape.
    pub fn set_elem(&mut self, output: usize, elem: Option<ElemType>) {
        if let Some(out) = self.out(output) {
            out.elem = elem;
        }
    }

    /// Returns true if a dimension is known to be the size of an axis of a model input.
    pub fn is_input_axis(&self, dim: &Dim) -> bool {
        dim.as_symbol().is_some_and(|symbol| self.fresh.is_input_axis(symbol))
    }

    /// Requests a symbol for a data-dependent dimension of an output; its value lies in `range`.
    pub fn new_size(&mut self, output: usize, axis: usize, range: Interval) -> Size {
        self.fresh.size(output, axis, range)
    }
}

/// Checks that record a fault if they fail.
impl Cx<'_> {
    /// Converts an axis, possibly negative (from the end), to one counted from 0.
    pub fn axis(&mut self, axis: i64, rank: usize) -> Option<usize> {
        let found = eval::index(axis, rank);
        if found.is_none() {
            self.fault(Fault::Axis { axis, rank });
        }
        found
    }

    /// Converts each axis as [`Cx::axis`] does.
    pub fn axes(&mut self, axes: &[i64], rank: usize) -> Option<Vec<usize>> {
        axes.iter().map(|&axis| self.axis(axis, rank)).collect()
    }

    /// Returns the axis of the attribute `axis`, counted from 0.
    pub fn axis_attr(&mut self, default: i64, rank: usize) -> Option<usize> {
        self.axis(self.int_or("axis", default), rank)
    }

    /// Checks the rank of an input; returns `None` if the rank is unknown or differs from `rank`.
    pub fn expect_rank(&mut self, input: usize, rank: usize) -> Option<()> {
        let found = self.rank(input)?;
        if found != rank {
            self.fault(Fault::Rank { input, rank: found, expected: Expected::Exactly(rank) });
        }
        (found == rank).then_some(())
    }

    /// Checks the rank of an input; returns `None` if the rank is known and differs from `rank`.
    pub fn allow_rank(&mut self, input: usize, rank: usize) -> Option<()> {
        if self.rank(input).is_none() { Some(()) } else { self.expect_rank(input, rank) }
    }

    /// Checks the minimum rank of an input; returns `None` if the rank is unknown or too low.
    pub fn expect_rank_at_least(&mut self, input: usize, rank: usize) -> Option<()> {
        let found = self.rank(input)?;
        if found < rank {
            self.fault(Fault::Rank { input, rank: found, expected: Expected::AtLeast(rank) });
        }
        (found >= rank).then_some(())
    }

    /// Checks the maximum rank of an input, if the rank is known.
    pub fn expect_rank_at_most(&mut self, input: usize, rank: usize) {
        let found = self.rank(input).filter(|&found| found > rank);
        if let Some(found) = found {
            self.fault(Fault::Rank { input, rank: found, expected: Expected::AtMost(rank) });
        }
    }

    /// Combines two dimensions, each given as (input, axis), that must be equal.
    /// Records a fault if the dimensions differ.
    pub fn same_size(&mut self, a: (usize, usize), b: (usize, usize)) -> Size {
        let (x, y) = (self.dim(a.0, a.1), self.dim(b.0, b.1));
        let both = crate::infer::meet::meet_sizes(&x, &y, self.bounds());
        both.unwrap_or_else(|dims| {
            self.fault(Fault::SizeMismatch { inputs: (a.0, b.0), axes: (a.1, b.1), dims });
            x
        })
    }

    /// Returns the range from 0 to the upper bound of `size`.
    pub fn up_to(&self, size: &Size) -> Interval {
        let hi = size.as_ref().and_then(|dim: &Dim| dim.range(self.bounds()).hi);
        Interval { lo: Some(0), hi }
    }
}
