//! Rewrites every graph of a model by equality saturation.

use std::collections::BTreeSet;

use super::default_attributes::drop_defaults;
use super::repair;
use crate::diag::rule_ids::{ADAPTED_FORM, CONSTANT_RESULT, DEAD_NODE, REPEATED_NODE, UNUSED_OUTPUT};
use crate::diag::{Finding, RuleId};
use crate::edit::{AnalysisView, Editor};
use crate::extract::{self, Target};
use crate::fix::context::{Context, Rewritten};
use crate::fix::options::Options;
use crate::fix::pass::{Need, Pass};
use crate::fix::{errors, kernels, size, target};
use crate::graph::{GraphId, Model, OpsetImport, scopes};
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
    let is_other = !target::target(&editor.model().opsets, options.opset).is_source
        || target::has_other_functions(editor.model(), options.opset);
    let converts = is_other || !options.targets.is_empty();
    let phases: &[Phase] = match (options.optimize, converts) {
        (true, true) => &[Phase::Simplify, Phase::Explore, Phase::Convert],
        (true, false) => &[Phase::Simplify, Phase::Explore],
        (false, true) => &[Phase::Convert],
        (false, false) => return Ok(Rewritten::default()),
    };
    // With target runtimes, the opset limits no rule: a runtime may support its own operators at every opset.
    let opset = target::target(&editor.model().opsets, options.opset).opset("");
    let limit = opset.filter(|_| options.targets.is_empty());
    let reach = rules.within_reach(repair::operators(editor.model()), phases, limit);
    let all = chosen_rules(&reach, options);
    let simplify: Vec<&Rule> = all.iter().copied().filter(|rule| rule.phase == Phase::Simplify).collect();
    let cleanup = cleanup(options, converts);
    let mut findings = Vec::new();
    editor.analyses();
    let mut rewritten = Rewritten::default();
    for graph in inner_first(editor.model()) {
        let mut target = target::target(imports(editor.model(), graph), options.opset);
        target.profiles = kernels::profiles(options, is_other);
        if target.profiles.is_empty() {
            target.added = kernels::onnxruntime();
        }
        let pricing = options.optimize.then_some(&options.pricing);
        let task = extract::Task {
            target: &target,
            simplify: &simplify,
            all: &all,
            pricing,
            explains: options.explains,
            cleanup,
        };
        let AnalysisView { model, facts, uses } =
            if is_other { editor.stale_analyses() } else { editor.graph_analyses(graph) };
        if target.is_source && errors::hides_shapes(model, facts, target.opset(""), graph) {
            continue;
        }
        for rule in reach.iter().filter(|rule| is_held_back(rule, options)) {
            let host = PlainHost::new(model, graph, facts, uses);
            if rule.directions().any(|direction| !matcher::find(&host, direction).matches.is_empty()) {
                let (code, name) = (&rule.code, &rule.name);
                report.note(format!("rule {code} {name} matches, but is unsafe: --unsafe-fixes applies it"));
            }
        }
        let mut done = extract::run(model, graph, facts, uses, &task);
        if !matches!(done, extract::Done::Planned { .. }) && target.profiles.len() != options.targets.len() {
            // The preferred runtime may have no kernel for a node of the result: try again without the preference.
            let target = Target { profiles: options.targets.clone(), ..target.clone() };
            done = extract::run(model, graph, facts, uses, &extract::Task { target: &target, ..task });
        }
        match done {
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
    if let Some(note) = left_out(&reach, options) {
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

/// Returns the opset imports of a graph: those of its function, or of the model.
fn imports(model: &Model, graph: GraphId) -> &[OpsetImport] {
    match model.function_of(graph) {
        Some(function) if !model.functions[function].opsets.is_empty() => &model.functions[function].opsets,
        _ => &model.opsets,
    }
}

/// Returns the cleanup steps to run: the selected ones or, in a conversion without optimization, all.
///
/// A conversion also runs steps that are not selected, except for merging: a legal result may need them.
fn cleanup(options: &Options, converts: bool) -> extract::Cleanup {
    let is_selected = |code: RuleId| !options.optimize || options.selection.contains(code.code);
    let is_needed = |code: RuleId| converts || is_selected(code);
    extract::Cleanup {
        folds_constants: converts || is_selected(CONSTANT_RESULT) && options.fold_limit > 0,
        merges_nodes: is_selected(REPEATED_NODE),
        drops_outputs: is_needed(UNUSED_OUTPUT),
        drops_dead_nodes: is_needed(DEAD_NODE),
    }
}

/// Returns the rules that may run: exact and rounding ones, and unsafe ones if enabled.
/// Conversion rules need not be selected, but explicitly ignored ones are left out. Without
/// target runtimes, rules that add operators of a specific runtime are left out.
fn chosen_rules<'r>(rules: &[&'r Rule], options: &Options) -> Vec<&'r Rule> {
    let wanted = |rule: &&Rule| {
        let selected = match rule.phase {
            Phase::Convert => !options.selection.ignores(&rule.code),
            _ => options.selection.contains(&rule.code),
        };
        let safe = rule.safety != Safety::Unsafe || options.unsafe_fixes;
        let allowed = !options.targets.is_empty() || !rule.is_for_a_runtime();
        selected && safe && allowed && !rule.is_lint_only()
    };
    rules.iter().copied().filter(wanted).collect()
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
