//! Shape rules of quantized, fused and other operators of ONNX Runtime (`com.microsoft`).

use super::Cx;
use super::conv::{conv, pool, qlinear};
use super::elementwise::broadcast_inputs;
use super::reduce::reduced;
use crate::graph::dim::Interval;
use crate::infer::fact::Fact;
use crate::infer::shape::{Shape, known, product};

/// `QLinearAdd` and `QLinearMul`: broadcast two operands, each followed by its scale and zero point.
pub fn qlinear_binary(cx: &mut Cx) -> Option<()> {
    let shape = broadcast_inputs(cx, &[0, 3])?;
    cx.set_shape(0, shape);
    Some(())
}

/// `MulInteger`: broadcasts two operands, each followed by its zero point.
pub fn integer_binary(cx: &mut Cx) -> Option<()> {
    let shape = broadcast_inputs(cx, &[0, 2])?;
    cx.set_shape(0, shape);
    Some(())
}

/// `QLinearWhere`: broadcasts the condition and two operands.
///
/// Each operand is followed by its scale and zero point.
pub fn qlinear_where(cx: &mut Cx) -> Option<()> {
    let shape = broadcast_inputs(cx, &[0, 1, 4])?;
    cx.set_shape(0, shape);
    Some(())
}

/// `QLinearReduceMean` and `ReduceSumInteger`: reduce the axes given by an attribute.
pub fn reduce(cx: &mut Cx) -> Option<()> {
    let keep = cx.int_or("keepdims", 1) != 0;
    let dims = cx.dims(0)?;
    let all: Vec<i64> = (0..dims.len() as i64).collect();
    let shape = reduced(cx, dims, cx.ints_attr("axes").unwrap_or(&all), keep)?;
    cx.set_shape(0, shape);
    Some(())
}

/// `MatMulNBits` and `MatMulBnb4`: the attribute `N` is the number of columns of the packed weights.
pub fn matmul_packed(cx: &mut Cx) -> Option<()> {
    let columns = known(cx.int("N")?);
    let mut dims = cx.dims(0)?.to_vec();
    *dims.last_mut()? = columns;
    cx.set_dims(0, dims);
    Some(())
}

/// `MatMulFpQ4`: the shape of the weights is an input.
pub fn matmul_fp_q4(cx: &mut Cx) -> Option<()> {
    let columns = cx.ints(2).and_then(|shape| shape.into_iter().nth(1)?);
    let mut dims = cx.dims(0)?.to_vec();
    *dims.last_mut()? = columns;
    cx.set_dims(0, dims);
    Some(())
}

/// `QGemm`: multiplies two matrices, each followed by its scale and zero point.
pub fn qgemm(cx: &mut Cx) -> Option<()> {
    let (rows_of_a, columns_of_b) = (usize::from(cx.flag("transA")), usize::from(!cx.flag("transB")));
    let (rows, columns) = (cx.dim(0, rows_of_a), cx.dim(3, columns_of_b));
    cx.set_dims(0, vec![rows, columns]);
    Some(())
}

/// Applies a channels-first rule to a call whose input `x` and output are channels-last.
fn channels_last(cx: &mut Cx, x: usize, rule: super::Rule) -> Option<()> {
    let first = channels_first(cx.fact(x)?)?;
    let inputs: Vec<Option<&Fact>> =
        (0..cx.inputs()).map(|input| if input == x { Some(&first) } else { cx.fact(input) }).collect();
    let result = cx.with_inputs(&inputs, rule)?;
    put_channels_last(cx, &result)
}

fn channels_first(fact: &Fact) -> Option<Fact> {
    let mut dims = fact.dims()?.to_vec();
    dims.get_mut(1..)?.rotate_right(1);
    Some(Fact::tensor(fact.elem(), Shape::new(dims)))
}

fn put_channels_last(cx: &mut Cx, fact: &Fact) -> Option<()> {
    let mut dims = fact.dims()?.to_vec();
    dims.get_mut(1..)?.rotate_left(1);
    cx.set_dims(0, dims);
    Some(())
}

/// `com.microsoft.QLinearConv`: `channels_last` applies to the data, but not to the weights.
pub fn qlinear_conv(cx: &mut Cx) -> Option<()> {
    if cx.flag("channels_last") { channels_last(cx, 0, qlinear) } else { qlinear(cx) }
}

/// `QLinearAveragePool`: pools channels-first data, or channels-last data if `channels_last` is set.
pub fn qlinear_pool(cx: &mut Cx) -> Option<()> {
    if cx.flag("channels_last") { channels_last(cx, 0, pool) } else { pool(cx) }
}

