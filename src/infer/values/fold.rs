//! Constant folding of calls whose inputs are all constants.

use std::sync::Arc;

use super::MAX_ELEMENTS;
use crate::infer::call::{self, OpCall, schema_of};
use crate::infer::eval::{self, Attr, Budget, Val};
use crate::infer::fact::{Fact, TensorFact};
use crate::infer::load;
use crate::infer::ops::Cx;
use crate::schema::Determinism;

/// Cost limit of one folded call. Inference folds shapes and small tables only.
pub(super) const BUDGET: Budget = Budget { elements: MAX_ELEMENTS, work: 1 << 16 };

/// Folds a call with constant inputs, or returns `None` if the call must not or cannot be folded.
pub(super) fn fold(cx: &Cx) -> Option<Vec<Fact>> {
    let inputs = constants(cx)?;
    let call = cx.call();
    if eval::is_open(call.domain, call.op, inputs.iter().flatten()) {
        return None;
    }
    let outputs = evaluate(call, &inputs, BUDGET)?;
    Some(outputs.into_iter().map(fact_of).collect())
}

/// Returns the values of the inputs, or `None` if a present input is not a constant in memory.
fn constants(cx: &Cx) -> Option<Vec<Option<Val>>> {
    let value = |input: usize| match cx.fact(input) {
        None => Some(None),
        Some(fact) => fact.as_const().map(|array| Some(Val::Tensor(array.clone()))),
    };
    (0..cx.inputs()).map(value).collect()
}

/// Evaluates a call on these inputs.
///
/// Returns `None` if the call is not deterministic, fails, or exceeds the budget.
pub fn evaluate(call: &OpCall, inputs: &[Option<Val>], budget: Budget) -> Option<Vec<Val>> {
    let schema = schema_of(call).filter(|schema| schema.determinism == Determinism::Deterministic)?;
    let attrs = Adapter(call.attrs);
    let call = eval::KernelCall {
        domain: call.domain,
        op: call.op,
        version: schema.since,
        opset: u16::try_from(call.opset).ok()?,
        attrs: &attrs,
        outputs: call.outputs,
    };
    eval::eval(&call, inputs, budget).ok()
}

fn fact_of(value: Val) -> Fact {
    match value {
        Val::Tensor(array) => TensorFact::constant(array).into(),
        _ => Fact::Unknown,
    }
}

/// Adapter from the attributes of a call to those of the evaluator.
struct Adapter<'a>(&'a dyn call::Attrs);

impl eval::Attrs for Adapter<'_> {
    fn get(&self, name: &str) -> Option<Attr<'_>> {
        let value = self.0.attr(name)?;
        let Some(id) = value.as_tensor() else { return load::attr(value) };
        let tensor = self.0.tensor(id);
        let small = tensor.len().is_some_and(|len| len <= MAX_ELEMENTS);
        Some(Attr::Tensor(Arc::new(load::array(tensor).filter(|_| small)?)))
    }
}
