//! `--verify`: runs the input model and the fixed model in ONNX Runtime, at several sizes.

pub mod arrays;
mod compare;
mod inputs;
pub mod library;
mod random;
mod verdict;

use std::path::Path;

use ort::environment::Environment;
use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::{DynValue, TensorElementType};
use rustc_hash::FxHashSet;

use self::compare::{Precision, compare};
use self::inputs::{Choice, has_free_dims, inputs};
pub use self::verdict::Seen;
use self::verdict::{Promise, Verdict};
use crate::cli::Failure;
use crate::diag::{Finding, Level, Place, rule_ids};
use crate::fix::Outcome;
use crate::graph::Model;
use crate::write::onnx::Encodable;

/// The number of runs of both models after which the verification ends.
const ENOUGH_RUNS: usize = 3;

/// Size of symbolic dimensions in each try, and whether the dimensions get distinct sizes.
///
/// Models reject some sizes, such as odd sizes or sizes below that of a window. Later entries serve models that fail
/// at the first entries.
const SIZES: [(usize, bool); 11] = [
    (2, false),
    (3, true),
    (1, false),
    (7, true),
    (8, false),
    (16, false),
    (64, false),
    (224, false),
    (4, false),
    (5, false),
    (32, false),
];

/// Exclusive upper bounds of integer inputs, tried in this order.
const INTEGERS_BELOW: [u64; 2] = [4, 1];

/// Creates a finding.
/// Findings below level error are remarks on the comparison.
fn finding(level: Level, message: String) -> Finding {
    let rule = match level {
        Level::Error => rule_ids::RESULTS_DIFFER,
        _ => rule_ids::RESULTS_COMPARED,
    };
    rule.at(level).finding(message, Place::File)
}

/// Runs the input model `before` and the fixed model, and compares their outputs.
///
/// A difference is an error, or a warning if unsafe fixes were applied. Further findings below level error
/// are remarks on the comparison.
///
/// `folder` has the external data of `before`.
///
/// If the fixed model does not run at a size at which the input model runs, the finding is an error, even after
/// unsafe fixes.
pub fn verify(before: &Model, folder: &Path, outcome: &Outcome) -> Result<Vec<Finding>, Failure> {
    let environment = library::load()?;
    let open = |model: &Model| open(&environment, folder, model);
    let mut after = match open(&outcome.model) {
        Ok(session) => session,
        Err(error) => {
            let level = if open(before).is_ok() { Level::Error } else { Level::Info };
            let message = format!("ONNX Runtime does not load the fixed model: {error}");
            return Ok(vec![finding(level, message)]);
        }
    };
    match open(before) {
        Ok(mut session) => {
            let drawn = random::drawn(before);
            let promised = Promised { what: promise(outcome), narrowed: narrowed(outcome), drawn };
            let compared = compare_runs(&mut session, &mut after, promised);
            Ok(compared.map_or_else(|error| vec![*error], |verdict| verdict.findings()))
        }
        Err(error) => {
            let message = format!("ONNX Runtime loads the fixed model, but not the input model: {error}");
            Ok(vec![finding(Level::Info, message)])
        }
    }
}

/// Compares two unrelated models, each with the folder of its external data.
///
/// The error is the reason why the models cannot be run.
pub fn seen(environment: &Environment, a: (&Model, &Path), b: (&Model, &Path)) -> Result<Seen, String> {
    let open = |which: &str, (model, folder): (&Model, &Path)| {
        open(environment, folder, model)
            .map_err(|error| format!("ONNX Runtime does not load the {which} model: {error}"))
    };
    let (mut first, mut second) = (open("first", a)?, open("second", b)?);
    let promised = Promised { what: Promise::Nothing, narrowed: None, drawn: random::drawn(a.0) };
    let verdict = compare_runs(&mut first, &mut second, promised);
    verdict.map(Verdict::into_seen).map_err(|error| error.message)
}

/// Returns the promise of the applied fixes: equal results, unless unsafe fixes are among them.
fn promise(outcome: &Outcome) -> Promise {
    let mut rules: Vec<String> =
        outcome.report.unsafe_changes().map(|change| format!("{} {}", change.code, change.rule)).collect();
    rules.sort();
    rules.dedup();
    if rules.is_empty() { Promise::Equal } else { Promise::UnsafeFixes(rules) }
}

/// The promise about the results of the second model, and the deviations that are allowed.
struct Promised {
    what: Promise,
    /// The type that replaces float32.
    narrowed: Option<TensorElementType>,
    /// Random outputs of the first model.
    drawn: FxHashSet<String>,
}

fn narrowed(outcome: &Outcome) -> Option<TensorElementType> {
    match outcome.report.to? {
        "bfloat16" => Some(TensorElementType::Bfloat16),
        _ => Some(TensorElementType::Float16),
    }
}

