//! Edits that the server offers: rename, format, fixes, rewrites of Python, and suppressions.

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
use crate::source::without_comment;
use crate::write::text::write;

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

/// Formats a model; `None` for a text with faults, and for one with comments, which would be lost.
pub fn format(source: &Source, document: &Document) -> Option<Vec<TextEdit>> {
    let has_comment = document.text.lines().any(|line| without_comment(line).len() < line.trim_end().len());
    let parsed = parse(source);
    let model = parsed.model.filter(|_| parsed.findings.is_empty() && !has_comment)?;
    Some(vec![TextEdit { range: document.whole(), new_text: write(&model) }])
}

/// Returns the edit that fixes all findings of a rule in ONNX text, with its title.
///
/// Returns `None` if the text has faults, nothing changes, or the fix reports findings.
pub fn mend(
    source: &Source,
    document: &Document,
    code: &str,
    rules: &RuleSet,
) -> Option<(String, Vec<TextEdit>)> {
    let parsed = parse(source);
    let model = parsed.model.filter(|_| parsed.findings.is_empty())?;
    let selection = Selection::new(vec![code.to_owned()], Vec::new());
    let options = Options { selection, unsafe_fixes: true, optimize: false, ..Options::default() };
    let outcome = fix(model, &options, rules);
    let done = outcome.changed && outcome.findings.is_empty();
    done.then(|| {
        let edit = TextEdit { range: document.whole(), new_text: write(&outcome.model) };
        (format!("onnx-fix: fix {code}"), vec![edit])
    })
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

/// Wraps edits of one document as a workspace edit.
pub fn of_document(uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit { changes: Some([(uri.clone(), edits)].into()), ..WorkspaceEdit::default() }
}
