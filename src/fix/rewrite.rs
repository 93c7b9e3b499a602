//! Rewrites every graph of a model by equality saturation.

use std::collections::BTreeSet;

use super::options::Options;
use super::report::Report;
use super::{conversion_errors, repair, target};
use crate::diag::Finding;
use crate::edit::{AnalysisView, Editor};
use crate::extract;
use crate::graph::{GraphId, Model, OpsetImport, scopes};
use crate::rules::matcher;
use crate::rules::plain::PlainHost;
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Phase, Rule, Safety};

/// Result of one rewrite round.
#[derive(Default)]
pub(super) struct Rewritten {
    /// Whether a graph was changed.
    pub is_changed: bool,
    /// Whether a subgraph was changed, so that more may be inferred about the node that owns it.
    pub is_within: bool,
    /// Whether a limit of the search was reached.
    pub is_cut: bool,
}

/// Rewrites every graph in an e-graph, subgraphs first.
///
/// # Errors
/// Nodes without an equivalent that is legal at the target.
pub(super) fn rewrite(
    editor: &mut Editor,
    options: &Options,
    rules: &RuleSet,
    report: &mut Report,
) -> Result<Rewritten, Vec<Finding>> {
    let is_other = !target::target(&editor.model().opsets, options.opset).is_source;
    let converts = is_other || !options.targets.is_empty();
    let phases: &[Phase] = match (options.optimize, converts) {
        (true, true) => &[Phase::Simplify, Phase::Explore, Phase::Convert],
        (true, false) => &[Phase::Simplify, Phase::Explore],
        (false, true) => &[Phase::Convert],
        (false, false) => return Ok(Rewritten::default()),
    };
    let reach = rules.within_reach(repair::operators(editor.model()), phases);
    let all = chosen_rules(&reach, options);
    let simplify: Vec<&Rule> = all.iter().copied().filter(|rule| rule.phase == Phase::Simplify).collect();
    let mut findings = Vec::new();
    editor.analyses();
    let mut rewritten = Rewritten::default();
    for graph in inner_first(editor.model()) {
        let mut target = target::target(imports(editor.model(), graph), options.opset);
        target.profiles.clone_from(&options.targets);
        let pricing = options.optimize.then_some(&options.pricing);
        let task = extract::Task {
            target: &target,
            simplify: &simplify,
            all: &all,
            pricing,
            explains: options.explains,
        };
        let AnalysisView { model, facts, uses } =
            if is_other { editor.stale_analyses() } else { editor.graph_analyses(graph) };
        if target.is_source && conversion_errors::hides_shapes(model, facts, target.opset(""), graph) {
            continue;
        }
        for rule in reach.iter().filter(|rule| is_held_back(rule, options)) {
            let host = PlainHost::new(model, graph, facts, uses);
            if rule.directions().any(|direction| !matcher::find(&host, direction).matches.is_empty()) {
                let (code, name) = (&rule.code, &rule.name);
                report.note(format!("rule {code} {name} matches, but is unsafe: --unsafe-fixes applies it"));
            }
        }
        match extract::run(model, graph, facts, uses, &task) {
            extract::Done::Unchanged => {}
            extract::Done::Blocked(blockers) => {
                findings.extend(conversion_errors::findings(model, graph, &target, &blockers));
            }
            extract::Done::Planned { patch, report: said } => {
                rewritten.is_cut |= !said.limits.is_empty();
                report.searched(said);
                let is_changed = editor.apply(vec![*patch]) > 0;
                rewritten.is_changed |= is_changed;
                rewritten.is_within |= is_changed && editor.model().parent(graph).is_some();
                target::drop_defaults(editor, graph, &target);
            }
        }
    }
    if editor.stale_analyses().facts.limited {
        report.limit(
            "shape inference stopped at its limit before it reached all calls and subgraphs".to_owned(),
        );
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

/// Returns the rules that may run: exact and rounding ones, and unsafe ones if enabled.
/// Conversion rules need not be selected, but explicitly ignored ones are left out.
fn chosen_rules<'r>(rules: &[&'r Rule], options: &Options) -> Vec<&'r Rule> {
    let wanted = |rule: &&Rule| {
        let selected = match rule.phase {
            Phase::Convert => !options.selection.ignores(&rule.code),
            _ => options.selection.contains(&rule.code),
        };
        let safe = rule.safety != Safety::Unsafe || options.unsafe_fixes;
        selected && safe && !rule.is_lint_only()
    };
    rules.iter().copied().filter(wanted).collect()
}

/// Returns true for a rule of a user that runs only with `--unsafe-fixes`.
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
