//! Recurrent layers: RNN, GRU and LSTM.

use super::cell::{Cell, activations};
use super::conv::MISFIT;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::layout::permuted;
use crate::infer::eval::shape::to_size;
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Returns the number of gates of an operator.
fn gate_count(op: &str) -> Result<usize> {
    match op {
        "RNN" => Ok(1),
        "GRU" => Ok(3),
        "LSTM" => Ok(4),
        _ => Err(Refusal::Unsupported),
    }
}

/// Swaps the first two axes if `layout` is 1.
/// The swap moves the batch axis of an input from first to second, and that of an output back to first.
fn batch_second(cx: &Cx, x: &Array) -> Result<Array> {
    match (cx.int("layout", 0), x.rank()) {
        (1, 3) => permuted(x, &[1, 0, 2]),
        (0, 3) => Ok(x.clone()),
        _ => bad("`layout` must be 0 or 1, and the input and the states must have rank 3"),
    }
}

/// Sizes of a call.
struct Sizes {
    length: usize,
    batch: usize,
    width: usize,
    directions: usize,
    /// Number of gates times hidden size.
    rows: usize,
    hidden: usize,
}

impl Sizes {
    fn of(cx: &Cx, x: &Array, gates: usize, directions: usize) -> Result<Sizes> {
        let (w, r) = (cx.tensor(1)?, cx.tensor(2)?);
        let (&[length, batch, width], &[_, _, hidden]) = (x.shape(), r.shape()) else {
            return bad("the input and the weights must have rank 3");
        };
        let rows = gates.checked_mul(hidden).ok_or(Refusal::TooLarge)?;
        let fits = w.shape() == [directions, rows, width]
            && r.shape() == [directions, rows, hidden]
            && cx.int_attr("hidden_size").is_none_or(|size| size == hidden as i64);
        if !fits {
            return Err(MISFIT);
        }
        let terms = width.saturating_add(hidden).saturating_add(1);
        cx.work(&[length, batch, directions, rows, terms])?;
        Ok(Sizes { length, batch, width, directions, rows, hidden })
    }

    fn state_shape(&self) -> [usize; 3] {
        [self.directions, self.batch, self.hidden]
    }

    /// Returns an initial state; zero if absent.
    fn state(&self, cx: &Cx, i: usize) -> Result<Vec<f64>> {
        let shape = self.state_shape();
        match cx.maybe(i)? {
            Some(given) => match batch_second(cx, given)? {
                given if given.shape() == shape => given.f64s(),
                _ => Err(MISFIT),
            },
            None => Ok(vec![0.0; cx.room(&shape)?]),
        }
    }

    /// Returns a matrix with one row per direction; zero if absent.
    fn matrix(&self, cx: &Cx, i: usize, columns: usize) -> Result<Vec<f64>> {
        match cx.maybe(i)? {
            Some(given) if given.shape() == [self.directions, columns] => given.f64s(),
            Some(_) => Err(MISFIT),
            None => Ok(vec![0.0; cx.room(&[self.directions, columns])?]),
        }
    }
}

/// Computes `RNN`, `GRU` or `LSTM`: all hidden states, the last one and (`LSTM`) the last cell state.
pub(super) fn recurrent(cx: &Cx) -> Result<Vec<Array>> {
    let x = cx.tensor(0)?;
    let gates = gate_count(cx.call.op)?;
    let reversed: &[bool] = match cx.text("direction", "forward").as_str() {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        _ => return bad("unknown value of `direction`"),
    };
    cx.room(x.shape())?;
    let sequences = batch_second(cx, x)?;
    let sizes = Sizes::of(cx, &sequences, gates, reversed.len())?;
    let lstm = cx.call.op == "LSTM";
    let mut h = sizes.state(cx, 5)?;
    let mut c = if lstm { sizes.state(cx, 6)? } else { vec![0.0; h.len()] };
    let y = run(cx, &sizes, reversed, &sequences.f64s()?, (&mut h, &mut c))?;
    let shape = vec![sizes.length, sizes.directions, sizes.batch, sizes.hidden];
    let y = Array::from_f64s(x.elem(), shape, y)?;
    let batch_first = cx.int("layout", 0) == 1;
    let mut outputs = vec![if batch_first { permuted(&y, &[2, 0, 1, 3])? } else { y }];
    for state in [Some(h), lstm.then_some(c)].into_iter().flatten() {
        outputs.push(batch_second(cx, &Array::from_f64s(x.elem(), sizes.state_shape().to_vec(), state)?)?);
    }
    Ok(outputs)
}

/// Runs all directions over all sequences and updates the states.
fn run(
    cx: &Cx,
    sizes: &Sizes,
    reversed: &[bool],
    x: &[f64],
    (h, c): (&mut [f64], &mut [f64]),
) -> Result<Vec<f64>> {
    let &Sizes { length, batch, width, directions, rows, hidden } = sizes;
    let lengths = lengths(cx, length, batch)?;
    let (w, r, bias) = (cx.tensor(1)?.f64s()?, cx.tensor(2)?.f64s()?, sizes.matrix(cx, 3, 2 * rows)?);
    let peepholes = match cx.call.op {
        "LSTM" => sizes.matrix(cx, 7, 3 * hidden)?,
        _ => vec![],
    };
    let functions = activations(cx, directions)?;
    let mut y = vec![0.0; cx.room(&[length, directions, batch, hidden])?];
    for (d, &reverse) in reversed.iter().enumerate() {
        let cell = Cell {
            hidden,
            input: part(&w, d, directions),
            recurrent: part(&r, d, directions),
            bias: part(&bias, d, directions),
            peepholes: part(&peepholes, d, directions),
            functions: part(&functions, d, directions),
            clip: cx.float_attr("clip"),
            linear_before_reset: cx.flag("linear_before_reset", false)?,
            coupled: cx.flag("input_forget", false)?,
        };
        for n in 0..batch {
            let line = (d * batch + n) * hidden..(d * batch + n + 1) * hidden;
            let (h, c) = (&mut h[line.clone()], &mut c[line]);
            for step in 0..lengths[n] {
                let t = if reverse { lengths[n] - 1 - step } else { step };
                let x = &x[(t * batch + n) * width..][..width];
                match cx.call.op {
                    "RNN" => cell.simple(x, h),
                    "GRU" => cell.gated(x, h),
                    _ => cell.long_short(x, h, c),
                }
                y[((t * directions + d) * batch + n) * hidden..][..hidden].copy_from_slice(h);
            }
        }
    }
    Ok(y)
}

/// Returns the part of weights, biases or activations that belongs to one direction.
fn part<T>(all: &[T], direction: usize, directions: usize) -> &[T] {
    let each = all.len() / directions;
    &all[direction * each..(direction + 1) * each]
}

/// Returns the length of each sequence of the batch.
fn lengths(cx: &Cx, length: usize, batch: usize) -> Result<Vec<usize>> {
    let Some(given) = cx.maybe(4)? else { return Ok(vec![length; batch]) };
    let lengths = given.as_i64s()?.into_iter().map(to_size).collect::<Result<Vec<_>>>()?;
    match lengths.len() == batch && lengths.iter().all(|&own| own <= length) {
        true => Ok(lengths),
        false => Err(MISFIT),
    }
}
