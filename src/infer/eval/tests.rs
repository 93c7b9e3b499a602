//! Small cases for each family, and malformed calls, which must be refused and never panic.

use std::collections::BTreeMap;

use super::{Array, Attr, Attrs, Budget, Call, Refusal, Val, eval};
use crate::graph::element::ElemType;

#[derive(Default)]
pub(super) struct Given(BTreeMap<&'static str, Attr<'static>>);

impl Attrs for Given {
    fn get(&self, name: &str) -> Option<Attr<'_>> {
        self.0.get(name).cloned()
    }
}

/// Runs one operator of the newest version.
pub(super) fn run(
    op: &str,
    attrs: &[(&'static str, Attr<'static>)],
    inputs: &[Array],
) -> Result<Vec<Val>, Refusal> {
    let attrs = Given(attrs.iter().cloned().collect());
    let call = Call { domain: "", op, version: 28, opset: 28, attrs: &attrs, outputs: 1 };
    let inputs: Vec<Option<Val>> = inputs.iter().map(|array| Some(array.clone().into())).collect();
    eval(&call, &inputs, Budget::default())
}

pub(super) fn ints(shape: &[usize], data: &[i64]) -> Array {
    Array::i64s(shape.to_vec(), data.to_vec()).expect("data fit the shape")
}

pub(super) fn reals(shape: &[usize], data: &[f64]) -> Array {
    Array::from_f64s(ElemType::Float, shape.to_vec(), data.to_vec()).expect("data fit the shape")
}

/// The first output equals `expected`.
#[track_caller]
fn check(op: &str, attrs: &[(&'static str, Attr<'static>)], inputs: &[Array], expected: Array) {
    let outputs = run(op, attrs, inputs).expect("a value");
    assert_eq!(outputs.first(), Some(&expected.into()), "{op}");
}

#[track_caller]
fn check_refused(op: &str, attrs: &[(&'static str, Attr<'static>)], inputs: &[Array]) {
    assert!(run(op, attrs, inputs).is_err(), "{op}");
}

#[test]
fn shape_arithmetic() {
    let x = reals(&[2, 3, 4], &[0.0; 24]);
    check("Shape", &[], std::slice::from_ref(&x), ints(&[3], &[2, 3, 4]));
    check("Shape", &[("start", Attr::Int(-1))], std::slice::from_ref(&x), ints(&[1], &[4]));
    check("Gather", &[], &[ints(&[3], &[2, 3, 4]), ints(&[], &[-1])], ints(&[], &[4]));
    check("Concat", &[("axis", Attr::Int(0))], &[ints(&[1], &[2]), ints(&[1], &[-1])], ints(&[2], &[2, -1]));
    check("Mul", &[], &[ints(&[2], &[2, 3]), ints(&[], &[4])], ints(&[2], &[8, 12]));
    check(
        "Slice",
        &[],
        &[
            ints(&[3], &[7, 8, 9]),
            ints(&[1], &[2]),
            ints(&[1], &[i64::MIN]),
            ints(&[1], &[0]),
            ints(&[1], &[-1]),
        ],
        ints(&[3], &[9, 8, 7]),
    );
    check("Range", &[], &[ints(&[], &[5]), ints(&[], &[0]), ints(&[], &[-2])], ints(&[3], &[5, 3, 1]));
    check("Unsqueeze", &[], &[ints(&[], &[5]), ints(&[1], &[0])], ints(&[1], &[5]));
}

#[test]
fn integers_wrap_and_divide_towards_zero() {
    check("Add", &[], &[ints(&[], &[i64::MAX]), ints(&[], &[1])], ints(&[], &[i64::MIN]));
    check("Div", &[], &[ints(&[], &[-7]), ints(&[], &[2])], ints(&[], &[-3]));
    check("Div", &[], &[ints(&[], &[i64::MIN]), ints(&[], &[-1])], ints(&[], &[i64::MIN]));
    check("Mod", &[], &[ints(&[], &[-7]), ints(&[], &[3])], ints(&[], &[2]));
    check("Mod", &[("fmod", Attr::Int(1))], &[ints(&[], &[-7]), ints(&[], &[3])], ints(&[], &[-1]));
    check("Pow", &[], &[ints(&[], &[3]), ints(&[], &[4])], ints(&[], &[81]));
    check_refused("Div", &[], &[ints(&[], &[1]), ints(&[], &[0])]);
    check_refused("Mod", &[], &[ints(&[], &[1]), ints(&[], &[0])]);
}

#[test]
fn casts_truncate_wrap_and_refuse() {
    let to = |elem: ElemType| [("to", Attr::Int(elem.number().into()))];
    let int8 =
        |data: &[i128]| Array::from_ints(ElemType::Int8, vec![data.len()], data.to_vec()).expect("fits");
    check("Cast", &to(ElemType::Int8), &[ints(&[2], &[200, -129])], int8(&[-56, 127]));
    check("Cast", &to(ElemType::Int8), &[reals(&[2], &[2.9, -2.9])], int8(&[2, -2]));
    check_refused("Cast", &to(ElemType::Int8), &[reals(&[1], &[f64::NAN])]);
    check_refused("Cast", &to(ElemType::Int8), &[reals(&[1], &[200.0])]);
}

#[test]
fn nothing_large_is_made() {
    let huge = ints(&[2], &[1 << 40, 1 << 40]);
    assert_eq!(run("ConstantOfShape", &[], &[huge]), Err(Refusal::TooLarge));
    assert_eq!(run("Expand", &[], &[ints(&[1], &[1]), ints(&[1], &[1 << 30])]), Err(Refusal::TooLarge));
    let ends = [ints(&[], &[0]), ints(&[], &[i64::MAX]), ints(&[], &[1])];
    assert_eq!(run("Range", &[], &ends), Err(Refusal::TooLarge));
}

#[test]
fn malformed_calls_are_refused() {
    let x = ints(&[2, 2], &[1, 2, 3, 4]);
    check_refused("Reshape", &[], &[x.clone(), ints(&[1], &[3])]);
    check_refused("Reshape", &[], &[x.clone(), ints(&[2], &[-1, -1])]);
    check_refused("Transpose", &[("perm", Attr::Ints(&[0, 0]))], std::slice::from_ref(&x));
    check_refused("Transpose", &[("perm", Attr::Ints(&[0]))], std::slice::from_ref(&x));
    check_refused("Squeeze", &[], &[x.clone(), ints(&[1], &[0])]);
    check_refused("Gather", &[], &[x.clone(), ints(&[], &[2])]);
    check_refused("Concat", &[("axis", Attr::Int(2))], std::slice::from_ref(&x));
    check_refused("Add", &[], std::slice::from_ref(&x));
    check_refused("Add", &[], &[x.clone(), ints(&[3], &[0, 0, 0])]);
    check_refused("NoSuchOperator", &[], &[x]);
}
