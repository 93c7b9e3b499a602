//! `--verify`: runs the model before and after in ONNX Runtime, at several sizes.

mod compare;
mod inputs;
mod library;

use ort::environment::Environment;
use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::DynValue;

use self::compare::difference;
use self::inputs::{Choice, has_free_dims, inputs};
use super::Source;
use crate::cli::Failure;
use crate::diag::{Finding, Level, Place, known};
use crate::graph::Model;
use crate::write::onnx::Encodable;

/// Runs at sizes that the model takes, after which it counts as verified.
const ENOUGH_RUNS: usize = 3;

/// Sizes of free dimensions, and whether different ones differ. Models refuse some (an odd size, fewer
/// samples than a window), so the later ones are for what the first ones do not suit.
const SIZES: [(usize, bool); 8] =
    [(2, false), (3, true), (1, false), (7, true), (8, false), (16, false), (64, false), (224, false)];

/// Bounds of integer inputs, likewise.
const INTEGERS_BELOW: [u64; 2] = [4, 1];

/// What is no error says what was compared, or why not.
fn finding(level: Level, message: String) -> Finding {
    let rule = match level {
        Level::Error => known::RESULTS_DIFFER,
        _ => known::RESULTS_COMPARED,
    };
    rule.at(level).finding(message, Place::File)
}

/// What differs, as errors; what could be compared, and what not, at lower levels.
pub fn verify(source: &Source, after: &Model) -> Result<Vec<Finding>, Failure> {
    let environment = library::load()?;
    let open = |model: &Model| open(&environment, source, model);
    let mut after = match open(after) {
        Ok(session) => session,
        Err(error) => {
            let level = if open(&source.model).is_ok() { Level::Error } else { Level::Info };
            let message = format!("ONNX Runtime does not load the result: {error}");
            return Ok(vec![finding(level, message)]);
        }
    };
    match open(&source.model) {
        Ok(mut before) => Ok(compare_runs(&mut before, &mut after)),
        Err(error) => {
            let message = format!("ONNX Runtime loads the result; it did not load the input: {error}");
            Ok(vec![finding(Level::Info, message)])
        }
    }
}

/// A session without optimisations, which would change both models on their own.
fn open(environment: &Environment, source: &Source, model: &Model) -> Result<Session, String> {
    let open = || -> Result<Session, ort::Error> {
        let folder = source.folder.to_string_lossy();
        let mut builder = Session::builder(environment)?
            .with_optimization_level(GraphOptimizationLevel::Disable)?
            .with_intra_threads(1)?
            .with_config_entry("session.model_external_initializers_file_folder_path", folder)?;
        builder.commit_from_memory(&Encodable::new(model).encode())
    };
    open().map_err(|error| error.message().lines().next().unwrap_or("").to_owned())
}

fn compare_runs(before: &mut Session, after: &mut Session) -> Vec<Finding> {
    let free = has_free_dims(before);
    let (mut ran, mut refusal) = (Vec::new(), String::new());
    for (&(size, distinct), seed) in SIZES.iter().zip(0..).take(if free { SIZES.len() } else { ENOUGH_RUNS })
    {
        for integers_below in INTEGERS_BELOW {
            match compare_run(before, after, Choice { size, distinct, integers_below, seed }) {
                Ok(findings) if findings.iter().any(|finding| finding.level == Level::Error) => {
                    return findings;
                }
                Ok(findings) => {
                    ran.push((size, findings));
                    break;
                }
                Err(why) => refusal = why,
            }
        }
        if ran.len() == ENOUGH_RUNS {
            break;
        }
    }
    let Some((_, last)) = ran.last() else {
        let message = format!("nothing could be compared: the input does not run on random data: {refusal}");
        return vec![finding(Level::Warning, message)];
    };
    let mut findings = last.clone();
    let sizes: Vec<String> = ran.iter().map(|(size, _)| size.to_string()).collect();
    let at = if free { format!(" at sizes {}", sizes.join(", ")) } else { String::new() };
    findings.push(finding(Level::Info, format!("ONNX Runtime gives equal results before and after{at}")));
    findings
}

/// Compares one run of each; refused where the model does not run on such inputs even before.
fn compare_run(before: &mut Session, after: &mut Session, choice: Choice) -> Result<Vec<Finding>, String> {
    let inputs = inputs(before, choice)?;
    let expected = run(before, &inputs)?;
    let again = run(before, &inputs)?;
    let at = format!("at size {}", choice.size);
    let found = match run(after, &inputs) {
        Ok(found) => found,
        Err(error) => {
            let message = format!("the result does not run {at}, as the input did: {error}");
            return Ok(vec![finding(Level::Error, message)]);
        }
    };
    let mut findings = Vec::new();
    for ((name, expected), (_, again)) in expected.iter().zip(&again) {
        if difference(expected, again).is_some() {
            let message = format!("output `{name}` is not compared: it is random before already");
            findings.push(finding(Level::Info, message));
            continue;
        }
        let what = match found.iter().find(|(found, _)| found == name) {
            Some((_, found)) => difference(expected, found),
            None => Some("it is gone".to_owned()),
        };
        findings.extend(what.map(|what| {
            finding(Level::Error, format!("output `{name}` differs {at}: {what}"))
                .help("this is a fault of onnx-fix, or of an unsafe fix: please report it with the model")
        }));
    }
    Ok(findings)
}

/// The outputs by name, in the order of the model.
fn run(session: &mut Session, inputs: &[(String, DynValue)]) -> Result<Vec<(String, DynValue)>, String> {
    // A fix may have taken out an input's last use, never the input.
    let inputs: Vec<(&str, &DynValue)> = inputs.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let outputs =
        session.run(inputs).map_err(|error| error.message().lines().next().unwrap_or("").to_owned())?;
    Ok(outputs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
