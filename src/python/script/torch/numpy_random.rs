//! Random numbers of NumPy.

use super::super::calls::Args;
use super::super::value::Value;

/// Returns true for a function of random numbers that returns a Python number, because it gets no size.
pub fn is_drawn_number(name: &str, args: &Args) -> bool {
    let at = match name {
        "random.random" | "random.random_sample" | "random.standard_normal" => 0,
        "random.uniform" | "random.normal" | "random.randint" | "random.integers" => 2,
        _ => return false,
    };
    matches!(args.get(at, "size"), None | Some(Value::None))
}
