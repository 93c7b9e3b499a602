//! Mends a model, converts it to another opset, and takes the cheapest of its equal forms.
//!
//! Faults are mended first, on the plain graph: a mended graph is not equal to the faulty one. Then each
//! graph of the model, inner ones first, goes through the e-graph, where every rule adds equal forms, and
//! the cheapest that are legal at the target come back.

mod advice;
mod batched_scan;
mod blocked;
mod constants;
mod dead;
mod decide;
mod declarations;
mod declared;
mod fold;
mod initializers;
mod inline;
mod interface;
mod mend;
pub mod options;
pub mod report;
mod reported;
mod target;
mod verify;

pub use options::{FixedShape, FreeDim, Options};
pub use report::Report;

use crate::diag::Finding;
use crate::diag::known::DECIDED_BRANCH;
use crate::extract::{self, Constants, Names, Target};
use crate::graph::uses::Uses;
use crate::graph::{GraphId, Model, scopes};
use crate::infer::{self, Facts};
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Phase, Rule, Safety};

/// What became of a model.
#[derive(Debug)]
pub struct Outcome {
    /// The model as it is now; the one that was given where nothing could be done.
    pub model: Model,
    /// What was done, rule by rule, and how large the model was before and after.
    pub report: Report,
    /// Why something could not be done: findings at level error are blockers, and nothing may be written.
    pub findings: Vec<Finding>,
    /// Whether `model` differs from what was given.
    pub changed: bool,
}

/// Does to `source` what `options` say, with the rules of `rules`; all that are built in are
/// [`RuleSet::patterns`]. Exact and rounding rewrites only, unless options ask for more.
pub fn fix(source: Model, options: &Options, rules: &RuleSet) -> Outcome {
    let mut outcome = attempt(source, options, rules);
    advice::advise(&mut outcome, options, rules);
    outcome
}

/// As [`fix`], with what stands in the way as far as the nodes tell.
fn attempt(source: Model, options: &Options, rules: &RuleSet) -> Outcome {
    let mut report = Report {
        opset: report::Step { from: source.opset(source.main, ""), to: source.opset(source.main, "") },
        ir_version: report::Step { from: source.ir_version, to: source.ir_version },
        nodes: report::Count { before: node_count(&source), after: node_count(&source) },
        ..Report::default()
    };
    let mut model = source.clone();
    let mut changed = match interface::apply(&mut model, options) {
        Ok(changed) => changed,
        Err(findings) => return Outcome { model: source, report, findings, changed: false },
    };
    let reported = reported::found(&model, options, rules);
    let (mended, known) = mend::mend(&mut model, &reported, rules, &mut report);
    changed |= mended;
    let declared = declarations::mend(&mut model, options, &mut report);
    if options.optimize && options.selection.contains(DECIDED_BRANCH.code) {
        changed |= decide::decide(&mut model, &mut report);
    }
    if !options.dynamic.is_empty() {
        declared::renew(&mut model);
    } else if changed {
        declared::correct(&mut model);
    }
    changed |= batched_scan::unbatch(&mut model, options.opset, &mut report);
    changed |= declared;
    let main_target = target::target(&model.opsets, options.opset);
    let refusal = match blocked::by_version(&main_target, options) {
        None if !target::has_functions(&model, &main_target, options) => {
            inline::inline(&mut model).err().map(|hindrance| blocked::by_functions(&model, hindrance))
        }
        finding => finding,
    };
    if let Some(finding) = refusal {
        return Outcome { model: source, report, findings: vec![finding], changed: false };
    }
    changed |= options.optimize && fold_all(&mut model, &main_target, options, &mut report);
    for _ in 0..MAX_ROUNDS {
        let rewritten = match rewrite(&mut model, options, rules, &mut report) {
            Ok(rewritten) => rewritten,
            Err(findings) => return Outcome { model: source, report, findings, changed: false },
        };
        changed |= rewritten.is_changed;
        changed |= relabel(&mut model, &main_target, options);
        let folded = options.optimize && fold_all(&mut model, &main_target, options, &mut report);
        changed |= folded;
        let goes_on = folded || rewritten.is_changed && rewritten.is_cut;
        if !goes_on {
            break;
        }
    }
    changed |= options.optimize && initializers::lift(&mut model, &mut report);
    if changed {
        target::import_made(&mut model);
    }
    if options.infer_shapes {
        let known = known.filter(|_| !changed);
        let facts = known.unwrap_or_else(|| infer::infer(&model, infer::Options::default()));
        changed |= infer::annotate(&mut model, &facts);
    }
    if !main_target.is_source {
        let mut illegal = blocked::illegal_nodes(&model);
        illegal.extend(blocked::unlike_branches(&model, report.opset.from));
        if !illegal.is_empty() {
            return Outcome { model: source, report, findings: illegal, changed: false };
        }
    }
    let kept = verify::Kept { types: !mended };
    let faults = if changed { verify::verify(&source, &model, kept) } else { Vec::new() };
    if !faults.is_empty() {
        return Outcome { model: source, report, findings: faults, changed: false };
    }
    report.opset.to = model.opset(model.main, "");
    report.ir_version.to = model.ir_version;
    report.nodes.after = node_count(&model);
    Outcome { model, report, findings: Vec::new(), changed }
}

