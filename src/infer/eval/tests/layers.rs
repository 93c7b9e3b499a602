//! Tests of layers and of operators on images and signals.

use super::{Attr, call, floats, ints, reals};
use crate::graph::element::ElemType::Double;

#[test]
fn convolutions_support_padding_strides_and_groups() {
    let x = || reals(&[1, 1, 4], &[1.0, 2.0, 3.0, 4.0]);
    let w = || reals(&[1, 1, 2], &[1.0, 10.0]);
    call("Conv").of(x()).of(w()).gives(&[reals(&[1, 1, 3], &[21.0, 32.0, 43.0])]);
    call("Conv")
        .ints("pads", &[1, 0])
        .ints("strides", &[2])
        .of(x())
        .of(w())
        .gives(&[reals(&[1, 1, 2], &[10.0, 32.0])]);
    call("Conv")
        .text("auto_pad", "SAME_LOWER")
        .of(x())
        .of(w())
        .gives(&[reals(&[1, 1, 4], &[10.0, 21.0, 32.0, 43.0])]);
    let groups =
        call("Conv").int("group", 2).of(reals(&[1, 2, 1], &[2.0, 3.0])).of(reals(&[2, 1, 1], &[1.0, 10.0]));
    groups.of(reals(&[2], &[0.5, 0.0])).gives(&[reals(&[1, 2, 1], &[2.5, 30.0])]);
    let spread = call("ConvTranspose").ints("strides", &[2]).of(reals(&[1, 1, 2], &[1.0, 2.0]));
    spread.of(w()).gives(&[reals(&[1, 1, 4], &[1.0, 10.0, 2.0, 20.0])]);
}

#[test]
fn average_pool_counts_padding_on_request_and_max_pool_returns_indices() {
    let x = || reals(&[1, 1, 3], &[1.0, 5.0, 3.0]);
    let pool = |op| call(op).ints("kernel_shape", &[2]).of(x());
    pool("MaxPool").gives(&[reals(&[1, 1, 2], &[5.0, 5.0]), ints(&[1, 1, 2], &[1, 1])]);
    pool("AveragePool").gives(&[reals(&[1, 1, 2], &[3.0, 4.0])]);
    pool("AveragePool").ints("pads", &[1, 0]).gives(&[reals(&[1, 1, 3], &[1.0, 3.0, 4.0])]);
    pool("AveragePool")
        .ints("pads", &[1, 0])
        .int("count_include_pad", 1)
        .gives(&[reals(&[1, 1, 3], &[0.5, 3.0, 4.0])]);
    pool("MaxPool").ints("strides", &[2]).int("ceil_mode", 1).gives(&[reals(&[1, 1, 2], &[5.0, 3.0])]);
    call("GlobalAveragePool").of(x()).gives(&[reals(&[1, 1, 1], &[3.0])]);
}

#[test]
fn softmax_before_opset_13_flattens_to_a_matrix() {
    let x = || floats(Double, &[1, 2, 1], &[0.0, 0.0]);
    call("Softmax").of(x()).gives(&[floats(Double, &[1, 2, 1], &[1.0, 1.0])]);
    call("Softmax").version(11).of(x()).gives(&[floats(Double, &[1, 2, 1], &[0.5, 0.5])]);
    let last = || floats(Double, &[1, 2], &[0.0, 0.0]);
    call("Softmax").version(11).int("axis", -1).of(last()).gives(&[floats(Double, &[1, 2], &[0.5, 0.5])]);
    call("Softmax").version(11).int("axis", 2).of(last()).gives(&[floats(Double, &[1, 2], &[1.0, 1.0])]);
    call("Hardmax").of(reals(&[3], &[1.0, 2.0, 2.0])).gives(&[reals(&[3], &[0.0, 1.0, 0.0])]);
}

#[test]
fn layer_normalization_uses_the_population_variance() {
    let x = || reals(&[1, 2], &[1.0, 3.0]);
    let normalize = call("LayerNormalization").attr("epsilon", Attr::Float(0.0));
    let outputs = [reals(&[1, 2], &[-1.0, 1.0]), reals(&[1, 1], &[2.0]), reals(&[1, 1], &[1.0])];
    normalize.of(x()).of(reals(&[], &[1.0])).gives(&outputs);
    call("LpNormalization")
        .int("p", 1)
        .of(reals(&[2, 2], &[1.0, 3.0, 0.0, 0.0]))
        .gives(&[reals(&[2, 2], &[0.25, 0.75, 0.0, 0.0])]);
}

#[test]
fn attention_of_a_fully_masked_row_is_zero() {
    let heads = |data: &[f64]| reals(&[1, 1, data.len(), 1], data);
    let causal = call("Attention").int("is_causal", 1).of(heads(&[0.0, 0.0])).of(heads(&[1.0, 1.0]));
    causal.of(heads(&[4.0, 8.0])).gives(&[heads(&[4.0, 6.0])]);
    let mask = super::bools(&[false, false]).reshaped(vec![1, 2]).expect("two elements");
    let masked = call("Attention").of(heads(&[0.0])).of(heads(&[1.0, 1.0])).of(heads(&[4.0, 8.0]));
    masked.of(mask).gives(&[heads(&[0.0])]);
}

