//! Shape rules of attention and related transformer operators of ONNX.

use super::Cx;
use super::elementwise::same;
use crate::infer::shape::{Shape, Size, add, known, mul};

/// Head dimensions of queries, keys or values.
struct Heads {
    heads: Size,
    length: Size,
    head_size: Size,
}

/// Reads the head dimensions of an input.
///
/// The input is `[batch, heads, length, size]`, or `[batch, length, heads * size]` with the number of heads in
/// an attribute.
fn heads(cx: &Cx, input: usize, attr: &str) -> Option<Heads> {
    if cx.rank(input)? == 4 {
        let [heads, length, head_size] = [1, 2, 3].map(|axis| cx.dim(input, axis));
        return Some(Heads { heads, length, head_size });
    }
    let heads = cx.int(attr).filter(|&heads| heads > 0);
    let head_size = heads.and_then(|heads| cx.dim(input, 2)?.floor_div(heads));
    Some(Heads { heads: heads.and_then(known), length: cx.dim(input, 1), head_size })
}

/// `Attention` of `ai.onnx`: returns the output, all keys and values, and the scores.
/// The returned keys and values start with the past ones.
pub fn attention(cx: &mut Cx) -> Option<()> {
    // `nonpad_kv_seqlen` holds one key count per row of the batch.
    cx.allow_rank(6, 1)?;
    let queries = heads(cx, 0, "q_num_heads");
    let keys = heads(cx, 1, "kv_num_heads");
    let values = heads(cx, 2, "kv_num_heads");
    let batch = cx.dim(0, 0);
    if let (Some(queries), Some(values)) = (&queries, &values) {
        let shape = match cx.rank(0) {
            Some(4) => {
                let Heads { heads, length, .. } = queries;
                Shape::new(vec![batch.clone(), heads.clone(), length.clone(), values.head_size.clone()])
            }
            _ => {
                let width = mul(&queries.heads, &values.head_size);
                Shape::new(vec![batch.clone(), queries.length.clone(), width])
            }
        };
        cx.set_shape(0, shape);
    }
    let (keys, values) = (keys?, values?);
    let past = if cx.has(4) { cx.dim(4, 2) } else { known(0) };
    let total = add(&past, &keys.length);
    cx.set_dims(1, vec![batch.clone(), keys.heads.clone(), total.clone(), keys.head_size]);
    cx.set_dims(2, vec![batch.clone(), values.heads, total.clone(), values.head_size]);
    let queries = queries?;
    cx.set_dims(3, vec![batch, queries.heads, queries.length, total]);
    Some(())
}

/// `FlexAttention`: returns one result per query, with the width of the values.
pub fn flex_attention(cx: &mut Cx) -> Option<()> {
    let dims = vec![cx.dim(0, 0), cx.dim(0, 1), cx.dim(0, 2), cx.dim(2, 3)];
    cx.set_dims(0, dims);
    Some(())
}

/// `LinearAttention`: returns packed results and the final state.
pub fn linear_attention(cx: &mut Cx) -> Option<()> {
    let (queries, heads) = (known(cx.int("q_num_heads")?), cx.int("kv_num_heads").filter(|&n| n > 0)?);
    let of_head = |input: usize| cx.dim(input, 2)?.floor_div(heads);
    let (key_size, value_size) = (of_head(1), of_head(2));
    let batch = cx.dim(0, 0);
    for gate in [4, 5] {
        if cx.rank(gate) == Some(3) {
            for axis in [0, 1] {
                cx.same_size((0, axis), (gate, axis));
            }
        }
    }
    cx.set_dims(0, vec![batch.clone(), cx.dim(0, 1), mul(&queries, &value_size)]);
    cx.set_dims(1, vec![batch, known(heads), key_size, value_size]);
    if !cx.has(3) {
        let elem = cx.elem(0);
        cx.set_elem(1, elem);
    }
    Some(())
}

/// `TensorScatter`: the output has the shape of the cache.
pub fn tensor_scatter(cx: &mut Cx) -> Option<()> {
    // The write indices hold one entry per row of the batch.
    cx.allow_rank(2, 1)?;
    same(cx)
}

/// `CausalConvWithState`: returns the result and a state of the last `k - 1` inputs.
pub fn causal_conv(cx: &mut Cx) -> Option<()> {
    let kept = (|| cx.dim(1, 2)?.sub(1))();
    let state = vec![cx.dim(0, 0), cx.dim(0, 1), kept];
    same(cx)?;
    cx.set_dims(1, state);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{check, check_call};

    #[test]
    fn attention_appends_keys_and_values_to_the_past() {
        let inputs = "float[b, 8, q, 64] x, float[b, 2, k, 64] y, float[b, 2, k, 32] z";
        check_call(inputs, "Attention(x, y, z)", "float[b, 8, q, 32]");
        let text = format!(
            "g ({inputs}, float[b, 2, p, 64] pk, float[b, 2, p, 32] pv) => (o, ok, ov, scores) {{
                o, ok, ov, scores = Attention(x, y, z, , pk, pv)
            }}"
        );
        let expected =
            ["ok: float[b, 2, k + p, 64]", "ov: float[b, 2, k + p, 32]", "scores: float[b, 8, q, k + p]"];
        check(&text, &expected);
    }

    #[test]
    fn attention_splits_packed_heads_by_attribute() {
        check_call(
            "float[b, q, 512] x, float[b, k, 128] y, float[b, k, 64] z",
            "Attention <q_num_heads = 8, kv_num_heads = 2> (x, y, z)",
            "float[b, q, 256]; float[b, 2, k, 64]; float[b, 2, k, 32]; float[b, 8, q, k]",
        );
    }

    #[test]
    fn linear_attention_and_causal_conv_return_their_state() {
        let header = "<ir_version: 13, opset_import: [\"\" : 27]>";
        check(
            &format!(
                "{header} g (float[b, t, 12] q, float[b, t, 6] k, float[b, t, 10] v) => (y, s) {{
                    y, s = LinearAttention <q_num_heads = 4, kv_num_heads = 2, update_rule = \"linear\"> (q, k, v)
                }}"
            ),
            &["y: float[b, t, 20]", "s: float[b, 2, 3, 5]"],
        );
        check(
            &format!(
                "{header} g (float[b, 6, t] x, float[6, 1, 4] w) => (y, s) {{ y, s = CausalConvWithState(x, w) }}"
            ),
            &["y: float[b, 6, t]", "s: float[b, 6, 3]"],
        );
    }
}
