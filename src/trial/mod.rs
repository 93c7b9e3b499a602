//! Tries rules on their examples: what each example says must come of it, and what is computed must stay.

pub mod canonical;
pub mod inputs;
pub mod numbers;
pub mod run;

use std::sync::Arc;

use crate::diag::Selection;
use crate::fix::{self, Options};
use crate::graph::Model;
use crate::graph::uses::Uses;
use crate::infer::{self, infer};
use crate::lint::{LintOptions, lint_model};
use crate::rules::matcher;
use crate::rules::message::render;
use crate::rules::plain::PlainHost;
use crate::rules::plan::plan;
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Body, Direction, Example, Expect, Phase, Rule, Safety};
use crate::targets::Targets;
use numbers::{Claim, Outcome};
use run::Runtime;

/// A rule that is tried: alone, and among others that help where it does not reach a target by itself.
pub struct Trial<'r> {
    rule: &'r Rule,
    alone: RuleSet,
    others: &'r RuleSet,
    targets: Option<&'r Targets>,
    runtime: Option<Runtime<'r>>,
}

impl<'r> Trial<'r> {
    pub fn new(rule: &'r Rule, others: &'r RuleSet) -> Self {
        Trial { rule, alone: RuleSet::of(rule.clone()), others, targets: None, runtime: None }
    }

    /// With targets beside those that are built in: an example that is for one may name it.
    #[must_use]
    pub fn aiming_at(self, targets: &'r Targets) -> Self {
        Trial { targets: Some(targets), ..self }
    }

    /// With a runtime, in which examples are run that are for a target.
    #[must_use]
    pub fn running_in(self, runtime: Runtime<'r>) -> Self {
        Trial { runtime: Some(runtime), ..self }
    }

    /// Whether an example holds.
    ///
    /// # Errors
    /// How what comes of it differs from what it says.
    pub fn check(&self, example: &Example) -> Result<(), String> {
        match &example.expect {
            Expect::Becomes(wanted) => self.becomes(example, wanted),
            Expect::Computes => self.computes(example),
            // What is not reported is not mended, and what contradicts a fact is refused: it is the rule that is tried.
            Expect::Unchanged => match self.fires(&example.model) {
                false => Ok(()),
                true => Err("the rule fires".to_owned()),
            },
            Expect::Finds(messages) => self.finds(example, messages),
        }
    }

    /// Whether the rule gives just this, is silent on it, and computes the same.
    fn becomes(&self, example: &Example, wanted: &Model) -> Result<(), String> {
        let result = self.apply(&self.alone, example.model.clone(), example)?;
        let (wanted, got) = (canonical::text(wanted), canonical::text(&result));
        if wanted != got {
            return Err(format!("wanted\n{wanted}got\n{got}"));
        }
        let again = canonical::text(&self.apply(&self.alone, result, example)?);
        if again != got && self.rule.phase != Phase::Convert {
            return Err(format!("not silent on its own result:\n{again}"));
        }
        Ok(())
    }

    /// Whether the rule fires, and what comes of it is legal at the target and gives equal numbers.
    fn computes(&self, example: &Example) -> Result<(), String> {
        if self.rule.phase == Phase::Convert && !self.fires(&example.model) {
            return Err("the rule does not fire".to_owned());
        }
        let (fix::Outcome { model: result, .. }, safety) = self.outcome(example)?;
        // Between two opsets, the same text may mean something else.
        if example.target.is_none() && canonical::text(&result) == canonical::text(&example.model) {
            return Err("nothing changes".to_owned());
        }
        let claim = Claim { phase: self.rule.phase, safety, given: &self.rule.given };
        // What a target is for has operators that only a runtime runs.
        let compared = match (&example.profile, self.runtime) {
            (None, _) => numbers::compare(&example.model, &result, &claim),
            (Some(_), Some(runtime)) => numbers::compare_in(runtime, &example.model, &result, &claim),
            (Some(_), None) => return Ok(()),
        };
        match compared {
            Outcome::Equal => Ok(()),
            Outcome::Skipped(why) => Err(format!("it cannot be run: {why:?}")),
            Outcome::NeverRan(why) => Err(format!("no inputs were found that it takes: {why}")),
            Outcome::Differs(why) => Err(why),
        }
    }

