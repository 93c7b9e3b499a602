//! Items of a Python `range`.

use super::value::Value;

/// Maximum number of items of a `range`.
const MAX_RANGE: i64 = 10_000;

/// Returns the items of a `range`, if there are not too many.
pub fn range_items<'t>(start: i64, stop: i64, step: i64) -> Option<Vec<Value<'t>>> {
    let count = range_length(start, stop, step)?;
    (count <= MAX_RANGE).then(|| (0..count).map(|at| Value::Int(start + at * step)).collect())
}

/// Returns the number of items of a `range`.
pub fn range_length(start: i64, stop: i64, step: i64) -> Option<i64> {
    let length = match step {
        0 => return None,
        step if step > 0 => stop.checked_sub(start)?.checked_add(step - 1)? / step,
        step => start.checked_sub(stop)?.checked_sub(step + 1)? / -step,
    };
    Some(length.max(0))
}
