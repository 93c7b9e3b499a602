//! The rules that are built in, as `build.rs` collects them.

use super::check::{Faults, check};
use super::rule::{Phase, Rule};
use super::syntax::parse;
use crate::diag::Level;
use crate::graph::syntax::Source;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// What is known of a rule without reading it, and its text without its examples.
#[derive(Debug)]
pub struct Brief {
    pub code: &'static str,
    pub name: &'static str,
    pub severity: Level,
    /// The first line of its docs.
    pub summary: &'static str,
    pub mends: Option<&'static str>,
    /// For each node of its pattern, the operators that it may be.
    pub needs: &'static [&'static [&'static str]],
    /// `None` for the page of something that code finds: nothing is matched.
    pub(super) phase: Option<Phase>,
    path: &'static str,
    text: &'static str,
}

impl Brief {
    /// The rule, without examples.
    pub(super) fn read(&self) -> Option<Rule> {
        let source = Source::new(self.path, self.text);
        let (asts, _) = parse(&source);
        let mut faults = Faults::ignored(&source);
        asts.into_iter().find_map(|ast| check(ast, &mut faults))
    }
}
