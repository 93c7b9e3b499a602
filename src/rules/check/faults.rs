//! Collects the faults of one rule file.

use crate::diag::{Finding, Level, Place};
use crate::graph::syntax::cursor::Language;
use crate::graph::syntax::{Source, Span};
use crate::rules::syntax::RULES;

/// The place where a text is written out, and how a fault in it is introduced.
pub type Within = (Span, &'static str);

/// The faults of a file, in the order in which they were met.
pub struct Faults<'s> {
    source: &'s Source,
    language: Language,
    findings: Vec<Finding>,
    errors: usize,
    note: Option<&'static str>,
    /// What is being written out, a call or another example: what is wrong inside is said there.
    within: Option<Within>,
    is_whole: bool,
    is_ignored: bool,
}

impl<'s> Faults<'s> {
    pub fn new(source: &'s Source) -> Self {
        Faults::of(source, RULES)
    }

    /// For a file in another language than that of rules.
    pub fn of(source: &'s Source, language: Language) -> Self {
        let (findings, errors, note, within) = (Vec::new(), 0, None, None);
        Faults { source, language, findings, errors, note, within, is_whole: true, is_ignored: false }
    }

    /// For what is tried: its faults may not matter.
    pub fn apart(&self) -> Faults<'s> {
        Faults::of(self.source, self.language)
    }

    /// For a text that is known to have no faults but that parts of it were left out.
    pub fn ignored(source: &'s Source) -> Self {
        Faults { is_ignored: true, ..Faults::new(source) }
    }

    pub fn source(&self) -> &'s Source {
        self.source
    }

    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// How many errors there are, warnings aside.
    pub fn errors(&self) -> usize {
        self.errors
    }

    pub fn place(&self, span: Span) -> Place {
        self.source.place(span)
    }

    /// An error, for the caller to add to and [`Faults::push`].
    pub fn at(&self, span: Span, message: impl Into<String>) -> Finding {
        let mut finding = self.language.rule.finding(message, self.place(span));
        finding.file = self.source.file.clone();
        finding
    }

    /// As [`Faults::at`], for what does no harm but says something else than was meant.
    pub fn warning(&self, span: Span, message: impl Into<String>) -> Finding {
        Finding { level: Level::Warning, ..self.at(span, message) }
    }

    pub fn push(&mut self, mut finding: Finding) {
        if self.is_ignored {
            return;
        }
        finding.notes.extend(self.note.map(str::to_owned));
        if let Some((span, what)) = self.within {
            finding = self.at(span, format!("{what}: {}", finding.message));
        }
        // Each operator of `@op in […]` is checked by itself.
        if self.findings.contains(&finding) {
            return;
        }
        self.errors += usize::from(finding.level == Level::Error);
        self.findings.push(finding);
    }

    /// Reports what may only follow from another fault: not where there is one already.
    pub fn push_if_whole(&mut self, finding: Finding) {
        if self.is_whole {
            self.push(finding);
        }
    }

    /// Whether everything that names could refer to is known.
    pub fn set_whole(&mut self, is_whole: bool) {
        self.is_whole = is_whole;
    }

    /// Findings of the syntax.
    pub fn extend(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            self.push(finding);
        }
    }

    /// Begins or ends the writing out of a text where it is asked for; what was in force before.
    pub fn set_within(&mut self, within: Option<Within>) -> Option<Within> {
        std::mem::replace(&mut self.within, within)
    }

    /// A remark on every fault from here on.
    pub fn set_note(&mut self, note: Option<&'static str>) {
        self.note = note;
    }
}
