//! Tests of arithmetic, casts, reductions, products and quantization.

use super::{Array, bools, call, floats, ints, reals, whole};
use crate::graph::element::ElemType::{self, *};

#[test]
fn integer_arithmetic_wraps_and_division_truncates_toward_zero() {
    let binary = |op, a, b| call(op).of(ints(&[], &[a])).of(ints(&[], &[b]));
    binary("Add", i64::MAX, 1).gives(&[ints(&[], &[i64::MIN])]);
    binary("Mul", i64::MAX, 2).gives(&[ints(&[], &[-2])]);
    binary("Div", -7, 2).gives(&[ints(&[], &[-3])]);
    binary("Div", i64::MIN, -1).gives(&[ints(&[], &[i64::MIN])]);
    binary("Mod", -7, 3).gives(&[ints(&[], &[2])]);
    binary("Mod", -7, 3).int("fmod", 1).gives(&[ints(&[], &[-1])]);
    binary("Pow", 3, 4).gives(&[ints(&[], &[81])]);
    binary("Pow", -1, -3).gives(&[ints(&[], &[-1])]);
    binary("BitwiseAnd", 6, 3).gives(&[ints(&[], &[2])]);
    call("Sub").of(whole(Uint8, &[1])).of(whole(Uint8, &[2])).gives(&[whole(Uint8, &[255])]);
    for op in ["Div", "Mod"] {
        binary(op, 1, 0).refused();
    }
    binary("Pow", 0, -1).refused();
}

#[test]
fn right_shift_keeps_the_sign_and_left_shift_fills_with_zeros() {
    let shift = |direction, x, by| {
        call("BitShift").text("direction", direction).of(whole(Int8, &[x])).of(whole(Int8, &[by]))
    };
    shift("RIGHT", -8, 1).gives(&[whole(Int8, &[-4])]);
    shift("RIGHT", -8, 100).gives(&[whole(Int8, &[-1])]);
    shift("LEFT", 64, 1).gives(&[whole(Int8, &[-128])]);
    shift("LEFT", 1, -1).gives(&[whole(Int8, &[0])]);
}

#[test]
fn float_results_are_rounded_once_to_the_element_type() {
    let sum = |elem, expected| {
        let one = |x: f64| floats(elem, &[1], &[x]);
        call("Add").of(one(1.0)).of(one(0.125)).gives(&[floats(elem, &[1], &[expected])]);
    };
    sum(Float16, 1.125);
    sum(Bfloat16, 1.125);
    let tiny = floats(Bfloat16, &[1], &[0.00390625]);
    call("Add").of(floats(Bfloat16, &[1], &[1.0])).of(tiny).gives(&[floats(Bfloat16, &[1], &[1.0])]);
    call("Round").of(reals(&[4], &[0.5, 1.5, -0.5, 2.5])).gives(&[reals(&[4], &[0.0, 2.0, -0.0, 2.0])]);
    call("Max").of(reals(&[1], &[1.0])).of(reals(&[1], &[3.0])).gives(&[reals(&[1], &[3.0])]);
    call("Max")
        .of(reals(&[2], &[0.0, -0.0]))
        .of(reals(&[2], &[-0.0, 0.0]))
        .gives(&[reals(&[2], &[0.0, 0.0])]);
    call("Min")
        .of(reals(&[2], &[0.0, -0.0]))
        .of(reals(&[2], &[-0.0, 0.0]))
        .gives(&[reals(&[2], &[-0.0, -0.0])]);
    call("Clip")
        .of(reals(&[2], &[-1.0, 9.0]))
        .of(reals(&[], &[5.0]))
        .of(reals(&[], &[2.0]))
        .gives(&[reals(&[2], &[2.0, 2.0])]);
}

#[test]
fn comparisons_with_nan_are_false() {
    let nan = || reals(&[2], &[f64::NAN, 1.0]);
    call("Equal").of(nan()).of(nan()).gives(&[bools(&[false, true])]);
    call("LessOrEqual").of(nan()).of(nan()).gives(&[bools(&[false, true])]);
    call("IsNaN").of(nan()).gives(&[bools(&[true, false])]);
    call("IsInf")
        .int("detect_negative", 0)
        .of(reals(&[2], &[f64::NEG_INFINITY, f64::INFINITY]))
        .gives(&[bools(&[false, true])]);
    call("Xor").of(bools(&[true, true])).of(bools(&[true, false])).gives(&[bools(&[false, true])]);
}

