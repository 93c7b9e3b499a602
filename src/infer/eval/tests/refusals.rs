//! Tests of calls that are refused, or whose results are undetermined.

use super::{Array, Attr, Refusal, Val, call, ints, reals, whole};
use crate::graph::element::ElemType::{Int8, Int32};

#[test]
fn large_results_are_refused() {
    let too_large = |case: super::Case| assert_eq!(case.run(), Err(Refusal::TooLarge), "{}", case.op);
    too_large(call("ConstantOfShape").of(ints(&[2], &[1 << 40, 1 << 40])));
    too_large(call("ConstantOfShape").of(ints(&[2], &[1 << 40, 0])));
    too_large(call("Expand").of(ints(&[1], &[1])).of(ints(&[1], &[1 << 30])));
    too_large(call("Range").of(ints(&[], &[0])).of(ints(&[], &[i64::MAX])).of(ints(&[], &[1])));
    too_large(call("Tile").of(ints(&[1], &[1])).of(ints(&[1], &[i64::MAX])));
    too_large(call("Pad").of(ints(&[1], &[1])).of(ints(&[2], &[i64::MAX, i64::MAX])));
    too_large(
        call("MaxPool")
            .ints("kernel_shape", &[1 << 40])
            .ints("pads", &[1 << 40, 0])
            .of(reals(&[0, 1, 1], &[])),
    );
}

#[test]
fn malformed_calls_are_refused() {
    let x = || ints(&[2, 2], &[1, 2, 3, 4]);
    call("Reshape").of(x()).of(ints(&[1], &[3])).refused();
    call("Reshape").of(x()).of(ints(&[2], &[-1, -1])).refused();
    call("Reshape").of(x()).of(ints(&[3], &[2, 2, 0])).refused();
    call("Transpose").ints("perm", &[0, 0]).of(x()).refused();
    call("Transpose").ints("perm", &[0]).of(x()).refused();
    call("Squeeze").of(x()).of(ints(&[1], &[0])).refused();
    call("Gather").of(x()).of(ints(&[], &[2])).refused();
    call("Concat").int("axis", 2).of(x()).refused();
    call("Compress")
        .of(reals(&[], &[1.0]))
        .of(Array::bools(vec![1], vec![true]).expect("a truth value"))
        .refused();
    call("Add").of(x()).refused();
    call("Add").of(x()).of(ints(&[3], &[0, 0, 0])).refused();
    call("Add").of(x()).of(reals(&[], &[1.0])).refused();
    call("Einsum").text("equation", "i->i").of(x()).refused();
    call("Conv").of(reals(&[1, 1, 2], &[1.0, 2.0])).of(reals(&[1, 2, 1], &[1.0, 2.0])).refused();
    call("Cast").int("to", 99).of(x()).refused();
    call("Cast").of(x()).refused();
}

#[test]
fn random_and_unknown_operators_are_refused() {
    assert_eq!(call("RandomNormal").ints("shape", &[1]).run(), Err(Refusal::NotDeterministic));
    assert_eq!(call("NoSuchOperator").run(), Err(Refusal::Unsupported));
    assert_eq!(call("Add").domain("com.example").run(), Err(Refusal::Unsupported));
    assert_eq!(call("If").run(), Err(Refusal::Unsupported));
}

