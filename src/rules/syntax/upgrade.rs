//! Upgrade of a rule file to the current version of the language.

use super::file::{EDITION, parse};
use crate::diag::{Finding, Level};
use crate::graph::syntax::{Source, Span};

/// Upgraded text of a rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrade {
    pub text: String,
    /// Number of words that were replaced; the header does not count.
    pub words: usize,
}

/// Upgrades a rule file: replaces old words and declares the current version.
/// All other text is unchanged.
/// Returns `None` if the file is of the current version already.
///
/// # Errors
/// The file has errors, which are returned.
pub fn upgrade(source: &Source) -> Result<Option<Upgrade>, Vec<Finding>> {
    let (file, mut findings) = parse(source);
    findings.retain(|finding| finding.level == Level::Error);
    if !findings.is_empty() {
        return Err(findings);
    }
    let header = format!("language {EDITION}");
    let mut edits: Vec<(Span, String)> =
        file.old_words.iter().map(|(span, word)| (*span, (*word).to_owned())).collect();
    let words = edits.len();
    match file.language {
        Some((EDITION, _)) => return Ok(None),
        Some((_, span)) => edits.push((span, header)),
        None => edits.push((Span::default(), format!("{header}\n"))),
    }
    edits.sort_by_key(|(span, _)| span.start);
    let (mut text, mut end) = (String::with_capacity(source.text.len()), 0);
    for (span, word) in edits {
        text += &source.text[end..span.start as usize];
        text += &word;
        end = span.end as usize;
    }
    text += &source.text[end..];
    Ok(Some(Upgrade { text, words }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_words_are_replaced_and_the_layout_stays() {
        let old = "# Notes: computes, given.\nlanguage 2  # old\n\n## Docs.\nrule ABC001 a-b {\n  mends EXP001\n  given \
                   moderate(x),\n    finite(x)\n  match { y = Relu (x) }\n  example \"finds\" { g (float[A] x) => (float[A] y) \
                   { y = Relu (x) } } computes  # unchanged\n  but \"b\" with \"Relu\" as \"Abs\" unchanged\n}\n";
        let new = "# Notes: computes, given.\nlanguage 3  # old\n\n## Docs.\nrule ABC001 a-b {\n  fixes EXP001\n  assume \
                   bounded(x),\n    finite(x)\n  match { y = Relu (x) }\n  example \"finds\" { g (float[A] x) => (float[A] y) \
                   { y = Relu (x) } } equivalent  # unchanged\n  but \"b\" with \"Relu\" as \"Abs\" no_match\n}\n";
        let upgraded = upgrade(&Source::new("a.rule", old)).expect("the file has no errors");
        assert_eq!(upgraded, Some(Upgrade { text: new.to_owned(), words: 5 }));
        assert_eq!(upgrade(&Source::new("a.rule", new)), Ok(None));
        let without =
            upgrade(&Source::new("a.rule", &old.replace("language 2  # old\n", ""))).expect("it has none");
        assert!(without.is_some_and(|upgrade| upgrade.text.starts_with("language 3\n# Notes")));
    }

    #[test]
    fn files_with_errors_are_not_upgraded() {
        let findings = upgrade(&Source::new("a.rule", "language 2\nrule ABC001 {}\n"));
        assert!(findings.is_err_and(|findings| findings.len() == 1));
    }
}