/// How often a model is rewritten: again, as one of the target's opset, where there was something to compute
/// beforehand afterwards, or where a limit kept the rules from saying all they have to say.
const MAX_ROUNDS: usize = 4;

/// Takes out what nothing needs, and computes what is constant; whether there was anything.
fn fold_all(model: &mut Model, target: &Target, options: &Options, report: &mut Report) -> bool {
    let constants = constants_at(model, target, options);
    let swept = dead::sweep(model);
    fold::fold(model, options, constants, report) || swept
}

/// The nodes of all graphs that are in use.
fn node_count(model: &Model) -> usize {
    scopes::live(model).into_iter().map(|graph| model.graphs[graph].nodes.len()).sum()
}

/// What came of rewriting.
#[derive(Default)]
struct Rewritten {
    is_changed: bool,
    /// A limit was hit.
    is_cut: bool,
}

/// Runs every graph through the e-graph, inner ones first.
///
/// # Errors
/// What has no form that is legal at the target.
fn rewrite(
    model: &mut Model,
    options: &Options,
    rules: &RuleSet,
    report: &mut Report,
) -> Result<Rewritten, Vec<Finding>> {
    let converts = !target::target(&model.opsets, options.opset).is_source;
    let phases: &[Phase] = match (options.optimize, converts) {
        (true, true) => &[Phase::Simplify, Phase::Explore, Phase::Convert],
        (true, false) => &[Phase::Simplify, Phase::Explore],
        (false, true) => &[Phase::Convert],
        (false, false) => return Ok(Rewritten::default()),
    };
    let all = chosen_rules(&rules.within_reach(mend::operators(model), phases), options);
    let simplify: Vec<&Rule> = all.iter().copied().filter(|rule| rule.phase == Phase::Simplify).collect();
    let main_target = target::target(&model.opsets, options.opset);
    let constants = constants_at(model, &main_target, options);
    let mut findings = Vec::new();
    let (mut known, mut names) = (Known::of(model), Names::of(model));
    let mut rewritten = Rewritten::default();
    for graph in inner_first(model) {
        let target = target::target(imports(model, graph), options.opset);
        let task = extract::Task { target: &target, simplify: &simplify, all: &all, keep: !options.optimize };
        known.renew(model, graph);
        if target.is_source && blocked::hides_shapes(model, &known.facts, target.opset(""), graph) {
            continue;
        }
        let done = extract::run(model, graph, &known.facts, &known.uses, &task);
        match done {
            extract::Done::Unchanged => {}
            extract::Done::Blocked(blockers) => {
                findings.extend(blocked::findings(model, graph, &target, &blockers))
            }
            extract::Done::Planned { plan, report: said } => {
                rewritten.is_cut |= !said.limits.is_empty();
                report::planned(report, model, &plan, said, rules);
                let rebuilt = extract::rebuild(model, *plan, &mut names, constants);
                known.is_old |= rebuilt;
                rewritten.is_changed |= rebuilt;
                target::drop_defaults(model, graph, &target);
            }
        }
    }
    if known.facts.limited {
        let limit = "inference did not look into all calls of functions, or into all bodies";
        if !report.limits.iter().any(|known| known == limit) {
            report.limits.push(limit.to_owned());
        }
    }
    if findings.is_empty() { Ok(rewritten) } else { Err(findings) }
}

