//! Collector for the faults of one rule file.

use crate::diag::{Finding, Level, Place};
use crate::graph::syntax::cursor::Language;
use crate::graph::syntax::{Source, Span};
use crate::rules::syntax::RULES;

/// Span of an expanded call or derived example, and the text that precedes messages of faults in it.
pub type Within = (Span, &'static str);

/// Faults of a file, in the order found.
pub struct Faults<'s> {
    source: &'s Source,
    language: Language,
    findings: Vec<Finding>,
    errors: usize,
    note: Option<&'static str>,
    /// Call or example being expanded: faults inside it are reported at its span.
    within: Option<Within>,
    is_whole: bool,
    is_ignored: bool,
}

impl<'s> Faults<'s> {
    /// Creates a collector for a rule file.
    pub fn new(source: &'s Source) -> Self {
        Faults::of(source, RULES)
    }

    /// Creates a collector for a file in any language, such as that of target profiles.
    pub fn of(source: &'s Source, language: Language) -> Self {
        let (findings, errors, note, within) = (Vec::new(), 0, None, None);
        Faults { source, language, findings, errors, note, within, is_whole: true, is_ignored: false }
    }

    /// Creates a separate collector for a tentative check, whose faults may be discarded.
    pub fn apart(&self) -> Faults<'s> {
        Faults::of(self.source, self.language)
    }

    /// Creates a collector that drops faults, for a text whose faults were reported before.
    pub fn ignored(source: &'s Source) -> Self {
        Faults { is_ignored: true, ..Faults::new(source) }
    }

    /// Returns the source of the file.
    pub fn source(&self) -> &'s Source {
        self.source
    }

    /// Returns the collected findings.
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// Returns the number of errors; warnings do not count.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Returns the place of a span in the file.
    pub fn place(&self, span: Span) -> Place {
        self.source.place(span)
    }

    /// Creates an error; the caller completes it and calls [`Faults::push`].
    pub fn at(&self, span: Span, message: impl Into<String>) -> Finding {
        let mut finding = self.language.rule.finding(message, self.place(span));
        finding.file = self.source.file.clone();
        finding
    }

    /// Creates a warning, for text that is valid but likely not intended.
    pub fn warning(&self, span: Span, message: impl Into<String>) -> Finding {
        Finding { level: Level::Warning, ..self.at(span, message) }
    }

    /// Records a finding.
    pub fn push(&mut self, mut finding: Finding) {
        if self.is_ignored {
            return;
        }
        finding.notes.extend(self.note.map(str::to_owned));
        if let Some((span, what)) = self.within {
            let message = format!("{what}: {}", finding.message);
            finding = Finding { level: finding.level, ..self.at(span, message) };
        }
        self.errors += usize::from(finding.level == Level::Error);
        // Each combination of operators and alternatives is checked, so faults can repeat.
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// Reports a fault, unless it may only be due to definitions that were not read.
    pub fn push_if_whole(&mut self, finding: Finding) {
        if self.is_whole {
            self.push(finding);
        }
    }

    /// Sets whether all definitions were read, so that an unknown name is certainly undefined.
    pub fn set_whole(&mut self, is_whole: bool) {
        self.is_whole = is_whole;
    }

    /// Records findings of the parser.
    pub fn extend(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            self.push(finding);
        }
    }

    /// Sets the current expansion, if any, and returns the previous one.
    pub fn set_within(&mut self, within: Option<Within>) -> Option<Within> {
        std::mem::replace(&mut self.within, within)
    }

    /// Sets a note to add to every fault from here on.
    pub fn set_note(&mut self, note: Option<&'static str>) {
        self.note = note;
    }
}
