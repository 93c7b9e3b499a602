//! Rules whose patterns are matched: what they say of a graph.

use super::context::LintContext;
use super::locate::Part;
use crate::diag::{Applicability, Finding, Sink};
use crate::graph::{NodeId, ValueId};
use crate::rules::matcher::{self, Match};
use crate::rules::message::render;
use crate::rules::plain::PlainHost;
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Body, Direction, Phase, Rule, Safety};

/// Matches every pattern rule that reports, in every graph, bodies and functions included.
pub fn run(cx: &LintContext, rules: &RuleSet, sink: &mut Sink) {
    for graph in cx.model.graphs.ids() {
        let host = PlainHost::new(cx.model, graph, cx.facts, cx.uses);
        let selected = rules.iter().filter(|rule| cx.options.selection.contains(&rule.code));
        for (rule, direction) in selected.filter_map(|rule| Some((rule, reported(rule)?))) {
            let found = matcher::find(&host, direction).matches;
            let roots = found.iter().filter_map(|found| Some((*found.nodes.last()?, found)));
            let mut said: Option<NodeId> = None;
            for (root, found) in roots {
                // The ways to match at one node say the same thing.
                if said.replace(root) != Some(root) {
                    sink.push(finding(cx, &host, rule, root, found));
                }
            }
        }
    }
}

/// The pattern of a rule that says something of a graph as it is. Conversions and other forms of the same
/// are for `onnx-fix` alone, and so is mending: what is mended is found by an analysis of its own.
fn reported(rule: &Rule) -> Option<&Direction> {
    match &rule.body {
        Body::Pattern { forward, .. } if rule.is_lint_only() => Some(forward),
        Body::Pattern { forward, .. } if rule.phase == Phase::Simplify => Some(forward),
        Body::Pattern { .. } | Body::Builtin(_) => None,
    }
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
    if rule.is_lint_only() {
        return finding;
    }
    let applicability =
        if rule.safety == Safety::Unsafe { Applicability::Unsafe } else { Applicability::Safe };
    finding.fix(applicability, format!("rewrites it by {}", rule.code))
}
