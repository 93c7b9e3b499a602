//! Rules and settings of one rewrite, and the search for a legal equivalent of a graph.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::options::Options;
use super::{kernels, target};
use crate::diag::RuleId;
use crate::diag::rule_ids::{CONSTANT_RESULT, DEAD_NODE, REPEATED_NODE, UNUSED_OUTPUT};
use crate::edit::AnalysisView;
use crate::extract::{self, Target};
use crate::graph::{GraphId, Model, OpsetImport};
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Phase, Rule, Safety};

/// Rules and settings that are common to all graphs of a model.
pub struct Search<'r> {
    /// Rules that can match in the model, including those that may not run.
    pub reach: Vec<&'r Rule>,
    /// Whether the model, or a local function, is converted to another opset.
    pub is_other: bool,
    all: Vec<&'r Rule>,
    simplify: Vec<&'r Rule>,
    cleanup: extract::Cleanup,
}

impl<'r> Search<'r> {
    /// Selects the rules for a model with these operators; `None` if no option requests a rewrite.
    pub fn new(
        model: &Model,
        operators: FxHashSet<Arc<str>>,
        options: &Options,
        rules: &'r RuleSet,
    ) -> Option<Self> {
        let is_other = !target::target(&model.opsets, options.opset).is_source
            || target::has_other_functions(model, options.opset);
        let converts = is_other || !options.targets.is_empty();
        let phases: &[Phase] = match (options.optimize, converts) {
            (true, true) => &[Phase::Simplify, Phase::Explore, Phase::Convert],
            (true, false) => &[Phase::Simplify, Phase::Explore],
            (false, true) => &[Phase::Convert],
            (false, false) => return None,
        };
        // With target runtimes, the opset limits no rule: a runtime may support its own operators at every opset.
        let opset = target::target(&model.opsets, options.opset).opset("");
        let limit = opset.filter(|_| options.targets.is_empty());
        let reach = rules.within_reach(operators, phases, limit);
        let all = chosen_rules(&reach, options);
        let simplify = all.iter().copied().filter(|rule| rule.phase == Phase::Simplify).collect();
        Some(Search { is_other, simplify, cleanup: cleanup(options, converts), all, reach })
    }

    /// Returns the target of a graph: the opsets, and the runtimes whose kernels are preferred.
    pub fn target(&self, model: &Model, graph: GraphId, options: &Options) -> Target {
        let mut target = target::target(imports(model, graph), options.opset);
        target.profiles = kernels::profiles(options, self.is_other);
        if target.profiles.is_empty() {
            target.added = kernels::onnxruntime();
        }
        target
    }

    /// Plans a cheap equivalent of a graph that is legal at the target.
    pub fn run(
        &self,
        view: AnalysisView,
        graph: GraphId,
        target: &Target,
        options: &Options,
    ) -> extract::Done {
        let AnalysisView { model, facts, uses } = view;
        let task = extract::Task {
            target,
            simplify: &self.simplify,
            all: &self.all,
            pricing: options.optimize.then_some(&options.pricing),
            explains: options.explains,
            cleanup: self.cleanup,
        };
        let done = extract::run(model, graph, facts, uses, &task);
        if matches!(done, extract::Done::Planned { .. }) || target.profiles.len() == options.targets.len() {
            return done;
        }
        // The preferred runtime may have no kernel for a node of the result: try again without the preference.
        let target = Target { profiles: options.targets.clone(), ..target.clone() };
        extract::run(model, graph, facts, uses, &extract::Task { target: &target, ..task })
    }
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
