//! Edits that the server offers: rename, format, fixes, rewrites of Python, and suppressions.

use std::collections::BTreeSet;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Diagnostic, Position, Range, TextEdit, Uri,
    WorkspaceEdit,
};

use super::convert::position;
use super::document::{Document, units};
use super::names::Names;
use crate::diag::{Applicability, Finding, Rewrite, Selection};
use crate::fix::{Options, fix};
use crate::graph::syntax::{Source, Span, parse, printer};
use crate::python::on_one_line;
use crate::rules::registry::RuleSet;
use crate::rules::syntax::{EDITION, Upgrade, upgrade};
use crate::source::without_comment;
use crate::write::text::write;

/// Kind of the action that applies all safe fixes; editors can run it when a file is saved.
pub const FIX_ALL: CodeActionKind = CodeActionKind::SOURCE_FIX_ALL;

/// Returns the edits that rename the value at a byte offset.
///
/// # Errors
/// There is no value at the offset, or the name is taken.
pub fn rename(
    source: &Source,
    document: &Document,
    offset: usize,
    name: &str,
) -> Result<Vec<TextEdit>, String> {
    let names = Names::of(source);
    let (value, _) = names.value_at(offset).ok_or("there is no value here")?;
    if names.values.iter().any(|other| &*other.name == name) {
        return Err(format!("there is already a value `{name}`"));
    }
    let written = printer::named(name);
    let edit = |place: &Span| TextEdit { range: document.range(place.range()), new_text: written.clone() };
    Ok(value.places.iter().map(edit).collect())
}

/// Formats a model; `None` if the text has faults, or comments that would be lost.
pub fn format(source: &Source, document: &Document) -> Option<Vec<TextEdit>> {
    let parsed = parse(source);
    let model = parsed.model.filter(|_| parsed.findings.is_empty() && !has_comment(document))?;
    Some(vec![TextEdit { range: document.whole(), new_text: write(&model) }])
}

/// Returns the edit that fixes all findings of some rules in ONNX text.
///
/// Returns `None` if the text has faults, nothing changes, or the fix reports findings.
fn fixed(
    source: &Source,
    document: &Document,
    codes: Vec<String>,
    unsafe_fixes: bool,
    rules: &RuleSet,
) -> Option<Vec<TextEdit>> {
    let parsed = parse(source);
    let model = parsed.model.filter(|_| parsed.findings.is_empty())?;
    let selection = Selection::new(codes, Vec::new());
    let options = Options { selection, unsafe_fixes, ..Options::default() };
    let outcome = fix(model, &options, rules);
    let done = outcome.changed && outcome.findings.is_empty();
    done.then(|| vec![TextEdit { range: document.whole(), new_text: write(&outcome.model) }])
}

/// Returns the edit that fixes all findings of a rule in ONNX text, and the title of the edit.
/// Unsafe fixes are applied only if safe fixes change nothing.
pub fn fix_rule(
    source: &Source,
    document: &Document,
    code: &str,
    rules: &RuleSet,
) -> Option<(String, Vec<TextEdit>)> {
    let codes = || vec![code.to_owned()];
    let lost = if has_comment(document) { "; removes comments" } else { "" };
    let safe = fixed(source, document, codes(), false, rules).map(|edits| (String::new(), edits));
    let found = safe.or_else(|| {
        Some((" (results may differ)".to_owned(), fixed(source, document, codes(), true, rules)?))
    });
    found.map(|(doubt, edits)| (format!("onnx-fix: fix {code}{doubt}{lost}"), edits))
}

