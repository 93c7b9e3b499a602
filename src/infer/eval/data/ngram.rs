//! N-gram counting.

use std::collections::BTreeMap;

use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{to_size, to_sizes};
use crate::infer::eval::{Array, Refusal, Result, bad};

const MALFORMED: Refusal = Refusal::BadInput("the pool of n-grams is malformed");

/// Position of each n-gram in the pool, by the bytes of its items.
type Pool = BTreeMap<Vec<Vec<u8>>, usize>;

/// Returns the items as bytes; integers as decimal digits.
fn items(x: &Array) -> Result<Vec<Vec<u8>>> {
    match x.as_strings() {
        Ok(strings) => Ok(strings.to_vec()),
        Err(_) => Ok(x.as_i64s()?.iter().map(|item| item.to_string().into_bytes()).collect()),
    }
}

fn pool(cx: &Cx) -> Result<Pool> {
    let flat = match (cx.texts("pool_strings"), cx.ints("pool_int64s")) {
        (Some(strings), None) => strings,
        (None, Some(ints)) => ints.iter().map(|item| item.to_string().into_bytes()).collect(),
        _ => return Err(MALFORMED),
    };
    let starts = to_sizes(&cx.ints("ngram_counts").ok_or(MALFORMED)?)?;
    let mut pool = Pool::new();
    let mut place = 0;
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(flat.len());
        for gram in flat.get(start..end).ok_or(MALFORMED)?.chunks(i + 1) {
            pool.insert(gram.to_vec(), place);
            place += 1;
        }
    }
    Ok(pool)
}

/// Computes `TfIdfVectorizer`, which counts the n-grams of the pool in each row.
/// Between the items of an n-gram, the row may have gaps of equal length, up to `max_skip_count` items.
pub(super) fn tf_idf(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let (rows, width) = match *x.shape() {
        [width] => (1, width),
        [rows, width] => (rows, width),
        _ => return bad("the input must be a vector or a matrix"),
    };
    let size = |name| to_size(cx.int(name, 0));
    let (shortest, longest, skips) =
        (size("min_gram_length")?, size("max_gram_length")?, size("max_skip_count")?);
    let pool = pool(cx)?;
    let indexes = to_sizes(&cx.ints("ngram_indexes").ok_or(MALFORMED)?)?;
    let weights = cx.floats("weights").unwrap_or_else(|| vec![1.0; indexes.len()]);
    if pool.values().any(|&place| place >= indexes.len()) || weights.len() != indexes.len() || shortest == 0 {
        return Err(MALFORMED);
    }
    let columns = indexes.iter().max().map_or(0, |top| top.saturating_add(1));
    let mut y = vec![0.0; cx.room(&[rows, columns])?];
    cx.work(&[rows, width, longest.min(width), skips.min(width).saturating_add(1)])?;
    let (items, mode) = (items(x)?, cx.text("mode", ""));
    for row in 0..rows {
        let line = &items[row * width..(row + 1) * width];
        let mut counts = vec![0.0; indexes.len()];
        for length in shortest..=longest.min(width) {
            // A single item has no gaps.
            for stride in 1..=if length == 1 { 1 } else { skips.saturating_add(1).min(width) } {
                for start in 0..width {
                    let gram: Vec<Vec<u8>> =
                        line[start..].iter().step_by(stride).take(length).cloned().collect();
                    if let Some(&place) = pool.get(&gram).filter(|_| gram.len() == length) {
                        counts[place] += 1.0;
                    }
                }
            }
        }
        for (place, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0.0) {
            y[row * columns + indexes[place]] += match mode.as_str() {
                "TF" => count,
                "IDF" => weights[place],
                "TFIDF" => count * weights[place],
                _ => return bad("unknown value of `mode`"),
            };
        }
    }
    let shape = if x.rank() == 1 { vec![columns] } else { vec![rows, columns] };
    Array::from_f64s(ElemType::Float, shape, y)
}