/// Opens a session without optimizations, which would change both models.
pub fn open(environment: &Environment, folder: &Path, model: &Model) -> Result<Session, String> {
    let open = || -> Result<Session, ort::Error> {
        let folder = folder.to_string_lossy();
        let mut builder = Session::builder(environment)?
            .with_optimization_level(GraphOptimizationLevel::Disable)?
            .with_intra_threads(1)?
            .with_config_entry("session.model_external_initializers_file_folder_path", folder)?;
        builder.commit_from_memory(&Encodable::new(model).encode())
    };
    open().map_err(|error| error.message().lines().next().unwrap_or("").to_owned())
}

/// Runs both models at several sizes. The error is the finding that reports a broken promise.
fn compare_runs(
    before: &mut Session,
    after: &mut Session,
    promised: Promised,
) -> Result<Verdict, Box<Finding>> {
    let has_sizes = has_free_dims(before, after);
    let mut verdict = Verdict::new(has_sizes, promised.what).narrowed(promised.narrowed);
    let tries = if has_sizes { SIZES.len() } else { ENOUGH_RUNS };
    for (&(size, distinct), seed) in SIZES.iter().zip(0..).take(tries) {
        let runs = INTEGERS_BELOW.iter().find_map(|&integers_below| {
            let choice = Choice { size, distinct, integers_below, seed };
            compare_run(before, after, choice, &promised.drawn, &mut verdict)
        });
        match runs {
            Some(Err(error)) => return Err(error),
            Some(Ok(())) => {}
            // If the input model does not run at this size, the fixed model can still run if a fix made the
            // size dynamic.
            None if has_sizes => {
                set_free(after, Choice { size, distinct, integers_below: 1, seed }, &mut verdict)
            }
            None => {}
        }
        if verdict.runs() == ENOUGH_RUNS {
            break;
        }
    }
    // No dimension is symbolic in both models, so a symbolic dimension of the fixed model is static in the input model.
    if !has_sizes && has_free_dims(after, after) {
        for (&(size, distinct), seed) in SIZES.iter().zip(0..).take(ENOUGH_RUNS) {
            set_free(after, Choice { size, distinct, integers_below: 1, seed }, &mut verdict);
        }
    }
    Ok(verdict)
}

/// Records a size if the fixed model runs at this size.
///
/// The input model does not run at this size, or has only static sizes.
fn set_free(after: &mut Session, choice: Choice, verdict: &mut Verdict) {
    if verdict.only_after.len() < ENOUGH_RUNS && runs_alone(after, choice) {
        verdict.only_after.push(choice.size);
    }
}

/// Runs both models on the same inputs, and compares the outputs.
///
/// Returns `None` if the input model does not run on the generated inputs.
fn compare_run(
    before: &mut Session,
    after: &mut Session,
    choice: Choice,
    drawn: &FxHashSet<String>,
    verdict: &mut Verdict,
) -> Option<Result<(), Box<Finding>>> {
    let mut runs = || -> Result<_, String> {
        let (inputs, narrowed) = inputs::for_both(inputs(before, after, choice)?, after)?;
        let given = given(&inputs);
        Ok((run(before, &given)?, run(before, &given)?, inputs, narrowed))
    };
    let (expected, again, inputs, narrowed) = match runs() {
        Ok(runs) => runs,
        Err(why) => {
            verdict.refusal = why;
            return None;
        }
    };
    let narrow = given(&inputs).into_iter().zip(&narrowed);
    let narrow: Vec<_> =
        narrow.map(|((name, wide), narrow)| (name, narrow.as_ref().unwrap_or(wide))).collect();
    let found = match run(after, &narrow) {
        Ok(found) => found,
        Err(error) => return Some(verdict.does_not_run(choice.size, &error)),
    };
    let mut differences = Vec::new();
    for ((name, expected), (_, again)) in expected.iter().zip(&again) {
        if drawn.contains(&**name) || !compare(expected, again, Precision::Kept).is_equal() {
            verdict.random(name);
            continue;
        }
        match found.iter().find(|(found, _)| found == name) {
            Some((_, found)) => {
                differences.extend(verdict.output(name, compare(expected, found, verdict.precision())))
            }
            None => differences.push(format!("output `{name}` is gone")),
        }
    }
    Some(verdict.ran(choice.size, differences))
}

/// Returns true if the model runs on inputs made with these parameters.
fn runs_alone(session: &mut Session, choice: Choice) -> bool {
    inputs(session, session, choice).and_then(|inputs| run(session, &given(&inputs))).is_ok()
}

/// Borrows inputs for a session.
fn given(inputs: &[(String, DynValue)]) -> Vec<(&str, &DynValue)> {
    inputs.iter().map(|(name, value)| (name.as_str(), value)).collect()
}

/// Runs a model once. Returns the outputs with their names, in model order.
fn run(session: &mut Session, inputs: &[(&str, &DynValue)]) -> Result<Vec<(String, DynValue)>, String> {
    let inputs = inputs.to_vec();
    let outputs =
        session.run(inputs).map_err(|error| error.message().lines().next().unwrap_or("").to_owned())?;
    Ok(outputs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