/// Returns the edits that apply all safe fixes of the findings in a document, with their title.
///
/// Of overlapping rewrites of Python, only the first is applied.
pub fn fix_all(
    source: Option<&Source>,
    document: &Document,
    findings: &[(Finding, Range)],
    rules: &RuleSet,
) -> Option<(String, Vec<TextEdit>)> {
    let is_safe =
        |finding: &&Finding| finding.fix.as_ref().is_some_and(|fix| fix.applicability == Applicability::Safe);
    let edits = match source {
        Some(source) => {
            let codes = findings.iter().map(|(finding, _)| finding).filter(is_safe);
            let codes: BTreeSet<String> = codes.map(|finding| finding.code.to_string()).collect();
            if codes.is_empty() {
                return None;
            }
            fixed(source, document, codes.into_iter().collect(), false, rules)?
        }
        None => {
            let is_safe = |finding: &&Finding| {
                finding.rewrite.as_ref().is_some_and(|rewrite| rewrite.applicability == Applicability::Safe)
            };
            let rewrites = findings.iter().map(|(finding, _)| finding).filter(is_safe);
            let mut edits: Vec<TextEdit> =
                rewrites.filter_map(|finding| Some(rewrite(document, finding)?.1)).flatten().collect();
            edits.sort_by_key(|edit| edit.range.start);
            edits.dedup();
            let mut end = Position::new(0, 0);
            edits.retain(|edit| {
                let is_free = edit.range.start >= end;
                end = end.max(edit.range.end);
                is_free
            });
            edits
        }
    };
    let lost = if source.is_some() && has_comment(document) { "; removes comments" } else { "" };
    (!edits.is_empty()).then(|| (format!("onnx-lint: apply all safe fixes{lost}"), edits))
}

/// Returns the edit that upgrades a rule file to the current version of the language, with its title.
pub fn upgraded(source: &Source, document: &Document) -> Option<(String, Vec<TextEdit>)> {
    let Upgrade { text, .. } = upgrade(source).ok()??;
    let edit = TextEdit { range: document.whole(), new_text: text };
    Some((format!("upgrade to rule language {EDITION}"), vec![edit]))
}

/// Returns true if ONNX text has a comment, which is lost when the model is written.
fn has_comment(document: &Document) -> bool {
    document.text.lines().any(|line| without_comment(line).len() < line.trim_end().len())
}

/// Returns the edit that rewrites the Python code of a finding, with its title.
///
/// Returns `None` if the finding has no rewrite, or its lines are not in the document.
pub fn rewrite(document: &Document, finding: &Finding) -> Option<(String, Vec<TextEdit>)> {
    let Rewrite { applicability, start, end, text } = finding.rewrite.as_ref()?;
    let at = |line: u32, column| Some(position(line, column, document.line(line.checked_sub(1)?)?));
    let range = Range::new(at(start.line, start.column)?, at(end.line, end.column)?);
    let is_inserted = range.start == range.end;
    let shown = on_one_line(text.trim_start_matches(", "));
    let doubt = if *applicability == Applicability::Safe { "" } else { " (results may differ)" };
    let title = format!("{} `{shown}`{doubt}", if is_inserted { "add" } else { "write" });
    Some((title, vec![TextEdit { range, new_text: text.clone() }]))
}

/// Returns the edit that adds a suppression comment to a line of Python or ONNX text, with its title.
pub fn accept(document: &Document, code: &str, found: &Diagnostic) -> Option<(String, Vec<TextEdit>)> {
    let line = document.line(found.range.start.line)?;
    let end = Position::new(found.range.start.line, units(line.trim_end(), usize::MAX));
    let new_text = format!("  # onnx-lint: ignore[{code}]");
    Some((format!("accept {code} on this line"), vec![TextEdit { range: Range::new(end, end), new_text }]))
}

/// Wraps edits of one document as a code action that resolves a diagnostic.
pub fn action(uri: &Uri, found: &Diagnostic, (title, edits): (String, Vec<TextEdit>)) -> CodeActionOrCommand {
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![found.clone()]),
        edit: Some(of_document(uri, edits)),
        ..CodeAction::default()
    })
}

/// Wraps edits of one document as the code action that applies all safe fixes.
pub fn fix_all_action(uri: &Uri, (title, edits): (String, Vec<TextEdit>)) -> CodeActionOrCommand {
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(FIX_ALL),
        edit: Some(of_document(uri, edits)),
        ..CodeAction::default()
    })
}

/// Wraps edits of one document as a workspace edit.
pub fn of_document(uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit { changes: Some([(uri.clone(), edits)].into()), ..WorkspaceEdit::default() }
}
