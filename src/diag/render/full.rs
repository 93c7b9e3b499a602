//! Human-readable output: the Python line first, then the graph, then notes and help.

use std::io::Result;

use codespan_reporting::diagnostic::{LabelStyle, Severity};
use codespan_reporting::term::termcolor::{Ansi, ColorSpec, NoColor, WriteColor};
use codespan_reporting::term::{Chars, Config, Renderer, Styles};

use super::excerpt::{lines, one_line};
use super::group::{Group, by_model};
use super::look::{Look, wrapped};
use super::snippet::{Snippet, snippets};
use super::style::SnippetWriter;
use super::{Run, summary};
use crate::diag::{Applicability, Finding, Level};

/// Renders findings with excerpts, and a summary.
pub fn render(run: Run, look: Look) -> String {
    let text = groups(&by_model(run.findings), look);
    if look.quiet {
        return text;
    }
    let end = wrapped(&summary(run.findings), look.room(0), 0) + "\n";
    text + &end + &no_python(run.findings, look)
}

/// Explains how to get missing Python lines.
/// Only counts findings at nodes that are named by module path, as PyTorch names them.
fn no_python(findings: &[Finding], look: Look) -> String {
    let is_unknown = |finding: &&Finding| {
        let node = finding.place.graph().map_or("", |graph| &*graph.node);
        finding.source.is_none() && node.starts_with('/')
    };
    let count = findings.iter().filter(is_unknown).count();
    if count == 0 {
        return String::new();
    }
    let text = format!(
        "Python lines are unknown for {count} of the findings: export with `verbose=True`, or pass the exporter's log with --export-log."
    );
    wrapped(&text, look.room(0), 0) + "\n"
}

/// Renders findings without a summary, each followed by an empty line.
pub fn findings(findings: &[Finding], look: Look) -> String {
    let single = |first| Group { first, more: Vec::new() };
    groups(&findings.iter().map(single).collect::<Vec<_>>(), look)
}

fn groups(groups: &[Group], look: Look) -> String {
    let mut bytes = Vec::new();
    let mut out: Box<dyn WriteColor> =
        if look.colour { Box::new(Ansi::new(&mut bytes)) } else { Box::new(NoColor::new(&mut bytes)) };
    write_all(&mut out, groups, look).expect("writing to memory cannot fail");
    drop(out);
    String::from_utf8(bytes).expect("only strings were written")
}