/// `NhwcMaxPool`: pools channels-last data.
pub fn nhwc_pool(cx: &mut Cx) -> Option<()> {
    channels_last(cx, 0, pool)
}

/// `NhwcConv`: both the data and the weights are channels-last.
pub fn nhwc_conv(cx: &mut Cx) -> Option<()> {
    let (data, weights) = (channels_first(cx.fact(0)?)?, channels_first(cx.fact(1)?)?);
    let result = cx.with_inputs(&[Some(&data), Some(&weights)], conv)?;
    put_channels_last(cx, &result)
}

/// `QLinearGlobalAveragePool`: reduces the spatial axes to size 1.
pub fn qlinear_global_pool(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let last = dims.len().checked_sub(1)?;
    let spatial = if cx.flag("channels_last") { 1..last } else { 2..dims.len() };
    dims.get_mut(spatial)?.fill(known(1));
    cx.set_dims(0, dims);
    Some(())
}

/// `ExpandDims`: inserts an axis of size 1 at the position in the second input.
pub fn expand_dims(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let Some(axis) = cx.const_int(1) else {
        cx.set_shape(0, Shape::of_rank(dims.len() + 1));
        return Some(());
    };
    let axis = cx.axis(axis, dims.len() + 1)?;
    dims.insert(axis, known(1));
    cx.set_dims(0, dims);
    Some(())
}

/// `CDist`: returns the distances between the rows of two matrices.
pub fn distances(cx: &mut Cx) -> Option<()> {
    cx.set_dims(0, vec![cx.dim(0, 0), cx.dim(1, 0)]);
    Some(())
}

/// `TorchEmbedding`: returns a row of the table for each index.
pub fn embedding(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(1)?.to_vec();
    dims.push(cx.dim(0, 1));
    cx.set_dims(0, dims);
    Some(())
}

/// `com.microsoft.Unique`: returns the unique elements of a vector, inverse indices and counts.
pub fn unique(cx: &mut Cx) -> Option<()> {
    let all = product(cx.dims(0)?);
    let range = cx.up_to(&all);
    let count = cx.new_size(0, 0, range);
    cx.set_dims(0, vec![count.clone()]);
    cx.set_dims(1, vec![all]);
    cx.set_dims(2, vec![count]);
    Some(())
}

/// `Tokenizer`: appends an axis for the tokens of each string.
pub fn tokenizer(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let most = cx.new_size(0, dims.len(), Interval::SIZE);
    dims.push(most);
    cx.set_dims(0, dims);
    Some(())
}

/// `NGramRepeatBlock`: the output has the shape of the scores.
pub fn as_scores(cx: &mut Cx) -> Option<()> {
    let shape = cx.shape(1);
    cx.set_shape(0, shape);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{check, check_call};

    #[test]
    fn quantized_operators_support_packed_weights_and_channels_last() {
        check_call(
            "uint8[n, 1] a, float s, uint8 z, uint8[4] b",
            "com.microsoft.QLinearAdd(a, s, z, b, s, z, s, z)",
            "uint8[n, 4]",
        );
        check_call(
            "float[n, 32] x, uint8[16, 1, 16] w, float[16] s",
            "com.microsoft.MatMulNBits <K = 32, N = 16, block_size = 32, bits = 4> (x, w, s)",
            "float[n, 16]",
        );
        check_call(
            "uint8[n, h, w, 3] x, float s, uint8 z, uint8[8, 3, 3, 3] k",
            "com.microsoft.QLinearConv <channels_last = 1> (x, s, z, k, s, z, s, z)",
            "uint8[n, h - 2, w - 2, 8]",
        );
        check_call(
            "uint8[n, h, w, 3] x, float s, uint8 z",
            "com.microsoft.QLinearGlobalAveragePool <channels_last = 1> (x, s, z, s, z)",
            "uint8[n, 1, 1, 3]",
        );
    }

    #[test]
    fn fused_matmul_transposes_its_operands_and_expand_dims_inserts_an_axis() {
        check_call(
            "float[b, k, n] x, float[b, m, k] y",
            "com.microsoft.FusedMatMul <transA = 1, transB = 1> (x, y)",
            "float[b, n, m]",
        );
        let text = "g (float[n, 4] x) => (y) {
            axis = Constant <value = int32 {1}> ()
            y = com.microsoft.ExpandDims(x, axis)
        }";
        check(text, &["y: float[n, 1, 4]"]);
    }
}