#[test]
fn casts_truncate_wrap_and_saturate() {
    let cast = |to: ElemType| call("Cast").int("to", to.number().into());
    cast(Int8).of(ints(&[2], &[200, -129])).gives(&[whole(Int8, &[-56, 127])]);
    cast(Int8).of(reals(&[2], &[2.9, -2.9])).gives(&[whole(Int8, &[2, -2])]);
    cast(Bool).of(reals(&[3], &[0.0, -0.0, 0.1])).gives(&[bools(&[false, false, true])]);
    cast(Float8e4m3fn).of(reals(&[1], &[1e6])).gives(&[floats(Float8e4m3fn, &[1], &[448.0])]);
    cast(Float8e5m2).int("saturate", 0).of(reals(&[1], &[1e6])).gives(&[floats(
        Float8e5m2,
        &[1],
        &[f64::INFINITY],
    )]);
    cast(Int4).of(ints(&[2], &[-8, 9])).gives(&[whole(Int4, &[-8, -7])]);
    cast(Float16).of(reals(&[1], &[1e6])).gives(&[floats(Float16, &[1], &[f64::INFINITY])]);
    cast(Float8e8m0).of(reals(&[2], &[3.0, 4.0])).gives(&[floats(Float8e8m0, &[2], &[4.0, 4.0])]);
    cast(Float8e8m0).text("round_mode", "down").of(reals(&[1], &[3.0])).gives(&[floats(
        Float8e8m0,
        &[1],
        &[2.0],
    )]);
    call("Cast").version(1).text("to", "DOUBLE").of(ints(&[1], &[3])).gives(&[floats(Double, &[1], &[3.0])]);
    for out_of_range in [200.0, f64::NAN, f64::INFINITY] {
        cast(Int8).of(reals(&[1], &[out_of_range])).refused();
    }
}

#[test]
fn reductions_accept_empty_tensors_and_reduce_all_axes_by_default() {
    let over = |op, x| call(op).of(x).of(ints(&[1], &[0]));
    let empty = || reals(&[0, 1], &[]);
    over("ReduceMax", empty()).gives(&[reals(&[1, 1], &[f64::NEG_INFINITY])]);
    over("ReduceProd", empty()).gives(&[reals(&[1, 1], &[1.0])]);
    over("ReduceMin", ints(&[0, 1], &[])).gives(&[ints(&[1, 1], &[i64::MAX])]);
    let x = || ints(&[2, 2], &[1, 2, 3, 4]);
    call("ReduceSum").int("keepdims", 0).of(x()).gives(&[ints(&[], &[10])]);
    call("ReduceSumSquare").int("noop_with_empty_axes", 1).of(x()).gives(&[ints(&[2, 2], &[1, 4, 9, 16])]);
    call("ReduceMean")
        .version(13)
        .ints("axes", &[1])
        .of(reals(&[1, 2], &[1.0, 2.0]))
        .gives(&[reals(&[1, 1], &[1.5])]);
    call("ArgMax").int("select_last_index", 1).of(ints(&[3], &[5, 5, 1])).gives(&[ints(&[1], &[1])]);
    let sums = call("CumSum").int("exclusive", 1).int("reverse", 1).of(ints(&[3], &[1, 2, 3]));
    sums.of(ints(&[], &[0])).gives(&[ints(&[3], &[5, 3, 0])]);
}

#[test]
fn matrix_products_broadcast_and_contract() {
    let a = || ints(&[2, 2], &[1, 2, 3, 4]);
    call("MatMul").of(a()).of(ints(&[2], &[1, 1])).gives(&[ints(&[2], &[3, 7])]);
    call("Gemm")
        .int("transA", 1)
        .of(a())
        .of(a())
        .of(ints(&[], &[1]))
        .gives(&[ints(&[2, 2], &[11, 15, 15, 21])]);
    let einsum = |equation| call("Einsum").text("equation", equation);
    einsum("ii").of(a()).gives(&[ints(&[], &[5])]);
    einsum("...j,...j->...").of(a()).of(a()).gives(&[ints(&[2], &[5, 25])]);
    einsum("ij,jk->ki").of(a()).of(a()).gives(&[ints(&[2, 2], &[7, 15, 10, 22])]);
    einsum("ij->ii").of(a()).refused();
    call("Det").of(reals(&[2, 2], &[0.0, 2.0, 3.0, 4.0])).gives(&[reals(&[], &[-6.0])]);
}

#[test]
fn quantization_rounds_to_even_and_saturates() {
    let quantize = |x: &[f64]| call("QuantizeLinear").of(reals(&[x.len()], x)).of(reals(&[], &[2.0]));
    quantize(&[1.0, 3.0, 1000.0, -5.0]).gives(&[whole(Uint8, &[0, 2, 255, 0])]);
    quantize(&[1000.0]).of(whole(Int4, &[1])).gives(&[whole(Int4, &[7])]);
    let blocks = call("DequantizeLinear").int("axis", 0).int("block_size", 2).of(whole(Int8, &[1, 2, 3]));
    blocks.of(reals(&[2], &[1.0, 10.0])).refused();
    let dequantize = call("DequantizeLinear").of(whole(Uint8, &[0, 3])).of(reals(&[], &[0.5]));
    dequantize.of(scalar(1)).gives(&[reals(&[2], &[-0.5, 1.0])]);
    let matrix = |data: &[i128]| whole(Uint8, data).reshaped(vec![1, 2]).expect("two elements");
    let product = call("MatMulInteger").of(matrix(&[5, 6])).of(whole(Uint8, &[1, 1])).of(scalar(4));
    product.gives(&[whole(Int32, &[3])]);
}

fn scalar(value: i128) -> Array {
    whole(Uint8, &[value]).reshaped(vec![]).expect("one element")
}
