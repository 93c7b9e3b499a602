//! Scaled dot-product attention.

use half::{bf16, f16};

use super::conv::MISFIT;
use super::softmax::softmax_line;
use crate::graph::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::layout::{join, permuted};
use crate::infer::eval::shape::{spread, to_size};
use crate::infer::eval::{Array, Attr, Refusal, Result, bad};

/// Queries, keys or values as `batch × heads × sequence × size`.
struct Heads {
    array: Array,
    data: Vec<f64>,
    heads: usize,
    length: usize,
    size: usize,
}

impl Heads {
    fn of(array: Array) -> Result<Heads> {
        let &[_, heads, length, size] = array.shape() else {
            return bad("the unpacked heads must have rank 4");
        };
        Ok(Heads { data: array.f64s()?, array, heads, length, size })
    }

    /// Returns the vector at a sequence position.
    fn vector(&self, batch: usize, head: usize, at: usize) -> &[f64] {
        let start = ((batch * self.heads + head) * self.length + at) * self.size;
        &self.data[start..start + self.size]
    }
}

/// Splits `batch × sequence × (heads · size)` into heads; inputs of rank 4 are already split.
pub(super) fn split_heads(x: &Array, heads: Option<usize>) -> Result<Array> {
    match (x.shape(), heads) {
        ([_, _, _, _], _) => Ok(x.clone()),
        (&[batch, length, width], Some(heads)) if heads > 0 && width % heads == 0 => {
            permuted(&x.reshaped(vec![batch, length, heads, width / heads])?, &[0, 2, 1, 3])
        }
        _ => Err(MISFIT),
    }
}

/// Merges heads again if the operator's input had rank 3.
pub(super) fn merge_heads(y: Array, rank: usize) -> Result<Array> {
    match (rank, y.shape()) {
        (3, &[batch, heads, length, size]) => {
            permuted(&y, &[0, 2, 1, 3])?.reshaped(vec![batch, length, heads * size])
        }
        _ => Ok(y),
    }
}

/// Computes `Attention`: the output, the keys and values with the past ones, and the scores.
pub(super) fn attention(cx: &Cx) -> Result<Vec<Array>> {
    let (q, k, v) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    for x in [q, k, v] {
        cx.room(x.shape())?;
    }
    if q.rank() != k.rank() || q.rank() != v.rank() {
        return bad("query, key and value must have the same rank");
    }
    let count = |name| cx.int_attr(name).map(to_size).transpose();
    let (q_heads, kv_heads) = (count("q_num_heads")?, count("kv_num_heads")?);
    let cached = |i: usize, x: Array| match cx.maybe(i)? {
        Some(past) => join(cx, &[past, &x], 2),
        None => Ok(x),
    };
    let queries = Heads::of(split_heads(q, q_heads)?)?;
    let keys = Heads::of(cached(4, split_heads(k, kv_heads)?)?)?;
    let values = Heads::of(cached(5, split_heads(v, kv_heads)?)?)?;
    let past = cx.maybe(4)?.map(|past| past.shape()[2]);
    let mask = Mask::of(cx, &queries, &keys, past)?;
    let (y, scores) = attend(cx, &queries, &keys, &values, &mask)?;
    let y = Array::from_f64s(q.elem(), y.0, y.1)?;
    let scores = Array::from_f64s(q.elem(), scores.0, scores.1)?;
    Ok(vec![merge_heads(y, q.rank())?, keys.array, values.array, scores])
}

/// Computes `FlexAttention`; refuses calls with subgraphs, which only the caller can run.
pub fn flex_attention(cx: &Cx) -> Result<Array> {
    if ["score_mod", "prob_mod"].iter().any(|name| matches!(cx.attr(name), Some(Attr::Other))) {
        return Err(Refusal::Unsupported);
    }
    let heads = |i| Heads::of(cx.tensor(i)?.clone());
    let (queries, keys, values) = (heads(0)?, heads(1)?, heads(2)?);
    let ((shape, y), _) = attend(cx, &queries, &keys, &values, &Mask::default())?;
    Array::from_f64s(cx.tensor(0)?.elem(), shape, y)
}

type Shaped = (Vec<usize>, Vec<f64>);