/// The specification does not define the results of the tested calls, or runtimes deviate from it.
#[test]
fn results_that_differ_between_runtimes_are_refused() {
    let slopes = reals(&[2, 1], &[1.0, 2.0]);
    call("PRelu").of(reals(&[3], &[1.0, -2.0, 3.0])).of(slopes).refused();
    call("NonZero").of(reals(&[], &[1.0])).refused();
    call("Sum").version(6).of(reals(&[1], &[1.0])).of(reals(&[2], &[1.0, 2.0])).refused();
    call("ReduceMean").of(reals(&[0], &[])).refused();
    let row = reals(&[1, 1, 6], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let pool = call("AveragePool").text("auto_pad", "SAME_UPPER").ints("kernel_shape", &[1]);
    pool.ints("strides", &[3]).of(row).refused();
    let image = || reals(&[1, 1, 1, 2], &[1.0, 2.0]);
    let pool = |dilations| {
        let pool = call("MaxPool").text("auto_pad", "SAME_LOWER").ints("kernel_shape", &[1, 2]);
        pool.ints("dilations", dilations).of(image())
    };
    assert!(pool(&[1, 1]).run().is_ok());
    pool(&[1, 2]).refused();
    call("Split").int("num_outputs", 2).of(reals(&[2], &[1.0, 2.0])).refused();
    let quantized = |scale| call("QuantizeLinear").of(reals(&[1], &[3.0])).of(reals(&[], &[scale]));
    assert!(quantized(1.0).run().is_ok());
    quantized(0.0).refused();
    call("MeanVarianceNormalization").ints("axes", &[0]).of(reals(&[2], &[3.0, 3.0])).refused();
    call("BlackmanWindow").int("output_datatype", 7).of(ints(&[], &[3])).refused();
    let cropped = |start: f64, end: f64, size| {
        let crop = call("Resize").text("coordinate_transformation_mode", "tf_crop_and_resize");
        let line = crop.of(reals(&[3], &[1.0, 2.0, 3.0])).of(reals(&[2], &[start, end]));
        line.absent().of(ints(&[1], &[size]))
    };
    assert!(cropped(0.25, 0.75, 2).run().is_ok());
    cropped(0.25, 0.75, 3).refused();
    cropped(0.25, 1.0 - 1e-6, 2).refused();
    let heads = || reals(&[1, 1, 1, 2], &[1.0, 2.0]);
    call("Attention").int("qk_matmul_output_mode", -1).of(heads()).of(heads()).of(heads()).refused();
}

/// The specification does not define the results of the tested calls, or runtimes deviate from it.
/// Tests with random graphs found the tested calls.
#[test]
fn undefined_attributes_and_inputs_are_refused() {
    let matrix = || reals(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    call("ReduceMax").int("keepdims", 2).of(matrix()).refused();
    call("CumProd").int("reverse", -1).of(reals(&[1], &[1.0])).of(ints(&[], &[0])).refused();
    call("Squeeze").of(reals(&[1, 2], &[1.0, 2.0])).of(ints(&[0], &[])).refused();
    call("Upsample").version(9).of(reals(&[1], &[1.0])).of(reals(&[1], &[-1.0])).refused();
    call("Resize").of(matrix()).absent().absent().of(ints(&[1, 2], &[4, 4])).refused();
    call("QuantizeLinear").int("precision", 2).of(matrix()).of(reals(&[], &[1.0])).refused();
    call("QuantizeLinear").int("block_size", 1).of(matrix()).of(reals(&[], &[1.0])).refused();
    let bytes = |shape: &[usize], byte: i128| {
        Array::from_ints(Int8, shape.to_vec(), vec![byte; shape.iter().product()]).expect("bytes")
    };
    let scale = |scale| reals(&[], &[scale]);
    let products = |scale_of_y| {
        let left = call("QLinearMatMul").of(bytes(&[1, 1], 1)).of(scale(0.0)).of(bytes(&[], 1));
        left.of(bytes(&[1, 1], 1)).of(scale(1.0)).of(bytes(&[], 0)).of(scale(scale_of_y)).of(bytes(&[], 0))
    };
    assert!(products(1.0).run().is_ok());
    products(0.0).refused();
    let convolved = |bias: &[i128]| {
        let bias = Array::from_ints(Int32, vec![bias.len()], bias.to_vec()).expect("32 bits");
        let image = call("QLinearConv").of(bytes(&[1, 1, 1], 1)).of(scale(1.0)).of(bytes(&[], 0));
        let kernel = image.of(bytes(&[1, 1, 1], 1)).of(scale(1.0)).of(bytes(&[], 0));
        kernel.of(scale(1.0)).of(bytes(&[], 0)).of(bias)
    };
    assert!(convolved(&[1]).run().is_ok());
    convolved(&[i128::from(i32::MAX)]).refused();
    convolved(&[1, 1]).refused();
    call("Celu").attr("alpha", Attr::Float(0.0)).of(matrix()).refused();
    let spread = |auto_pad, strides| {
        let windows = call("ConvTranspose").text("auto_pad", auto_pad).ints("strides", strides);
        windows.of(reals(&[1, 1, 2], &[1.0, 2.0])).of(reals(&[1, 1, 2], &[1.0, 1.0]))
    };
    assert!(spread("SAME_UPPER", &[2]).run().is_ok());
    spread("SAME_UPPER", &[3]).refused();
    spread("SAME_LOWER", &[3]).refused();
    let resized = |axes, policy| {
        let kept = call("Resize").version(18).ints("axes", axes).text("keep_aspect_ratio_policy", policy);
        kept.of(matrix()).absent().absent().of(ints(&[1], &[4]))
    };
    assert!(resized(&[1], "not_larger").run().is_ok() && resized(&[-1], "stretch").run().is_ok());
    resized(&[-1], "not_larger").refused();
    let reversed = |time: i64, batch: i64| {
        let sequences = call("ReverseSequence").int("time_axis", time).int("batch_axis", batch);
        sequences.of(matrix()).of(ints(&[2], &[1, 2]))
    };
    assert!(reversed(1, 0).run().is_ok());
    reversed(-1, 0).refused();
    call("Unsqueeze").of(matrix()).of(ints(&[1, 1], &[0])).refused();
    call("ReduceMax").of(matrix()).of(ints(&[1, 0], &[])).refused();
    let region = |right: f64| {
        let image = call("RoiAlign").version(10).int("output_width", 1).int("sampling_ratio", 1);
        let image = image.of(reals(&[1, 1, 1, 1], &[1.0]));
        image.of(reals(&[1, 4], &[0.0, 0.0, right, 1.0])).of(ints(&[1], &[0]))
    };
    assert!(region(1.5).run().is_ok());
    region(2.000_001).refused();
    let boxes = |limit: f64| {
        let two = call("NonMaxSuppression").of(reals(&[1, 2, 4], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 3.0]));
        let scored = two.of(reals(&[1, 1, 2], &[2.0, 1.0]));
        scored.of(ints(&[1], &[2])).of(reals(&[1], &[limit]))
    };
    assert!(boxes(0.3).run().is_ok());
    boxes(0.333_333_3).refused();
}

/// Rounding decides the bin where a mel band begins. Integer overflow decides the length of a range.
#[test]
fn results_decided_by_rounding_or_overflow_are_refused() {
    let bands = |rate: i64| {
        let sizes = call("MelWeightMatrix").of(ints(&[], &[2])).of(ints(&[], &[15])).of(ints(&[], &[rate]));
        sizes.of(reals(&[], &[100.0])).of(reals(&[], &[400.0]))
    };
    assert!(bands(1601).run().is_ok());
    bands(1600).refused();
    let steps = |limit: i128| {
        let int = |n: i128| Array::from_ints(Int32, vec![], vec![n]).expect("32 bits");
        call("Range").of(int(i128::from(i32::MAX))).of(int(limit)).of(int(1 << 30))
    };
    assert!(steps(0).run().is_ok());
    steps(-2).refused();
}

#[test]
fn nan_infinity_and_overflowing_squares_are_undetermined_for_some_operators() {
    for (op, x, is_open) in [
        ("ReduceMax", f64::NAN, true),
        ("ReduceMax", 2.0, false),
        ("LogSoftmax", f64::INFINITY, true),
        ("Softmax", f64::INFINITY, true),
        ("Resize", f64::NAN, true),
        ("Softmax", f64::NEG_INFINITY, false),
        ("Softmax", f64::from(f32::MIN), false),
        ("LpNormalization", f64::from(f32::MAX), true),
        ("ReduceMax", f64::from(f32::MAX), false),
        ("ReduceL2", 1e18, false),
        ("Add", f64::NAN, false),
        ("Gather", f64::NAN, false),
        ("Sign", f64::NAN, true),
        ("ScatterND", f64::NAN, true),
        ("Sign", f64::INFINITY, false),
        ("DynamicQuantizeLinear", f64::NEG_INFINITY, true),
        ("DynamicQuantizeLinear", 2.0, false),
        ("Det", f64::INFINITY, true),
    ] {
        is("", op, &[reals(&[2], &[1.0, x])], is_open);
    }
    is("ai.onnx.ml", "Normalizer", &[reals(&[2], &[1.0, f64::INFINITY])], true);
    is("ai.onnx.ml", "Normalizer", &[reals(&[2], &[1.0, 2.0])], false);
}

/// Asserts whether a call is undetermined.
#[track_caller]
fn is(domain: &str, op: &str, inputs: &[Array], is_open: bool) {
    let vals: Vec<Val> = inputs.iter().cloned().map(Val::from).collect();
    assert_eq!(super::super::is_undetermined(domain, op, &vals), is_open, "{op} of {inputs:?}");
}

#[test]
fn quantization_is_not_folded() {
    let (number, scale) = (Val::from(reals(&[2], &[1.0, 2.0])), Val::from(reals(&[], &[0.5])));
    for op in ["QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"] {
        assert!(super::super::is_open("", op, [&number, &scale]), "{op}");
        assert!(super::super::is_open("com.microsoft", op, [&number, &scale]), "{op}");
    }
}

#[test]
fn sum_of_an_empty_tensor_is_undetermined() {
    let (nothing, something) = (|| reals(&[2, 0], &[]), || reals(&[2, 1], &[1.0, 2.0]));
    is("", "ReduceSum", &[nothing()], true);
    is("", "ReduceSum", &[something(), ints(&[0], &[])], false);
    is("", "MatMul", &[reals(&[0, 2], &[]), something()], true);
    is("", "MatMul", &[something(), reals(&[1, 0], &[])], true);
    is("", "MatMul", &[something(), reals(&[1, 1], &[1.0])], false);
    is("", "Resize", &[something(), reals(&[0], &[])], false);
    is("", "Add", &[nothing(), nothing()], false);
    is("", "Concat", &[nothing(), something()], false);
}

/// ONNX Runtime computes many integer operators in `double`.
/// On overflow, ONNX Runtime saturates, but other runtimes wrap.
#[test]
fn integers_not_exact_in_double_are_undetermined() {
    let far = 1 << 53;
    for (op, data, is_open) in [
        ("ReduceSum", &[far, 1][..], true),
        ("ReduceSum", &[far - 2, 1], false),
        ("ReduceL1", &[-far, -1], true),
        ("ReduceSumSquare", &[1 << 26, 1 << 25], false),
        ("ReduceSumSquare", &[1 << 26, 1 << 27], true),
        ("ReduceProd", &[1 << 26, 1 << 26, 0], false),
        ("ReduceProd", &[1 << 26, 1 << 28, 0], true),
        ("ReduceLogSum", &[1], true),
        ("ReduceMax", &[i64::MIN], false),
        ("Mod", &[-far], true),
        ("Mod", &[1 - far], false),
        ("Shrink", &[1 << 25], true),
        ("CumSum", &[i64::MAX, i64::MAX], false),
    ] {
        is("", op, &[ints(&[data.len()], data)], is_open);
    }
    is("", "ReduceSum", &[whole(Int32, &[1 << 30, 1 << 30])], true);
    is("", "ReduceSum", &[whole(Int32, &[1 << 30])], false);
    is("", "Pow", &[ints(&[1], &[3]), ints(&[1], &[33])], false);
    is("", "Pow", &[ints(&[1], &[3]), ints(&[1], &[40])], true);
    is("", "Pow", &[ints(&[1], &[3]), reals(&[1], &[-1.0])], false);
    is("", "Einsum", &[ints(&[1], &[1 << 30]), ints(&[1], &[1 << 30])], true);
    is("", "Einsum", &[ints(&[1], &[1 << 30]), ints(&[1], &[2])], false);
    is("ai.onnx.ml", "Normalizer", &[whole(Int32, &[-1, i128::from(i32::MIN), 2])], true);
    is("ai.onnx.ml", "Normalizer", &[whole(Int32, &[-1, 2])], false);
}
