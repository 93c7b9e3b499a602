//! Styles of snippets, for the codespan renderer.

use std::io::{Result, Write};

use codespan_reporting::diagnostic::{LabelStyle, Severity};
use codespan_reporting::term::termcolor::WriteColor;
use codespan_reporting::term::{Styles, WriteStyle};

/// Writer that applies styles, and replaces the number of an unnumbered line with blanks.
pub struct SnippetWriter<'a> {
    pub out: &'a mut dyn WriteColor,
    pub styles: &'a Styles,
    /// Whether lines are numbered; otherwise, blanks replace the numbers.
    pub numbered: bool,
    in_number: bool,
}

impl<'a> SnippetWriter<'a> {
    /// Creates a writer.
    pub fn new(out: &'a mut dyn WriteColor, styles: &'a Styles, numbered: bool) -> Self {
        SnippetWriter { out, styles, numbered, in_number: false }
    }
}

impl Write for SnippetWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.in_number && !self.numbered {
            self.out.write_all(&vec![b' '; bytes.len()])?;
            return Ok(bytes.len());
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

impl WriteStyle for SnippetWriter<'_> {
    fn set_header(&mut self, severity: Severity) -> Result<()> {
        self.out.set_color(self.styles.header(severity))
    }

    fn set_header_message(&mut self) -> Result<()> {
        self.out.set_color(self.styles.header_message())
    }

    fn set_line_number(&mut self) -> Result<()> {
        self.in_number = true;
        self.out.set_color(self.styles.line_number())
    }

    fn set_note_bullet(&mut self) -> Result<()> {
        self.out.set_color(self.styles.note_bullet())
    }

    fn set_source_border(&mut self) -> Result<()> {
        self.out.set_color(self.styles.source_border())
    }

    fn set_label(&mut self, severity: Severity, style: LabelStyle) -> Result<()> {
        self.out.set_color(self.styles.label(severity, style))
    }

    fn reset(&mut self) -> Result<()> {
        self.in_number = false;
        self.out.reset()
    }
}
