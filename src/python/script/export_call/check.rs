//! State of the checks of a call: what they found, and whether the call raises.

use tree_sitter::Node;

use crate::diag::{Finding, Level, Place, RuleId};

use super::super::super::report::Piece;
use super::super::machine::Machine;
use super::request::Request;

/// The call, and the findings about it so far.
pub struct Check<'c, 'm, 't> {
    pub machine: &'m mut Machine<'t>,
    pub request: &'c Request<'c, 't>,
    pub findings: Vec<Finding>,
    /// The fault for which the call raises before it runs the model.
    pub raised: Option<Finding>,
    /// Positions of the examples for which the exporter writes no input.
    pub dropped: Vec<usize>,
}

/// A finding about a call.
pub struct Words<'t> {
    pub rule: RuleId,
    pub level: Level,
    /// Expression at which the finding is placed.
    pub node: Node<'t>,
    pub message: String,
    pub note: &'static str,
    pub help: String,
    pub rewrite: Option<Piece>,
    /// Related places: index of the file, expression, and message.
    pub related: Vec<(usize, Node<'t>, &'static str)>,
}

impl<'t> Words<'t> {
    /// Creates a finding of the rule's level, without a rewrite.
    pub fn new(rule: RuleId, node: Node<'t>, message: impl Into<String>) -> Self {
        let (message, help) = (message.into(), String::new());
        Words { rule, level: rule.level, node, message, note: "", help, rewrite: None, related: vec![] }
    }

    /// Sets the level.
    pub fn at(self, level: Level) -> Self {
        Words { level, ..self }
    }

    /// Sets the note.
    pub fn note(self, note: &'static str) -> Self {
        Words { note, ..self }
    }

    /// Sets the help.
    pub fn help(self, help: impl Into<String>) -> Self {
        Words { help: help.into(), ..self }
    }

    /// Adds a related place.
    pub fn related(mut self, file: usize, node: Node<'t>, message: &'static str) -> Self {
        self.related.push((file, node, message));
        self
    }

    /// Sets the correction.
    pub fn rewrite(self, rewrite: Option<Piece>) -> Self {
        Words { rewrite, ..self }
    }
}

impl<'c, 'm, 't> Check<'c, 'm, 't> {
    /// Returns the state of the checks of a call, without findings.
    pub fn new(machine: &'m mut Machine<'t>, request: &'c Request<'c, 't>) -> Self {
        Check { machine, request, findings: vec![], raised: None, dropped: vec![] }
    }

    /// Adds a finding.
    pub fn say(&mut self, words: Words<'t>) {
        let finding = self.finding(words);
        self.findings.push(finding);
    }

    /// Records the finding about a call that raises.
    ///
    /// Only the first finding is kept, because only the first exception is raised.
    pub fn say_raised(&mut self, words: Words<'t>) {
        let finding = self.finding(words);
        self.raised.get_or_insert(finding);
    }

    fn finding(&self, words: Words<'t>) -> Finding {
        let call = self.request.call;
        let place = self.machine.place(call.file, words.node);
        let at_call = self.machine.place(call.file, call.node);
        let source = self.machine.source(call.file);
        let mut finding = words.rule.at(words.level).finding(words.message, Place::Source(place.clone()));
        if !words.note.is_empty() {
            finding = finding.note(words.note);
        }
        if !words.help.is_empty() {
            finding = finding.help(words.help);
        }
        for (file, node, message) in words.related {
            finding = finding.related(Place::Source(self.machine.place(file, node)), message);
        }
        if at_call.line != place.line {
            finding = finding.related(Place::Source(at_call), "the export");
        }
        finding.rewrite = words.rewrite.map(|piece| piece.in_lines(source));
        finding
    }

    /// Returns the source of the file that contains the call.
    pub fn source(&self) -> &'t str {
        self.machine.source(self.request.call.file)
    }

    /// Returns true if the file that contains the call contains any of these pieces of code.
    pub fn mentions_here(&self, codes: &[&str]) -> bool {
        self.machine.file_mentions(self.request.call.file, codes)
    }

    /// Returns the text of an expression on one line.
    pub fn shown(&self, node: Node<'t>) -> String {
        super::super::super::syntax::one_line(node, self.source())
    }
}
