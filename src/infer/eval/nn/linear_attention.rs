//! Linear attention: a state matrix per head, updated token by token.

use super::conv::MISFIT;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::to_size;
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Sizes of a call. The state of a head has `key × value` elements.
#[derive(Clone, Copy)]
struct Sizes {
    batch: usize,
    length: usize,
    heads: usize,
    key: usize,
    value: usize,
}

/// Decay and update rate, if `update_rule` uses them.
struct Gates {
    /// Logarithms of the decay factors, per token, head and key element.
    decay: Option<Vec<f64>>,
    /// Update rates, per token and head.
    rate: Option<Vec<f64>>,
}

/// Computes `LinearAttention`: the packed output and the final state.
pub(super) fn linear_attention(cx: &Cx) -> Result<Vec<Array>> {
    let (q, k, v) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    let (q_heads, heads) = (to_size(cx.int("q_num_heads", 0))?, to_size(cx.int("kv_num_heads", 0))?);
    let (&[batch, length, q_width], &[.., k_width], &[.., v_width]) = (q.shape(), k.shape(), v.shape())
    else {
        return Err(MISFIT);
    };
    let divides = |width: usize, by: usize| by > 0 && width.is_multiple_of(by);
    if !divides(q_width, q_heads) || !divides(k_width, heads) || !divides(v_width, heads) {
        return Err(MISFIT);
    }
    let sizes = Sizes { batch, length, heads, key: k_width / heads, value: v_width / heads };
    let fits = q_heads % heads == 0
        && q_width / q_heads == sizes.key
        && k.shape() == [batch, length, k_width]
        && v.shape() == [batch, length, v_width];
    if !fits {
        return Err(MISFIT);
    }
    let state_shape = [batch, heads, sizes.key, sizes.value];
    cx.work(&[batch, length, q_heads, sizes.key, sizes.value])?;
    let mut state = match cx.maybe(3)? {
        Some(past) if past.shape() == state_shape => past.f64s()?,
        Some(_) => return Err(MISFIT),
        None => vec![0.0; cx.room(&state_shape)?],
    };
    let gates = gates(cx, sizes)?;
    let scale = match cx.float("scale", 0.0) {
        0.0 => 1.0 / (sizes.key as f64).sqrt(),
        scale => scale,
    };
    let out_shape = vec![batch, length, q_heads * sizes.value];
    let mut y = vec![0.0; cx.room(&out_shape)?];
    let (queries, keys, values) = (q.f64s()?, k.f64s()?, v.f64s()?);
    let (area, shared) = (sizes.key * sizes.value, q_heads / heads);
    for token in 0..batch * length {
        for h in 0..heads {
            let head = token / length * heads + h;
            let state = &mut state[head * area..(head + 1) * area];
            let at = token * heads + h;
            let (key, value) =
                (&keys[at * sizes.key..][..sizes.key], &values[at * sizes.value..][..sizes.value]);
            update(state, key, value, &gates, at);
            for query_head in h * shared..(h + 1) * shared {
                let from = token * q_heads + query_head;
                let query = &queries[from * sizes.key..][..sizes.key];
                let out = &mut y[from * sizes.value..][..sizes.value];
                for (i, q) in query.iter().enumerate() {
                    out.iter_mut().zip(&state[i * sizes.value..]).for_each(|(y, s)| *y += scale * q * s);
                }
            }
        }
    }
    let state_type = cx.maybe(3)?.map_or(q.elem(), Array::elem);
    Ok(vec![
        Array::from_f64s(q.elem(), out_shape, y)?,
        Array::from_f64s(state_type, state_shape.to_vec(), state)?,
    ])
}

fn gates(cx: &Cx, sizes: Sizes) -> Result<Gates> {
    let (gated, delta) = match cx.text("update_rule", "gated_delta").as_str() {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        "gated_delta" => (true, true),
        _ => return bad("unknown value of `update_rule`"),
    };
    let per_head = sizes.batch * sizes.length * sizes.heads;
    // A gate with fewer than `count` values has one value per head for all key elements, or one per token
    // for all heads.
    let gate = |i: usize, needed: bool, count: usize| -> Result<Option<Vec<f64>>> {
        if !needed {
            return Ok(None);
        }
        let array = cx.maybe(i)?.ok_or(Refusal::BadInput("a gate required by `update_rule` is absent"))?;
        let is_of_tokens = array.shape().get(..2) == Some(&[sizes.batch, sizes.length]);
        if !is_of_tokens || array.is_empty() || !count.is_multiple_of(array.len()) {
            return Err(MISFIT);
        }
        let (values, repeat) = (array.f64s()?, count / array.len());
        Ok(Some((0..count).map(|i| values[i / repeat]).collect()))
    };
    cx.room(&[per_head, sizes.key])?;
    Ok(Gates { decay: gate(4, gated, per_head * sizes.key)?, rate: gate(5, delta, per_head)? })
}

/// Runs one step of the recurrence on the state of one head.
/// `at` is the index of the head among the heads of all tokens.
fn update(state: &mut [f64], key: &[f64], value: &[f64], gates: &Gates, at: usize) {
    let rows = |state: &mut [f64], apply: &mut dyn FnMut(usize, &mut [f64])| {
        state.chunks_mut(value.len().max(1)).enumerate().for_each(|(i, row)| apply(i, row));
    };
    if let Some(decay) = &gates.decay {
        rows(state, &mut |i, row| {
            let kept = decay[at * key.len() + i].exp();
            row.iter_mut().for_each(|s| *s *= kept);
        });
    }
    let mut change = value.to_vec();
    if let Some(rate) = &gates.rate {
        // Subtract the state's current response to this key.
        rows(state, &mut |i, row| change.iter_mut().zip(row).for_each(|(c, s)| *c -= key[i] * *s));
        change.iter_mut().for_each(|c| *c *= rate[at]);
    }
    rows(state, &mut |i, row| row.iter_mut().zip(&change).for_each(|(s, c)| *s += key[i] * c));
}
