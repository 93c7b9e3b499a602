//! What a shape rule sees of a call, and how it says what it found.

use std::sync::Arc;

use crate::graph::dim::{Bounds, Dim, Interval};
use crate::graph::{AttrValue, ElemType, Tensor, TensorId};
use crate::infer::call::{Fresh, OpCall};
use crate::infer::eval::Array;
use crate::infer::fact::{Fact, TensorFact};
use crate::infer::fault::{Expected, Fault};
use crate::infer::shape::{Shape, Size};
use crate::schema::{AttrDefault, Schema};

/// A call in progress: inputs and attributes to read, outputs to fill in.
pub(in crate::infer) struct Cx<'c> {
    call: &'c OpCall<'c>,
    pub schema: Option<&'static Schema>,
    fresh: &'c mut dyn Fresh,
    pub outs: Vec<Fact>,
    faults: Vec<Fault>,
}

impl<'c> Cx<'c> {
    pub fn new(call: &'c OpCall<'c>, schema: Option<&'static Schema>, fresh: &'c mut dyn Fresh) -> Self {
        Cx { call, schema, fresh, outs: vec![Fact::Unknown; call.outputs], faults: Vec::new() }
    }

    pub fn finish(self) -> (Vec<Fact>, Vec<Fault>) {
        (self.outs, self.faults)
    }

    pub fn call(&self) -> &'c OpCall<'c> {
        self.call
    }

    pub fn op(&self) -> &'c str {
        self.call.op
    }

    pub fn bounds(&self) -> &'c Bounds {
        self.call.bounds
    }

    /// The version of the operator in force.
    pub fn since(&self) -> i64 {
        self.schema.map_or(self.call.opset, |schema| schema.since.into())
    }

    /// What a rule says of the first output of the same call with other facts of the inputs.
    pub fn with_inputs(&mut self, inputs: &[Option<&Fact>], rule: super::Rule) -> Option<Fact> {
        let call = OpCall { inputs, outputs: 1, ..*self.call };
        let mut cx = Cx::new(&call, self.schema, self.fresh);
        rule(&mut cx)?;
        let (outs, faults) = cx.finish();
        self.faults.extend(faults);
        outs.into_iter().next()
    }

    pub fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }
}

/// Inputs, by position.
impl<'c> Cx<'c> {
    pub fn inputs(&self) -> usize {
        self.call.inputs.len()
    }

    pub fn fact(&self, input: usize) -> Option<&'c Fact> {
        self.call.inputs.get(input).copied().flatten()
    }

    pub fn has(&self, input: usize) -> bool {
        self.fact(input).is_some()
    }

    pub fn tensor(&self, input: usize) -> Option<&'c TensorFact> {
        self.fact(input)?.as_tensor()
    }

    pub fn elem(&self, input: usize) -> Option<ElemType> {
        self.fact(input)?.elem()
    }

    pub fn shape(&self, input: usize) -> Shape {
        self.fact(input).and_then(Fact::shape).cloned().unwrap_or_default()
    }

    pub fn dims(&self, input: usize) -> Option<&'c [Size]> {
        self.fact(input)?.dims()
    }

    pub fn dim(&self, input: usize, axis: usize) -> Size {
        self.dims(input)?.get(axis)?.clone()
    }

    pub fn rank(&self, input: usize) -> Option<usize> {
        Some(self.dims(input)?.len())
    }

    /// The elements of a small integer tensor, each as far as it is known.
    pub fn ints(&self, input: usize) -> Option<Vec<Size>> {
        self.tensor(input)?.as_ints()
    }

    /// The elements of a small integer tensor, if all are numbers.
    pub fn const_ints(&self, input: usize) -> Option<Vec<i64>> {
        self.ints(input)?.iter().map(|size| size.as_ref()?.as_const()).collect()
    }

    /// The one element of an integer tensor.
    pub fn int_scalar(&self, input: usize) -> Size {
        self.ints(input)?.into_iter().next()?
    }

    /// The one element of a tensor of any real type, if it is a whole number.
    pub fn whole_scalar(&self, input: usize) -> Size {
        let float = || {
            let float = *self.const_floats(input)?.first()?;
            (float.fract() == 0.0 && float.abs() < f64::from(i32::MAX)).then(|| Dim::known(float as i64))
        };
        self.int_scalar(input).or_else(float)
    }

    pub fn const_int(&self, input: usize) -> Option<i64> {
        self.int_scalar(input)?.as_const()
    }

    pub fn array(&self, input: usize) -> Option<&'c Arc<Array>> {
        self.fact(input)?.as_const()
    }

    /// The elements of a small constant of real numbers.
    pub fn const_floats(&self, input: usize) -> Option<Vec<f64>> {
        self.array(input)?.f64s().ok()
    }

    /// The number of elements of a rank-1 input: how many axes, repeats, … it gives.
    pub fn length(&self, input: usize) -> Option<usize> {
        match self.dims(input)? {
            [length] => usize::try_from(length.as_ref()?.as_const()?).ok(),
            _ => None,
        }
    }
}

