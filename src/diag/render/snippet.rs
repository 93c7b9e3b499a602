//! Snippets: the locations of a finding in display order, with their lines.

use super::excerpt::Excerpt;
use super::spot::is_nested;
use crate::diag::{Finding, GraphPlace, Place, SourcePlace, TextPlace};

/// Location, with its line.
pub struct Snippet {
    /// `net.py:60:16`, or `model.onnx (node 1 of 2)`.
    pub locus: String,
    /// Line number, or position of the node in its graph; 0 for none.
    pub number: u32,
    /// Excerpt of the line; `None` if the text of the line is unknown.
    pub excerpt: Option<Excerpt>,
    /// Label below the line.
    pub label: String,
    /// Whether this is the primary location, rather than a related one.
    pub primary: bool,
}

impl Snippet {
    fn locus(locus: String) -> Snippet {
        Snippet { locus, number: 0, excerpt: None, label: String::new(), primary: true }
    }

    fn label(self, label: impl Into<String>) -> Snippet {
        Snippet { label: label.into(), ..self }
    }
}

/// Returns all locations of a finding, with lines cut to `room` characters.
/// The locations are the Python line (or else the module path), the location in the file, and the related
/// locations.
pub fn snippets(finding: &Finding, room: usize) -> Vec<Snippet> {
    let mut snippets = Vec::new();
    let place = match &finding.place {
        Place::Graph(graph) => {
            snippets.extend(origin(finding, graph, room));
            node(&finding.file, graph, room)
        }
        place => at(&finding.file, place, room),
    };
    snippets.push(place.label(&*finding.label));
    for related in &finding.related {
        let snippet = at(&finding.file, &related.place, room).label(&*related.message);
        snippets.push(match snippet.excerpt {
            Some(_) => Snippet { primary: false, ..snippet },
            None => Snippet { locus: format!("{}: {}", snippet.locus, related.message), ..snippet },
        });
    }
    snippets
}

/// Returns the origin of a node: its Python line, or else its module path.
fn origin(finding: &Finding, graph: &GraphPlace, room: usize) -> Option<Snippet> {
    if let Some(source) = &finding.source {
        let node = match &*graph.node {
            "" => String::new(),
            node => format!("exported as node `{node}`"),
        };
        return Some(python(source, room).label(node));
    }
    let is_node = graph.position.0 > 0;
    if is_node && graph.node.starts_with('/') {
        Some(Snippet::locus(graph.node.to_string()))
    } else if is_node && !finding.anchor.module.is_empty() {
        Some(Snippet::locus(format!("{}/{}", finding.anchor.module, finding.anchor.op)))
    } else {
        None
    }
}

fn at(file: &str, place: &Place, room: usize) -> Snippet {
    match place {
        Place::File => Snippet::locus(file.to_owned()),
        Place::Offset(offset) => Snippet::locus(format!("{file} (byte {offset})")),
        Place::Source(source) => python(source, room),
        Place::Graph(graph) => node(file, graph, room),
        Place::Text(text) => line(file, text, room),
    }
}

fn python(source: &SourcePlace, room: usize) -> Snippet {
    let code = source.code.as_deref().filter(|code| !code.trim().is_empty());
    Snippet {
        number: source.cell.map_or(source.line, |cell| cell.line),
        excerpt: code.map(|code| Excerpt::at_column(code, source.column, source.width, room)),
        ..Snippet::locus(source.locus())
    }
}

fn line(file: &str, text: &TextPlace, room: usize) -> Snippet {
    Snippet {
        number: text.line,
        excerpt: Some(Excerpt::at_column(&text.text, text.column, text.width, room)),
        ..Snippet::locus(format!("{file}:{}:{}", text.line, text.column))
    }
}

fn node(file: &str, graph: &GraphPlace, room: usize) -> Snippet {
    let at = graph.at.as_ref();
    if let Some(text) = at.filter(|at| !at.text.is_empty()) {
        return line(file, text, room);
    }
    let (index, count) = graph.position;
    let within = if is_nested(graph) { format!(" of {}", graph.graph) } else { String::new() };
    let locus = match index {
        0 if is_nested(graph) => format!("{file} (in {})", graph.graph),
        0 => file.to_owned(),
        index => format!("{file} (node {index} of {count}{within})"),
    };
    let locus = at.map_or(locus, |at| format!("{file}:{}:{}", at.line, at.column));
    // Nodes are indented as in the text of their graph.
    let text = format!("  {}", graph.text);
    let span = (graph.span.0.saturating_add(2), graph.span.1.saturating_add(2));
    let excerpt = (!graph.text.is_empty()).then(|| Excerpt::around_bytes(&text, span, room));
    Snippet { number: index, excerpt, ..Snippet::locus(locus) }
}
