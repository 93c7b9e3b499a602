//! Shape rules of operators, grouped by family.
//!
//! A shape rule fills in the facts of the outputs, whose element types are already inferred from the schema.
//! The rule returns `None` if it stops early, because a required fact is unknown, the call is faulty, or the
//! result is undefined.

mod attention;
mod contrib;
mod conv;
mod cx;
mod elementwise;
mod index;
mod layout;
mod make;
mod matmul;
mod ml;
mod norm;
mod reduce;
mod reshape;
mod resize;
mod sequence;
mod signal;
mod slice;
mod table;
mod text;
mod training;
mod transformer;
mod vision;

pub(super) use cx::Cx;
pub(super) use slice::{larger, smaller};

/// Shape rule: fills in the outputs of a call.
pub(super) type Rule = fn(&mut Cx) -> Option<()>;

/// Returns the shape rule of an operator, or `None` if the operator has no shape rule.
pub(super) fn find(domain: &str, op: &str) -> Option<Rule> {
    let rules = match domain {
        "" => table::ONNX,
        "ai.onnx.ml" => table::ML,
        "ai.onnx.preview" => table::PREVIEW,
        "ai.onnx.preview.training" => table::TRAINING,
        "com.microsoft" => table::MICROSOFT,
        _ => return None,
    };
    let at = rules.binary_search_by(|(name, _)| (*name).cmp(op)).ok()?;
    Some(rules[at].1)
}
