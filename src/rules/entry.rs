//! Entries of rule sets.

use std::sync::{Arc, OnceLock};

use super::built_in::RuleHeader;
use super::rule::{Phase, Rule};
use crate::diag::Level;

/// Rule of a set: parsed, or built in and parsed on demand.
#[derive(Clone, Debug)]
pub enum Entry {
    Read(Arc<Rule>),
    /// The cell holds `None` if the text has a fault; a test checks that no built-in rule has one.
    BuiltIn(&'static RuleHeader, Arc<OnceLock<Option<Rule>>>),
}

impl Entry {
    /// Returns the code of the rule.
    pub fn code(&self) -> &str {
        match self {
            Entry::Read(rule) => &rule.code,
            Entry::BuiltIn(brief, _) => brief.code,
        }
    }

    /// Returns the name of the rule.
    pub fn name(&self) -> &str {
        match self {
            Entry::Read(rule) => &rule.name,
            Entry::BuiltIn(brief, _) => brief.name,
        }
    }

    /// Returns true if the rule is applied only with `--preview`.
    pub fn is_preview(&self) -> bool {
        match self {
            Entry::Read(rule) => rule.status.is_preview(),
            Entry::BuiltIn(brief, _) => brief.status().is_preview(),
        }
    }

    /// Returns the level that the rule declares; findings of an analysis can have another level.
    pub fn severity(&self) -> Level {
        match self {
            Entry::Read(rule) => rule.severity,
            Entry::BuiltIn(brief, _) => brief.severity,
        }
    }

    /// Returns the code after `fixes`: the rule that reports the findings that this rule fixes.
    pub fn fixes(&self) -> Option<&str> {
        match self {
            Entry::Read(rule) => rule.fixes.as_deref(),
            Entry::BuiltIn(brief, _) => brief.fixes,
        }
    }

    /// Returns the first opset at which the rule applies without a target.
    pub fn since(&self) -> Option<i64> {
        match self {
            Entry::Read(rule) => rule.since,
            Entry::BuiltIn(brief, _) => brief.since,
        }
    }

    /// Returns true if a direction of the rule may match in a model with these operators only.
    /// For a built-in rule, only the index entry is consulted. The index entry of a rule with
    /// `rewrite both` lists no operators, so the rule may always match.
    pub fn can_match(&self, present: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Entry::Read(rule) => rule
                .directions()
                .any(|direction| direction.pattern.nodes.iter().all(|node| present(&node.op.name))),
            Entry::BuiltIn(brief, _) => {
                brief.needs.is_empty() || brief.needs.iter().all(|ops| ops.iter().any(|op| present(op)))
            }
        }
    }

    /// Returns the phase in which the rule runs, or `None` for the page of a built-in analysis.
    pub fn phase(&self) -> Option<Phase> {
        match self {
            Entry::Read(rule) => Some(rule.phase),
            Entry::BuiltIn(brief, _) => brief.phase,
        }
    }

    /// Returns the parsed rule, or `None` if the text of the rule has a fault.
    pub fn rule(&self) -> Option<&Rule> {
        match self {
            Entry::Read(rule) => Some(rule),
            Entry::BuiltIn(brief, rule) => rule.get_or_init(|| brief.read()).as_ref(),
        }
    }
}