    /// What the runtime says of an example that computes something; `None` without a runtime, or of any other example.
    ///
    /// # Errors
    /// Why it does not load what comes of the example.
    pub fn judged(&self, example: &Example) -> Result<Option<Outcome>, String> {
        let (Some(runtime), Expect::Computes | Expect::Becomes(_)) = (self.runtime, &example.expect) else {
            return Ok(None);
        };
        let Ok((fix::Outcome { model: result, .. }, safety)) = self.outcome(example) else { return Ok(None) };
        let claim = Claim { phase: self.rule.phase, safety, given: &self.rule.given };
        match example.profile {
            // What a target is for has operators that only a runtime runs: it alone knows what they give.
            Some(_) => Ok(Some(numbers::compare_in(runtime, &example.model, &result, &claim))),
            None => numbers::judge(runtime, &example.model, &result, &claim).map(Some),
        }
    }

    /// What comes of an example, and what is kept of it: by the rule alone, or, where that does not reach the
    /// target, with the others, which then must need it.
    ///
    /// # Errors
    /// Why nothing comes of it.
    pub fn outcome(&self, example: &Example) -> Result<(fix::Outcome, Safety), String> {
        let with = |rules| self.fix(rules, example.model.clone(), example);
        match with(&self.alone) {
            Ok(outcome) => Ok((outcome, self.rule.safety)),
            Err(by_itself) => {
                let outcome = with(self.others)?;
                let without = with(&self.others.without(&self.rule.code));
                let text = |outcome: &fix::Outcome| canonical::text(&outcome.model);
                match without.is_ok_and(|without| text(&without) == text(&outcome)) {
                    true => Err(format!("the other rules do the same without it; by itself: {by_itself}")),
                    false => Ok((outcome, self.rule.safety.max(Safety::Rounding))),
                }
            }
        }
    }

    /// Whether the rule says exactly these messages.
    fn finds(&self, example: &Example, wanted: &[Arc<str>]) -> Result<(), String> {
        let found = match &self.rule.body {
            Body::Builtin(_) => self.found_by_code(&example.model)?,
            Body::Pattern { forward, .. } => {
                forward.iter().flat_map(|pattern| self.found_by_pattern(pattern, &example.model)).collect()
            }
        };
        let wanted: Vec<&str> = wanted.iter().map(|message| &**message).collect();
        if found == wanted { Ok(()) } else { Err(format!("wanted {wanted:#?}, found {found:#?}")) }
    }

    fn apply(&self, rules: &RuleSet, model: Model, example: &Example) -> Result<Model, String> {
        self.fix(rules, model, example).map(|outcome| outcome.model)
    }

    /// What comes of a model where an example says that it is to go.
    fn fix(&self, rules: &RuleSet, model: Model, example: &Example) -> Result<fix::Outcome, String> {
        let unsafe_fixes = self.rule.safety == Safety::Unsafe;
        let built_in = Targets::default();
        let targets = self.targets.unwrap_or(&built_in);
        let targets = example.profile.iter().map(|name| targets.find(name)).collect::<Result<_, _>>()?;
        let options = Options { opset: example.target, targets, unsafe_fixes, ..Options::default() };
        let outcome = fix::fix(model, &options, rules);
        if outcome.report.refused.contains(&*self.rule.code) {
            return Err(format!("what it rewrites contradicts what is known: {:?}", outcome.report.notes));
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
            Some(finding) => Err(format!("found at level {}, above that of the page", finding.level)),
            None => Ok(findings.into_iter().map(|finding| finding.message).collect()),
        }
    }

    /// Whether the rule makes anything of the main graph.
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

    /// What a pattern says where it matches, whether linting would report it or not: conversions are for
    /// onnx-fix alone.
    fn found_by_pattern(&self, pattern: &Direction, model: &Model) -> Vec<String> {
        let (facts, uses) = (infer(model, infer::Options::default()), Uses::new(model));
        let host = PlainHost::new(model, model.main, &facts, &uses);
        let matches = matcher::find(&host, pattern).matches;
        matches.iter().map(|found| render(&self.rule.message, &host, found)).collect()
    }
}
