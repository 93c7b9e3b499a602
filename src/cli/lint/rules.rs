//! `--list-rules` and `--explain`.

use crate::cli::catalogue::{Catalogue, Known};
use crate::cli::{Failure, selectors};

/// A line for each rule.
pub fn list(catalogue: &Catalogue) -> String {
    let width = catalogue.iter().map(|(_, known)| known.name.len()).max().unwrap_or(0);
    let line = |(code, known): (&str, &Known)| {
        let (level, fix) = (known.level.name(), known.fix.unwrap_or(""));
        let line = format!("{code}  {:width$}  {level:7}  {fix:6}  {}", known.name, known.summary);
        format!("{}\n", line.trim_end())
    };
    catalogue.iter().map(line).collect()
}

/// All that is known of one rule.
pub fn explain(rule: &str, catalogue: &Catalogue) -> Result<String, Failure> {
    let found = catalogue.iter().find(|(code, known)| code.eq_ignore_ascii_case(rule) || known.name == rule);
    let (code, known) = found.ok_or_else(|| selectors::unknown_rule(rule, catalogue, "--explain"))?;
    Ok(match catalogue.rules().get(code) {
        Some(rule) => rule.page(),
        None => format!("# {code} {}\n\n{}\n\nSeverity: {}.\n", known.name, known.summary, known.level),
    })
}
