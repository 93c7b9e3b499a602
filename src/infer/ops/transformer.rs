//! Shape rules of the transformer operators of ONNX Runtime (`com.microsoft`).

use super::{Cx, larger};
use crate::graph::ElemType;
use crate::infer::shape::{Shape, Size, add, known, mul};

fn quotient(size: &Size, divisor: i64) -> Size {
    size.as_ref()?.floor_div(divisor)
}

/// Returns the number of heads from an attribute, or `None` unless this number is positive.
fn heads(cx: &Cx, attr: &str) -> Option<i64> {
    cx.int(attr).filter(|&heads| heads > 0)
}

/// `Attention` and `QAttention`: one product with the weights yields queries, keys and values.
pub fn attention(cx: &mut Cx) -> Option<()> {
    let past = if cx.op() == "QAttention" { 8 } else { 4 };
    let sizes = cx.ints_attr("qkv_hidden_sizes");
    let hidden = match sizes.and_then(|sizes| sizes.get(2)) {
        Some(&size) => known(size),
        None => quotient(&cx.dim(1, 1), 3).or_else(|| quotient(&cx.dim(2, 0), 3)),
    };
    let (batch, length) = (cx.dim(0, 0), cx.dim(0, 1));
    cx.set_dims(0, vec![batch.clone(), length.clone(), hidden.clone()]);
    if cx.has(past) && cx.flag("past_present_share_buffer") {
        let shape = cx.shape(past);
        cx.set_shape(1, shape);
        return Some(());
    }
    let heads = heads(cx, "num_heads")?;
    let total = if cx.has(past) { add(&cx.dim(past, 3), &length) } else { length };
    cx.set_dims(1, vec![known(2), batch, known(heads), total, quotient(&hidden, heads)]);
    Some(())
}

/// `MultiHeadAttention`: queries, keys and values are separate, or packed along an axis of size 3 or 2.
pub fn multi_head(cx: &mut Cx) -> Option<()> {
    let heads = heads(cx, "num_heads")?;
    let (batch, length) = (cx.dim(0, 0), cx.dim(0, 1));
    let hidden = match (cx.rank(0)?, cx.has(2).then(|| cx.rank(2)).flatten()) {
        (5, _) => mul(&cx.dim(0, 2), &cx.dim(0, 4)),
        (_, Some(3)) => cx.dim(2, 2),
        (_, Some(4)) => mul(&cx.dim(2, 1), &cx.dim(2, 3)),
        _ if !cx.has(2) => cx.dim(0, 2),
        _ => None,
    };
    cx.set_dims(0, vec![batch.clone(), length, hidden]);
    let (past, shared) = (cx.has(6), cx.has(8));
    if shared || cx.rank(1)? != 3 {
        return None;
    }
    let before = if past { cx.dim(6, 2) } else { known(0) };
    let total = add(&before, &cx.dim(1, 1));
    for (output, input) in [(1, 1), (2, 2)] {
        let size = quotient(&cx.dim(input, 2), heads);
        cx.set_dims(output, vec![batch.clone(), known(heads), total.clone(), size]);
    }
    Some(())
}

/// `GroupQueryAttention`: keys and values may be packed after the queries.
///
/// The cache grows to the total length unless it is already that long.
pub fn group_query(cx: &mut Cx) -> Option<()> {
    let (heads, groups) = (heads(cx, "num_heads")?, heads(cx, "kv_num_heads")?);
    let (batch, width) = (cx.dim(0, 0), cx.dim(0, 2));
    let packed = !cx.has(1);
    let size = if packed { quotient(&width, heads + 2 * groups) } else { quotient(&width, heads) };
    let hidden = if packed { mul(&known(heads), &size) } else { width };
    cx.set_dims(0, vec![batch.clone(), cx.dim(0, 1), hidden]);
    let total = cx.int_scalar(6);
    let length = match cx.has(3) {
        true => (|| larger(cx.dim(3, 2).as_ref()?, total.as_ref()?, cx))(),
        false => total,
    };
    // A quantized cache packs the elements of a head.
    let size = if cx.has(3) { cx.dim(3, 3) } else { size.filter(|_| cx.int("kv_cache_bit_width").is_none()) };
    for output in [1, 2] {
        cx.set_dims(output, vec![batch.clone(), known(groups), length.clone(), size.clone()]);
    }
    Some(())
}

/// `EmbedLayerNormalization` and its quantized variant: the output has the width of the word embedding.
pub fn embed(cx: &mut Cx) -> Option<()> {
    let (batch, length) = (cx.dim(0, 0), cx.dim(0, 1));
    let embedded = Shape::new(vec![batch.clone(), length, cx.dim(2, 1)]);
    cx.set_shape(0, embedded.clone());
    cx.set_dims(1, vec![batch]);
    cx.set_shape(2, embedded);
    Some(())
}

