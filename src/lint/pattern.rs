//! Findings of pattern rules.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::analyses::context::{LintContext, number};
use crate::analyses::locate::Part;
use crate::analyses::suggestions;
use crate::diag::Finding;
use crate::edit::{Patch, PatchNode, PatchOp};
use crate::graph::{NodeId, ValueId};
use crate::rules::matcher::{self, Match};
use crate::rules::message::render;
use crate::rules::plain::PlainHost;
use crate::rules::plan::patch;
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Body, Direction, Phase, Rule, Term};

/// Matches the selected pattern rules in every graph, appends their findings, and attaches fixes.
pub fn run(cx: &LintContext, rules: &RuleSet, findings: &mut Vec<Finding>) {
    let ops: FxHashSet<&str> = cx.model.nodes.iter().map(|(_, node)| &*node.op_type).collect();
    let rules = rules.about(&|op| ops.contains(op));
    let selected: Vec<&Rule> =
        rules.iter().copied().filter(|rule| rule.is_selected(&cx.options.selection)).collect();
    for graph in cx.model.graphs.ids() {
        let host = PlainHost::new(cx.model, graph, cx.facts, cx.uses);
        for rule in &selected {
            for (direction, found) in matches(cx, &host, rule) {
                if let Some(&root) = found.nodes.last() {
                    findings.push(finding(cx, &host, (rule, direction), root, found));
                }
            }
        }
    }
    let mending: Vec<&Rule> = selected.into_iter().filter(|rule| rule.fixes.is_some()).collect();
    let mends = suggestions::mends(cx, &mending, findings);
    suggestions::promise(findings, &mends, cx.options);
}

type Matched<'r> = (&'r Direction, Match<ValueId, NodeId>);

/// Returns the matches of a rule to report: one per direction and root node.
/// If a match of one alternative includes all nodes of a match of another alternative, only the larger
/// match is reported.
fn matches<'r>(cx: &LintContext, host: &PlainHost, rule: &'r Rule) -> Vec<Matched<'r>> {
    let mut all: Vec<Matched> = Vec::new();
    for direction in reported(rule) {
        let mut reported_root: Option<NodeId> = None;
        for found in matcher::find(host, direction).matches {
            if let Some(&root) = found.nodes.last()
                && !only_names_an_output(cx, direction, &found)
                && (rule.is_lint_only() || !matcher::is_quantized_product(host, rule.phase, &found))
                // Report a rule once per root node.
                && reported_root.replace(root) != Some(root)
            {
                all.push((direction, found));
            }
        }
    }
    if rule.has_alternatives() {
        remove_covered(&mut all);
    }
    all
}

/// Removes the matches whose nodes are all part of another match; keeps the first of equal matches.
fn remove_covered(all: &mut Vec<Matched>) {
    let mut users: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
    for (at, (_, found)) in all.iter().enumerate() {
        for &node in &found.nodes {
            users.entry(node).or_default().push(at);
        }
    }
    let is_covered = |at: usize| {
        let nodes = &all[at].1.nodes;
        let others = nodes.last().and_then(|root| users.get(root));
        others.into_iter().flatten().any(|&other| {
            let more = &all[other].1.nodes;
            let is_more = more.len() > nodes.len() || more.len() == nodes.len() && other < at;
            is_more && nodes.iter().all(|node| more.contains(node))
        })
    };
    let kept: Vec<bool> = (0..all.len()).map(|at| !is_covered(at)).collect();
    let mut kept = kept.into_iter();
    all.retain(|_| kept.next().unwrap_or(true));
}

/// Returns the patterns that a rule reports in linting.
///
/// Only lint rules and rules of the phases `simplify` and `fix` report findings. A rule that fixes the
/// findings of another rule reports nothing.
fn reported(rule: &Rule) -> &[Direction] {
    match &rule.body {
        Body::Pattern { forward, .. } if rule.is_lint_only() => forward,
        Body::Pattern { .. } if rule.fixes.is_some() => &[],
        Body::Pattern { forward, .. } if matches!(rule.phase, Phase::Simplify | Phase::Fix) => forward,
        Body::Pattern { .. } | Body::Builtin(_) => &[],
    }
}

/// Whether the rewrite would only rename an output of the graph.
///
/// A node must remain between the output and its source, if the source is a graph input, an initializer, another
/// output, or a value of an outer graph.
fn only_names_an_output(cx: &LintContext, direction: &Direction, found: &Match<ValueId, NodeId>) -> bool {
    let Some(rewrite) = direction.rewrite.as_ref().filter(|rewrite| rewrite.nodes.is_empty()) else {
        return false;
    };
    rewrite.outputs.iter().any(|(target, term)| {
        let Term::Var(source) = term else { return false };
        let is_output = |value: ValueId| cx.uses.is_output(value);
        let graph = |value: ValueId| cx.model.producer(value).map(|(node, _)| cx.model.nodes[node].graph);
        let is_bound =
            |value: ValueId| is_output(value) || graph(value) != found.one(*target).and_then(graph);
        found.one(*target).is_some_and(is_output) && found.one(*source).is_some_and(is_bound)
    })
}

/// Creates the finding of a match, with a fix if the rewrite applies, and is worth it or preferred.
fn finding(
    cx: &LintContext,
    host: &PlainHost,
    (rule, direction): (&Rule, &Direction),
    root: NodeId,
    found: Match<ValueId, NodeId>,
) -> Finding {
    let message = render(&direction.message, host, &found);
    let place = cx.places.node(root, Part::Whole);
    let mut finding = Finding::new(&rule.code, &rule.name, rule.severity, message, place);
    finding.source = cx.places.source(root);
    finding.anchor = cx.places.anchor(root);
    finding.nodes = found.nodes.iter().rev().map(|&node| number(node)).collect();
    for &node in found.nodes.iter().rev().skip(1) {
        finding = finding.related(cx.places.node(node, Part::Whole), "part of the same match");
    }
    finding.help = direction.help.as_ref().map(|help| render(help, host, &found));
    let patch =
        patch(host, rule, direction, found).filter(|patch| rule.is_preferred() || is_worth_it(cx, patch));
    finding.fix = patch.map(|_| suggestions::fix(rule));
    finding
}

/// Whether a rewrite removes all matched nodes, or more nodes than it adds, not counting constants.
///
/// Matched nodes with other users must stay, and `onnx-fix` applies only rewrites that reduce the cost.
fn is_worth_it(cx: &LintContext, patch: &Patch) -> bool {
    let made = patch.nodes.iter().flat_map(|node| node.outputs.iter().flatten());
    let taken: FxHashSet<ValueId> =
        made.filter_map(|item| item.old()).chain(patch.redirects.iter().map(|(from, _)| *from)).collect();
    let mut gone: FxHashSet<NodeId> = FxHashSet::default();
    for &node in patch.replaced.iter().rev() {
        let is_free = |&value: &ValueId| {
            let is_read = || cx.uses.of(value).iter().any(|one| !gone.contains(&one.node));
            taken.contains(&value) || !cx.uses.is_output(value) && !is_read()
        };
        if cx.model.nodes[node].outputs.iter().flatten().all(is_free) {
            gone.insert(node);
        }
    }
    let all: FxHashSet<NodeId> = patch.replaced.iter().copied().collect();
    let is_new =
        |node: &&PatchNode| matches!(&node.form, PatchOp::New { op_type, .. } if **op_type != *"Constant");
    gone.len() == all.len() || patch.nodes.iter().filter(is_new).count() < gone.len()
}
