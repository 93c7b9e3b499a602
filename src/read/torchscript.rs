//! TorchScript graphs as text: what `print(traced.graph)`, `traced.inlined_graph` and an export with
//! `verbose=True` print, in PyTorch's own operators or in those of ONNX, alone or within a log.
//!
//! The text is no language with a grammar; it is read as `torch/csrc/jit/ir/ir.cpp` prints it, in every
//! release since 1.2. Reading takes time linear in the text and never fails: lines that are none of a
//! graph's are passed over, and one finding says so.

mod cursor;
mod find;
mod literal;
mod parse;
mod scope;
mod types;

use std::sync::Arc;

use crate::diag::rule_ids;
use crate::diag::{Finding, Place, TextPlace};
use crate::torch::{Origin, Trace};

/// Lines longer than this many characters are cut in findings.
const MAX_LINE_SHOWN: usize = 400;

/// Whether a text holds a graph at all.
pub fn is_torchscript(text: &str) -> bool {
    !find::graphs(text).is_empty()
}

/// All graphs of a text, in order, and one finding if some of it could not be read: at the first such
/// place, with how many more there are.
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
        // So the exporter titles its result, be there ONNX operators in it or only what it gave up on.
        if found.title.ends_with("Exported graph") {
            trace.origin = Origin::OnnxDialect;
        }
        number_lines(&mut trace, line);
        traces.push(trace);
    }
    let unread = unread.map(|finding: Finding| match more_unread {
        0 => finding,
        more => finding.note(format!("{more} more graphs of this file could not be read in full")),
    });
    (traces, unread.into_iter().collect())
}

/// Says of each node on which line it stands, the graph beginning on `line`.
fn number_lines(trace: &mut Trace, mut line: u32) {
    let mut counted_to = 0;
    for node in &mut trace.nodes {
        line += newlines(&trace.text[counted_to..node.span.0]);
        counted_to = node.span.0;
        node.line = line;
    }
}

/// What of a graph that begins on `line` could not be read: lines within it (the start of the first, and
/// how many), or its end.
fn not_in_full(graph: &str, line: u32, unread: Option<(usize, usize)>) -> Finding {
    match unread {
        Some((first, count)) => unread_lines(graph, first, line + newlines(&graph[..first]), count),
        None => cut_short(graph, line + newlines(graph.trim_end())),
    }
}

fn unread_lines(graph: &str, first: usize, line: u32, count: usize) -> Finding {
    let lines = if count == 1 { "a line".to_owned() } else { format!("{count} lines") };
    unreadable(
        format!("{lines} of this TorchScript graph could not be read"),
        text_place(&graph[first..], line),
    )
    .note("the rest of the graph was read; what those lines compute is unknown")
}

fn cut_short(graph: &str, line: u32) -> Finding {
    let last = graph.trim_end();
    let last = &last[last.rfind('\n').map_or(0, |at| at + 1)..];
    unreadable("this TorchScript graph ends before its `return`".to_owned(), text_place(last, line))
        .note("what stands before it was read")
}

fn unreadable(message: String, place: Place) -> Finding {
    rule_ids::UNREADABLE_PART.finding(message, place)
}

/// The line that `text` begins with.
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
