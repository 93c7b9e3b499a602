//! `--explain-rewrite`: explains, rule by rule, why the replacement of a value is equal to it.

use crate::cli::Failure;
use crate::edit::Safety;
use crate::fix::Outcome;
use crate::fix::report::{Entry, Proof};
use crate::graph::Model;
use crate::graph::syntax::suggest::with_suggestion;

/// Explains the replacement of each of `values`, named as in the input model.
///
/// # Errors
/// The model has no value with one of these names.
pub fn explained(before: &Model, outcome: &Outcome, values: &[String]) -> Result<String, Failure> {
    let mut text = String::new();
    for value in values {
        let names = || before.values.iter().map(|(_, known)| &*known.name);
        if !names().any(|name| name == value) {
            let message = format!("--explain-rewrite: the model has no value `{value}`");
            return Err(Failure::new(with_suggestion(message, value, names())));
        }
        let is_about = |entry: &&Entry| entry.values.iter().any(|known| **known == **value);
        let mut about = outcome.report.changes.iter().filter(is_about).peekable();
        if about.peek().is_none() {
            text += &format!("`{value}` is unchanged\n");
        }
        about.for_each(|entry| text += &change(value, entry));
    }
    Ok(text)
}

fn change(value: &str, entry: &Entry) -> String {
    let mut text =
        format!("`{value}`: {}, by {} {} (pass {})\n", entry.summary, entry.code, entry.rule, entry.pass);
    for (at, step) in entry.proof.iter().enumerate() {
        text += &proof(at + 1, step);
    }
    text
}

fn proof(number: usize, step: &Proof) -> String {
    let keeps = match step.safety {
        Safety::Exact => "bit for bit",
        Safety::Rounding => "up to rounding",
        Safety::Unsafe => "perhaps (unsafe)",
    };
    let lines = |lines: &[String]| lines.iter().map(|line| format!("         {line}\n")).collect::<String>();
    let (of, is) = (lines(&step.of), lines(&step.is));
    format!("  {number:>2}. {} {}\n{of}       is equal, {keeps}, to\n{is}", step.code, step.rule)
}