/// Attributes, by name; absent ones have the default of the schema.
impl<'c> Cx<'c> {
    pub fn attr(&self, name: &str) -> Option<&'c AttrValue> {
        self.call.attrs.attr(name)
    }

    pub fn tensor_of(&self, id: TensorId) -> &'c Tensor {
        self.call.attrs.tensor(id)
    }

    fn default(&self, name: &str) -> Option<AttrDefault> {
        self.schema?.attr(name)?.default
    }

    pub fn int(&self, name: &str) -> Option<i64> {
        match (self.attr(name), self.default(name)) {
            (Some(value), _) => value.as_int(),
            (None, Some(AttrDefault::Int(int))) => Some(int),
            _ => None,
        }
    }

    pub fn int_or(&self, name: &str, default: i64) -> i64 {
        self.int(name).unwrap_or(default)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.int(name).is_some_and(|int| int != 0)
    }

    /// The integers as written: where absent, `None`, though the schema have a default.
    pub fn ints_attr(&self, name: &str) -> Option<&'c [i64]> {
        self.attr(name)?.as_ints()
    }

    pub fn text(&self, name: &str) -> Option<&'c str> {
        match (self.attr(name), self.default(name)) {
            (Some(value), _) => value.as_str(),
            (None, Some(AttrDefault::String(text))) => Some(text),
            _ => None,
        }
    }

    /// An attribute that holds the number of an element type.
    pub fn elem_attr(&self, name: &str) -> Option<ElemType> {
        ElemType::from_number(i32::try_from(self.int(name)?).ok()?)
    }
}

/// Outputs, by position; those that are not asked for are ignored.
impl Cx<'_> {
    pub fn put(&mut self, output: usize, fact: Fact) {
        if let Some(out) = self.outs.get_mut(output) {
            *out = fact;
        }
    }

    fn out(&mut self, output: usize) -> Option<&mut TensorFact> {
        let out = self.outs.get_mut(output)?;
        if !matches!(out, Fact::Tensor(_)) {
            *out = Fact::Tensor(TensorFact::default());
        }
        if let Fact::Tensor(tensor) = out { Some(tensor) } else { None }
    }

    pub fn set_shape(&mut self, output: usize, shape: Shape) {
        if let Some(out) = self.out(output) {
            out.shape = shape;
        }
    }

    pub fn set_dims(&mut self, output: usize, dims: impl Into<Arc<[Size]>>) {
        self.set_shape(output, Shape::new(dims));
    }

    pub fn set_elem(&mut self, output: usize, elem: Option<ElemType>) {
        if let Some(out) = self.out(output) {
            out.elem = elem;
        }
    }

    /// A new symbol for a size that depends on data.
    pub fn new_size(&mut self, output: usize, axis: usize, range: Interval) -> Size {
        self.fresh.size(output, axis, range)
    }
}

/// Checks that say what is wrong where they fail.
impl Cx<'_> {
    /// An axis that may count from the end, as one from 0.
    pub fn axis(&mut self, axis: i64, rank: usize) -> Option<usize> {
        let from_start = if axis < 0 { axis.checked_add(rank as i64)? } else { axis };
        let found = usize::try_from(from_start).ok().filter(|&axis| axis < rank);
        if found.is_none() {
            self.fault(Fault::Axis { axis, rank });
        }
        found
    }

    pub fn axes(&mut self, axes: &[i64], rank: usize) -> Option<Vec<usize>> {
        axes.iter().map(|&axis| self.axis(axis, rank)).collect()
    }

    /// The axis that the attribute `axis` names.
    pub fn axis_attr(&mut self, default: i64, rank: usize) -> Option<usize> {
        self.axis(self.int_or("axis", default), rank)
    }

    pub fn expect_rank(&mut self, input: usize, rank: usize) -> Option<()> {
        let found = self.rank(input)?;
        if found != rank {
            self.fault(Fault::Rank { input, rank: found, expected: Expected::Exactly(rank) });
        }
        (found == rank).then_some(())
    }

    /// Goes on where the rank is the one expected, or not known.
    pub fn allow_rank(&mut self, input: usize, rank: usize) -> Option<()> {
        if self.rank(input).is_none() { Some(()) } else { self.expect_rank(input, rank) }
    }

    pub fn expect_rank_at_least(&mut self, input: usize, rank: usize) -> Option<()> {
        let found = self.rank(input)?;
        if found < rank {
            self.fault(Fault::Rank { input, rank: found, expected: Expected::AtLeast(rank) });
        }
        (found >= rank).then_some(())
    }

    pub fn expect_rank_at_most(&mut self, input: usize, rank: usize) {
        let found = self.rank(input).filter(|&found| found > rank);
        if let Some(found) = found {
            self.fault(Fault::Rank { input, rank: found, expected: Expected::AtMost(rank) });
        }
    }

    /// Two axes that must have one size: what is known of it from both. Says so where they differ.
    pub fn same_size(&mut self, a: (usize, usize), b: (usize, usize)) -> Size {
        let (x, y) = (self.dim(a.0, a.1), self.dim(b.0, b.1));
        let both = crate::infer::meet::meet_sizes(&x, &y, self.bounds());
        both.unwrap_or_else(|dims| {
            self.fault(Fault::SizeMismatch { inputs: (a.0, b.0), axes: (a.1, b.1), dims });
            x
        })
    }

    /// The range of sizes whose upper end is that of `size`.
    pub fn up_to(&self, size: &Size) -> Interval {
        let hi = size.as_ref().and_then(|dim: &Dim| dim.range(self.bounds()).hi);
        Interval { lo: Some(0), hi }
    }
}
