//! Resolves the words of `--select`, `--ignore` and the like to rule codes.

use super::Failure;
use super::catalog::Catalog;
use crate::graph::syntax::suggest::shortened;
use crate::rules::rule::RuleStatus;

/// Resolves each word to codes and prefixes. A word is a code, a prefix, a name or `ALL`.
///
/// `origin` names the source of the words in messages: `--select`, or a key of a configuration.
pub fn resolve(words: &[String], catalog: &Catalog, origin: &str) -> Result<Vec<String>, Failure> {
    let mut codes = Vec::new();
    for word in words {
        let word = word.trim();
        let upper = word.to_ascii_uppercase();
        if upper == "ALL" || (!upper.is_empty() && catalog.has_prefix(&upper)) {
            codes.push(upper);
        } else {
            codes.extend(named(word, catalog, origin)?.into_iter().map(str::to_owned));
        }
    }
    Ok(codes)
}

/// Returns the codes of the rules with this code or name; fails if there is none.
pub fn named<'c>(word: &str, catalog: &'c Catalog, origin: &str) -> Result<Vec<&'c str>, Failure> {
    let codes = catalog.codes(word);
    if codes.is_empty() { Err(unknown_rule(word, catalog, origin)) } else { Ok(codes) }
}

/// Returns warnings about deprecated rules and disabled previews, selected by code or name.
pub fn warnings(words: &[String], catalog: &Catalog, origin: &str, preview: bool) -> Vec<String> {
    let codes = words.iter().flat_map(|word| catalog.codes(word.trim()));
    let warning = |code: &str| {
        let (_, known) = catalog.iter().find(|(known, _)| *known == code)?;
        let state = match &known.status {
            RuleStatus::Stable => return None,
            RuleStatus::Preview if preview => return None,
            RuleStatus::Preview => "is a preview, which only --preview applies".to_owned(),
            RuleStatus::Deprecated(Some(successor)) => format!("is deprecated; use {successor}"),
            RuleStatus::Deprecated(None) => "is deprecated and will be removed".to_owned(),
        };
        Some(format!("warning: {origin}: {code} ({}) {state}\n", known.name))
    };
    codes.filter_map(warning).collect()
}

/// Returns the failure for an unknown rule `word`.
fn unknown_rule(word: &str, catalog: &Catalog, origin: &str) -> Failure {
    let suggestion = match catalog.suggest(word) {
        Some(known) => format!("did you mean `{known}`?"),
        None => "`onnx-lint --list-rules --all` lists them".to_owned(),
    };
    Failure::new(format!("{origin}: there is no rule `{}`; {suggestion}", shortened(word)))
}

#[cfg(test)]
mod tests {
    use super::super::catalog::Extent;
    use super::super::output::When;
    use super::*;

    fn check(word: &str, expected: Result<&str, &str>) {
        let resolved = resolve(
            &[word.to_owned()],
            &Catalog::load(&[], Extent::Linting, When::Never).expect("the built-in rules have no faults"),
            "--select",
        );
        let resolved = resolved.as_ref().map(|codes| codes[0].as_str()).map_err(Failure::message);
        assert_eq!(resolved, expected, "{word}");
    }

    #[test]
    fn words_become_codes() {
        check("all", Ok("ALL"));
        check("SPC", Ok("SPC"));
        check("spc001", Ok("SPC001"));
        check("unreadable-model", Ok("SPC001"));
    }

    #[test]
    fn unknown_words_get_a_suggestion() {
        check("SPX001", Err("--select: there is no rule `SPX001`; did you mean `SPC001`?"));
        check(
            "unreadble-model",
            Err("--select: there is no rule `unreadble-model`; did you mean `unreadable-model`?"),
        );
        check("", Err("--select: there is no rule ``; `onnx-lint --list-rules --all` lists them"));
        check("zzz", Err("--select: there is no rule `zzz`; `onnx-lint --list-rules --all` lists them"));
    }
}
