//! String operators.

use regex::Regex;

use crate::infer::eval::cx::Cx;
use crate::infer::eval::number::Pair;
use crate::infer::eval::shape::to_size;
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Returns the strings of a tensor; fails unless they are UTF-8.
fn texts(x: &Array) -> Result<Vec<&str>> {
    let texts = x.as_strings()?.iter().map(|bytes| std::str::from_utf8(bytes));
    texts.collect::<std::result::Result<_, _>>().map_err(|_| Refusal::BadInput("a string is not valid UTF-8"))
}

/// Computes `StringConcat`, with broadcasting.
pub(super) fn concat(cx: &Cx) -> Result<Array> {
    let pair = Pair::of(cx)?;
    let joined = pair.zip(pair.a.as_strings()?, pair.b.as_strings()?, |mut a, b| {
        a.extend(b);
        a
    });
    Array::strings(pair.shape, joined)
}

/// Computes `StringSplit`: the parts, padded with empty strings to a common count, and the counts.
pub(super) fn split(cx: &Cx) -> Result<Vec<Array>> {
    let x = cx.tensor(0)?;
    let most = cx.int_attr("maxsplit").map(to_size).transpose()?;
    let delimiter = cx.text("delimiter", "");
    let parts = texts(x)?.into_iter().map(|text| match (delimiter.as_str(), most) {
        ("", most) => words(text, most),
        (delimiter, None) => text.split(delimiter).collect(),
        (delimiter, Some(most)) => text.splitn(most.saturating_add(1), delimiter).collect(),
    });
    let parts: Vec<Vec<&str>> = parts.collect();
    let width = parts.iter().map(Vec::len).max().unwrap_or(0);
    let mut shape = x.shape().to_vec();
    shape.push(width);
    cx.room(&shape)?;
    let padded = parts.iter().flat_map(|parts| {
        (0..width).map(move |i| parts.get(i).map_or_else(Vec::new, |part| part.as_bytes().to_vec()))
    });
    let counts = parts.iter().map(|parts| parts.len() as i64).collect();
    Ok(vec![Array::strings(shape, padded.collect())?, Array::i64s(x.shape().to_vec(), counts)?])
}

/// Splits at runs of white space; after `most` splits the rest is left unchanged.
fn words(text: &str, most: Option<usize>) -> Vec<&str> {
    let Some(most) = most else { return text.split_whitespace().collect() };
    let mut rest = text.trim_start();
    let mut parts = Vec::new();
    while !rest.is_empty() && parts.len() < most {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        parts.push(word);
        rest = after.trim_start();
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

/// Computes `StringNormalizer`: drops stop words, then changes case.
/// The tensor is a vector, or a matrix of one row.
pub(super) fn normalize(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    if !matches!(x.shape(), [_] | [1, _]) {
        return bad("the input must be a vector or a matrix with one row");
    }
    // The specification does not define empty input.
    if x.is_empty() {
        return Err(Refusal::Unsupported);
    }
    let exact = cx.flag("is_case_sensitive", false)?;
    let folded = |text: &str| if exact { text.to_owned() } else { text.to_lowercase() };
    let stops = cx.texts("stopwords").unwrap_or_default();
    let stops: Vec<String> = stops.iter().map(|stop| folded(&String::from_utf8_lossy(stop))).collect();
    let change: fn(&str) -> String = match cx.text("case_change_action", "NONE").as_str() {
        "LOWER" => str::to_lowercase,
        "UPPER" => str::to_uppercase,
        "NONE" => str::to_owned,
        _ => return bad("unknown value of `case_change_action`"),
    };
    let kept = texts(x)?.into_iter().filter(|text| !stops.contains(&folded(text)));
    let mut kept: Vec<Vec<u8>> = kept.map(|text| change(text).into_bytes()).collect();
    if kept.is_empty() {
        kept.push(vec![]);
    }
    let shape = if x.rank() == 1 { vec![kept.len()] } else { vec![1, kept.len()] };
    Array::strings(shape, kept)
}

/// Computes `RegexFullMatch`. The syntax of the `regex` crate is based on that of RE2.
pub(super) fn regex_full_match(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let pattern = cx.text("pattern", "");
    let invalid = |_| Refusal::BadInput("`pattern` is not a valid regular expression");
    // Check the pattern alone first, so that none of its parentheses closes the group around it.
    Regex::new(&pattern).map_err(invalid)?;
    let whole = Regex::new(&format!(r"\A(?:{pattern})\z")).map_err(invalid)?;
    Array::bools(x.shape().to_vec(), texts(x)?.into_iter().map(|text| whole.is_match(text)).collect())
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_keeps_text_after_last_split() {
        assert_eq!(words("  a b  c ", Some(1)), ["a", "b  c "]);
        assert_eq!(words("  a b  c ", None), ["a", "b", "c"]);
        assert!(words("  ", Some(1)).is_empty());
    }
}
