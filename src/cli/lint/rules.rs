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

/// All that is known of the rules of a code or name.
pub fn explain(rule: &str, catalogue: &Catalogue) -> Result<String, Failure> {
    let pages: Vec<String> = selectors::named(rule, catalogue, "--explain")?
        .into_iter()
        .filter_map(|code| page(code, catalogue))
        .collect();
    Ok(pages.join("\n"))
}

fn page(code: &str, catalogue: &Catalogue) -> Option<String> {
    let mut page = catalogue.rules().get(code)?.page();
    let mending = catalogue.rules().iter().filter(|rule| rule.mends.as_deref() == Some(code));
    let mending: Vec<String> =
        mending.map(|rule| format!("- {} {}: {}\n", rule.code, rule.name, rule.summary())).collect();
    if !mending.is_empty() {
        page.push_str(&format!("\n## Mended by\n\n{}", mending.concat()));
    }
    Some(page)
}
