//! Text of values, for messages: ONNX text, with long tensors shortened.

use std::fmt;

use super::{Array, Refusal, Val};
use crate::graph::ElemType;
use crate::graph::syntax::dims;
use crate::graph::syntax::number::write_float;
use crate::graph::syntax::printer::push_elements;
use crate::infer::tensor_of;

/// Maximum number of elements that [`Array`] displays.
const SHOWN: usize = 32;

impl Array {
    /// Returns the tensor as ONNX text, with at most `limit` elements: `float[2] {1,2.5}`.
    pub fn text(&self, limit: usize) -> String {
        let shape = if self.rank() == 0 { String::new() } else { dims(self.shape()) };
        let more = if self.len() > limit { format!(",…({})", self.len()) } else { String::new() };
        format!("{}{shape} {{{}{more}}}", self.elem(), self.elements(limit))
    }

    fn elements(&self, limit: usize) -> String {
        let is_narrow = self.elem().is_float() && !matches!(self.elem(), ElemType::Float | ElemType::Double);
        if let Some(floats) = self.f64s().ok().filter(|_| is_narrow) {
            // ONNX text has no literals for floats of 16 or fewer bits, so they are shown as decimal numbers.
            let floats: Vec<String> = floats.into_iter().take(limit).map(write_float).collect();
            return floats.join(",");
        }
        let mut elements = String::new();
        push_elements(&mut elements, &tensor_of(self), ",", limit);
        elements
    }
}

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(SHOWN))
    }
}

impl fmt::Display for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |values: &[Val]| values.iter().map(Val::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Val::Tensor(array) => array.fmt(f),
            Val::Sequence(values) => write!(f, "[{}]", listed(values)),
            Val::Optional(None) => f.write_str("an empty optional"),
            Val::Optional(Some(value)) => value.fmt(f),
            Val::Map(keys, values) => write!(f, "map({keys}, [{}])", listed(values)),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Unsupported => "the evaluator does not support the call",
            Refusal::NotDeterministic => "the result is not deterministic",
            Refusal::TooLarge => "the call exceeds a limit of the evaluator",
            Refusal::BadInput(reason) => reason,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_display_as_onnx_text() {
        let floats = |elem, shape, floats| Array::from_f64s(elem, shape, floats).expect("they fit the shape");
        assert_eq!(floats(ElemType::Float, vec![1], vec![-2.375]).to_string(), "float[1] {-2.375}");
        assert_eq!(floats(ElemType::Float16, vec![], vec![0.5]).to_string(), "float16 {0.5}");
        assert_eq!(floats(ElemType::Float, vec![2, 2], vec![0.0; 4]).text(1), "float[2,2] {0,…(4)}");
        let strings = Array::strings(vec![2], vec![b"a".to_vec(), b"\"".to_vec()]).expect("two strings");
        assert_eq!(strings.to_string(), r#"string[2] {"a","\""}"#);
        let sequence = Val::Sequence(vec![floats(ElemType::Double, vec![0], vec![]).into()]);
        assert_eq!(sequence.to_string(), "[double[0] {}]");
        assert_eq!(Refusal::BadInput("an axis is out of range").to_string(), "an axis is out of range");
    }
}
