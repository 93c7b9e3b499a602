//! The warning "torch.tensor results are registered as constants in the trace", and its harmless cases.

use crate::diag::Level;
use crate::diag::rule_ids;

use super::report::{Words, shown};

/// Returns the finding for the warning; `None` if the line shows that the warning is harmless.
pub fn constant_tensor(function: &str, code: &str) -> Option<Words> {
    let from_numpy = function.ends_with("from_numpy");
    if !from_numpy && (is_literal_call(function, code) || is_size_call(function, code)) {
        return None;
    }
    // A constant that reads no size or value, such as `np.hanning(8)`, may be the same for every input.
    let reads = [".shape", ".size(", "len(", ".numpy(", ".item(", ".tolist(", "float(", "int("];
    let varies = reads.iter().any(|read| code.contains(read));
    Some(Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: if varies { Level::Warning } else { Level::Info },
        message: format!("{} becomes a constant with the values of the example input",
            shown(code, &format!("a result of `{function}`"))),
        note: "NumPy and Python values are not traced; if they depend on the input or its sizes, the graph is wrong \
               for other inputs",
        help: "create it with torch functions of the inputs (`torch.ones_like(x)`, `x.new_ones(x.shape[0], 5)`), or \
               once in `__init__` as a buffer if it never changes"
            .into(),
    })
}

/// Returns true if all calls of `function` in `code` have a single size as first argument.
///
/// Sizes are tensors while tracing, so that `torch.tensor(x.shape[1])` is traced.
fn is_size_call(function: &str, code: &str) -> bool {
    let name = function.rsplit('.').next().unwrap_or(function);
    let calls: Vec<&str> = code.split(&format!("{name}(")).skip(1).collect();
    let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "._".contains(c));
    let is_size = |argument: &str| {
        let item = argument.split_once(".shape[").and_then(|(of, rest)| Some((of, rest.strip_suffix(']')?)));
        let call = argument.split_once(".size(").and_then(|(of, rest)| Some((of, rest.strip_suffix(')')?)));
        item.or(call).is_some_and(|(of, at)| is_name(of) && at.parse::<i64>().is_ok())
    };
    !calls.is_empty() && calls.iter().all(|rest| is_size(first_argument(rest).trim()))
}

/// Returns true if all calls of `function` in `code` have a literal as first argument.
fn is_literal_call(function: &str, code: &str) -> bool {
    let name = function.rsplit('.').next().unwrap_or(function);
    let calls: Vec<&str> = code.split(&format!("{name}(")).skip(1).collect();
    !calls.is_empty() && calls.iter().all(|rest| is_literal(first_argument(rest)))
}

/// Returns the text before the first comma, or before the end of the call.
fn first_argument(rest: &str) -> &str {
    let mut depth = 0i32;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return &rest[..at],
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => return &rest[..at],
            _ => {}
        }
    }
    rest
}

/// Returns true for numbers and booleans, nested in any containers.
fn is_literal(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
    let number =
        |word: &str| word.as_bytes().first().is_some_and(u8::is_ascii_digit) || word.starts_with('.');
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| number(word) || matches!(word, "True" | "False"))
}
