//! One line per finding: `file:line:column: error[EXP001] [*] message (node /Reshape)`.
//!
//! `[*]` marks findings that `onnx-fix` can fix.
//! Editors and problem matchers parse the start of the line. A finding without a known line has the position
//! 1:1, and its node or byte offset, if any, follows the message.

use std::fmt::Write;

use super::excerpt::one_line;
use super::look::Look;
use super::spot::{Spot, cell, node_path, spot};
use super::{Run, summary};
use crate::diag::{Finding, Level, Place};

/// Renders findings, one per line.
pub fn render(run: Run, look: Look) -> String {
    let colour = look.colour;
    let mut out = String::new();
    for finding in run.findings {
        let spot = spot(finding);
        let (line, column) = (spot.line.max(1), spot.column.max(1));
        let level = paint(finding.level, &format!("{}[{}]", finding.level, finding.code), colour);
        let mark = if finding.fix.is_some() { " [*]" } else { "" };
        let message = finding.message.clone() + &details(finding, spot);
        writeln!(out, "{}:{line}:{column}: {level}{mark} {}", one_line(spot.file), one_line(&message))
            .expect("writing to a String cannot fail");
    }
    if look.quiet { out } else { out + &summary(run.findings) + "\n" }
}

/// Returns the details in parentheses: cell, node or byte offset, model, and recorded Python line.
fn details(finding: &Finding, spot: Spot) -> String {
    let is_in_python = *spot.file != *finding.file;
    let mut details = Vec::from_iter(cell(finding));
    match &finding.place {
        Place::Offset(offset) => details.push(format!("byte {offset}")),
        Place::Graph(graph) if !graph.node.is_empty() && (is_in_python || graph.at.is_none()) => {
            details.push(format!("node {}", node_path(graph)));
        }
        _ => {}
    }
    if is_in_python {
        let at = finding.place.graph().and_then(|graph| graph.at.as_ref());
        let line = at.map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column));
        details.push(format!("{}{line}", finding.file));
    }
    if let Some(source) = finding.source.as_ref().filter(|_| !finding.is_here) {
        details.push(format!("Python {}:{}", source.file, source.line));
    }
    if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) }
}

fn paint(level: Level, text: &str, colour: bool) -> String {
    let code = match level {
        Level::Error => 31,
        Level::Warning => 33,
        Level::Info => 32,
        Level::Hint => 36,
    };
    if colour { format!("\u{1b}[1;{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}
