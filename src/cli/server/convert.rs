//! Converts findings to diagnostics of the protocol.

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Position, Range,
};
use serde_json::json;

use super::document::{Document, units};
use super::uri;
use crate::diag::{Applicability, Finding, Level, Place, SourcePlace, TextPlace};
use crate::source::{LocalPlace, SourceFiles};

/// Creates a diagnostic for a finding at a range.
pub fn diagnostic(finding: &Finding, range: Range, sources: &SourceFiles) -> Diagnostic {
    let severity = match finding.level {
        Level::Error => DiagnosticSeverity::ERROR,
        Level::Warning => DiagnosticSeverity::WARNING,
        Level::Info => DiagnosticSeverity::INFORMATION,
        Level::Hint => DiagnosticSeverity::HINT,
    };
    let related: Vec<_> = finding
        .related
        .iter()
        .filter_map(|related| {
            let location = location(&related.place, sources)?;
            Some(DiagnosticRelatedInformation { location, message: related.message.clone() })
        })
        .collect();
    Diagnostic {
        range,
        severity: Some(severity),
        code: Some(NumberOrString::String(finding.code.to_string())),
        source: Some("onnx-lint".to_owned()),
        message: message(finding),
        related_information: (!related.is_empty()).then_some(related),
        data: finding
            .fix
            .as_ref()
            .map(|fix| json!({ "fix": fix.summary, "is_safe": fix.applicability == Applicability::Safe })),
        ..Diagnostic::default()
    }
}

/// Returns the message, the node, notes and help as one text, since editors show one box.
fn message(finding: &Finding) -> String {
    let mut text = finding.message.clone();
    if let (Place::Graph(graph), Some(_)) = (&finding.place, &finding.source) {
        text.push_str(&format!("\nat node {} of {}", graph.node, finding.file));
    }
    for note in &finding.notes {
        text.push_str(&format!("\nnote: {note}"));
    }
    if let Some(help) = &finding.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    text
}

/// Converts a location in a local Python file to a location of the protocol.
fn location(place: &Place, sources: &SourceFiles) -> Option<Location> {
    let LocalPlace { path, place: source, .. } = sources.at_home(place.source()?)?;
    let line = source.code.as_deref().unwrap_or("");
    Some(Location { uri: uri::uri(&path)?, range: of_source(&source, line) })
}

/// Returns the range of a Python location in its line: the expression, or else all code of the line.
pub fn of_source(place: &SourcePlace, line: &str) -> Range {
    if place.column > 0 {
        return in_line(place.line, place.column, place.width.max(1), line);
    }
    let indent = line.chars().take_while(|char| char.is_whitespace()).count() as u32;
    let width = line.trim().chars().count() as u32;
    in_line(place.line, indent + 1, width, line)
}

/// Returns the range of a location in ONNX text.
pub fn of_text(place: &TextPlace) -> Range {
    in_line(place.line, place.column, place.width, &place.text)
}

/// Returns a range in a line. Line and column are 1-based, counted in characters.
fn in_line(line: u32, column: u32, width: u32, text: &str) -> Range {
    Range::new(position(line, column, text), position(line, column.max(1) + width, text))
}

/// Returns a position in the line `text`. Line and column are 1-based, counted in characters.
pub fn position(line: u32, column: u32, text: &str) -> Position {
    Position::new(line.saturating_sub(1), units(text, column.saturating_sub(1) as usize))
}

/// Returns the range of the first line, where diagnostics about the whole file are shown.
pub fn first_line(document: &Document) -> Range {
    let end = document.line(0).map_or(0, |line| units(line, usize::MAX));
    Range::new(Position::new(0, 0), Position::new(0, end))
}
