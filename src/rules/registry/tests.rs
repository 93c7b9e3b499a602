//! Tests of the built-in rules.

use std::collections::BTreeSet;

use super::*;
use crate::diag::rule_ids;
use crate::rules::rule::{Body, Direction};

#[test]
fn built_in_rules_have_no_faults() {
    let (rules, findings) = RuleSet::embedded();
    assert_eq!(findings, []);
    let (patterns, linting) = (RuleSet::patterns(), RuleSet::for_linting());
    for rule in rules.iter() {
        let has_pattern = matches!(rule.body, Body::Pattern { .. });
        let has_pattern = has_pattern && !rule.status.is_preview();
        assert_eq!(patterns.get(&rule.code).is_some(), has_pattern, "{}", rule.code);
        let is_reported = has_pattern && matches!(rule.phase, Phase::Simplify | Phase::Fix);
        assert_eq!(linting.get(&rule.code).is_some(), is_reported, "{}", rule.code);
        let brief = RuleSet::headers().iter().find(|brief| *brief.code == *rule.code);
        let brief = brief.expect("every rule has one");
        assert_eq!(brief.status(), rule.status, "{}", rule.code);
        let successor = rule.status.successor();
        assert!(successor.is_none_or(|code| rules.get(code).is_some()), "{}: {successor:?}", rule.code);
        let said = (brief.name, brief.severity, brief.summary, brief.fixes, brief.since);
        assert_eq!(said, (&*rule.name, rule.severity, rule.summary(), rule.fixes.as_deref(), rule.since));
        assert_eq!(brief.phase, has_pattern.then_some(rule.phase), "{}", rule.code);
        // Each entry of `needs` must match a node in every direction; not every node has an entry.
        let holds = |direction: &Direction, ops: &[&str]| {
            direction.pattern.nodes.iter().any(|node| ops.contains(&&*node.op.name))
        };
        let missing = rule.directions().any(|one| !brief.needs.iter().all(|ops| holds(one, ops)));
        assert!(!missing, "{}: {:?}", rule.code, brief.needs);
        let whole = rule.whole.as_deref().unwrap_or(rule);
        // With `rewrite both`, `needs` is empty.
        if !whole.has_alternatives() && whole.directions().count() < 2 {
            // Compare sets: the order and repetitions of operators in `needs` do not matter.
            let needs: BTreeSet<Vec<&str>> = brief.needs.iter().map(|ops| ops.to_vec()).collect();
            assert_eq!(needs, operators(whole), "{}", rule.code);
        }
        assert!(rules.get(&rule.code).is_some_and(|found| found.name == rule.name));
        assert!(rules.knows(&rule.code[..3]) && rules.knows(&rule.name) && rules.knows("ALL"));
    }
    assert!(!rules.knows("") && !rules.knows("no-such-rule"));
}

/// Returns the operators that each node of the pattern may have.
///
/// Nodes of patterns that are defined outside of the rule do not count: its text does not contain them.
fn operators(rule: &Rule) -> BTreeSet<Vec<&str>> {
    let forward = rule.forward();
    let nodes = forward.first().map_or(0, |first| first.pattern.nodes.len());
    let own = rule.source.span;
    let is_own = |at: &usize| {
        let span = forward[0].pattern.nodes[*at].span;
        own.start <= span.start && span.end <= own.end
    };
    let operators = |at: usize| {
        let mut seen: Vec<&str> = Vec::new();
        for one in forward.iter() {
            let name = &*one.pattern.nodes[at].op.name;
            if !seen.contains(&name) {
                seen.push(name);
            }
        }
        seen
    };
    (0..nodes).filter(is_own).map(operators).collect()
}

/// Checks that `diag::rule_ids`, from which the code takes rule ids, agrees with the rule pages.
#[test]
fn rule_ids_match_their_pages() {
    let (rules, findings) = RuleSet::embedded();
    // A page with an error is dropped, so its row would seem to be superfluous.
    assert_eq!(findings, []);
    let mut pages = Vec::new();
    for rule in rules.iter() {
        if let Body::Builtin(analysis) = &rule.body {
            assert_eq!(**analysis, rule.name.replace('-', "_"), "{}", rule.code);
            pages.push((rule.code.to_string(), rule.name.to_string(), rule.severity));
        }
    }
    let ids = rule_ids::ALL.iter().map(|id| (id.code.to_owned(), id.name.to_owned(), id.level));
    let ids: Vec<_> = ids.collect();
    let without_page: Vec<_> = ids.iter().filter(|id| !pages.contains(id)).collect();
    let without_row: Vec<_> = pages.iter().filter(|page| !ids.contains(page)).collect();
    assert!(without_page.is_empty(), "no page of rules/lint has this code, name and level: {without_page:?}");
    assert!(without_row.is_empty(), "no row of rule_ids.rs has this code, name and level: {without_row:?}");
    assert!(ids == pages, "the rows of rule_ids.rs are not sorted by code");
}
