//! Recurrent layers: RNN, GRU and LSTM.

use super::cell::{Activation, Cell, activations};
use super::conv::MISFIT;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::layout::permuted;
use crate::infer::eval::shape::to_size;
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Gates of each operator, in the order of its weights.
fn gate_count(op: &str) -> Result<usize> {
    match op {
        "RNN" => Ok(1),
        "GRU" => Ok(3),
        "LSTM" => Ok(4),
        _ => Err(Refusal::Unsupported),
    }
}

/// With `layout` 1 the batch comes first everywhere; inside, the sequence does.
fn batch_second(cx: &Cx, x: &Array) -> Result<Array> {
    match (cx.int("layout", 0), x.rank()) {
        (1, 3) => permuted(x, &[1, 0, 2]),
        (0, 3) => Ok(x.clone()),
        _ => bad("expected three dimensions"),
    }
}

/// The hidden states over time, the last hidden state and (of an LSTM) the last cell state.
pub(super) fn recurrent(cx: &Cx) -> Result<Vec<Array>> {
    let (x, w, r) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    let gates = gate_count(cx.call.op)?;
    let elem = x.elem();
    cx.room(x.shape())?;
    let x = batch_second(cx, x)?;
    let (&[length, batch, width], &[directions, rows, columns], &[d, r_rows, hidden]) =
        (x.shape(), w.shape(), r.shape())
    else {
        return bad("expected three dimensions");
    };
    let reversed: &[bool] = match cx.text("direction", "forward").as_str() {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        _ => return bad("unknown direction"),
    };
    let fits = directions == reversed.len()
        && d == directions
        && columns == width
        && gates.checked_mul(hidden) == Some(rows)
        && r_rows == rows
        && cx.int_attr("hidden_size").is_none_or(|size| size == hidden as i64);
    if !fits {
        return Err(MISFIT);
    }
    cx.work(&[length, batch, directions, rows, width.saturating_add(hidden).saturating_add(1)])?;
    let lengths = lengths(cx, length, batch)?;
    let sized = |i: usize, shape: [usize; 2]| match cx.maybe(i)? {
        Some(given) if given.shape() == shape => given.f64s(),
        Some(_) => Err(MISFIT),
        None => Ok(vec![0.0; shape[0] * shape[1]]),
    };
    let state_shape = [directions, batch, hidden];
    let state = |i: usize| match cx.maybe(i)? {
        Some(given) => match batch_second(cx, given)? {
            given if given.shape() == state_shape => given.f64s(),
            _ => Err(MISFIT),
        },
        None => Ok(vec![0.0; cx.room(&state_shape)?]),
    };
    let lstm = cx.call.op == "LSTM";
    let (bias, peepholes) = (sized(3, [directions, 2 * rows])?, peepholes(cx, directions, hidden)?);
    let (mut h, mut c) = (state(5)?, if lstm { state(6)? } else { vec![0.0; directions * batch * hidden] });
    let functions = activations(cx, directions)?;
    let (x, w, r) = (x.f64s()?, w.f64s()?, r.f64s()?);
    let y_shape = [length, directions, batch, hidden];
    let mut y = vec![0.0; cx.room(&y_shape)?];
    for (d, &reverse) in reversed.iter().enumerate() {
        let cell = Cell {
            hidden,
            input: &w[d * rows * width..(d + 1) * rows * width],
            recurrent: &r[d * rows * hidden..(d + 1) * rows * hidden],
            bias: &bias[d * 2 * rows..(d + 1) * 2 * rows],
            peepholes: &peepholes[d * 3 * hidden..(d + 1) * 3 * hidden],
            functions: functions_of(&functions, d, directions),
            clip: cx.float_attr("clip"),
            linear_before_reset: cx.flag("linear_before_reset", false),
            coupled: cx.flag("input_forget", false),
        };
        for n in 0..batch {
            let line = (d * batch + n) * hidden..(d * batch + n + 1) * hidden;
            for step in 0..lengths[n] {
                let t = if reverse { lengths[n] - 1 - step } else { step };
                let x = &x[(t * batch + n) * width..][..width];
                let (h, c) = (&mut h[line.clone()], &mut c[line.clone()]);
                match gates {
                    1 => cell.simple(x, h),
                    3 => cell.gated(x, h),
                    _ => cell.long_short(x, h, c),
                }
                y[((t * directions + d) * batch + n) * hidden..][..hidden].copy_from_slice(h);
            }
        }
    }
    let y = Array::from_f64s(elem, y_shape.to_vec(), y)?;
    let first = cx.int("layout", 0) == 1;
    let mut outputs = vec![if first { permuted(&y, &[2, 0, 1, 3])? } else { y }];
    for state in [Some(h), lstm.then_some(c)].into_iter().flatten() {
        outputs.push(batch_second(cx, &Array::from_f64s(elem, state_shape.to_vec(), state)?)?);
    }
    Ok(outputs)
}

fn functions_of(all: &[Activation], direction: usize, directions: usize) -> &[Activation] {
    let each = all.len() / directions;
    &all[direction * each..(direction + 1) * each]
}

/// Length of each sequence of the batch.
fn lengths(cx: &Cx, length: usize, batch: usize) -> Result<Vec<usize>> {
    let Some(given) = cx.maybe(4)? else { return Ok(vec![length; batch]) };
    let lengths = given.as_i64s()?.into_iter().map(to_size).collect::<Result<Vec<_>>>()?;
    match lengths.len() == batch && lengths.iter().all(|&own| own <= length) {
        true => Ok(lengths),
        false => Err(MISFIT),
    }
}

fn peepholes(cx: &Cx, directions: usize, hidden: usize) -> Result<Vec<f64>> {
    match cx.maybe(7)?.filter(|_| cx.call.op == "LSTM") {
        Some(given) if given.shape() == [directions, 3 * hidden] => given.f64s(),
        Some(_) => Err(MISFIT),
        None => Ok(vec![0.0; directions * 3 * hidden]),
    }
}
