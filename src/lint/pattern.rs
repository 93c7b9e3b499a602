//! Rules whose patterns are matched: what they say of a graph, and what they mend of what was found.

use rustc_hash::FxHashSet;

use super::context::LintContext;
use super::locate::Part;
use crate::diag::{Applicability, Finding, Fix, Place};
use crate::graph::{NodeId, ValueId};
use crate::rules::matcher::{self, Match};
use crate::rules::message::render;
use crate::rules::plain::PlainHost;
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Body, Direction, Phase, Rule, Safety, Term};

/// Matches every pattern rule that reports, in every graph, bodies and functions included, and adds what
/// it says to `findings`. A rule that mends what an analysis finds says nothing of its own: where it matches,
/// the fix that the analysis speaks of stands; where none does, there is none.
pub fn run(cx: &LintContext, rules: &RuleSet, findings: &mut Vec<Finding>) {
    let proposed = withdraw_fixes(rules, findings);
    let ops: FxHashSet<&str> = cx.model.nodes.iter().map(|(_, node)| &*node.op_type).collect();
    let rules = rules.about(&|op| ops.contains(op));
    for graph in cx.model.graphs.ids() {
        let host = PlainHost::new(cx.model, graph, cx.facts, cx.uses);
        let selected = rules.iter().copied().filter(|rule| rule.is_selected(&cx.options.selection));
        for (rule, direction) in selected.flat_map(|rule| reported(rule).iter().map(move |one| (rule, one))) {
            let mut said: Option<NodeId> = None;
            for found in &matcher::find(&host, direction).matches {
                if let Some(code) = &rule.mends {
                    mend(cx, rule, code, found, &proposed, findings);
                } else if let Some(&root) = found.nodes.last()
                    && !only_names_an_output(cx, direction, found)
                    // The ways to match at one node say the same thing.
                    && said.replace(root) != Some(root)
                {
                    findings.push(finding(cx, &host, rule, root, found));
                }
            }
        }
    }
}

/// The patterns of a rule that says something of a graph as it is. Conversions and other forms of the same
/// are for `onnx-fix` alone, and so is mending: what is mended is found by an analysis of its own.
fn reported(rule: &Rule) -> &[Direction] {
    match &rule.body {
        Body::Pattern { forward, .. } if rule.is_lint_only() => forward,
        Body::Pattern { forward, .. } if rule.phase == Phase::Simplify || rule.mends.is_some() => forward,
        Body::Pattern { .. } | Body::Builtin(_) => &[],
    }
}

/// Whether all that the rewrite could do is to give an output of the graph another name: where it is an
/// input, an initializer or another output under that name, a node has to stand between.
fn only_names_an_output(cx: &LintContext, direction: &Direction, found: &Match<ValueId, NodeId>) -> bool {
    let Some(rewrite) = direction.rewrite.as_ref().filter(|rewrite| rewrite.nodes.is_empty()) else {
        return false;
    };
    rewrite.outputs.iter().any(|(target, term)| {
        let Term::Var(source) = term else { return false };
        let is_output = |value: ValueId| cx.uses.is_output(value);
        let is_bound = |value: ValueId| is_output(value) || cx.model.producer(value).is_none();
        found.one(*target).is_some_and(is_output) && found.one(*source).is_some_and(is_bound)
    })
}

/// Takes away, finding by finding, the fixes that need a rule to carry them out.
fn withdraw_fixes(rules: &RuleSet, findings: &mut [Finding]) -> Vec<Option<Fix>> {
    let take = |finding: &mut Finding| if rules.mends(&finding.code) { finding.fix.take() } else { None };
    findings.iter_mut().map(take).collect()
}

/// Gives its fix to what the rule `code` found at one of the nodes of a match.
fn mend(
    cx: &LintContext,
    rule: &Rule,
    code: &str,
    found: &Match<ValueId, NodeId>,
    proposed: &[Option<Fix>],
    findings: &mut [Finding],
) {
    let places: Vec<Place> = found.nodes.iter().map(|&node| cx.places.node(node, Part::Whole)).collect();
    let is_there = |finding: &Finding| {
        &*finding.code == code && places.iter().any(|place| is_same_node(place, &finding.place))
    };
    if let Some(index) = findings.iter().position(is_there) {
        let Fix { applicability, summary } = fix(rule);
        let words = proposed.get(index).cloned().flatten().map(|proposed| proposed.summary);
        findings[index].fix = Some(Fix { applicability, summary: words.unwrap_or(summary) });
    }
}

fn is_same_node(one: &Place, other: &Place) -> bool {
    let node = |place: &Place| place.graph().map(|graph| (graph.graph.clone(), graph.position));
    node(one).is_some() && node(one) == node(other)
}

fn finding(
    cx: &LintContext,
    host: &PlainHost,
    rule: &Rule,
    root: NodeId,
    found: &Match<ValueId, NodeId>,
) -> Finding {
    let message = render(&rule.message, host, found);
    let place = cx.places.node(root, Part::Whole);
    let mut finding = Finding::new(&rule.code, &rule.name, rule.severity, message, place);
    finding.source = cx.places.source(root);
    finding.anchor = cx.places.anchor(root);
    for &node in found.nodes.iter().rev().skip(1) {
        finding = finding.related(cx.places.node(node, Part::Whole), "together with this node");
    }
    finding.help = rule.help.as_ref().map(|help| render(help, host, found));
    finding.fix = (!rule.is_lint_only()).then(|| fix(rule));
    finding
}

/// What `onnx-fix` does, named by the rule: `--explain` has the rest.
fn fix(rule: &Rule) -> Fix {
    let is_unsafe = rule.safety == Safety::Unsafe;
    let applicability = if is_unsafe { Applicability::Unsafe } else { Applicability::Safe };
    Fix { applicability, summary: format!("rewrites it ({})", rule.code) }
}
