//! Evaluates single operators on constant tensors.
//!
//! [`eval`] computes one [`KernelCall`] (operator, version, attributes) from its inputs. [`eval`] does not
//! run subgraphs: the caller runs `If`, `Loop`, `Scan` and `SequenceMap`. [`eval`] never panics; for calls
//! that it cannot or must not compute, it returns a [`Refusal`].
//!
//! Real numbers are computed in `f64` and rounded once to the element type, except where runtimes agree on
//! rounding each step. For `+`, `-`, `*`, `/` and `√` on `float` and narrower types, the rounded result
//! equals arithmetic in the type itself, as `f64` has more than twice the mantissa bits. Integers are
//! computed in `i128` and wrap, unless the operator saturates.

mod array;
mod buffer;
mod convert;
mod cx;
mod image;
mod minifloat;
mod nn;
mod number;
mod open;
mod quant;
mod raw;
mod shape;
mod signal;
#[cfg(test)]
mod tests;
mod value;

mod data;
mod display;
mod layout;
mod math;
mod ml;

use std::sync::Arc;

pub use array::Array;
pub use buffer::Buffer;
pub use open::{is_open, is_quantization, is_undetermined};
pub use shape::index;
pub use value::{Attr, Attrs, Val};

pub use convert::int_range;
use cx::Cx;

/// A call of an operator.
pub struct KernelCall<'a> {
    /// `""` for `ai.onnx`.
    pub domain: &'a str,
    /// Operator name.
    pub op: &'a str,
    /// The `since_version` of the schema in force.
    pub version: u16,
    /// Opset version of the domain that the model imports.
    pub opset: u16,
    /// Attributes that the call sets.
    pub attrs: &'a dyn Attrs,
    /// Number of requested outputs, without trailing absent ones.
    pub outputs: usize,
}

/// Cost limits of a call.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Maximum number of elements in any tensor created.
    pub elements: usize,
    /// Approximate maximum number of arithmetic operations.
    pub work: usize,
}

impl Default for Budget {
    /// Returns limits that suffice for shapes, masks and small tables, but not for large weights.
    fn default() -> Self {
        Budget { elements: 1 << 16, work: 1 << 24 }
    }
}

/// Reason why a call cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The operator, or this variant of it, is not implemented, or runtimes may differ in its result.
    Unsupported,
    /// The result is not a function of the inputs.
    NotDeterministic,
    /// The call would exceed the [`Budget`].
    TooLarge,
    /// The inputs or attributes violate the operator's contract.
    BadInput(&'static str),
}

type Result<T> = std::result::Result<T, Refusal>;

fn bad<T>(reason: &'static str) -> Result<T> {
    Err(Refusal::BadInput(reason))
}

/// Computes the outputs of a call, at least as many as requested.
/// An absent optional input is `None`, or omitted at the end.
pub fn eval(call: &KernelCall, inputs: &[Option<Val>], budget: Budget) -> Result<Vec<Val>> {
    eval_costed(call, inputs, budget).0
}

/// Like [`eval`], but also returns the work spent.
pub fn eval_costed(call: &KernelCall, inputs: &[Option<Val>], budget: Budget) -> (Result<Vec<Val>>, usize) {
    let cx = Cx::new(call, inputs, budget);
    let outputs = run(&cx);
    (outputs, cx.spent())
}

fn run(cx: &Cx) -> Result<Vec<Val>> {
    let call = cx.call;
    let outputs = match find(call.domain, call.op).ok_or(Refusal::Unsupported)? {
        Kernel::One(run) => vec![Val::Tensor(Arc::new(run(cx)?))],
        Kernel::Many(run) => run(cx)?.into_iter().map(|array| Val::Tensor(Arc::new(array))).collect(),
        Kernel::Values(run) => run(cx)?,
        Kernel::Random => return Err(Refusal::NotDeterministic),
    };
    if outputs.len() < call.outputs {
        return bad("more outputs are requested than the operator has");
    }
    Ok(outputs)
}

fn find(domain: &str, op: &str) -> Option<Kernel> {
    match domain {
        "" | "ai.onnx" => {
            let families =
                [layout::find, math::find, data::find, nn::find, quant::find, image::find, signal::find];
            families.into_iter().find_map(|family| family(op))
        }
        "ai.onnx.ml" => ml::find(op),
        "ai.onnx.preview.training" => nn::find_training(op),
        "ai.onnx.preview" => nn::find_preview(op),
        _ => None,
    }
}

/// Kernel of an operator. Functions differ in their return type; `Random` stands for a random result.
enum Kernel {
    One(fn(&Cx) -> Result<Array>),
    Many(fn(&Cx) -> Result<Vec<Array>>),
    Values(fn(&Cx) -> Result<Vec<Val>>),
    Random,
}

#[cfg(test)]
mod kernels {
    use super::find;
    use crate::schema;

    /// Operators with subgraphs, which `infer/execute` runs.
    const WITH_BODIES: [&str; 4] = ["If", "Loop", "Scan", "SequenceMap"];

    /// Operators without a kernel.
    const WITHOUT: [(&str, &str); 8] = [
        ("", "ImageDecoder"),
        ("", "SimplifiedLayerNormalization"),
        ("ai.onnx.ml", "CastMap"),
        ("ai.onnx.ml", "LinearClassifier"),
        ("ai.onnx.ml", "SVMClassifier"),
        ("ai.onnx.ml", "SVMRegressor"),
        ("ai.onnx.ml", "TreeEnsembleClassifier"),
        ("ai.onnx.preview.training", "Gradient"),
    ];

    #[test]
    fn every_operator_has_a_kernel_except_those_listed() {
        let mut faults = Vec::new();
        for domain in ["", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training"] {
            for op in schema::ops(domain).filter(|op| !WITH_BODIES.contains(op)) {
                match (find(domain, op).is_some(), WITHOUT.contains(&(domain, op))) {
                    (false, false) => faults.push(format!("{op} has no kernel, and is not in WITHOUT")),
                    (true, true) => faults.push(format!("{op} has a kernel, but is in WITHOUT")),
                    _ => {}
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
