//! The suppression comments of one file, and the lines that they cover.

use std::ops::RangeInclusive;

use super::comment::{self, Scope, Suppression};
use crate::diag::{Place, TextPlace};
use crate::graph::syntax::{Source, Span, parse};
use crate::python::comments::comments;

/// Languages with suppression comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Python,
    OnnxText,
    Rules,
}

/// A suppression comment of a file.
#[derive(Clone, Debug)]
pub struct Directive {
    pub suppression: Suppression,
    /// The 1-based lines that the comment covers; not used if its scope is the file.
    pub lines: RangeInclusive<u32>,
    pub place: TextPlace,
}

/// The suppression comments of a file.
#[derive(Clone, Debug, Default)]
pub struct Directives {
    pub all: Vec<Directive>,
    /// Malformed comments, with the reason.
    pub malformed: Vec<(TextPlace, String)>,
}

impl Directives {
    /// Finds the suppression comments in a text.
    pub fn of(text: &str, language: Language) -> Self {
        let mut found = Directives::default();
        if !text.contains("onnx-lint") {
            return found;
        }
        let (comments, statements) = match language {
            Language::Python => {
                let (comments, statements) = comments(text);
                (comments.into_iter().map(|one| (one.start, one.text)).collect(), statements)
            }
            Language::OnnxText => (hash_comments(text, true), nodes(text)),
            Language::Rules => (hash_comments(text, false), Vec::new()),
        };
        let source = Source::new("", text);
        let starts: Vec<usize> = comments.iter().map(|(start, _)| *start).collect();
        for (start, comment) in comments {
            let Some((at, parsed)) = comment::parse(&comment) else { continue };
            let end = start + comment.trim_end().len();
            let Place::Text(place) = source.place(Span::new(start + at, end)) else { continue };
            match parsed {
                Ok(suppression) => {
                    let lines = covered(&place, text, &starts, &statements);
                    found.all.push(Directive { suppression, lines, place });
                }
                Err(why) => found.malformed.push((place, why)),
            }
        }
        found
    }

    /// Returns the comments that cover a line, those of the whole file last.
    pub fn at(&self, line: Option<u32>) -> impl Iterator<Item = (usize, &Directive)> {
        let is_whole = |directive: &Directive| directive.suppression.scope == Scope::File;
        let all = || self.all.iter().enumerate();
        let here = all()
            .filter(move |(_, one)| !is_whole(one) && line.is_some_and(|line| one.lines.contains(&line)));
        here.chain(all().filter(move |(_, one)| is_whole(one)))
    }
}

/// Returns the lines that a comment covers.
///
/// A comment covers its own line, or the next statement if nothing else is on its line.
fn covered(
    place: &TextPlace,
    text: &str,
    comments: &[usize],
    statements: &[RangeInclusive<u32>],
) -> RangeInclusive<u32> {
    let is_alone = place.text.trim_start().starts_with('#');
    if !is_alone {
        return place.line..=place.line;
    }
    let mut start = 0;
    let lines = text.split_inclusive('\n').zip(1u32..).map(|(line, number)| {
        let at = start + (line.len() - line.trim_start().len());
        start += line.len();
        (number, line.trim().is_empty() || comments.binary_search(&at).is_ok())
    });
    let next = lines.into_iter().find(|(number, is_blank)| *number > place.line && !is_blank);
    let Some((next, _)) = next else { return place.line..=place.line };
    let last = statements.iter().filter(|lines| *lines.start() == next).map(|lines| *lines.end()).max();
    next..=last.unwrap_or(next)
}

/// Returns the comments of ONNX text or rules with their byte offsets.
///
/// A comment extends from a `#` outside of strings to the end of the line.
fn hash_comments(text: &str, strings_span_lines: bool) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_string = false;
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' if is_string => drop(chars.next()),
            '"' => is_string = !is_string,
            '\n' if !strings_span_lines => is_string = false,
            '#' if !is_string => {
                let comment = text[at..].lines().next().unwrap_or("");
                found.push((at, comment.to_owned()));
                chars.by_ref().take_while(|(_, char)| *char != '\n').for_each(drop);
            }
            _ => {}
        }
    }
    found
}

/// Returns the lines of each node in ONNX text, up to the first node of its subgraphs.
fn nodes(text: &str) -> Vec<RangeInclusive<u32>> {
    let parsed = parse(&Source::new("", text));
    let mut spans: Vec<Span> = parsed.spans.nodes().map(|(_, span)| span).collect();
    spans.sort_unstable();
    let line = |byte: u32| parsed.spans.place(Span { start: byte, end: byte }).line;
    let lines = |(index, span): (usize, &Span)| {
        let inner = spans.get(index + 1).filter(|inner| inner.start < span.end);
        let (start, end) = (line(span.start), line(span.end.saturating_sub(1)));
        start..=inner.map_or(end, |inner| line(inner.start).saturating_sub(1).clamp(start, end))
    };
    spans.iter().enumerate().map(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the lines that the comments of `text` cover.
    fn check(language: Language, text: &str, expected: &[RangeInclusive<u32>]) {
        let found = Directives::of(text, language);
        let lines: Vec<_> = found.all.iter().map(|directive| directive.lines.clone()).collect();
        assert_eq!((&lines[..], found.malformed.len()), (expected, 0), "{text}");
    }

    #[test]
    fn a_comment_after_code_covers_its_line() {
        check(Language::Python, "x = 1\ny = f(x)  # onnx-lint: ignore\n", &[2..=2]);
        check(Language::OnnxText, "a\nb # onnx-lint: ignore\n", &[2..=2]);
    }

    #[test]
    fn a_comment_on_its_own_line_covers_the_next_statement() {
        let call = "# onnx-lint: ignore[EXP]\n# why\n\ny = f(\n    1,\n)\nz = 1\n";
        check(Language::Python, call, &[4..=6]);
        check(Language::Python, "# onnx-lint: ignore\nif x:\n    y = 1\n", &[2..=2]);
        check(Language::Python, "f(\n    # onnx-lint: ignore\n    1,\n    2)\n", &[3..=3]);
        check(Language::Python, "x = 1\n# onnx-lint: ignore\n", &[2..=2]);
    }

    #[test]
    fn a_comment_before_a_node_covers_its_lines_but_no_subgraph() {
        let text = "<ir_version: 8, opset_import: [\"\" : 17]>\ng (bool c) => (float y) {\n  \
            # onnx-lint: ignore\n  y = If (c) <\n    then_branch = t () => (float p) {\n      \
            p = Foo ()\n    },\n    else_branch = e () => (float q) { q = Foo () }>\n  \
            # onnx-lint: ignore\n  z = Add (y,\n    y)\n}\n";
        check(Language::OnnxText, text, &[4..=5, 10..=11]);
    }

    #[test]
    fn strings_are_no_comments() {
        check(Language::Python, "x = \"# onnx-lint: ignore\"\n", &[]);
        check(Language::OnnxText, "<doc_string: \"\n# onnx-lint: ignore\">\n", &[]);
        check(Language::Rules, "message \"# onnx-lint: ignore\"\n", &[]);
    }
}
