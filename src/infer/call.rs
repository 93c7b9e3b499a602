//! Operator calls, represented independently of the host (graph or e-graph).

use super::fact::Fact;
use super::fault::Fault;
use super::{ops, unify, values};
use crate::graph::dim::{Bounds, Dim, Interval, Symbol};
use crate::graph::{AttrValue, Tensor, TensorId};
use crate::schema::{self, Schema};

/// Attributes of a call. The implementation resolves references to attributes of a local function.
pub trait Attrs {
    /// Returns the attribute of this name; `None` if the call does not set the attribute.
    fn attr(&self, name: &str) -> Option<&AttrValue>;

    /// Returns the tensor that an attribute refers to.
    fn tensor(&self, id: TensorId) -> &Tensor;
}

/// Creates symbols for data-dependent sizes.
pub trait Fresh {
    /// Returns a symbol for the size of an output axis of this call, or `None` if the axis gets no symbol.
    /// Repeated queries return the same symbol, which is distinct from all others. The caller guarantees
    /// that the size lies in `range`.
    fn size(&mut self, output: usize, axis: usize, range: Interval) -> Option<Dim>;

    /// Returns true if a symbol is known to be the size of an axis of a model input, which callers choose.
    fn is_input_axis(&self, _symbol: &Symbol) -> bool {
        false
    }
}

/// Creates no symbols, so that data-dependent sizes stay unknown.
pub struct NoSymbols;

impl Fresh for NoSymbols {
    fn size(&mut self, _output: usize, _axis: usize, _range: Interval) -> Option<Dim> {
        None
    }
}

/// A call of an operator.
pub struct OpCall<'a> {
    /// Domain; `""` is ai.onnx.
    pub domain: &'a str,
    /// Operator name.
    pub op: &'a str,
    /// Imported opset version of the domain.
    pub opset: i64,
    /// Attributes that the call sets; the schema supplies defaults.
    pub attrs: &'a dyn Attrs,
    /// Input facts; `None` is an omitted optional input.
    pub inputs: &'a [Option<&'a Fact>],
    /// Number of outputs, including omitted ones before the last.
    pub outputs: usize,
    /// Ranges of the symbols in the facts.
    pub bounds: &'a Bounds,
    /// True if the call runs whenever the model does; false if unknown, as in the branch of an `If`.
    pub runs: bool,
}

/// Infers the facts of all outputs, and the faults that prevent the call from running.
///
/// Does not infer subgraphs: the caller infers the outputs of `If`, `Loop`, `Scan` and `SequenceMap`.
pub fn transfer(call: &OpCall, fresh: &mut dyn Fresh) -> (Vec<Fact>, Vec<Fault>) {
    let mut cx = ops::Cx::new(call, schema_of(call), fresh);
    if !is_of_runtime(call) {
        unify::element_types(&mut cx);
    }
    if let Some(rule) = ops::find(call.domain, call.op) {
        // `None` means that the rule stopped early; the facts that it set before are valid.
        let _ = rule(&mut cx);
    }
    values::elements(&mut cx);
    cx.finish()
}

/// Returns true for `LayerNormalization` before opset 17, which only ONNX Runtime defines.
/// The weights may have another element type than the input; they determine the type of the result.
pub fn is_of_runtime(call: &OpCall) -> bool {
    const IN_SPECIFICATION: i64 = 17;
    call.domain.is_empty() && call.op == "LayerNormalization" && call.opset < IN_SPECIFICATION
}

/// Returns the schema in force, or the first version if the opset is too old for the operator.
/// Another check reports an opset that is too old.
pub(super) fn schema_of(call: &OpCall) -> Option<&'static Schema> {
    let opset = u16::try_from(call.opset).unwrap_or(u16::MAX);
    schema::lookup(call.domain, call.op, opset).or_else(|| schema::versions(call.domain, call.op).first())
}
