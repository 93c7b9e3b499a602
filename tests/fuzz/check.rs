//! Compares a model before and after `onnx-fix`: outputs, inferred facts, and stability.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use onnx_lint::diag::{Level, Selection};
use onnx_lint::fix::{self, Options};
use onnx_lint::graph::{Model, Port};
use onnx_lint::infer;
use onnx_lint::infer::eval::{Refusal, Val};
use onnx_lint::lint::{LintOptions, lint_model};
use onnx_lint::read;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::{Assumption, Phase, Safety};
use onnx_lint::write;
use onnx_lint::write::onnx::Encodable;
use serde::{Deserialize, Serialize};

use crate::alone;
use crate::case::{Feeds, Ran, SIZES, run};
use crate::facts;
use crate::judge;
use crate::same::{Claim, difference};
use crate::worker::{self, Doing};

/// The code of internal faults of onnx-fix.
const INTERNAL_FAULT: &str = "FIX002";

/// Kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// An output differs after the transformation.
    Wrong,
    /// The result does not run, although the original model does.
    Fails,
    /// The result is rejected by our own checks, or has new errors.
    Invalid,
    /// Our evaluator and ONNX Runtime compute different results.
    Differs,
    /// ONNX Runtime rejects a node that our evaluator computes.
    /// A rejection is not a fault of onnx-fix: there is no result that could be wrong.
    Refused,
    /// An inferred fact is not true.
    Contradicted,
    /// A second run of onnx-fix changes its result, or two runs on the same model differ.
    Unstable,
    Panics,
}

impl Kind {
    /// Returns true if the fault is a difference from ONNX Runtime on the original model.
    pub fn is_about_runtime(self) -> bool {
        matches!(self, Kind::Differs | Kind::Refused)
    }
}

/// A fault: its kind, and a message.
#[derive(Clone, Debug)]
pub struct Fault {
    pub kind: Kind,
    pub what: String,
}

impl Fault {
    /// Returns the operator for which our evaluator and ONNX Runtime differ; empty for other faults.
    pub fn about(&self) -> &str {
        if self.kind.is_about_runtime() { self.what.split(':').next().unwrap_or_default() } else { "" }
    }
}

/// Creates a fault.
pub fn fault(kind: Kind, what: impl Into<String>) -> Fault {
    Fault { kind, what: what.into() }
}

/// Transformation of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// No change: compares our evaluator with ONNX Runtime.
    Compute,
    /// No change: compares inferred facts with runs.
    Infer,
    /// Optimizes with the bit-exact rules, or with all rules.
    Optimise {
        exactly: bool,
    },
    Convert {
        opset: i64,
        optimise: bool,
    },
    /// Fixes faults, and declares inferred types.
    Mend {
        unsafely: bool,
    },
}

impl Way {
    fn options(&self) -> Options {
        let otherwise = Options::default();
        match *self {
            Way::Compute | Way::Infer | Way::Optimise { .. } => otherwise,
            Way::Convert { opset, optimise } => {
                Options { opset: Some(opset), optimize: optimise, ..otherwise }
            }
            Way::Mend { unsafely } => {
                Options { optimize: false, infer_shapes: true, unsafe_fixes: unsafely, ..otherwise }
            }
        }
    }
}

/// The built-in rules with a pattern, and those of them that are bit-exact without assumptions.
pub struct Rules {
    pub all: RuleSet,
    pub exact: RuleSet,
}

impl Rules {
    /// Loads the rules.
    pub fn new() -> Self {
        let all = RuleSet::patterns();
        let exact = all.filtered(|rule| rule.safety == Safety::Exact && rule.assumptions.is_empty());
        Rules { all, exact }
    }

    /// Returns the rules that a transformation uses.
    pub fn of(&self, way: &Way) -> &RuleSet {
        if let Way::Optimise { exactly: true } = way { &self.exact } else { &self.all }
    }
}

/// A run of the original model.
#[derive(Clone)]
pub struct Before {
    pub feeds: Feeds,
    /// Index of the row of [`SIZES`](crate::case::SIZES) with the sizes of the run.
    pub sizes: usize,
    /// Whether the model was drawn with the first row of [`SIZES`](crate::case::SIZES).
    pub is_traced: bool,
    pub ran: Ran,
    /// The outputs of ONNX Runtime, if it runs the model and agrees with our evaluator.
    pub judged: Option<Vec<Val>>,
}

impl Before {
    /// Creates a run with the sizes in one row of [`SIZES`](crate::case::SIZES).
    pub fn new(feeds: Feeds, sizes: usize, is_traced: bool, ran: Ran) -> Before {
        Before { feeds, sizes, is_traced, ran, judged: None }
    }
}

