//! `--test-rules DIR`: runs the examples of rules that somebody writes, as the suite runs those of ours.

use std::path::{Path, PathBuf};

use crate::cli::catalogue;
use crate::cli::fix::verify::{self, arrays, library};
use crate::cli::{Failure, Status, output, targets};
use crate::diag::render::{self, Look};
use crate::diag::{Finding, Level};
use crate::graph::syntax::suggest::counted;
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Example, Expect, Rule};
use crate::trial::Trial;

/// Tries every example of the rules in `folders`: what it says, equal numbers in our evaluator, and in ONNX
/// Runtime where that is found. Those that are for a target may name one of the folders `aims`.
pub fn test_rules(folders: &[PathBuf], aims: &[PathBuf], look: Look) -> Result<Status, Failure> {
    let own = catalogue::own(folders)?;
    let targets = targets::load(aims)?;
    let all = RuleSet::embedded().0.overlaid(&own);
    let (mut rules, mut examples, mut failed) = (0, 0, Vec::new());
    let mut in_runtime = Some(0);
    let is_there = library::load().is_ok();
    for rule in own.iter() {
        rules += 1;
        let trial = Trial::new(rule, &all).aiming_at(&targets);
        let trial = if is_there { trial.running_in(&arrays::load) } else { trial };
        for example in &rule.examples {
            examples += 1;
            if let Err(why) = trial.check(example) {
                failed.push(finding(rule, example, &why));
                continue;
            }
            match in_onnx_runtime(&trial, example) {
                Ok(Some(differences)) => {
                    in_runtime = in_runtime.map(|count| count + 1);
                    failed.extend(
                        differences.iter().map(|difference| finding(rule, example, &difference.message)),
                    );
                }
                Ok(None) => {}
                Err(_) => in_runtime = None,
            }
        }
    }
    if examples == 0 {
        return Err(Failure::new("--test-rules: there is no example to run"));
    }
    let runtime = match in_runtime {
        Some(count) => format!("{count} in ONNX Runtime too"),
        None => "not in ONNX Runtime, which was not found".to_owned(),
    };
    let held = examples - failed.len().min(examples);
    let summary = format!(
        "{held} of {} of {} hold ({runtime}).\n",
        counted(examples, "example"),
        counted(rules, "rule")
    );
    output::print(&format!("{}{summary}", render::findings(&failed, look)))?;
    Ok(if failed.is_empty() { Status::Clean } else { Status::Found })
}

fn finding(rule: &Rule, example: &Example, why: &str) -> Finding {
    let source = &rule.source.source;
    let message = format!("the example \"{}\" does not hold: {why}", example.name);
    let finding = Finding::new(&rule.code, &rule.name, Level::Error, message, source.place(example.span));
    Finding { file: source.file.clone(), ..finding }
}

/// What differs there; `None` where nothing is computed.
fn in_onnx_runtime(trial: &Trial, example: &Example) -> Result<Option<Vec<Finding>>, Failure> {
    if !matches!(example.expect, Expect::Computes | Expect::Becomes(_)) {
        return Ok(None);
    }
    let Ok((outcome, _)) = trial.outcome(example) else { return Ok(None) };
    let findings = verify::verify(&example.model, Path::new("."), &outcome)?;
    Ok(Some(findings.into_iter().filter(|finding| finding.level == Level::Error).collect()))
}
