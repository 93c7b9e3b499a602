//! Graphs within a longer text: what an export printed, a CI job's log, a notebook's output.

use std::ops::Range;

/// A graph that begins in a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Found<'a> {
    /// From `graph(` to the start of the next graph, or the end of the text.
    pub range: Range<usize>,
    /// What stands before it on its line, or on the line above if that ends in a colon: `Exported graph`.
    pub title: &'a str,
}

/// Where graphs begin in a text, in order; no two on one line.
pub fn graphs(text: &str) -> Vec<Found<'_>> {
    let mut starts: Vec<usize> = Vec::new();
    for (at, _) in text.match_indices("graph(") {
        let on_new_line = starts.last().is_none_or(|&last| text[last..at].contains('\n'));
        if on_new_line && is_graph(text, at) {
            starts.push(at);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| Found { range: start..end, title: title(text, start) })
        .collect()
}

/// Not part of another word (`fused_graph(`), and followed by a value, or by nothing as in `graph():`.
fn is_graph(text: &str, at: usize) -> bool {
    let joined = text[..at]
        .bytes()
        .next_back()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    let rest = text[at + "graph(".len()..].trim_start();
    !joined && (rest.starts_with('%') || rest.starts_with("):") || rest.starts_with(") {"))
}

fn title(text: &str, start: usize) -> &str {
    let before = &text[..start];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let beside = before[line_start..].trim();
    if !beside.is_empty() {
        return beside.trim_end_matches([':', '=', ' ']);
    }
    let above = before[..line_start].trim_end_matches(['\n', '\r']);
    let above = above.rsplit('\n').next().unwrap_or("").trim();
    above.strip_suffix(':').unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = graphs(text);
        let seen: Vec<_> = found.iter().map(|found| (found.title, &text[found.range.clone()])).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn graphs_in_a_log() {
        check("graph(%x : Tensor):\n  return (%x)\n", &[("", "graph(%x : Tensor):\n  return (%x)\n")]);
        check(
            "Exported graph: graph(%x):\nbetween\nONNX graph being constructed during exception:\ngraph():\nlast",
            &[
                ("Exported graph", "graph(%x):\nbetween\nONNX graph being constructed during exception:\n"),
                ("ONNX graph being constructed during exception", "graph():\nlast"),
            ],
        );
        check("with prim::Fusion_0 = graph(%x):\n", &[("with prim::Fusion_0", "graph(%x):\n")]);
        check("a: graph(%x) b: graph(%y)", &[("a", "graph(%x) b: graph(%y)")]);
        check("torch.graph(%x) subgraph(%x) graph(x) graph()", &[]);
    }
}
