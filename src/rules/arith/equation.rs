//! Rule functions about Einsum equations.

use std::sync::Arc;

use crate::rules::datum::Datum;
use crate::rules::func::Func;

/// Evaluates a function about Einsum equations; `None` if the function is undefined for the arguments.
pub fn call(func: Func, args: &[Datum]) -> Option<Datum> {
    match (func, args) {
        (Func::Equation, [Datum::Str(text)]) => canonical(text).map(|text| Datum::Str(Arc::from(text))),
        (Func::Equation, [Datum::Str(text), Datum::List(ranks)]) => {
            let ranks: Option<Vec<usize>> = ranks.iter().map(rank).collect();
            canonical(&expanded(text, &ranks?)?).map(|text| Datum::Str(Arc::from(text)))
        }
        (Func::Contraction, [Datum::Str(text)]) => contraction(&canonical(text)?),
        (Func::Alignment, [Datum::Str(text)]) => alignment(&canonical(text)?),
        _ => None,
    }
}

/// Converts an item of a list of ranks.
fn rank(item: &Datum) -> Option<usize> {
    match item {
        Datum::Int(rank) => usize::try_from(*rank).ok(),
        _ => None,
    }
}

/// Replaces each ellipsis by letters for its axes.
/// The axes of all ellipses are aligned at the last axis. If an explicit result has no ellipsis, the axes of the
/// ellipses are summed, as in PyTorch. Returns `None` if the ranks do not fit the operands, or if no letters are left.
fn expanded(text: &str, ranks: &[usize]) -> Option<String> {
    let text: String = text.chars().filter(|sign| *sign != ' ').collect();
    let (inputs, explicit) = match text.split_once("->") {
        Some((inputs, result)) => (inputs, Some(result)),
        None => (text.as_str(), None),
    };
    let terms: Vec<&str> = inputs.split(',').collect();
    if terms.len() != ranks.len() {
        return None;
    }
    let hidden = |(term, rank): (&&str, &usize)| -> Option<usize> {
        let named = term.chars().filter(char::is_ascii_alphabetic).count();
        if term.contains("...") { rank.checked_sub(named) } else { (*rank == named).then_some(0) }
    };
    let hidden: Option<Vec<usize>> = terms.iter().zip(ranks).map(hidden).collect();
    let hidden = hidden?;
    let most = hidden.iter().copied().max().unwrap_or(0);
    let free: Vec<char> =
        ('a'..='z').chain('A'..='Z').filter(|letter| !text.contains(*letter)).take(most).collect();
    let result = explicit.map_or_else(|| result(inputs), str::to_owned);
    let write = |term: &str, count: usize| -> Option<String> {
        let letters: String = free.get(most - count..)?.iter().collect();
        Some(term.replacen("...", &letters, 1))
    };
    let terms: Option<Vec<String>> =
        terms.iter().zip(&hidden).map(|(term, count)| write(term, *count)).collect();
    Some(format!("{}->{}", terms?.join(","), write(&result, most)?))
}

/// Returns true if a term has no ellipsis, and no letter twice.
fn is_plain(term: &str) -> bool {
    let mut letters = term.char_indices();
    letters.all(|(at, letter)| letter.is_ascii_lowercase() && !term[..at].contains(letter))
}

/// Returns the alignment of the operands; see [`Func::Alignment`].
fn alignment(equation: &str) -> Option<Datum> {
    let (inputs, result) = equation.split_once("->")?;
    let terms: Vec<&str> = inputs.split(',').collect();
    if !terms.iter().copied().chain([result]).all(is_plain) || !result.chars().all(|a| inputs.contains(a)) {
        return None;
    }
    let mut order: Vec<char> = result.chars().collect();
    for letter in inputs.chars().filter(char::is_ascii_lowercase) {
        if !order.contains(&letter) {
            order.push(letter);
        }
    }
    let list = |axes: Vec<usize>| -> Option<Datum> {
        let axes: Option<Vec<Datum>> =
            axes.into_iter().map(|axis| Some(Datum::Int(i64::try_from(axis).ok()?))).collect();
        axes.map(Datum::List)
    };
    let mut lists = Vec::new();
    for term in terms {
        lists.push(list(order.iter().filter_map(|letter| term.find(*letter)).collect())?);
        let places = order.iter().enumerate();
        lists.push(list(places.filter(|(_, letter)| !term.contains(**letter)).map(|(at, _)| at).collect())?);
    }
    lists.push(list((result.len()..order.len()).collect())?);
    Some(Datum::List(lists))
}

/// Classifies the axes of a two-operand contraction; see [`Func::Contraction`].
fn contraction(equation: &str) -> Option<Datum> {
    let (inputs, result) = equation.split_once("->")?;
    let (first, second) = inputs.split_once(',')?;
    if ![first, second, result].into_iter().all(is_plain) {
        return None;
    }
    let chosen = |term: &str, is_chosen: &dyn Fn(char) -> bool| -> String {
        term.chars().filter(|&letter| is_chosen(letter)).collect()
    };
    let batch = chosen(result, &|letter| first.contains(letter) && second.contains(letter));
    let summed = chosen(first, &|letter| second.contains(letter) && !result.contains(letter));
    let own = |term: &str, other: &str| chosen(term, &|letter| !other.contains(letter));
    let (own_first, own_second) = (own(first, second), own(second, first));
    let made = format!("{batch}{own_first}{own_second}");
    let axes = |letters: &str, term: &str| -> Option<Datum> {
        let axes = letters.chars().map(|letter| term.find(letter));
        let axes: Option<Vec<Datum>> =
            axes.map(|axis| Some(Datum::Int(i64::try_from(axis?).ok()?))).collect();
        axes.map(Datum::List)
    };
    // If the result lacks a letter that only one operand has, that operand is summed over the letter first.
    // An equation with a sum over one operand is no plain product, so `contraction` is undefined for it.
    let order = axes(result, &made).filter(|_| made.len() == result.len())?;
    Some(Datum::List(vec![
        axes(&batch, first)?,
        axes(&own_first, first)?,
        axes(&summed, first)?,
        axes(&batch, second)?,
        axes(&own_second, second)?,
        axes(&summed, second)?,
        order,
    ]))
}

/// Canonicalizes an equation; for example, `ij, jk` becomes `ab,bc->ac`.
/// Spaces are removed, the result is made explicit, and letters are renamed in order of first use.
/// Returns `None` for more than 26 letters and for unsupported characters.
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

/// Returns the implicit result of an equation without `->`.
/// The implicit result is the ellipsis, if any, then the letters that occur once, in alphabetical order.
fn result(inputs: &str) -> String {
    let is_single = |letter: &char| inputs.chars().filter(|other| other == letter).count() == 1;
    let mut single: Vec<char> = inputs.chars().filter(char::is_ascii_alphabetic).filter(is_single).collect();
    single.sort_unstable();
    let ellipsis = if inputs.contains("...") { "..." } else { "" };
    ellipsis.chars().chain(single).collect()
}
