//! Output of `--list-rules` and `--explain`.

use serde_json::{Value, json};

use super::args::Args;
use super::settings::Settings;
use crate::cli::catalog::{Catalog, RuleInfo};
use crate::cli::{Failure, selectors};
use crate::diag::Level;
use crate::diag::counted;
use crate::diag::render::Format;
use crate::rules::rule::{Body, Phase};

/// Families that onnx-lint never reports: lowerings, conversions, decompositions, and rules for proofs.
const SILENT: [&str; 5] = ["ATN", "CTB", "CVT", "DEC", "PRV"];

/// Lists the selected rules: a line for each, or JSON.
/// Families that are never reported are listed with `--all`, or if `--select` is given.
pub fn list(args: &Args, catalog: &Catalog, settings: &Settings) -> String {
    let format = args.output_format;
    let is_listed = |code: &str| {
        args.all || args.select.is_some() || !SILENT.iter().any(|family| code.starts_with(family))
    };
    let selected = catalog.iter().filter(|(code, _)| settings.selects(code) && is_listed(code));
    let rules = selected.filter_map(|(code, known)| Some((code, known, settings.level(code, known.level)?)));
    match format {
        Format::Json => {
            let rules: Vec<Value> = rules.map(|rule| object(rule, catalog)).collect();
            serde_json::to_string_pretty(&rules).unwrap_or_default() + "\n"
        }
        Format::JsonLines => rules.map(|rule| format!("{}\n", object(rule, catalog))).collect(),
        _ => lines(&rules.collect::<Vec<_>>()),
    }
}

type Listed<'c> = (&'c str, &'c RuleInfo, Level);

/// Describes a rule, with the page that `--explain` prints.
fn object((code, known, level): Listed, catalog: &Catalog) -> Value {
    json!({
        "code": code,
        "rule": known.name,
        "severity": level.name(),
        "status": known.status.name(),
        "successor": known.status.successor(),
        "fix": known.fix,
        "summary": known.summary,
        "page": explained(code, catalog),
    })
}

fn lines(rules: &[Listed]) -> String {
    let width = rules.iter().map(|(_, known, _)| known.name.len()).max().unwrap_or(0);
    let line = |(code, known, level): &Listed| {
        let (level, fix) = (level.name(), known.fix.unwrap_or(""));
        let remark = known.status.remark().map_or_else(String::new, |remark| format!(" [{remark}]"));
        let line = format!("{code}  {:width$}  {level:7}  {fix:6}  {}{remark}", known.name, known.summary);
        format!("{}\n", line.trim_end())
    };
    rules.iter().map(line).collect()
}

/// Returns the pages of all rules whose code or name is `rule`.
///
/// For a prefix of codes, such as the family `EXP`, returns a line for each of its rules.
pub fn explain(rule: &str, catalog: &Catalog) -> Result<String, Failure> {
    let family = rule.to_ascii_uppercase();
    if catalog.codes(rule).is_empty() && !family.is_empty() && catalog.has_prefix(&family) {
        let rules: Vec<Listed> = catalog
            .iter()
            .filter(|(code, _)| code.starts_with(&family))
            .map(|(code, known)| (code, known, known.level))
            .collect();
        let count = counted(rules.len(), "rule");
        return Ok(format!(
            "# {family}: {count}\n\n{}\n`--explain CODE` shows the page of a rule.\n",
            lines(&rules)
        ));
    }
    let pages: Vec<String> = selectors::named(rule, catalog, "--explain")?
        .into_iter()
        .filter_map(|code| explained(code, catalog))
        .collect();
    Ok(pages.join("\n"))
}

/// Returns the page of a rule.
/// If onnx-lint reports findings of the rule, the page explains how to suppress them.
pub fn explained(code: &str, catalog: &Catalog) -> Option<String> {
    let page = page(code, catalog)?;
    Some(if is_reported(code, catalog) { page + &suppression(code) } else { page })
}

/// Returns true if onnx-lint reports findings of a rule, as opposed to onnx-fix alone.
fn is_reported(code: &str, catalog: &Catalog) -> bool {
    let family = code.trim_end_matches(|char: char| char.is_ascii_digit());
    let rule = catalog.rules().get(code);
    rule.is_some_and(|rule| match &rule.body {
        Body::Builtin(_) => !["CVT", "FIX", "INT", "RUL", "VER"].contains(&family),
        Body::Pattern { .. } => {
            rule.is_lint_only()
                || (rule.fixes.is_none() && matches!(rule.phase, Phase::Simplify | Phase::Fix))
        }
    })
}

fn suppression(code: &str) -> String {
    format!(
        "\n## Suppress a finding\n\n\
         - `# onnx-lint: ignore[{code}]` at the end of the line: findings of the line, in Python and ONNX text\n\
         - the same comment on a line of its own: findings of the next statement\n\
         - `# onnx-lint: ignore-file[{code}]`: findings of the file\n\
         - `[[suppress]]` with `rules = [\"{code}\"]` in the configuration: by node, module or file\n"
    )
}

/// Returns the page of a rule in Markdown.
pub fn page(code: &str, catalog: &Catalog) -> Option<String> {
    let mut page = catalog.rules().get(code)?.page();
    if let Some(shown) = in_pytorch(code) {
        let before_examples = page.find("\n## Examples\n").unwrap_or(page.len());
        page.insert_str(before_examples, &shown);
    }
    let mending: Vec<String> = catalog
        .rules()
        .fixing(code)
        .map(|rule| format!("- {} {}: {}\n", rule.code, rule.name, rule.summary()))
        .collect();
    if !mending.is_empty() {
        page.push_str(&format!("\n## Fixed by\n\n{}", mending.concat()));
    }
    Some(page)
}

/// Faulty PyTorch code and its correction, for rules about PyTorch code.
const PYTORCH: &str = include_str!("../../../docs/pytorch.py");

/// Returns the faulty PyTorch code of a rule and its correction, if [`PYTORCH`] has them.
fn in_pytorch(code: &str) -> Option<String> {
    let part = |which: &str| {
        let (_, rest) = PYTORCH.split_once(&format!("\n# {code} {which}"))?;
        let (_, part) = rest.split_once('\n')?;
        Some(part.split("\n# ").next().unwrap_or(part).trim())
    };
    let (before, after) = (part("before")?, part("after")?);
    Some(format!(
        "\n## In PyTorch\n\nBefore:\n\n```python\n{before}\n```\n\nAfter:\n\n```python\n{after}\n```\n"
    ))
}
