//! Tests rules on their examples: checks the expected outcome and the numeric results.

pub mod canonical;
pub mod inputs;
pub mod numbers;
pub mod run;

use std::sync::Arc;

use crate::diag::Selection;
use crate::edit::{AnalysisView, Editor};
use crate::fix::{self, Options};
use crate::graph::Model;
use crate::graph::syntax::quoted;
use crate::graph::uses::Uses;
use crate::infer::{self, infer};
use crate::lint::{LintOptions, lint_model};
use crate::rules::matcher;
use crate::rules::message::render;
use crate::rules::plain::PlainHost;
use crate::rules::plan::{patch, plan};
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Body, Direction, Example, Expect, Phase, Rule, Safety};
use crate::targets::Targets;
use numbers::{Claim, Outcome};
use run::Runtime;

/// Rule under test, and the other rules.
/// The other rules are added if the rule alone does not reach the target of an example.
pub struct RuleTest<'r> {
    rule: &'r Rule,
    alone: RuleSet,
    others: &'r RuleSet,
    targets: Option<&'r Targets>,
    runtime: Option<Runtime<'r>>,
}

impl<'r> RuleTest<'r> {
    /// Creates a test of `rule`; `others` has all rules, including this one.
    /// The examples of a rule with several codes are tested on the whole rule.
    pub fn new(rule: &'r Rule, others: &'r RuleSet) -> Self {
        let rule = rule.whole.as_deref().unwrap_or(rule);
        RuleTest { rule, alone: RuleSet::of(rule.clone()), others, targets: None, runtime: None }
    }

    /// Adds targets, which examples can name in addition to the built-in ones.
    #[must_use]
    pub fn aiming_at(self, targets: &'r Targets) -> Self {
        RuleTest { targets: Some(targets), ..self }
    }

    /// Sets the runtime for examples with a target, and for [`RuleTest::judged`].
    #[must_use]
    pub fn running_in(self, runtime: Runtime<'r>) -> Self {
        RuleTest { runtime: Some(runtime), ..self }
    }

    /// Checks an example.
    ///
    /// # Errors
    /// The difference between expected and actual outcome; its first line is a summary.
    pub fn check(&self, example: &Example) -> Result<(), String> {
        match &example.expect {
            Expect::RewritesTo(wanted) => self.rewrites_to(example, wanted),
            Expect::Equivalent => self.equivalent(example),
            // A match that can be rewritten is an error, even if it would not be reported or its rewrite would
            // contradict inferred facts.
            Expect::NoMatch if self.rule.directions().next().is_none() => {
                Err("the rule has no rewrite: use `reports nothing`".to_owned())
            }
            Expect::NoMatch => match self.fires(&example.model) {
                false => Ok(()),
                true => Err("the rule matches".to_owned()),
            },
            Expect::Reports(messages) => self.reports(example, messages),
        }
    }

    /// Checks that the rule produces this model, up to names.
    /// Unless the rule is a conversion, it must not change its own result.
    fn rewrites_to(&self, example: &Example, wanted: &Model) -> Result<(), String> {
        let result = self.apply(&self.alone, example.model.clone(), example)?;
        let (wanted, got) = (canonical::text(wanted), canonical::text(&result));
        if wanted != got {
            return Err(format!(
                "the result differs\nexpected: {}\nresult: {}",
                one_line(&wanted),
                one_line(&got)
            ));
        }
        let again = canonical::text(&self.apply(&self.alone, result, example)?);
        if again != got && !matches!(self.rule.phase, Phase::Convert | Phase::Prove) {
            return Err(format!("the rule matches its own result\nrewritten again: {}", one_line(&again)));
        }
        Ok(())
    }