fn write_all(out: &mut dyn WriteColor, groups: &[Group], look: Look) -> Result<()> {
    for group in groups {
        let (finding, others) = (group.first, group.others());
        let severity = severity(finding.level);
        Report { finding, others, severity, styles: Styles::default(), look }.write(out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Usual width of the gutter, in columns.
const USUAL_GUTTER: usize = 7;

/// Maps a level to the severity that determines its color in codespan.
fn severity(level: Level) -> Severity {
    match level {
        Level::Error => Severity::Error,
        Level::Warning => Severity::Warning,
        Level::Info => Severity::Note,
        Level::Hint => Severity::Help,
    }
}

/// Finding to render.
struct Report<'a> {
    finding: &'a Finding,
    /// Number and locations of similar findings.
    others: Option<String>,
    severity: Severity,
    styles: Styles,
    look: Look,
}

impl Report<'_> {
    fn write(&self, out: &mut dyn WriteColor) -> Result<()> {
        self.header(out)?;
        // Lines are cut before the width of the gutter is known, so assume the usual width.
        let snippets = snippets(self.finding, self.look.excerpt(USUAL_GUTTER));
        let gutter = snippets.iter().map(|snippet| digits(snippet.number)).max().unwrap_or(1);
        for (index, snippet) in snippets.iter().enumerate() {
            let follows_code = index > 0 && snippets[index - 1].excerpt.is_some();
            self.snippet(out, snippet, gutter, index == 0, follows_code)?;
        }
        self.remarks(out, gutter)
    }

    /// Writes `error[EXP001]: message`.
    fn header(&self, out: &mut dyn WriteColor) -> Result<()> {
        let finding = self.finding;
        painted(out, self.styles.header(self.severity), &format!("{}[{}]", finding.level, finding.code))?;
        let indent = finding.level.name().len() + finding.code.len() + 4;
        let message = wrapped(&one_line(&finding.message), self.look.room(indent), indent);
        painted(out, self.styles.header_message(), &format!(": {message}"))?;
        writeln!(out)
    }

    /// Writes a location and, if known, its line.
    fn snippet(
        &self,
        out: &mut dyn WriteColor,
        snippet: &Snippet,
        gutter: usize,
        first: bool,
        follows_code: bool,
    ) -> Result<()> {
        if follows_code {
            self.bar(out, gutter)?;
        }
        let arrow = if first { "-->" } else { ":::" };
        painted(out, self.styles.source_border(), &format!("{:gutter$}{arrow}", ""))?;
        writeln!(out, " {}", one_line(&snippet.locus))?;
        let Some(excerpt) = &snippet.excerpt else { return Ok(()) };
        self.bar(out, gutter)?;
        let style = if snippet.primary { LabelStyle::Primary } else { LabelStyle::Secondary };
        let span = excerpt.span.start..excerpt.span.end.max(excerpt.span.start + 1);
        let label = one_line(&snippet.label);
        // A label that does not fit next to its carets is printed below them.
        let carets = excerpt.text[..span.end.min(excerpt.text.len())].chars().count();
        let indent = gutter + 3;
        let fits = carets + 1 + label.chars().count() <= self.look.room(indent);
        let line = [(style, span.clone(), if fits { &*label } else { "" })];
        let config = Config { chars: Chars::ascii(), ..Config::default() };
        let mut out = SnippetWriter::new(out, &self.styles, snippet.number > 0);
        Renderer::new(&mut out, &config)
            .render_snippet_source(
                gutter,
                snippet.number as usize,
                &excerpt.text,
                self.severity,
                &line,
                0,
                &[],
            )
            .map_err(std::io::Error::other)?;
        if fits {
            return Ok(());
        }
        let start = excerpt.text[..span.start.min(excerpt.text.len())].chars().count();
        let start = start.min(self.look.room(indent).saturating_sub(label.chars().count()));
        for line in wrapped(&label, self.look.room(indent + start), 0).lines() {
            painted(out.out, self.styles.source_border(), &format!("{:gutter$} |", ""))?;
            writeln!(out.out, " {:start$}{line}", "")?;
        }
        Ok(())
    }

    /// Writes an empty line with the gutter: `   |`.
    fn bar(&self, out: &mut dyn WriteColor, gutter: usize) -> Result<()> {
        painted(out, self.styles.source_border(), &format!("{:gutter$} |", ""))?;
        writeln!(out)
    }

    fn remarks(&self, out: &mut dyn WriteColor, gutter: usize) -> Result<()> {
        if let Some(others) = &self.others {
            self.remark(out, gutter, "note", others)?;
        }
        for note in &self.finding.notes {
            self.remark(out, gutter, "note", note)?;
        }
        if let Some(help) = &self.finding.help {
            self.remark(out, gutter, "help", help)?;
        }
        if let Some(fix) = &self.finding.fix {
            let how = match fix.applicability {
                Applicability::Safe => "safe",
                Applicability::Unsafe => "with --unsafe-fixes",
            };
            self.remark(out, gutter, "fix", &format!("onnx-fix {}   ({how})", fix.summary))?;
        }
        Ok(())
    }

    /// Writes `   = help: …`, with further lines aligned below the first.
    fn remark(&self, out: &mut dyn WriteColor, gutter: usize, kind: &str, text: &str) -> Result<()> {
        painted(out, self.styles.note_bullet(), &format!("{:gutter$} =", ""))?;
        write!(out, " ")?;
        painted(out, self.styles.header_message(), kind)?;
        let indent = gutter + 3 + kind.len() + 2;
        let text = wrapped(&lines(text), self.look.room(indent), indent);
        writeln!(out, ": {text}")
    }
}

fn painted(out: &mut dyn WriteColor, colour: &ColorSpec, text: &str) -> Result<()> {
    out.set_color(colour)?;
    write!(out, "{text}")?;
    out.reset()
}

fn digits(number: u32) -> usize {
    number.max(1).ilog10() as usize + 1
}
