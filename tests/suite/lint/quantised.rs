//! QDQ: faulty quantized graphs, and valid ones that look similar.

use super::{finds, finds_in, said_of};

/// Returns a graph that dequantizes weights `w` of shape [4, 3], with `attributes` and `scales`.
fn weights(attributes: &str, scales: &str) -> String {
    format!(
        "g (float[N,4] x, int8[4,3] w) => (float[N,3] y) <{scales}> {{
           d = DequantizeLinear {attributes} (w, s)  y = MatMul (x, d) }}"
    )
}

#[test]
fn nonpositive_scales_are_reported() {
    let quantised = |scale: &str| {
        format!(
            "g (float[N,4] x) => (uint8[N,4] y) <float s = {{{scale}}}, uint8 z = {{128}}> {{ y = QuantizeLinear (x, s, z) }}"
        )
    };
    finds(13, &quantised("0"), &["QDQ001 error"]);
    finds(13, &quantised("-0.02"), &["QDQ001 error"]);
    // One of three scales is zero.
    finds(13, &weights("<axis = 1>", "float[3] s = {0.1, 0, 0.2}"), &["QDQ001 error"]);
    // Contrib operators of ONNX Runtime, and a scale from a Constant.
    finds(
        13,
        "g (uint16[N] x) => (float[N] y) <uint16 z = {9}> { s = Constant <value_float = 0.0> ()  y = com.microsoft.DequantizeLinear (x, s, z) }",
        &["QDQ001 error"],
    );
    // A scale calibrated with a mask of -inf. Operators other than QuantizeLinear and DequantizeLinear have scales,
    // too.
    finds(13, &quantised("inf"), &["QDQ001 error"]);
    finds(13, &quantised("nan"), &["NUM001 warning", "QDQ001 error"]);
    finds(
        13,
        "g (uint8[N,2] a, uint8[2,2] b) => (uint8[N,2] y) <float s = {0.5}, float none = {0}, uint8 z = {0}> {
           y = QLinearMatMul (a, s, z, b, s, z, none, z) }",
        &["QDQ001 error"],
    );
    finds(
        13,
        "g (uint8[N] a) => (uint8[N] y) <float s = {0.5}, float all = {inf}, uint8 z = {0}> {
           y = com.microsoft.QLinearAdd (a, s, z, a, all, z, s, z) }",
        &["QDQ001 error"],
    );
    finds(13, &quantised("0.0000001"), &[]);
    // A dynamic scale, computed from the input of the model.
    finds(
        13,
        "g (float[N,4] x) => (uint8[N,4] y) <uint8 z = {128}, float full = {255}> {
           most = ReduceMax <keepdims = 0> (x)  s = Div (most, full)  y = QuantizeLinear (x, s, z) }",
        &[],
    );
}

#[test]
fn scales_with_the_wrong_number_of_channels_are_reported() {
    finds(13, &weights("<axis = 0>", "float[3] s = {0.1, 0.2, 0.3}"), &["QDQ002 error"]);
    finds(13, &weights("<axis = -2>", "float[3] s = {0.1, 0.2, 0.3}"), &["QDQ002 error"]);
    // The channels of an activation are axis 1, the default.
    finds(
        13,
        "g (float[N,8,H,W] x) => (uint8[N,8,H,W] y) <float[2] s = {0.1, 0.2}, uint8[2] z = {0, 0}> { y = QuantizeLinear (x, s, z) }",
        &["QDQ002 error"],
    );
    for graph in [
        weights("<axis = 1>", "float[3] s = {0.1, 0.2, 0.3}"),
        weights("<axis = -1>", "float[3] s = {0.1, 0.2, 0.3}"),
        // One scale for all channels; the axis has no effect.
        weights("<axis = 0>", "float[1] s = {0.1}"),
        weights("<axis = 0>", "float s = {0.1}"),
        // The number of channels is dynamic.
        "g (float[N,C,H] x) => (uint8[N,C,H] y) <float[2] s = {0.1, 0.2}, uint8[2] z = {0, 0}> { y = QuantizeLinear (x, s, z) }".to_owned(),
    ] {
        finds(13, &graph, &[]);
    }
    // In blockwise quantization, scales have the rank of the weights.
    let blocks = weights("<axis = 0, block_size = 2>", "float[2,3] s = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}");
    finds_in(&format!("<ir_version: 10, opset_import: [\"\" : 21]>\n{blocks}"), &[]);
}

#[test]
fn requantized_values_are_reported() {
    let twice = |between: &str, zero: &str| {
        format!(
            "g (float[N,4,8,8] x) => (uint8[N,4,A,B] y) <float s = {{0.1}}, uint8 z = {{7}}, float s2 = {{0.1}}, uint8 z2 = {{{zero}}}> {{
               q = QuantizeLinear (x, s, z)  d = DequantizeLinear (q, s, z)  {between}  y = QuantizeLinear (m, s2, z2) }}"
        )
    };
    let direct = |zero: &str| twice("", zero).replace("(m, ", "(d, ");
    // The parameters are equal, but have different names.
    check(&direct("7"), &["QDQ003"]);
    check(&direct("8"), &[]);
    check(&twice("m = MaxPool <kernel_shape = [2, 2]> (d)", "7"), &[]);
    check(&twice("m = Relu (d)", "7"), &[]);
}

/// Compares the QDQ findings of a graph, at every level.
#[track_caller]
fn check(graph: &str, expected: &[&str]) {
    assert_eq!(said_of("QDQ", 13, graph), expected, "{graph}");
}
