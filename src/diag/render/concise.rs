//! One line per finding: `file:node: error[EXP001] [*] message`.

use std::fmt::Write;

use super::excerpt::one_line;
use super::look::Look;
use super::spot::node_path;
use super::{Run, summary};
use crate::diag::{Finding, Level, Place};

/// Renders findings, one per line.
pub fn render(run: Run, look: Look) -> String {
    let colour = look.colour;
    let mut out = String::new();
    for finding in run.findings {
        let level = paint(finding.level, &format!("{}[{}]", finding.level, finding.code), colour);
        let mark = if finding.fix.is_some() { " [*]" } else { "" };
        let (place, message) = (place(finding), one_line(&finding.message));
        writeln!(out, "{}{}: {level}{mark} {message}", one_line(&finding.file), one_line(&place))
            .expect("writing to a String cannot fail");
    }
    if look.quiet { out } else { out + &summary(run.findings) + "\n" }
}

/// Returns the place that follows the name of the file.
fn place(finding: &Finding) -> String {
    match &finding.place {
        Place::File => String::new(),
        Place::Offset(offset) => format!(":byte {offset}"),
        Place::Graph(graph) if graph.node.is_empty() => String::new(),
        Place::Graph(graph) => format!(":{}", node_path(graph)),
        Place::Text(text) => format!(":{}:{}", text.line, text.column),
        Place::Source(source) if *source.file == *finding.file => {
            format!(":{}:{}", source.line, source.column.max(1))
        }
        Place::Source(source) => format!(": {}:{}:{}", source.file, source.line, source.column.max(1)),
    }
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
