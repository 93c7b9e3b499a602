//! Before against after: what a model computes, what is known of it, and what comes of it.

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

/// The code of what onnx-fix says of its own faults.
const INTERNAL_FAULT: &str = "FIX002";

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A result differs.
    Wrong,
    /// What ran does not run any more.
    Fails,
    /// The result is refused by our own checks, or has errors that were not there.
    Invalid,
    /// Our evaluator and ONNX Runtime come to different results.
    Differs,
    /// We compute what ONNX Runtime does not take: no fault, since of what does not run nothing becomes wrong.
    Refused,
    /// A fact is not true.
    Contradicted,
    /// A second run changes something, or two runs differ.
    Unstable,
    Panics,
}

impl Kind {
    /// It is no fault of what onnx-fix makes.
    pub fn is_about_runtime(self) -> bool {
        matches!(self, Kind::Differs | Kind::Refused)
    }
}

#[derive(Clone, Debug)]
pub struct Fault {
    pub kind: Kind,
    pub what: String,
}

impl Fault {
    /// The operator that our evaluator and ONNX Runtime differ in, and how.
    pub fn about(&self) -> &str {
        if self.kind.is_about_runtime() { self.what.split(':').next().unwrap_or_default() } else { "" }
    }
}

pub fn fault(kind: Kind, what: impl Into<String>) -> Fault {
    Fault { kind, what: what.into() }
}

/// What is done to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Nothing: what we compute is held against ONNX Runtime.
    Compute,
    /// Nothing: facts are held against the runs.
    Infer,
    /// By rules that keep every bit, or by all.
    Optimise {
        exactly: bool,
    },
    Convert {
        opset: i64,
        optimise: bool,
    },
    /// Faults are mended, and what is inferred is declared.
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

/// The rules, all and those that keep every bit.
pub struct Rules {
    pub all: RuleSet,
    pub exact: RuleSet,
}

impl Rules {
    pub fn new() -> Self {
        let all = RuleSet::patterns();
        let exact = all.filtered(|rule| rule.safety == Safety::Exact && rule.given.is_empty());
        Rules { all, exact }
    }

    pub fn of(&self, way: &Way) -> &RuleSet {
        if let Way::Optimise { exactly: true } = way { &self.exact } else { &self.all }
    }
}

/// One run of the model before.
#[derive(Clone)]
pub struct Before {
    pub feeds: Feeds,
    pub sizes: usize,
    /// The sizes of number 0 are those that the model was made at.
    pub is_traced: bool,
    pub ran: Ran,
    /// The outputs as ONNX Runtime has them, where it was asked and comes to the same.
    pub judged: Option<Vec<Val>>,
}

impl Before {
    pub fn new(feeds: Feeds, sizes: usize, is_traced: bool, ran: Ran) -> Before {
        Before { feeds, sizes, is_traced, ran, judged: None }
    }
}

/// The messages of what is an error.
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

/// What is wrong with the defaults of inputs that callers of `after` cannot replace any more: an unsafe fix takes them.
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

/// As a file brings it back.
pub fn reread(model: &Model) -> Option<Model> {
    read::onnx::read(Encodable::new(model).encode().into()).0
}

/// What a panic says.
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// What comes of a model, or how that goes wrong; `None` where it is refused, as it may be.
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

/// The rules that were applied.
pub fn applied(model: &Model, way: &Way, rules: &RuleSet) -> Vec<String> {
    match outcome(model, way, rules) {
        Ok(Some(outcome)) => outcome.report.rules.into_keys().collect(),
        _ => Vec::new(),
    }
}

/// How close results must be, by the rules that were applied; `None` where they promise nothing of these numbers.
pub fn claim(report: &fix::Report, way: &Way, rules: &RuleSet, before: &Before) -> Option<Claim> {
    let ran = &before.ran;
    let applied = || report.rules.keys().filter_map(|code| rules.get(code));
    // What reads or writes another place than is meant gives something else once it is mended.
    if applied().any(|rule| rule.mends.as_ref().is_some_and(|code| code.starts_with("IDX"))) {
        return None;
    }
    // Of a chain of rules, the last one is named: what was optimised may owe something to any of them.
    let is_named = !matches!(way, Way::Convert { optimise: true, .. });
    let is_exact = is_named && applied().all(|rule| rule.safety == Safety::Exact);
    let converts = applied().any(|rule| rule.phase == Phase::Convert) || report.opset.from != report.opset.to;
    let givens: Vec<Assumption> = applied().flat_map(|rule| &rule.given).map(|given| given.what).collect();
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
    // Of what is asked of a value by its name, it is asked of all.
    let is_empty = |val: &Val| matches!(val, Val::Tensor(array) if array.is_empty());
    let holds = |given: &Assumption| match given {
        Assumption::Finite | Assumption::NotNan | Assumption::Moderate => true,
        Assumption::Nonempty => !ran.values.values().any(is_empty),
        _ => false,
    };
    if !givens.iter().all(holds) {
        return None;
    }
    let is_at_any_size = !before.is_traced && report.unsafe_changes().next().is_some();
    Some(Claim { is_exact, is_open_at_infinity: converts, is_at_any_size })
}

/// Tries one way.
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
        return Err(fault(Kind::Invalid, "what is written cannot be read"));
    };
    // What an export did wrong may show only where a node is written out, or once it is known what a value is.
    let left = errors_of_defaults(model, &after);
    let is_new = |error: &String| {
        !["EXP", "IDX", "QDQ"].iter().any(|family| error.starts_with(family)) && !left.contains(error)
    };
    if let Some(error) = errors(&after).into_iter().find(is_new) {
        return Err(fault(Kind::Invalid, error));
    }
    // What is unsafe keeps the results at the sizes that the model was made at, on the inputs that it leaves.
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
        // No run that could be compared: what is written out may take more than a run here may.
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

/// The facts of a model as it came.
fn known(model: &Model, runs: &[Before]) -> Result<(), Fault> {
    let facts = infer::infer(model, infer::Options::default());
    let contradicted =
        runs.iter().find_map(|before| facts::contradicted(model, &facts, &before.ran, before.sizes));
    contradicted.map_or(Ok(()), |what| Err(fault(Kind::Contradicted, what)))
}

/// Whether the same comes again of the same, and nothing of what came of it. Where sizes are declared to be free and are
/// not, what a node demanded of them may be fixed in the nodes that take its place: a second run finds a fault there.
fn stable((before, after): (&Model, &Model), is_free: bool, way: &Way, rules: &RuleSet) -> Result<(), Fault> {
    let written = write::text::write(after);
    let text = |outcome: &fix::Outcome| write::text::write(&outcome.model);
    if outcome(before, way, rules)?.as_ref().map(text).as_ref() != Some(&written) {
        return Err(fault(Kind::Unstable, "two runs give different models"));
    }
    let Some(again) = outcome(after, way, rules)? else {
        return Err(fault(Kind::Unstable, "a second run refuses it"));
    };
    let mends = |code: &String| rules.get(code).is_some_and(|rule| rule.phase == Phase::Fix);
    if text(&again) == written || !is_free && again.report.rules.keys().any(mends) {
        return Ok(());
    }
    Err(fault(Kind::Unstable, format!("a second run changes it again: {}", text(&again))))
}
