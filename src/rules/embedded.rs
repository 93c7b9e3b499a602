//! The rules that are built in, as `build.rs` collects them.

use std::sync::OnceLock;

use super::check::{Faults, check_file};
use super::rule::{Phase, Rule};
use super::syntax::ast::FnAst;
use super::syntax::parse;
use crate::diag::Level;
use crate::graph::syntax::Source;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// What is known of a rule without reading it, and its text without its examples.
#[derive(Debug)]
pub struct Brief {
    /// `OPT101`.
    pub code: &'static str,
    /// `double-transpose`.
    pub name: &'static str,
    /// The level of its findings, or of the worst of them.
    pub severity: Level,
    /// The first line of its docs.
    pub summary: &'static str,
    /// The code of the rule whose findings it mends, if it has none of its own.
    pub mends: Option<&'static str>,
    /// For each node of its pattern, the operators that it may be.
    pub needs: &'static [&'static [&'static str]],
    /// `None` for the page of something that code finds: nothing is matched.
    pub(super) phase: Option<Phase>,
    path: &'static str,
    /// The defaults of its file, and the functions of the file that it calls.
    shared: &'static [usize],
    text: &'static str,
}

impl Brief {
    /// The rule, without examples.
    pub(super) fn read(&self) -> Option<Rule> {
        let mut text: String = self.shared.iter().map(|&index| SHARED[index]).collect();
        text.push_str(self.text);
        let source = Source::new(self.path, &text);
        let (file, _) = parse(&source);
        check_file(file, &mut Faults::ignored(&source)).pop()
    }
}

/// The functions of `rules/lib`, which every rule can call.
pub fn library() -> &'static [FnAst] {
    static LIBRARY: OnceLock<Vec<FnAst>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let files = FILES.iter().filter(|(path, _)| path.starts_with("rules/lib/"));
        files.flat_map(|(path, text)| parse(&Source::new(path, text)).0.functions).collect()
    })
}
