//! Linear quantization, and products and convolutions of quantized tensors.

mod integer;
mod linear;

use super::Kernel::{self, Many, One};

/// Returns the kernel of a quantization operator; `None` if this module has no kernel for `op`.
pub(super) fn find(op: &str) -> Option<Kernel> {
    Some(match op {
        "QuantizeLinear" => One(linear::quantize),
        "DequantizeLinear" => One(linear::dequantize),
        "DynamicQuantizeLinear" => Many(linear::dynamic_quantize),
        "MatMulInteger" => One(integer::matmul_integer),
        "QLinearMatMul" => One(integer::qlinear_matmul),
        "ConvInteger" => One(integer::conv_integer),
        "QLinearConv" => One(integer::qlinear_conv),
        _ => return None,
    })
}
