//! Locations of findings as file and line, for formats without graphs.

use crate::diag::{Finding, GraphPlace, Place, Rewrite, SourcePlace};

/// Location in a text file; 0 means unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot<'a> {
    pub file: &'a str,
    /// 1-based line.
    pub line: u32,
    /// 1-based column, in characters.
    pub column: u32,
    pub width: u32,
    /// Text of the line.
    pub code: Option<&'a str>,
}

impl Spot<'_> {
    /// Returns the column just past the span; `None` if the span is unknown.
    pub fn end_column(&self) -> Option<u32> {
        (self.column > 0 && self.width > 0).then(|| self.column.saturating_add(self.width))
    }
}

/// Returns the Python line if its file is local, or else the location in the linted file.
pub fn spot(finding: &Finding) -> Spot<'_> {
    match &finding.source {
        Some(source) if finding.is_here => source_spot(source),
        _ => place_spot(&finding.file, &finding.place, finding.is_here),
    }
}

fn source_spot(source: &SourcePlace) -> Spot<'_> {
    // The columns of a notebook's code are not those of its JSON.
    let (column, width) = if source.cell.is_some() { (0, 0) } else { (source.column, source.width) };
    Spot { file: &source.file, line: source.line, column, width, code: source.code.as_deref() }
}

/// Converts a location in the linted file; `is_here` is true if Python files are local.
pub fn place_spot<'a>(file: &'a str, place: &'a Place, is_here: bool) -> Spot<'a> {
    match place {
        Place::Source(source) if is_here => source_spot(source),
        Place::Text(text) | Place::Graph(GraphPlace { at: Some(text), .. }) => {
            let code = Some(&*text.text).filter(|code| !code.is_empty());
            Spot { file, line: text.line, column: text.column, width: text.width, code }
        }
        Place::File | Place::Offset(_) | Place::Graph(_) | Place::Source(_) => {
            Spot { file, line: 0, column: 0, width: 0, code: None }
        }
    }
}

/// Returns the Python edit of a finding and its file, if there is an edit and the file is local.
pub fn rewrite_here(finding: &Finding) -> Option<(&Rewrite, &str)> {
    let source = finding.source.as_ref().filter(|_| finding.is_here)?;
    Some((finding.rewrite.as_ref()?, &source.file))
}

/// Returns the node with its graph: `main/If_3.then_branch: Add_1`, or `Add_1` in the main graph.
pub fn node_path(graph: &GraphPlace) -> String {
    if is_nested(graph) { format!("{}: {}", graph.graph, graph.node) } else { graph.node.to_string() }
}

/// Returns true for a subgraph, as opposed to the main graph or a function.
pub fn is_nested(graph: &GraphPlace) -> bool {
    graph.graph.contains('/')
}

/// Returns the cell of a notebook and the line in it as text: `cell 3:7`.
pub fn cell(finding: &Finding) -> Option<String> {
    let cell = finding.source.as_ref()?.cell?;
    Some(format!("cell {}:{}", cell.number, cell.line))
}

/// Returns the message with cell and help, for formats with a single text.
pub fn message_and_help(finding: &Finding) -> String {
    let cell = cell(finding).map_or_else(String::new, |cell| cell + ": ");
    let help = finding.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
    format!("{cell}{}{help}", finding.message)
}

/// Returns the message with help, node and remote Python line, for formats with a single text.
pub fn message_at_node(finding: &Finding) -> String {
    let mut message = message_and_help(finding);
    if let Some(graph) = finding.place.graph().filter(|graph| !graph.node.is_empty()) {
        message += &format!("\nnode: {} in {}", node_path(graph), finding.file);
    }
    // A line of a file on another machine cannot be linked, but is still useful to a reader.
    if let Some(source) = finding.source.as_ref().filter(|_| !finding.is_here) {
        message += &format!("\nPython: {}:{}", source.file, source.line);
    }
    message
}

/// Converts a path to a URI reference: relative paths stay relative, absolute ones get a scheme.
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