    /// Checks that the rule applies, and that the result is legal at the target and numerically equal.
    /// An example for a target is not run without a runtime.
    fn equivalent(&self, example: &Example) -> Result<(), String> {
        if self.rule.phase == Phase::Convert && !self.fires(&example.model) {
            return Err("the rule does not match".to_owned());
        }
        let (fix::Outcome { model: result, .. }, safety) = self.outcome(example)?;
        // Between two opsets, equal text can have different semantics.
        if example.target.is_none() && canonical::text(&result) == canonical::text(&example.model) {
            return Err("the rule changes nothing".to_owned());
        }
        let claim = Claim { phase: self.rule.phase, safety, assumptions: &self.rule.assumptions };
        // Examples for a target contain operators that only a runtime can execute.
        let compared = match (&example.profile, self.runtime) {
            (None, _) => numbers::compare(&example.model, &result, &claim),
            (Some(_), Some(runtime)) => numbers::compare_in(runtime, &example.model, &result, &claim),
            (Some(_), None) => return Ok(()),
        };
        match compared {
            Outcome::Equal => Ok(()),
            Outcome::Skipped(why) => Err(format!("the example cannot be run: {why}")),
            Outcome::NeverRan(why) => Err(format!("the original model accepts none of the inputs: {why}")),
            Outcome::Differs(why) => Err(why),
        }
    }

    /// Compares the models of an example in the runtime.
    /// Returns `None` without a runtime, and for examples without a rewrite or a result.
    ///
    /// # Errors
    /// The reason why the runtime does not load the result.
    pub fn judged(&self, example: &Example) -> Result<Option<Outcome>, String> {
        let (Some(runtime), Expect::Equivalent | Expect::RewritesTo(_)) = (self.runtime, &example.expect)
        else {
            return Ok(None);
        };
        let Ok((fix::Outcome { model: result, .. }, safety)) = self.outcome(example) else { return Ok(None) };
        let claim = Claim { phase: self.rule.phase, safety, assumptions: &self.rule.assumptions };
        match example.profile {
            // Examples for a target contain operators that only a runtime can execute.
            Some(_) => Ok(Some(numbers::compare_in(runtime, &example.model, &result, &claim))),
            None => numbers::judge(runtime, &example.model, &result, &claim).map(Some),
        }
    }

    /// Applies the rule to an example; returns the result and its guarantee.
    /// If the rule alone is not applied, because a pass suffices, or does not reach the target, the other rules are added. It is an error if the other
    /// rules produce the same model without this rule.
    ///
    /// # Errors
    /// The reason why there is no result.
    pub fn outcome(&self, example: &Example) -> Result<(fix::Outcome, Safety), String> {
        let with = |rules| self.fix(rules, example.model.clone(), example);
        let applied = |outcome: fix::Outcome| match outcome.report.rules.contains_key(&*self.rule.code) {
            true => Ok(outcome),
            false => Err("the rule is not applied".to_owned()),
        };
        match with(&self.alone).and_then(applied) {
            Ok(outcome) => Ok((outcome, self.rule.safety)),
            Err(by_itself) => {
                let outcome = with(self.others)?;
                let without = with(&self.others.without(&self.rule.code));
                let text = |outcome: &fix::Outcome| canonical::text(&outcome.model);
                match without.is_ok_and(|without| text(&without) == text(&outcome)) {
                    true => Err(format!(
                        "the other rules suffice without this rule; on its own, it fails: {by_itself}"
                    )),
                    false => Ok((outcome, self.rule.safety.max(Safety::Rounding))),
                }
            }
        }
    }

    /// Checks that the rule reports exactly these messages.
    fn reports(&self, example: &Example, wanted: &[Arc<str>]) -> Result<(), String> {
        let found = match &self.rule.body {
            Body::Builtin(_) => self.found_by_code(&example.model)?,
            Body::Pattern { forward, .. } => {
                forward.iter().flat_map(|pattern| self.found_by_pattern(pattern, &example.model)).collect()
            }
        };
        let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        if found == wanted {
            Ok(())
        } else {
            Err(format!("expected {}, found {}", listed(&wanted), listed(&found)))
        }
    }

    fn apply(&self, rules: &RuleSet, model: Model, example: &Example) -> Result<Model, String> {
        self.fix(rules, model, example).map(|outcome| outcome.model)
    }

