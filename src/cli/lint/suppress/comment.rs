//! Grammar of a suppression comment: `# onnx-lint: ignore[EXP001]: reason`.

/// Part of a file that a suppression covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The line of the comment, or the next statement if the comment has a line of its own.
    Line,
    /// The whole file.
    File,
}

/// A suppression comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    pub scope: Scope,
    /// Codes, prefixes or names of rules, as written; empty for all rules.
    pub words: Vec<String>,
}

/// A comment addressed to onnx-lint: a suppression, or the reason why it is malformed.
pub type Parsed = Result<Suppression, String>;

/// Name of the tool, with which a suppression comment begins.
const TOOL: &str = "onnx-lint";

/// Parses a comment, which starts with `#`.
///
/// Returns the suppression with its byte offset; `None` if the comment has no suppression.
/// Other tools may share the comment: `# noqa: E501  # onnx-lint: ignore[EXP001]`.
pub fn parse(comment: &str) -> Option<(usize, Parsed)> {
    let starts = comment.match_indices('#').map(|(at, _)| at);
    let own = starts.map(|at| (at, comment[at + 1..].trim_start())).find_map(|(at, part)| {
        let rest = part.strip_prefix(TOOL)?;
        Some((at, addressed(rest)?))
    });
    own.or_else(|| {
        // Other text may precede a suppression that names rules.
        let (before, rest) = comment.split_once("onnx-lint:")?;
        let parsed = suppression(rest.trim_start()).ok().filter(|found| !found.words.is_empty())?;
        Some((before.rfind('#')?, Ok(parsed)))
    })
}

/// Parses the text after the name of the tool; `None` if the text is prose.
fn addressed(rest: &str) -> Option<Parsed> {
    if let Some(rest) = rest.strip_prefix(':') {
        return Some(suppression(rest.trim()));
    }
    let looks_like_one = rest.starts_with(' ') && rest.trim_start().starts_with("ignore");
    looks_like_one.then(|| Err("a colon is missing after `onnx-lint`".to_owned()))
}

/// Parses `ignore`, `ignore[EXP001, DTY]`, `ignore-file` or `ignore-file[…]`, and an optional reason.
fn suppression(text: &str) -> Parsed {
    let end = text.find(|char: char| !char.is_ascii_alphanumeric() && char != '-').unwrap_or(text.len());
    let (word, rest) = (&text[..end], text[end..].trim_start());
    let scope = match word {
        "ignore" => Scope::Line,
        "ignore-file" => Scope::File,
        "" => return Err("`ignore` or `ignore-file` is missing after the colon".to_owned()),
        other => return Err(format!("`{other}` is neither `ignore` nor `ignore-file`")),
    };
    let words = match rest.strip_prefix('[') {
        Some(list) => {
            let (list, _) = list.split_once(']').ok_or("the closing `]` is missing")?;
            let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
            let words: Vec<String> = words.map(str::to_owned).collect();
            if words.is_empty() {
                return Err(format!("the brackets are empty: list rules, or write `{word}` for all rules"));
            }
            words
        }
        None if rest.is_empty() || rest.starts_with([':', '#']) => Vec::new(),
        None => return Err("rules belong in brackets, and a reason after a colon".to_owned()),
    };
    Ok(Suppression { scope, words })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(comment: &str, scope: Scope, words: &[&str], start: usize) {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        assert_eq!(parse(comment), Some((start, Ok(Suppression { scope, words }))), "{comment}");
    }

    fn check_fault(comment: &str, expected: &str) {
        let found = parse(comment).map(|(_, parsed)| parsed);
        assert!(found.as_ref().is_some_and(|parsed| parsed == &Err(expected.to_owned())), "{found:?}");
    }

    #[test]
    fn suppressions_are_parsed() {
        check("# onnx-lint: ignore[EXP001]: static batch", Scope::Line, &["EXP001"], 0);
        check("# noqa: E501  # onnx-lint: ignore[EXP, item-baked]", Scope::Line, &["EXP", "item-baked"], 14);
        check("#onnx-lint:ignore[EXP001]", Scope::Line, &["EXP001"], 0);
        check("# onnx-lint: ignore", Scope::Line, &[], 0);
        check("# onnx-lint: ignore: the batch is static  # noqa", Scope::Line, &[], 0);
        check("# onnx-lint: ignore-file[DTY]", Scope::File, &["DTY"], 0);
        check("# onnx-lint: ignore-file", Scope::File, &[], 0);
        check("# static, so onnx-lint: ignore[EXP001]", Scope::Line, &["EXP001"], 0);
    }

    #[test]
    fn malformed_suppressions_are_explained() {
        check_fault("# onnx-lint ignore[EXP001]", "a colon is missing after `onnx-lint`");
        check_fault("# onnx-lint: ignore[EXP001", "the closing `]` is missing");
        check_fault("# onnx-lint: ignore EXP001", "rules belong in brackets, and a reason after a colon");
        check_fault("# onnx-lint: disable[EXP001]", "`disable` is neither `ignore` nor `ignore-file`");
        check_fault("# onnx-lint:", "`ignore` or `ignore-file` is missing after the colon");
        check_fault(
            "# onnx-lint: ignore[]",
            "the brackets are empty: list rules, or write `ignore` for all rules",
        );
    }

    #[test]
    fn prose_is_no_suppression() {
        for comment in
            ["# checked with onnx-lint", "# onnx-lint finds nothing here", "# see onnx-lint: it works"]
        {
            assert_eq!(parse(comment), None, "{comment}");
        }
    }
}
