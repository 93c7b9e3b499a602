//! Python code from notebooks, interactive sessions and pasted code.
//!
//! The layout of the code differs from that of its file.

use std::sync::Arc;

use crate::diag::{Cell, Finding, Place, Position, SourcePlace};

/// Python code, with the origin of each of its lines.
#[derive(Debug, Default)]
pub struct Excerpt {
    /// The code that is linted.
    pub text: String,
    origins: Vec<Origin>,
}

/// Origin of a line.
#[derive(Clone, Debug)]
pub struct Origin {
    /// 1-based line of the file; 0 for a line that the file does not have.
    pub line: u32,
    /// Number to add to a column of the line to get the column in the file.
    pub shift: i64,
    /// Cell of a notebook.
    pub cell: Option<Cell>,
    /// Text of the line in its file.
    pub code: Arc<str>,
}

impl Excerpt {
    /// Adds a line of code, without its line end.
    pub fn push(&mut self, code: &str, origin: Origin) {
        self.text.push_str(code);
        self.text.push('\n');
        self.origins.push(origin);
    }

    /// Adds a line that the file does not have.
    pub fn push_frame(&mut self, code: &str) {
        self.push(code, Origin { line: 0, shift: 0, cell: None, code: Arc::from("") });
    }

    /// Returns `outer` with origins in the file of this excerpt.
    ///
    /// `outer` was made from the text of this excerpt.
    pub fn around(&self, outer: Excerpt) -> Excerpt {
        let origins = outer.origins.into_iter().map(|origin| match self.at(origin.line) {
            Some(own) => Origin { shift: own.shift + origin.shift, ..own.clone() },
            None => Origin { line: 0, ..origin },
        });
        Excerpt { text: outer.text, origins: origins.collect() }
    }

    /// Returns the code with each line at its line number in the file.
    ///
    /// A line of the file that holds several lines of code is left empty.
    pub fn in_file(&self) -> String {
        let mut lines: Vec<Option<&str>> = Vec::new();
        for (code, origin) in self.text.lines().zip(&self.origins) {
            let Some(at) = origin.line.checked_sub(1).and_then(|at| usize::try_from(at).ok()) else {
                continue;
            };
            if at < lines.len() {
                lines[at] = Some("");
            } else {
                lines.resize(at, None);
                lines.push(Some(code));
            }
        }
        lines.iter().flat_map(|line| [line.unwrap_or(""), "\n"]).collect()
    }

    fn at(&self, line: u32) -> Option<&Origin> {
        self.origins.get(usize::try_from(line.checked_sub(1)?).ok()?)
    }

    /// Moves a finding, and its related places, from the code to the file.
    ///
    /// Returns `None` if the file lacks one of the lines or columns. A notebook stores its code as JSON, so a
    /// rewrite of a cell is dropped.
    pub fn restored(&self, mut finding: Finding, file: &str) -> Option<Finding> {
        if let Some(source) = &mut finding.source {
            self.restore(source, file)?;
        }
        if let Place::Source(source) = &mut finding.place {
            self.restore(source, file)?;
        }
        for related in &mut finding.related {
            if let Place::Source(source) = &mut related.place {
                self.restore(source, file)?;
            }
        }
        let is_of_file = finding.source.as_ref().is_some_and(|source| *source.file == *file);
        if let Some(rewrite) = finding.rewrite.take().filter(|_| is_of_file) {
            let (start, end) = (self.position(rewrite.start), self.position(rewrite.end));
            finding.rewrite =
                start.zip(end).map(|(start, end)| crate::diag::Rewrite { start, end, ..rewrite });
        }
        Some(finding)
    }

    fn restore(&self, source: &mut SourcePlace, file: &str) -> Option<()> {
        if *source.file != *file {
            return Some(());
        }
        let origin = self.at(source.line).filter(|origin| origin.line > 0)?;
        source.line = origin.line;
        source.cell = origin.cell;
        if source.column > 0 {
            source.column = shifted(source.column, origin.shift)?;
        }
        source.code = Some(origin.code.clone());
        Some(())
    }

    fn position(&self, at: Position) -> Option<Position> {
        let origin = self.at(at.line).filter(|origin| origin.line > 0 && origin.cell.is_none())?;
        Some(Position { line: origin.line, column: shifted(at.column, origin.shift)? })
    }
}

fn shifted(column: u32, by: i64) -> Option<u32> {
    u32::try_from(i64::from(column) + by).ok().filter(|column| *column > 0)
}
