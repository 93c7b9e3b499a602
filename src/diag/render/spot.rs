//! Where a finding is shown by a tool that knows files and lines, but no graphs.

use crate::diag::{Finding, GraphPlace, Place, Rewrite, SourcePlace};

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

/// The Python line where it stands here, else the place in the file that was linted.
pub fn spot(finding: &Finding) -> Spot<'_> {
    match &finding.source {
        Some(source) if finding.is_here => source_spot(source),
        _ => place_spot(&finding.file, &finding.place, finding.is_here),
    }
}

fn source_spot(source: &SourcePlace) -> Spot<'_> {
    Spot {
        file: &source.file,
        line: source.line,
        column: source.column,
        width: source.width,
        code: source.code.as_deref(),
    }
}

/// A place as seen from the file that was linted; `is_here`: whether lines of Python are where they say.
pub fn place_spot<'a>(file: &'a str, place: &'a Place, is_here: bool) -> Spot<'a> {
    match place {
        Place::Source(source) if is_here => source_spot(source),
        Place::File | Place::Offset(_) | Place::Graph(_) | Place::Source(_) => {
            Spot { file, line: 0, column: 0, width: 0, code: None }
        }
        Place::Text(text) => {
            Spot { file, line: text.line, column: text.column, width: text.width, code: Some(&text.text) }
        }
    }
}

/// What to write in the Python behind a finding, and in which file; `None` where that file is not here.
pub fn rewrite_here(finding: &Finding) -> Option<(&Rewrite, &str)> {
    let source = finding.source.as_ref().filter(|_| finding.is_here)?;
    Some((finding.rewrite.as_ref()?, &source.file))
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
    let mut message = message_and_help(finding);
    if let Some(graph) = finding.place.graph().filter(|graph| !graph.node.is_empty()) {
        message += &format!("\nnode: {} in {}", node_path(graph), finding.file);
    }
    // The line of another machine is no place here, but it says where to look.
    if let Some(source) = finding.source.as_ref().filter(|_| !finding.is_here) {
        message += &format!("\nPython: {}:{}", source.file, source.line);
    }
    message
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