/// For a row that is masked by the lowest number, `Attention` returns zeros in ONNX Runtime.
/// By the specification, `Attention` averages the values at the keys whose mask is the lowest number.
#[test]
fn attention_of_a_row_masked_by_the_lowest_number_is_refused() {
    let heads = |data: &[f64]| reals(&[1, 1, data.len(), 1], data);
    let lowest = f64::from(f32::MIN);
    let masked = |bias: &[f64]| {
        let attention = call("Attention").of(heads(&[0.0])).of(heads(&[1.0, 1.0])).of(heads(&[4.0, 8.0]));
        attention.of(reals(&[1, 2], bias))
    };
    masked(&[lowest, f64::NEG_INFINITY]).refused();
    masked(&[lowest, -3.4e38]).gives(&[heads(&[8.0])]);
    masked(&[-3.4e38, -3.4e38]).gives(&[heads(&[6.0])]);
}

#[test]
fn dropout_in_training_mode_is_refused_unless_the_ratio_is_zero() {
    let x = || reals(&[2], &[1.0, 2.0]);
    let mask = || super::bools(&[true, true]);
    call("Dropout").of(x()).gives(&[x(), mask()]);
    let training = || super::bools(&[true]).reshaped(vec![]).expect("one element");
    call("Dropout").of(x()).of(reals(&[], &[0.5])).of(training()).refused();
    call("Dropout").of(x()).of(reals(&[], &[0.0])).of(training()).gives(&[x(), mask()]);
}

#[test]
fn recurrent_layers_support_reverse_direction_and_sequence_lengths() {
    let cell = || {
        let activations = Attr::Strs(vec![b"Affine"]);
        let layer = call("RNN").attr("activations", activations).of(reals(&[2, 1, 1], &[1.0, 2.0]));
        layer.of(reals(&[1, 1, 1], &[1.0])).of(reals(&[1, 1, 1], &[10.0]))
    };
    cell().gives(&[reals(&[2, 1, 1, 1], &[1.0, 12.0]), reals(&[1, 1, 1], &[12.0])]);
    let reverse = cell().text("direction", "reverse");
    reverse.gives(&[reals(&[2, 1, 1, 1], &[21.0, 2.0]), reals(&[1, 1, 1], &[21.0])]);
    let lengths = super::whole(crate::graph::element::ElemType::Int32, &[1]);
    cell().absent().of(lengths).gives(&[reals(&[2, 1, 1, 1], &[1.0, 0.0]), reals(&[1, 1, 1], &[1.0])]);
}

#[test]
fn resize_supports_scales_sizes_and_modes() {
    let x = || reals(&[1, 1, 1, 2], &[1.0, 3.0]);
    let scaled = |case: super::Case| case.of(x()).absent().of(reals(&[4], &[1.0, 1.0, 1.0, 2.0]));
    scaled(call("Resize")).gives(&[reals(&[1, 1, 1, 4], &[1.0, 1.0, 3.0, 3.0])]);
    let linear = call("Resize").text("mode", "linear");
    scaled(linear).gives(&[reals(&[1, 1, 1, 4], &[1.0, 1.5, 2.5, 3.0])]);
    let corners =
        call("Resize").text("mode", "linear").text("coordinate_transformation_mode", "align_corners");
    let sized = corners.of(x()).absent().absent().of(ints(&[4], &[1, 1, 1, 3]));
    sized.gives(&[reals(&[1, 1, 1, 3], &[1.0, 2.0, 3.0])]);
    call("Upsample")
        .version(9)
        .of(x())
        .of(reals(&[4], &[1.0, 1.0, 2.0, 1.0]))
        .gives(&[reals(&[1, 1, 2, 2], &[1.0, 3.0, 1.0, 3.0])]);
}

#[test]
fn non_max_suppression_drops_overlapping_boxes() {
    let boxes = reals(&[1, 3, 4], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.1, 1.0, 1.1, 0.0, 5.0, 1.0, 6.0]);
    let select = call("NonMaxSuppression").of(boxes).of(reals(&[1, 1, 3], &[0.8, 0.9, 0.7]));
    select.of(ints(&[1], &[3])).of(reals(&[1], &[0.5])).gives(&[ints(&[2, 3], &[0, 0, 1, 0, 0, 2])]);
}

#[test]
fn dft_and_window_functions_match_known_values() {
    call("DFT").int("onesided", 1).of(floats(Double, &[1, 1, 1], &[3.0])).gives(&[floats(
        Double,
        &[1, 1, 2],
        &[3.0, 0.0],
    )]);
    call("HannWindow").int("periodic", 0).of(ints(&[], &[3])).gives(&[reals(&[3], &[0.0, 1.0, 0.0])]);
}
