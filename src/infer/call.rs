//! Calls of operators, on whatever host: the graph or the e-graph.

use super::fact::Fact;
use super::fault::Fault;
use super::{ops, unify, values};
use crate::graph::dim::{Bounds, Dim, Interval};
use crate::graph::{AttrValue, Tensor, TensorId};
use crate::schema::{self, Schema};

/// The attributes of a call. References to attributes of a function are resolved by the host.
pub trait Attrs {
    /// The attribute of this name; `None` where the call does not state it.
    fn attr(&self, name: &str) -> Option<&AttrValue>;

    /// The tensor that an attribute names.
    fn tensor(&self, id: TensorId) -> &Tensor;
}

/// Makes symbols for what depends on data.
pub trait Fresh {
    /// The size of an axis of an output of this call: the same for every query of this call, and
    /// never the same as anything else. `range` holds of it for certain. A host may decline.
    fn size(&mut self, output: usize, axis: usize, range: Interval) -> Option<Dim>;
}

/// Makes none: for forms that a rule adds or plans. Sizes that depend on data get their symbols where the graph is
/// inferred.
pub struct NoSymbols;

impl Fresh for NoSymbols {
    fn size(&mut self, _output: usize, _axis: usize, _range: Interval) -> Option<Dim> {
        None
    }
}

/// One call of an operator.
pub struct Call<'a> {
    /// `""` for ai.onnx.
    pub domain: &'a str,
    /// The name of the operator.
    pub op: &'a str,
    /// The imported version of the domain.
    pub opset: i64,
    /// Those that the call states; defaults are the schema's.
    pub attrs: &'a dyn Attrs,
    /// `None`: an optional input that is left out.
    pub inputs: &'a [Option<&'a Fact>],
    /// How many outputs are asked for, left-out ones before the last included.
    pub outputs: usize,
    /// What is known of the symbols in the facts.
    pub bounds: &'a Bounds,
}

/// What is known of the outputs of a call, as many as it has, and why it cannot run, if that is known.
///
/// Calls that hold graphs (`If`, `Loop`, …) are the host's: here their outputs are unknown.
pub fn transfer(call: &Call, fresh: &mut dyn Fresh) -> (Vec<Fact>, Vec<Fault>) {
    let mut cx = ops::Cx::new(call, schema_of(call), fresh);
    if !is_of_runtime(call) {
        unify::element_types(&mut cx);
    }
    if let Some(rule) = ops::find(call.domain, call.op) {
        // `None` is where a rule stopped for lack of knowledge: what it said until then holds.
        let _ = rule(&mut cx);
    }
    values::elements(&mut cx);
    cx.finish()
}

/// Whether a call is of an operator that a runtime had before the specification, with other types: ONNX Runtime's
/// LayerNormalization takes weights of a type of their own, which is that of the result.
pub fn is_of_runtime(call: &Call) -> bool {
    const IN_SPECIFICATION: i64 = 17;
    call.domain.is_empty() && call.op == "LayerNormalization" && call.opset < IN_SPECIFICATION
}

/// The schema in force; that of the first version where the opset is too old for the operator, which is
/// a fault for others to report.
fn schema_of(call: &Call) -> Option<&'static Schema> {
    let opset = u16::try_from(call.opset).unwrap_or(u16::MAX);
    schema::lookup(call.domain, call.op, opset).or_else(|| schema::versions(call.domain, call.op).first())
}
