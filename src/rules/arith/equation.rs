//! Equations of Einsum.

use std::sync::Arc;

use crate::rules::datum::Datum;
use crate::rules::func::Func;

pub fn call(func: Func, args: &[Datum]) -> Option<Datum> {
    match (func, args) {
        (Func::Equation, [Datum::Str(text)]) => canonical(text).map(|text| Datum::Str(Arc::from(text))),
        _ => None,
    }
}

/// Without spaces, with a result, and with letters in the order in which they first stand: `ij, jk` is `ab,bc->ac`.
/// `None` for more letters than there are, and for other signs.
fn canonical(text: &str) -> Option<String> {
    let text: String = text.chars().filter(|sign| *sign != ' ').collect();
    let whole = if text.contains("->") { text } else { format!("{text}->{}", result(&text)) };
    let mut letters = Vec::new();
    let mut renamed = String::with_capacity(whole.len());
    for sign in whole.chars() {
        match sign {
            '.' | ',' | '-' | '>' => renamed.push(sign),
            'a'..='z' | 'A'..='Z' => {
                let index = letters.iter().position(|letter| *letter == sign).unwrap_or(letters.len());
                if index == letters.len() {
                    letters.push(sign);
                }
                renamed.push(char::from(b'a' + u8::try_from(index).ok().filter(|index| *index < 26)?));
            }
            _ => return None,
        }
    }
    Some(renamed)
}

/// What an equation asks for that does not say: the axes of an ellipsis, then what stands once, in the order of the
/// alphabet.
fn result(inputs: &str) -> String {
    let is_single = |letter: &char| inputs.chars().filter(|other| other == letter).count() == 1;
    let mut single: Vec<char> = inputs.chars().filter(char::is_ascii_alphabetic).filter(is_single).collect();
    single.sort_unstable();
    let ellipsis = if inputs.contains("...") { "..." } else { "" };
    ellipsis.chars().chain(single).collect()
}