/// Returns the attention output, and the scores at the stage given by `qk_matmul_output_mode`.
fn attend(cx: &Cx, q: &Heads, k: &Heads, v: &Heads, mask: &Mask) -> Result<(Shaped, Shaped)> {
    let batch = q.array.shape()[0];
    let fits = [k.array.shape()[0], v.array.shape()[0]] == [batch; 2]
        && (k.size, k.heads, k.length) == (q.size, v.heads, v.length)
        && k.heads > 0
        && q.heads.is_multiple_of(k.heads);
    if !fits {
        return Err(MISFIT);
    }
    let shape = vec![batch, q.heads, q.length, v.size];
    let score_shape = vec![batch, q.heads, q.length, k.length];
    cx.room(&shape)?;
    cx.room(&score_shape)?;
    cx.work(&[batch, q.heads, q.length, k.length, q.size.max(v.size)])?;
    let scale = cx.float_attr("scale").unwrap_or(1.0 / (q.size as f64).sqrt());
    let (cap, mode) = (cx.float("softcap", 0.0), cx.int("qk_matmul_output_mode", 0));
    if !(0..=3).contains(&mode) {
        return bad("`qk_matmul_output_mode` must be from 0 to 3");
    }
    let (mut y, mut shown) = (vec![], vec![]);
    for row in 0..batch * q.heads * q.length {
        let (n, h, i) = (row / q.length / q.heads, row / q.length % q.heads, row % q.length);
        let kv_head = h / (q.heads / k.heads);
        let query = q.vector(n, h, i);
        let dot = |j| query.iter().zip(k.vector(n, kv_head, j)).map(|(a, b)| a * b).sum::<f64>() * scale;
        let mut line: Vec<f64> = (0..k.length).map(dot).collect();
        let raw = line.clone();
        if cap > 0.0 {
            line.iter_mut().for_each(|x| *x = (*x / cap).tanh() * cap);
        }
        let capped = line.clone();
        let bias: Vec<f64> = (0..k.length).map(|j| mask.bias(n, row, i, j)).collect();
        line.iter_mut().zip(&bias).for_each(|(x, bias)| *x += bias);
        let masked = line.clone();
        let masks_all = |least: f64| bias.iter().all(|&bias| bias <= least);
        match masks_all(f64::NEG_INFINITY) {
            true => line.fill(0.0),
            // In ONNX Runtime, a mask value equal to the lowest number of its type masks the key, like -inf.
            // By the specification, only -inf masks the key.
            false if mask.lowest.is_some_and(masks_all) => return Err(Refusal::Unsupported),
            false => softmax_line(&mut line),
        }
        shown.extend(match mode {
            0 => &raw,
            1 => &capped,
            2 => &masked,
            _ => &line,
        });
        y.extend((0..v.size).map(|d| {
            let terms = line.iter().enumerate().filter(|(_, p)| **p != 0.0);
            terms.map(|(j, p)| p * v.vector(n, kv_head, j)[d]).sum::<f64>()
        }));
    }
    Ok(((shape, y), (score_shape, shown)))
}

/// Score biases: a mask, causality, a sliding window, padding.
#[derive(Default)]
struct Mask {
    /// Mask values, the index of the mask row for each score row, and the length of a mask row.
    given: Option<(Vec<f64>, Vec<usize>, usize)>,
    causal: bool,
    left: Option<i64>,
    right: Option<i64>,
    /// Number of keys before the first query, per sample.
    offsets: Vec<i64>,
    /// Number of keys that are not padding, per sample.
    valid: Option<Vec<i64>>,
    /// Lowest number of the type of the mask.
    lowest: Option<f64>,
}

impl Mask {
    fn of(cx: &Cx, q: &Heads, k: &Heads, past: Option<usize>) -> Result<Mask> {
        let batch = q.array.shape()[0];
        let valid = cx.maybe(6)?.map(Array::as_i64s).transpose()?;
        if valid.as_ref().is_some_and(|valid| valid.len() != batch || past.is_some()) {
            return Err(MISFIT);
        }
        let offsets = match &valid {
            Some(valid) => valid.iter().map(|&count| count.saturating_sub(q.length as i64)).collect(),
            None => vec![past.unwrap_or(0) as i64; batch],
        };
        let bound = |name| cx.int_attr(name).filter(|&size| size >= 0);
        let given = cx.maybe(3)?.map(|mask| Mask::given(cx, mask, q, k)).transpose()?;
        let causal = cx.flag("is_causal", false)?;
        let (left, right) = (bound("left_window_size"), bound("right_window_size"));
        let lowest = cx.maybe(3)?.map(|mask| match mask.elem() {
            ElemType::Float16 => f16::MIN.to_f64(),
            ElemType::Bfloat16 => bf16::MIN.to_f64(),
            ElemType::Float => f64::from(f32::MIN),
            _ => f64::MIN,
        });
        Ok(Mask { given, causal, left, right, offsets, valid, lowest })
    }

    /// Reads the mask. Keys beyond the end of a short mask are masked.
    fn given(cx: &Cx, mask: &Array, q: &Heads, k: &Heads) -> Result<(Vec<f64>, Vec<usize>, usize)> {
        // With `is_causal`, runtimes disagree on integer masks, which cannot hold -inf.
        if mask.elem().is_integer() {
            return Err(Refusal::Unsupported);
        }
        let values = match mask.as_bools() {
            Ok(flags) => flags.iter().map(|&keep| if keep { 0.0 } else { f64::NEG_INFINITY }).collect(),
            Err(_) => mask.f64s()?,
        };
        let Some((&length, lead)) = mask.shape().split_last() else { return Err(MISFIT) };
        if length > k.length || length == 1 && k.length > 1 {
            return Err(Refusal::Unsupported);
        }
        let rows = [q.array.shape()[0], q.heads, q.length];
        cx.room(&rows)?;
        Ok((values, spread(lead, &rows)?, length))
    }

    /// Returns the bias of key `j` for query `i` of sample `n`; `row` is the index of the score row.
    fn bias(&self, n: usize, row: usize, i: usize, j: usize) -> f64 {
        let (place, key) = (i as i64 + self.offsets.get(n).copied().unwrap_or(0), j as i64);
        let hidden = self.causal && key > place
            || self.left.is_some_and(|left| key < place.saturating_sub(left))
            || self.right.is_some_and(|right| key > place.saturating_add(right))
            || self.valid.as_ref().is_some_and(|valid| key >= valid[n]);
        match &self.given {
            _ if hidden => f64::NEG_INFINITY,
            Some((_, _, length)) if j >= *length => f64::NEG_INFINITY,
            Some((values, rows, length)) => values[rows[row] * length + j],
            None => 0.0,
        }
    }
}