/// What is known of the model while one graph of it after the other changes.
struct Known {
    facts: Facts,
    uses: Uses,
    /// A graph was changed since.
    is_old: bool,
    /// How often it may be found out anew.
    renewals: usize,
}

/// Every graph that changes may tell more of those around it. What was known before stays true, so that where many
/// graphs change, it does: else the cost would be graphs times nodes.
const MAX_RENEWALS: usize = 16;

impl Known {
    fn of(model: &Model) -> Self {
        let facts = infer::infer(model, infer::Options::default());
        Known { facts, uses: Uses::new(model), is_old: false, renewals: MAX_RENEWALS }
    }

    /// Finds out anew, before a graph is looked at, what the changes of others tell; always for the main graph.
    fn renew(&mut self, model: &Model, graph: GraphId) {
        if self.is_old && (self.renewals > 0 || graph == model.main) {
            *self = Known { renewals: self.renewals.saturating_sub(1), ..Known::of(model) };
        }
    }
}

/// Where new constants go: before IR version 4, an initializer would have to be an input too.
fn constants_at(model: &Model, target: &Target, options: &Options) -> Constants {
    let is_old = target::ir_version(model, target, options).is_some_and(|version| version < 4);
    if is_old { Constants::Nodes } else { Constants::Initializers }
}

/// The imports that hold in a graph: those of the function it is in, or of the model.
fn imports(model: &Model, graph: GraphId) -> &[crate::graph::OpsetImport] {
    match model.function_of(graph) {
        Some(function) if !model.functions[function].opsets.is_empty() => &model.functions[function].opsets,
        _ => &model.opsets,
    }
}

/// Every graph of the model, those in a graph before it.
fn inner_first(model: &Model) -> Vec<GraphId> {
    let functions = model.functions.iter().map(|function| function.body);
    let mut graphs = Vec::new();
    for root in functions.chain([model.main]) {
        graphs.extend(scopes::nested(model, root).into_iter().rev());
    }
    graphs
}

/// Those of some rules that may run: exact ones and those that only round, and unsafe ones where asked for.
/// What conversion needs does not depend on what was selected.
fn chosen_rules<'r>(rules: &[&'r Rule], options: &Options) -> Vec<&'r Rule> {
    let wanted = |rule: &&Rule| {
        let selected = rule.phase == Phase::Convert || options.selection.contains(&rule.code);
        let safe = rule.safety != Safety::Unsafe || options.unsafe_fixes;
        selected && safe && !rule.is_lint_only()
    };
    rules.iter().copied().filter(wanted).collect()
}

/// Sets the opsets and the IR version; whether that changed anything.
fn relabel(model: &mut Model, target: &Target, options: &Options) -> bool {
    let ir_version = target::ir_version(model, target, options);
    let mut changed = model.opsets != target.imports || model.ir_version != ir_version;
    model.opsets = target.imports.clone();
    model.ir_version = ir_version;
    changed |= constants::lift_constants(model, target);
    changed |= constants::declare_initializers(model);
    for function in &mut model.functions {
        let imports = target::target(&function.opsets, options.opset).imports;
        changed |= function.opsets != imports;
        function.opsets = imports;
    }
    changed
}
