//! `--test-rules DIR`: tests the examples of custom rules, as `tests/rules` tests the built-in ones.

use super::args::Args;
use crate::cli::catalog;
use crate::cli::fix::verify::{arrays, library};
use crate::cli::{Failure, Status, output, targets};
use crate::diag::counted;
use crate::diag::render::{self, Look};
use crate::diag::{Finding, Level};
use crate::rule_tests::RuleTest;
use crate::rule_tests::numbers::Outcome;
use crate::rules::registry::{RuleSet, is_meant};
use crate::rules::rule::{Example, Rule};

/// Tests the examples of the rules in the folders of `--test-rules`.
///
/// Every example must have its expected outcome. Our evaluator compares the results of `equivalent` examples
/// without a target with those of the original model; ONNX Runtime, if it is found, those of all rewrites.
/// `--select` and `--ignore` choose rules; `--targets` adds targets that examples may name.
pub fn test_rules(args: &Args, look: Look) -> Result<Status, Failure> {
    let own = catalog::own(&args.test_rules, args.color.when)?;
    let targets = targets::load(&args.targets, args.color.when)?;
    let is_any = |selectors: &[String], rule: &Rule| selectors.iter().any(|word| is_meant(rule, word));
    let is_selected = |rule: &&Rule| {
        args.select.as_ref().is_none_or(|select| is_any(select, rule)) && !is_any(&args.ignore, rule)
    };
    let all = RuleSet::embedded().0.overlaid(&own);
    let (mut rules, mut examples, mut failed, mut in_runtime) = (0, 0, 0, 0);
    let mut findings = Vec::new();
    let is_there = library::load().is_ok();
    // The examples of a rule with several codes are tested once.
    let is_main = |rule: &&Rule| rule.whole.as_ref().is_none_or(|whole| whole.code == rule.code);
    for rule in own.iter().filter(is_selected).filter(is_main) {
        rules += 1;
        let trial = RuleTest::new(rule, &all).aiming_at(&targets);
        let trial = if is_there { trial.running_in(&arrays::load) } else { trial };
        for example in &rule.examples {
            examples += 1;
            let held = trial.check(example).and_then(|()| match trial.judged(example) {
                Ok(Some(Outcome::Differs(why))) => Err(format!("in ONNX Runtime, {why}")),
                Ok(Some(Outcome::Equal)) => {
                    in_runtime += 1;
                    Ok(())
                }
                // An example passes without a comparison if the runtime does not run the original, or
                // computes other results for the original than our evaluator.
                Ok(_) => Ok(()),
                // A valid model may be too new for the runtime, or use types that it lacks.
                Err(why) => {
                    findings.push(unjudged(rule, example, &why));
                    Ok(())
                }
            });
            if let Err(why) = held {
                failed += 1;
                findings.push(fault(rule, example, &why));
            }
        }
    }
    if examples == 0 {
        return Err(Failure::new("--test-rules: there is no example to run"));
    }
    let runtime = match is_there {
        true => format!("{in_runtime} in ONNX Runtime too"),
        false => "not in ONNX Runtime, which was not found".to_owned(),
    };
    let held = examples - failed;
    let summary = format!(
        "{held} of {} of {} {} ({runtime}).\n",
        counted(examples, "example"),
        counted(rules, "rule"),
        if held == 1 { "holds" } else { "hold" }
    );
    output::print(&format!("{}{summary}", render::findings(&findings, look)))?;
    Ok(if failed == 0 { Status::Clean } else { Status::Found })
}

/// Creates the finding of an example that fails; each line of `why` after the first becomes a note.
fn fault(rule: &Rule, example: &Example, why: &str) -> Finding {
    let mut lines = why.lines();
    let summary = lines.next().unwrap_or_default();
    let message = format!("the example \"{}\" does not hold: {summary}", example.name);
    lines.fold(finding(rule, example, Level::Error, message), Finding::note)
}

fn unjudged(rule: &Rule, example: &Example, why: &str) -> Finding {
    let name = &example.name;
    let message = format!("ONNX Runtime does not load the rewritten model of the example \"{name}\": {why}");
    finding(rule, example, Level::Info, message)
}

fn finding(rule: &Rule, example: &Example, level: Level, message: String) -> Finding {
    let source = &rule.source.source;
    let finding = Finding::new(&rule.code, &rule.name, level, message, source.place(example.span));
    Finding { file: source.file.clone(), ..finding }
}
