//! `--run`: runs both models on the same random inputs.

use std::path::Path;
use std::sync::Arc;

use crate::cli::fix::verify::{self, Seen};
use crate::diag::counted;
use crate::graph::Model;
use crate::rule_tests::numbers::{self, Claim, Outcome};
use crate::rules::rule::{Phase, Safety};

/// Runs both models in ONNX Runtime if it can be loaded, else in our evaluator.
///
/// Inputs correspond by name if both models have the same names, else by position; outputs likewise.
///
/// # Errors
/// Returns the reason why the models cannot be run.
pub fn run((a, folder_a): (&Model, &Path), (b, folder_b): (&Model, &Path)) -> Result<Seen, String> {
    let b = renamed(a, b)?;
    match verify::library::load() {
        Ok(environment) => verify::seen(&environment, (a, folder_a), (&b, folder_b)),
        Err(_) => evaluated(a, &b),
    }
}

/// Returns the second model with the input and output names of the first.
fn renamed(a: &Model, b: &Model) -> Result<Model, String> {
    let mut renamed = b.clone();
    let (from, to) = (&b.graphs[b.main], &a.graphs[a.main]);
    for (what, from, to) in [("inputs", &from.inputs, &to.inputs), ("outputs", &from.outputs, &to.outputs)] {
        if from.len() != to.len() {
            let noun = &what[..what.len() - 1];
            return Err(format!("a has {}, b has {}", counted(to.len(), noun), from.len()));
        }
        let names = |model: &Model, ports: &[crate::graph::Port]| -> Vec<Arc<str>> {
            ports.iter().map(|port| model.values[port.value].name.clone()).collect()
        };
        let (mut old, mut new) = (names(b, from), names(a, to));
        old.sort();
        new.sort();
        if old == new {
            continue;
        }
        let taken = |name: &Arc<str>| b.values.iter().any(|(_, value)| value.name == *name);
        for (from, to) in from.iter().zip(to) {
            let name = &a.values[to.value].name;
            if b.values[from.value].name != *name && taken(name) {
                return Err(format!(
                    "`{name}` is an {} of a, but the name of a different value in b",
                    &what[..what.len() - 1]
                ));
            }
            renamed.values[from.value].name = name.clone();
        }
    }
    Ok(renamed)
}

fn evaluated(a: &Model, b: &Model) -> Result<Seen, String> {
    let claim = Claim { phase: Phase::Explore, safety: Safety::Rounding, assumptions: &[] };
    let seen = |equal: bool, different: Option<String>| Seen {
        by: "the built-in evaluator",
        has_sizes: false,
        equal: if equal { vec![0] } else { Vec::new() },
        different: different.into_iter().map(|what| (0, what)).collect(),
        notes: Vec::new(),
    };
    match numbers::compare(a, b, &claim) {
        Outcome::Equal => Ok(seen(true, None)),
        Outcome::Differs(what) => {
            // The description of the difference ends with the inputs, which are dropped, because they may be long.
            let what = what.split(", on ").next().unwrap_or_default().to_owned();
            Ok(seen(false, Some(what)))
        }
        Outcome::Skipped(why) => Err(format!(
            "ONNX Runtime was not found, and the built-in evaluator cannot run the models: {why}"
        )),
        Outcome::NeverRan(why) => Err(format!("the first model runs on none of the tried inputs: {why}")),
    }
}
