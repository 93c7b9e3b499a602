//! Where a finding is shown by a tool that knows files and lines, but no graphs.

use crate::diag::{Finding, GraphPlace, Place};

/// A place in a text file. 0 stands for what is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot<'a> {
    pub file: &'a str,
    /// 1-based.
    pub line: u32,
    /// 1-based, in characters.
    pub column: u32,
    pub width: u32,
    /// The whole line.
    pub code: Option<&'a str>,
}

impl Spot<'_> {
    /// The column after the last one.
    pub fn end_column(&self) -> Option<u32> {
        (self.column > 0 && self.width > 0).then(|| self.column.saturating_add(self.width))
    }
}

/// The Python line where it is known, else the place in the file that was linted.
pub fn spot(finding: &Finding) -> Spot<'_> {
    match &finding.source {
        Some(source) => Spot {
            file: &source.file,
            line: source.line,
            column: source.column,
            width: source.width,
            code: source.code.as_deref(),
        },
        None => place_spot(&finding.file, &finding.place),
    }
}

/// A place as seen from the file that was linted.
pub fn place_spot<'a>(file: &'a str, place: &'a Place) -> Spot<'a> {
    match place {
        Place::File | Place::Offset(_) | Place::Graph(_) => {
            Spot { file, line: 0, column: 0, width: 0, code: None }
        }
        Place::Source(source) => Spot {
            file: &source.file,
            line: source.line,
            column: source.column,
            width: source.width,
            code: source.code.as_deref(),
        },
        Place::Text(text) => {
            Spot { file, line: text.line, column: text.column, width: text.width, code: Some(&text.text) }
        }
    }
}

/// The node with the graph it is in: `main/If_3.then_branch: Add_1`, and for the main graph `Add_1`.
pub fn node_path(graph: &GraphPlace) -> String {
    if is_nested(graph) { format!("{}: {}", graph.graph, graph.node) } else { graph.node.to_string() }
}

/// Whether the graph is the body of a node, rather than the model's own or a function's.
pub fn is_nested(graph: &GraphPlace) -> bool {
    graph.graph.contains('/')
}

/// A message with what to do about it, for formats that have one text for all.
pub fn message_and_help(finding: &Finding) -> String {
    match &finding.help {
        Some(help) => format!("{}\nhelp: {help}", finding.message),
        None => finding.message.clone(),
    }
}

/// The message with the node it speaks of, for formats that show neither the graph nor its nodes.
pub fn message_at_node(finding: &Finding) -> String {
    let message = message_and_help(finding);
    match finding.place.graph() {
        Some(graph) => format!("{message}\nnode: {} in {}", node_path(graph), finding.file),
        None => message,
    }
}

/// A path as a URI reference: relative ones stay relative, absolute ones get a scheme.
pub fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path);
    let absolute = path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
    let scheme = match (absolute, path.starts_with('/')) {
        (true, true) => "file://",
        (true, false) => "file:///",
        (false, _) => "",
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:".contains(&byte);
    let escaped = path.bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    std::iter::once(scheme.to_owned()).chain(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &str) {
        assert_eq!(uri(path), expected);
    }

    #[test]
    fn paths_become_uris() {
        check("a/b c.onnx", "a/b%20c.onnx");
        check("./a.onnx", "a.onnx");
        check("/app/ü.py", "file:///app/%C3%BC.py");
        check(r"C:\app\a.py", "file:///C:/app/a.py");
    }
}
