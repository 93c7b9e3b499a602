//! Unit tests for each operator family, of specified behavior and common mistakes.
//!
//! The conformance tests run the node tests of ONNX itself.

mod elements;
mod layers;
mod others;
mod refusals;
mod shapes;

use std::collections::BTreeMap;

use super::{Array, Attr, Attrs, Budget, KernelCall, Refusal, Val, eval};
use crate::graph::element::ElemType;

impl Attrs for BTreeMap<&'static str, Attr<'static>> {
    fn get(&self, name: &str) -> Option<Attr<'_>> {
        BTreeMap::get(self, name).cloned()
    }
}

/// Builder of a call, by default of the newest version of an `ai.onnx` operator.
struct Case {
    domain: &'static str,
    op: &'static str,
    version: u16,
    outputs: usize,
    attrs: BTreeMap<&'static str, Attr<'static>>,
    inputs: Vec<Option<Val>>,
}

fn call(op: &'static str) -> Case {
    Case { domain: "", op, version: 28, outputs: 1, attrs: BTreeMap::new(), inputs: vec![] }
}

impl Case {
    fn domain(self, domain: &'static str) -> Case {
        Case { domain, ..self }
    }

    fn version(self, version: u16) -> Case {
        Case { version, ..self }
    }

    fn attr(mut self, name: &'static str, value: Attr<'static>) -> Case {
        self.attrs.insert(name, value);
        self
    }

    fn int(self, name: &'static str, value: i64) -> Case {
        self.attr(name, Attr::Int(value))
    }

    fn ints(self, name: &'static str, values: &'static [i64]) -> Case {
        self.attr(name, Attr::Ints(values))
    }

    fn text(self, name: &'static str, value: &'static str) -> Case {
        self.attr(name, Attr::Str(value.as_bytes()))
    }

    fn of(mut self, input: Array) -> Case {
        self.inputs.push(Some(input.into()));
        self
    }

    fn absent(mut self) -> Case {
        self.inputs.push(None);
        self
    }

    fn run(&self) -> Result<Vec<Val>, Refusal> {
        let &Case { domain, op, version, outputs, .. } = self;
        let call = KernelCall { domain, op, version, opset: version, attrs: &self.attrs, outputs };
        eval(&call, &self.inputs, Budget::default())
    }

    /// Asserts that the first outputs equal these tensors.
    #[track_caller]
    fn gives(mut self, expected: &[Array]) {
        self.outputs = expected.len();
        let outputs = self.run().unwrap_or_else(|refusal| panic!("{}: {refusal:?}", self.op));
        for (output, expected) in outputs.iter().zip(expected) {
            assert_eq!(output, &Val::from(expected.clone()), "{}", self.op);
        }
    }

    /// Asserts that the call is not evaluated.
    #[track_caller]
    fn refused(self) {
        assert!(self.run().is_err(), "{} has a value", self.op);
    }
}

fn ints(shape: &[usize], data: &[i64]) -> Array {
    Array::i64s(shape.to_vec(), data.to_vec()).expect("data fit the shape")
}

/// Returns a vector of an integer type.
fn whole(elem: ElemType, data: &[i128]) -> Array {
    Array::from_ints(elem, vec![data.len()], data.to_vec()).expect("data fit the shape")
}

fn reals(shape: &[usize], data: &[f64]) -> Array {
    floats(ElemType::Float, shape, data)
}

fn floats(elem: ElemType, shape: &[usize], data: &[f64]) -> Array {
    Array::from_f64s(elem, shape.to_vec(), data.to_vec()).expect("data fit the shape")
}

fn bools(data: &[bool]) -> Array {
    Array::bools(vec![data.len()], data.to_vec()).expect("data fit the shape")
}

fn strings(shape: &[usize], data: &[&str]) -> Array {
    let bytes = data.iter().map(|text| text.as_bytes().to_vec()).collect();
    Array::strings(shape.to_vec(), bytes).expect("data fit the shape")
}