    /// Applies a rule for proofs, which no pass of `onnx-fix` applies, at its first match.
    fn prove(&self, model: Model) -> fix::Outcome {
        let mut editor = Editor::new(model);
        let AnalysisView { model, facts, uses } = editor.analyses();
        let host = PlainHost::new(model, model.main, facts, uses);
        let mut patches = Vec::new();
        for direction in self.rule.directions() {
            let found = matcher::find(&host, direction).matches.into_iter();
            patches.extend(found.filter_map(|found| patch(&host, self.rule, direction, found)));
        }
        patches.truncate(1);
        let mut report = fix::Report::default();
        report.rules.extend(patches.iter().map(|_| (self.rule.code.to_string(), 1)));
        editor.apply(patches);
        let model = editor.into_parts().0;
        fix::Outcome { model, report, findings: Vec::new(), changed: true, looked_at: 0 }
    }

    /// Fixes a model with the target and opset of an example.
    fn fix(&self, rules: &RuleSet, model: Model, example: &Example) -> Result<fix::Outcome, String> {
        if self.rule.phase == Phase::Prove {
            return Ok(self.prove(model));
        }
        let unsafe_fixes = self.rule.safety == Safety::Unsafe;
        let built_in = Targets::default();
        let targets = self.targets.unwrap_or(&built_in);
        let targets = example.profile.iter().map(|name| targets.find(name)).collect::<Result<_, _>>()?;
        let options = Options { opset: example.target, targets, unsafe_fixes, ..Options::default() };
        let outcome = fix::fix(model, &options, rules);
        if outcome.report.refused.contains(&*self.rule.code) {
            return Err(format!("the rewrite was refused: {}", outcome.report.notes.join("; ")));
        }
        match outcome.findings.first() {
            None => Ok(outcome),
            Some(finding) => Err(finding.message.clone()),
        }
    }

    fn found_by_code(&self, model: &Model) -> Result<Vec<String>, String> {
        let selection = Selection::new(vec![self.rule.code.to_string()], Vec::new());
        let findings =
            lint_model(model, &LintOptions { selection, rules: Arc::default(), ..LintOptions::default() });
        match findings.iter().find(|finding| finding.level > self.rule.severity) {
            Some(finding) => Err(format!("finding has level {}, above that of the rule", finding.level)),
            None => Ok(findings.into_iter().map(|finding| finding.message).collect()),
        }
    }

    /// Returns true if the rule can rewrite a match in the main graph.
    fn fires(&self, model: &Model) -> bool {
        let (proved, uses) = (infer(model, infer::Options::default()), Uses::new(model));
        let facts = match self.rule.phase {
            Phase::Convert => proved.trusting_outputs(model, model.main),
            _ => proved,
        };
        let host = PlainHost::new(model, model.main, &facts, &uses);
        self.rule.directions().any(|direction| {
            let matches = matcher::find(&host, direction).matches;
            matches.into_iter().any(|found| plan(&host, direction, found).is_ok())
        })
    }

    /// Returns the messages of all matches of a pattern.
    /// Conversions are included, although lint never reports them.
    fn found_by_pattern(&self, pattern: &Direction, model: &Model) -> Vec<String> {
        let (facts, uses) = (infer(model, infer::Options::default()), Uses::new(model));
        let host = PlainHost::new(model, model.main, &facts, &uses);
        let matches = matcher::find(&host, pattern).matches;
        matches.iter().map(|found| render(&pattern.message, &host, found)).collect()
    }
}

/// Formats messages with quotes, or `nothing`.
fn listed(messages: &[String]) -> String {
    if messages.is_empty() {
        return "nothing".to_owned();
    }
    messages.iter().map(|message| quoted(message)).collect::<Vec<_>>().join(", ")
}

/// Returns the canonical text of a model in one line.
fn one_line(text: &str) -> String {
    text.trim_end().replace('\n', "; ")
}
