//! Rewrites every graph of a model by equality saturation.

use std::collections::BTreeSet;

use super::default_attributes::drop_defaults;
use super::repair;
use crate::diag::Finding;
use crate::diag::rule_ids::{ADAPTED_FORM, CONSTANT_RESULT, DEAD_NODE, REPEATED_NODE, UNUSED_OUTPUT};
use crate::edit::{AnalysisView, Editor};
use crate::extract;
use crate::fix::context::{Context, Rewritten};
use crate::fix::options::Options;
use crate::fix::pass::{Need, Pass};
use crate::fix::search::Search;
use crate::fix::{errors, size};
use crate::graph::{GraphId, Model, scopes};
use crate::rules::matcher;
use crate::rules::plain::PlainHost;
use crate::rules::rule::{Phase, Rule, Safety};

/// The pass.
pub const PASS: Pass = Pass {
    id: "rewrite",
    summary: "Replaces nodes by their cheapest equivalents that are legal at the target.",
    codes: &[ADAPTED_FORM, CONSTANT_RESULT, DEAD_NODE, REPEATED_NODE, UNUSED_OUTPUT],
    phases: &[Phase::Simplify, Phase::Explore, Phase::Convert],
    need: Need::ByCode,
    is_enabled: |cx| cx.options.optimize || cx.options.opset.is_some() || !cx.options.targets.is_empty(),
    run,
};

/// Rewrites all graphs, and stores the result in the state of the current round.
fn run(editor: &mut Editor, cx: &mut Context) -> Result<bool, Vec<Finding>> {
    let before = size::nodes(editor.model());
    let mut rewritten = rewrite(editor, cx)?;
    rewritten.is_longer = size::nodes(editor.model()) > before;
    let is_changed = rewritten.is_changed;
    if let Some(round) = &mut cx.round {
        round.rewritten = rewritten;
    }
    Ok(is_changed)
}

/// Rewrites every graph in an e-graph, subgraphs first.
///
/// # Errors
/// Nodes without an equivalent that is legal at the target.
pub fn rewrite(editor: &mut Editor, cx: &mut Context) -> Result<Rewritten, Vec<Finding>> {
    let Context { options, rules, report, .. } = cx;
    let operators = repair::operators(editor.model());
    let Some(search) = Search::new(editor.model(), operators, options, rules) else {
        return Ok(Rewritten::default());
    };
    let mut findings = Vec::new();
    editor.analyses();
    let mut rewritten = Rewritten::default();
    for graph in inner_first(editor.model()) {
        let target = search.target(editor.model(), graph, options);
        let view = if search.is_other { editor.stale_analyses() } else { editor.graph_analyses(graph) };
        let AnalysisView { model, facts, uses } = view;
        if target.is_source && errors::hides_shapes(model, facts, target.opset(""), graph) {
            continue;
        }
        for rule in search.reach.iter().filter(|rule| is_held_back(rule, options)) {
            let host = PlainHost::new(model, graph, facts, uses);
            if rule.directions().any(|direction| !matcher::find(&host, direction).matches.is_empty()) {
                let (code, name) = (&rule.code, &rule.name);
                report.note(format!("rule {code} {name} matches, but is unsafe: --unsafe-fixes applies it"));
            }
        }
        match search.run(view, graph, &target, options) {
            extract::Done::Unchanged => {}
            extract::Done::Blocked(blockers) => {
                findings.extend(errors::findings(model, graph, &target, &blockers));
            }
            extract::Done::Planned { patch, report: said } => {
                rewritten.is_cut |= !said.limits.is_empty();
                report.searched(said);
                let is_changed = editor.apply(vec![*patch]) > 0;
                rewritten.is_changed |= is_changed;
                rewritten.is_within |= is_changed && editor.model().parent(graph).is_some();
                drop_defaults(editor, graph, |_, domain| target.opset(domain));
            }
        }
    }
    if editor.stale_analyses().facts.limited {
        report.limit("shape inference stopped before it reached all calls and subgraphs".to_owned());
    }
    if findings.is_empty() {
        return Ok(rewritten);
    }
    if let Some(note) = left_out(&search.reach, options) {
        findings.iter_mut().for_each(|finding| finding.notes.push(note.clone()));
    }
    Err(findings)
}

/// Returns every graph of the model, subgraphs before the graphs that contain them.
fn inner_first(model: &Model) -> Vec<GraphId> {
    let functions = model.functions.iter().map(|function| function.body);
    let mut graphs = Vec::new();
    for root in functions.chain([model.main]) {
        graphs.extend(scopes::nested(model, root).into_iter().rev());
    }
    graphs
}

/// Returns true if a user's rule is selected, but does not run because it requires `--unsafe-fixes`.
fn is_held_back(rule: &Rule, options: &Options) -> bool {
    let is_unsafe = rule.safety == Safety::Unsafe && !options.unsafe_fixes;
    !rule.is_built_in && is_unsafe && !rule.is_lint_only() && options.selection.contains(&rule.code)
}

/// Maximum number of ignored rules that the note lists by code.
const MOST_NAMED: usize = 5;

/// Returns a note about ignored conversion rules, which may be the cause of a failed conversion.
fn left_out(reach: &[&Rule], options: &Options) -> Option<String> {
    let ignored = |rule: &&&Rule| rule.phase == Phase::Convert && options.selection.ignores(&rule.code);
    let codes: BTreeSet<&str> = reach.iter().filter(ignored).map(|rule| &*rule.code).collect();
    let named: Vec<&str> = codes.iter().take(MOST_NAMED).copied().collect();
    let more = match codes.len() - named.len() {
        0 if named.is_empty() => return None,
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("rules of this conversion are ignored: {}{more}", named.join(", ")))
}
