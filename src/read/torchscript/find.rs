//! Finds printed graphs in a longer text: the log of an export or CI job, the output of a notebook.

use std::ops::Range;

/// Graph found in a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Found<'a> {
    /// Range from `graph(` to the start of the next graph, or the end of the text.
    pub range: Range<usize>,
    /// Title, such as `Exported graph`: text before the graph on its line, or else the line above.
    /// The line above is a title only if it ends with a colon.
    pub title: &'a str,
}

/// Returns the graphs in a text, in order; at most one per line.
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

/// Returns true if `graph(` at `at` begins a graph.
///
/// `graph(` must be a whole word, and a value, `):` or `) {` must follow.
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
    fn graphs_in_a_log_are_found_with_titles() {
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