/// Returns the messages of the lint errors of a model.
pub fn errors(model: &Model) -> Vec<String> {
    let options =
        LintOptions { selection: Selection::all(), rules: Arc::default(), ..LintOptions::default() };
    let found = lint_model(model, &options);
    found
        .into_iter()
        .filter(|finding| finding.level == Level::Error)
        .map(|f| format!("{}: {}", f.code, f.message))
        .collect()
}

/// Returns the lint errors of `model` without the inputs that have defaults and are missing in `after`.
///
/// Unsafe fixes remove some inputs with defaults, so that callers can no longer override the defaults.
fn errors_of_defaults(model: &Model, after: &Model) -> Vec<String> {
    let inputs = &after.graphs[after.main].inputs;
    let defaults = &model.graphs[model.main].initializers;
    let is_left = |port: &Port| {
        let name = &model.values[port.value].name;
        !defaults.contains(&port.value) || inputs.iter().any(|left| after.values[left.value].name == *name)
    };
    let mut fixed = model.clone();
    fixed.graphs[model.main].inputs.retain(is_left);
    if fixed.graphs[model.main].inputs.len() == model.graphs[model.main].inputs.len() {
        return Vec::new();
    }
    errors(&fixed)
}

/// Encodes a model and decodes it again.
pub fn reread(model: &Model) -> Option<Model> {
    read::onnx::read(Encodable::new(model).encode().into()).0
}

/// Returns the message of a panic.
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// Transforms a model; returns a fault if the transformation fails, `None` for a legitimate refusal.
fn outcome(model: &Model, way: &Way, rules: &RuleSet) -> Result<Option<fix::Outcome>, Fault> {
    let ran = catch_unwind(AssertUnwindSafe(|| fix::fix(model.clone(), &way.options(), rules)));
    let outcome = ran.map_err(|panic| fault(Kind::Panics, panic_text(&*panic)))?;
    let Some(finding) = outcome.findings.first() else { return Ok(Some(outcome)) };
    let may_refuse = matches!(way, Way::Convert { .. });
    let is_internal = &*finding.code == INTERNAL_FAULT;
    match may_refuse && !is_internal {
        true => Ok(None),
        false => Err(fault(Kind::Invalid, finding.message.clone())),
    }
}

/// Returns the applied rules.
pub fn applied(model: &Model, way: &Way, rules: &RuleSet) -> Vec<String> {
    match outcome(model, way, rules) {
        Ok(Some(outcome)) => outcome.report.rules.into_keys().collect(),
        _ => Vec::new(),
    }
}

/// Returns the accuracy that the applied rules guarantee; `None` for no guarantee.
pub fn claim(report: &fix::Report, way: &Way, rules: &RuleSet, before: &Before) -> Option<Claim> {
    let ran = &before.ran;
    let applied = || report.rules.keys().filter_map(|code| rules.get(code));
    // Fixes of indexing errors (IDX) change the outputs on purpose.
    if applied().any(|rule| rule.fixes.as_ref().is_some_and(|code| code.starts_with("IDX"))) {
        return None;
    }
    // A conversion that also optimizes may use rules that the report does not name.
    let is_named = !matches!(way, Way::Convert { optimise: true, .. });
    let is_exact = is_named && applied().all(|rule| rule.safety == Safety::Exact);
    let converts = applied().any(|rule| rule.phase == Phase::Convert) || report.opset.from != report.opset.to;
    let givens: Vec<Assumption> =
        applied().flat_map(|rule| &rule.assumptions).map(|given| given.what).collect();
    let floats = || {
        ran.values.values().filter_map(|val| match val {
            Val::Tensor(array) if array.elem().is_float() => array.f64s().ok(),
            _ => None,
        })
    };
    let is_tame = || floats().flatten().all(|x| x.is_finite() && x.abs() < 1e3);
    if (!is_exact || !givens.is_empty()) && !is_tame() {
        return None;
    }
    // An assumption is about values of the rule's pattern, which are not known here: all values of the run
    // must fulfill it. For an assumption that cannot be checked, nothing is guaranteed.
    let is_empty = |val: &Val| matches!(val, Val::Tensor(array) if array.is_empty());
    let holds = |given: &Assumption| match given {
        Assumption::Finite | Assumption::NotNan | Assumption::Bounded => true,
        Assumption::Nonempty => !ran.values.values().any(is_empty),
        _ => false,
    };
    if !givens.iter().all(holds) {
        return None;
    }
    let is_at_any_size = !before.is_traced && report.unsafe_changes().next().is_some();
    Some(Claim { is_exact, is_open_at_infinity: converts, is_at_any_size })
}

