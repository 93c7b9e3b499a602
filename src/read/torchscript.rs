//! Parses printed TorchScript graphs, alone or within a log.
//!
//! `print(traced.graph)`, `print(traced.inlined_graph)` and an export with `verbose=True` print TorchScript
//! graphs with operators of PyTorch or ONNX. The text has no specified grammar; the parser follows the
//! printer in `torch/csrc/jit/ir/ir.cpp`, including notations of early releases. Parsing takes linear time
//! and never fails: lines that the parser does not recognize are skipped, and one finding reports them.

mod cursor;
mod find;
mod literal;
mod parse;
mod scope;
mod types;

use std::sync::Arc;

use crate::diag::counted;
use crate::diag::rule_ids;
use crate::diag::{Finding, Place, TextPlace};
use crate::torch::{Origin, Trace};

/// Maximum number of characters of a line that a finding displays.
const MAX_LINE_SHOWN: usize = 400;

/// Returns true if a text contains a printed graph.
pub fn is_torchscript(text: &str) -> bool {
    !find::graphs(text).is_empty()
}

/// Returns the graphs of a text, in order, except graphs without nodes and without a `return`.
///
/// If graphs could not be read in full, one finding reports the first of them and the number of the others.
pub fn read(text: &str) -> (Vec<Trace>, Vec<Finding>) {
    let mut traces = Vec::new();
    let mut unread = None;
    let mut more_unread = 0;
    let (mut counted_to, mut line) = (0, 1);
    for found in find::graphs(text) {
        line += newlines(&text[counted_to..found.range.start]);
        counted_to = found.range.start;
        let region = &text[found.range.clone()];
        let parsed = parse::parse(region);
        let graph = &region[..parsed.length];
        if parsed.unread.is_some() || !parsed.trace.complete {
            match unread {
                None => unread = Some(not_in_full(graph, line, parsed.unread)),
                Some(_) => more_unread += 1,
            }
        }
        if parsed.trace.nodes.is_empty() && !parsed.trace.complete {
            continue;
        }
        let complete =
            parsed.trace.complete && parsed.unread.is_none() && !found.title.ends_with("exception");
        let mut trace =
            Trace { title: Arc::from(found.title), text: Arc::from(graph), complete, ..parsed.trace };
        // The exporter prints its result under this title, even if no operator was converted to ONNX.
        if found.title.ends_with("Exported graph") {
            trace.origin = Origin::OnnxDialect;
        }
        number_lines(&mut trace, line);
        traces.push(trace);
    }
    let unread = unread.map(|finding: Finding| match more_unread {
        0 => finding,
        more => {
            let graphs = counted(more, "more graph");
            finding.note(format!("{graphs} in this file could not be read in full"))
        }
    });
    (traces, unread.into_iter().collect())
}

/// Sets the line number of each node; `line` is the first line of the graph.
fn number_lines(trace: &mut Trace, mut line: u32) {
    let mut counted_to = 0;
    for node in &mut trace.nodes {
        line += newlines(&trace.text[counted_to..node.span.0]);
        counted_to = node.span.0;
        node.line = line;
    }
}

/// Reports the unread part of a graph that starts on `line`.
///
/// `unread` has the start of the first unread line and the number of such lines. If `unread` is `None`, the end of
/// the graph is missing.
fn not_in_full(graph: &str, line: u32, unread: Option<(usize, usize)>) -> Finding {
    match unread {
        Some((first, count)) => unread_lines(graph, first, line + newlines(&graph[..first]), count),
        None => cut_short(graph, line + newlines(graph.trim_end())),
    }
}

fn unread_lines(graph: &str, first: usize, line: u32, count: usize) -> Finding {
    let lines = if count == 1 { "a line".to_owned() } else { format!("{count} lines") };
    unreadable(
        format!("{lines} of the TorchScript graph could not be parsed"),
        text_place(&graph[first..], line),
    )
    .note("the rest of the graph was read; values defined in unread lines are unknown")
}

fn cut_short(graph: &str, line: u32) -> Finding {
    let last = graph.trim_end();
    let last = &last[last.rfind('\n').map_or(0, |at| at + 1)..];
    unreadable("the TorchScript graph ends without a `return`".to_owned(), text_place(last, line))
        .note("the statements before this line were read")
}

fn unreadable(message: String, place: Place) -> Finding {
    rule_ids::UNREADABLE_PART.finding(message, place)
}

/// Returns the place of the first line of `text`, without its indentation.
fn text_place(text: &str, line: u32) -> Place {
    let whole = text.lines().next().unwrap_or("");
    let shown: String = whole.chars().take(MAX_LINE_SHOWN).collect();
    let blanks = shown.chars().take_while(|char| char.is_whitespace()).count();
    let width = shown.chars().count() - blanks;
    Place::Text(TextPlace { line, column: blanks as u32 + 1, width: width as u32, text: Arc::from(shown) })
}

fn newlines(text: &str) -> u32 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u32
}

#[cfg(test)]
mod tests;