/// `SkipLayerNormalization` and its simplified variant: also return statistics and the sum.
pub fn skip_layer_norm(cx: &mut Cx) -> Option<()> {
    let shape = cx.shape(0);
    cx.set_shape(0, shape.clone());
    cx.set_shape(3, shape);
    let mut dims = cx.dims(0)?.to_vec();
    *dims.last_mut()? = known(1);
    cx.set_dims(1, dims.clone());
    cx.set_dims(2, dims);
    Some(())
}

/// `RelativePositionBias`: returns a bias for each head, query and key.
pub fn relative_position_bias(cx: &mut Cx) -> Option<()> {
    cx.set_dims(0, vec![known(1), cx.dim(0, 1), cx.int_scalar(1), cx.int_scalar(2)]);
    Some(())
}

/// `GemmaRotaryEmbedding`: the outputs are the rotated queries and keys, whose shapes do not change.
pub fn gemma_rotary(cx: &mut Cx) -> Option<()> {
    for (output, input) in [(0, 1), (1, 3)] {
        let shape = cx.shape(input);
        cx.set_shape(output, shape);
    }
    Some(())
}

/// `RMSNormRotary`: merges the heads and a slice of each head; `flatten_batch` also merges the samples.
pub fn norm_rotary(cx: &mut Cx) -> Option<()> {
    let elem = match cx.int("output_fp16")? {
        0 => Some(ElemType::Bfloat16),
        1 => Some(ElemType::Float16),
        _ => None,
    };
    cx.set_elem(0, elem);
    cx.expect_rank(0, 4)?;
    let (batch, length, heads) = (cx.dim(0, 0), cx.dim(0, 1), cx.dim(0, 2));
    let width = match cx.int("input_width")? {
        0 => cx.dim(0, 3),
        width => known(width),
    };
    cx.set_dims(1, vec![batch.clone(), length.clone(), heads.clone(), width.clone()]);
    let merged = mul(&heads, &width);
    if cx.flag("flatten_batch") {
        cx.set_dims(0, vec![known(1), mul(&batch, &length), merged]);
    } else {
        cx.set_dims(0, vec![batch, length, merged]);
    }
    Some(())
}

/// `BiasSplitGelu`: halves the last axis, because one half is the gate of the other.
pub fn split_gelu(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let last = dims.last_mut()?;
    *last = quotient(last, 2);
    cx.set_dims(0, dims);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::check_call;

    #[test]
    fn attention_appends_keys_and_values_to_the_past() {
        check_call(
            "float[b, s, 64] x, float[64, 192] w, float[192] c, int32[b] m, float[2, b, 4, p, 16] past",
            "com.microsoft.Attention <num_heads = 4> (x, w, c, m, past)",
            "float[b, s, 64]; float[2, b, 4, p + s, 16]",
        );
        check_call(
            "float[b, q, 64] x, float[b, k, 64] y, float[b, k, 32] z",
            "com.microsoft.MultiHeadAttention <num_heads = 4> (x, y, z)",
            "float[b, q, 32]; float[b, 4, k, 16]; float[b, 4, k, 8]",
        );
        check_call(
            "float16[b, s, 96] x, float16[b, 2, p, 16] pk, float16[b, 2, p, 16] pv, int32[b] l, int32 t",
            "com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 2> (x, , , pk, pv, l, t)",
            "float16[b, s, 32]; float16[b, 2, y1_dim_2, 16]; float16[b, 2, y2_dim_2, 16]",
        );
    }

    #[test]
    fn norm_rotary_depends_on_its_attributes() {
        for (width, attrs, outputs) in [
            (16, "", "bfloat16[b, s, 64]; float[b, s, 4, 16]"),
            (16, ", output_fp16 = 1, flatten_batch = 1", "float16[1, b*s, 64]; float[b, s, 4, 16]"),
            (8, ", input_start = 4, input_width = 8", "bfloat16[b, s, 32]; float[b, s, 4, 8]"),
        ] {
            let inputs =
                format!("float16[b, s, 4, 16] x, float[{width}] g, int64[1] p, float[r, 4] c, float[r, 4] d");
            let call =
                format!("com.microsoft.RMSNormRotary <rotary_embedding_dim = 8{attrs}> (x, g, p, c, d)");
            check_call(&inputs, &call, outputs);
        }
    }

    #[test]
    fn normalization_returns_statistics_and_sums() {
        check_call(
            "float[b, s, 8] x, float[b, s, 8] y, float[8] g",
            "com.microsoft.SkipLayerNormalization(x, y, g)",
            "float[b, s, 8]; float[b, s, 1]; float[b, s, 1]; float[b, s, 8]",
        );
        check_call(
            "int32[b, s] i, int32[b, s] t, float[99, 8] w, float[64, 8] p, float[2, 8] e, float[8] g, float[8] c",
            "com.microsoft.EmbedLayerNormalization(i, t, w, p, e, g, c)",
            "float[b, s, 8]; int32[b]; float[b, s, 8]",
        );
    }
}