/// Tests one transformation.
pub fn check(
    model: &Model,
    runs: &[Before],
    way: &Way,
    rules: &RuleSet,
) -> Result<Option<fix::Report>, Fault> {
    match way {
        Way::Compute => return judge::disagreement(model, runs).map_or(Ok(None), Err),
        Way::Infer => return known(model, runs).map(|()| None),
        _ => {}
    }
    let Some(outcome) = outcome(model, way, rules)? else { return Ok(None) };
    let Some(after) = reread(&outcome.model) else {
        return Err(fault(Kind::Invalid, "the written model is unreadable"));
    };
    // The linter may find a fault of the export only after a decomposition, or once a value is inferred.
    let left = errors_of_defaults(model, &after);
    let is_new = |error: &String| {
        !["EXP", "IDX", "QDQ"].iter().any(|family| error.starts_with(family)) && !left.contains(error)
    };
    if let Some(error) = errors(&after).into_iter().find(is_new) {
        return Err(fault(Kind::Invalid, error));
    }
    // After an unsafe fix, outputs are only compared at the original sizes, and only if no input was removed.
    let is_input = |name: &Arc<str>| {
        let inputs = &after.graphs[after.main].inputs;
        inputs.iter().any(|port| after.values[port.value].name == *name)
    };
    let is_kept = |before: &&Before| {
        outcome.report.unsafe_changes().next().is_none()
            || before.sizes == 0 && before.feeds.keys().all(is_input)
    };
    let is_free = (0..SIZES.len()).all(|sizes| runs.iter().any(|before| before.sizes == sizes));
    let runs: Vec<Before> = runs.iter().filter(is_kept).cloned().collect();
    let facts = infer::infer(&after, infer::Options::default());
    for before in &runs {
        compare((model, &after), &facts, before, &outcome.report, way, rules)?;
    }
    judge::verdict((model, &after), &runs, &outcome.report, way, rules)?;
    worker::doing(Doing::Ours(format!("{way:?} again")));
    stable((model, &outcome.model), is_free, way, rules)?;
    Ok(Some(outcome.report))
}

fn compare(
    (model, after): (&Model, &Model),
    facts: &infer::Facts,
    before: &Before,
    report: &fix::Report,
    way: &Way,
    rules: &RuleSet,
) -> Result<(), Fault> {
    let Some(claim) = claim(report, way, rules, before) else { return Ok(()) };
    let found = match run(after, &before.feeds) {
        Ok(found) => found,
        // A decomposition may exceed the limits of the evaluator: then there are no outputs to compare.
        Err(refused) if !matches!(refused.why, Refusal::BadInput(_)) => return Ok(()),
        Err(refused) => return Err(fault(Kind::Fails, format!("{}: {:?}", refused.op, refused.why))),
    };
    for (wanted, found) in before.ran.outputs.iter().zip(&found.outputs) {
        let Some(what) = difference(wanted, found, claim) else { continue };
        let hangs_on_digits = !claim.is_exact && alone::is_unsteady(model, before, claim);
        if !hangs_on_digits && !judge::is_open(model, &before.ran) {
            return Err(fault(Kind::Wrong, what));
        }
    }
    match facts::contradicted(after, facts, &found, before.sizes) {
        Some(what) => Err(fault(Kind::Contradicted, format!("after it, {what}"))),
        None => Ok(()),
    }
}

/// Checks the facts of the original model.
fn known(model: &Model, runs: &[Before]) -> Result<(), Fault> {
    let facts = infer::infer(model, infer::Options::default());
    let contradicted =
        runs.iter().find_map(|before| facts::contradicted(model, &facts, &before.ran, before.sizes));
    contradicted.map_or(Ok(()), |what| Err(fault(Kind::Contradicted, what)))
}

/// Checks that a second run has an equal result, and that a run on the result changes nothing.
///
/// A node may require one size of a dimension that is declared dynamic. The replacement of the node may
/// hard-code the required size, and a second run then fixes the hard-coded size.
fn stable((before, after): (&Model, &Model), is_free: bool, way: &Way, rules: &RuleSet) -> Result<(), Fault> {
    let written = write::text::write(after);
    let text = |outcome: &fix::Outcome| write::text::write(&outcome.model);
    if outcome(before, way, rules)?.as_ref().map(text).as_ref() != Some(&written) {
        return Err(fault(Kind::Unstable, "two runs have different results"));
    }
    let Some(again) = outcome(after, way, rules)? else {
        return Err(fault(Kind::Unstable, "a second run refuses the result"));
    };
    let mends = |code: &String| rules.get(code).is_some_and(|rule| rule.phase == Phase::Fix);
    if text(&again) == written || !is_free && again.report.rules.keys().any(mends) {
        return Ok(());
    }
    Err(fault(Kind::Unstable, format!("a second run changes the result: {}", text(&again))))
}
