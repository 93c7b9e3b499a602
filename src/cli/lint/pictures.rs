//! Draws the graph around each finding and the change of its fix, for formats that show pictures.

use std::collections::BTreeMap;

use diffy::{DiffOptions, Line};
use rustc_hash::FxHashMap;

use crate::cli::fix::outline::outline;
use crate::diag::{Applicability, Finding, Selection};
use crate::evidence::{self, Input};
use crate::fix::{Options, fix};
use crate::graph::uses::Uses;
use crate::graph::{Id as _, Model, NodeId};
use crate::infer::{self, infer};
use crate::lint::picture::{Painter, summary};
use crate::rules::registry::RuleSet;
use crate::rules::rule::Phase;

/// Context lines around a change.
const AROUND: usize = 2;

/// The longest change that is shown, in lines.
const LONGEST: usize = 60;

/// Maximum number of lines in which two outlines differ; the time of a diff grows quadratically.
const MOST_CHANGED: usize = 2_000;

/// Adds pictures to the findings at nodes of the model. Returns the summary of the model.
pub fn draw(input: &Input, rules: &RuleSet, findings: &mut [Finding]) -> Option<Vec<(&'static str, String)>> {
    let model = evidence::model(input)?;
    let facts = infer(&model, infer::Options::default());
    let uses = Uses::new(&model);
    let painter = Painter::new(&model, &facts, &uses);
    let known = summary(&model, &facts);
    if findings.iter().all(|finding| finding.nodes.is_empty()) {
        return Some(known);
    }
    let mut changes = Changes { model: &model, rules, before: outline(&model), by_code: BTreeMap::new() };
    for finding in findings {
        let nodes = finding.nodes.iter().map(|&node| NodeId::from_index(node as usize));
        let nodes: Vec<NodeId> = nodes.filter(|node| node.index() < model.nodes.len()).collect();
        if let Some(mut picture) = painter.around(&nodes) {
            picture.change = changes.of(finding);
            picture.command = changes.command(finding);
            finding.picture = Some(Box::new(picture));
        }
    }
    Some(known)
}

/// The changes that the fixes of a model make, by rule.
struct Changes<'a> {
    model: &'a Model,
    rules: &'a RuleSet,
    before: String,
    /// For each rule code and each line that its fixes remove: the diff hunk that removes the line.
    by_code: BTreeMap<String, FxHashMap<String, Vec<String>>>,
}

impl Changes<'_> {
    /// Returns the hunk that changes the node of a finding.
    ///
    /// The hunk is empty if the fixes of the rule do not change the node, or if they change too much.
    fn of(&mut self, finding: &Finding) -> Vec<String> {
        let Some(place) = finding.place.graph().filter(|_| finding.fix.is_some()) else { return Vec::new() };
        if !self.by_code.contains_key(&*finding.code) {
            let changed = self.changed(&finding.code);
            self.by_code.insert(finding.code.to_string(), changed);
        }
        self.by_code[&*finding.code].get(&*place.text).cloned().unwrap_or_default()
    }

    /// Returns true if the rule simplifies a graph instead of fixing a fault.
    fn simplifies(&self, code: &str) -> bool {
        self.rules.get(code).is_some_and(|rule| rule.phase == Phase::Simplify)
    }

    /// Returns the command that applies only the fixes of this rule.
    fn command(&self, finding: &Finding) -> String {
        let code = &finding.code;
        let is_unsafe = finding.fix.as_ref().is_some_and(|fix| fix.applicability == Applicability::Unsafe);
        let consent = if is_unsafe { " --unsafe-fixes" } else { "" };
        let only = if self.simplifies(code) { "" } else { " --no-optimize" };
        format!("onnx-fix --select {code}{consent}{only}")
    }

    fn changed(&self, code: &str) -> FxHashMap<String, Vec<String>> {
        let options = Options {
            selection: Selection::new(vec![code.to_owned()], Vec::new()),
            unsafe_fixes: true,
            optimize: self.simplifies(code),
            ..Options::default()
        };
        let outcome = fix(self.model.clone(), &options, self.rules);
        let after = outline(&outcome.model);
        if differing(&self.before, &after) > MOST_CHANGED {
            return FxHashMap::default();
        }
        let patch = DiffOptions::new().set_context_len(AROUND).create_patch(&self.before, &after);
        let mut by_line = FxHashMap::default();
        for hunk in patch.hunks() {
            let (mut lines, mut gone) = (Vec::new(), Vec::new());
            for line in hunk.lines() {
                let (sign, text) = match line {
                    Line::Context(text) => (' ', text),
                    Line::Delete(text) => ('-', text),
                    Line::Insert(text) => ('+', text),
                };
                if sign == '-' {
                    gone.push(text.trim().to_owned());
                }
                lines.push(format!("{sign}{}", text.trim_end()));
            }
            if lines.len() <= LONGEST {
                by_line.extend(gone.into_iter().map(|line| (line, lines.clone())));
            }
        }
        by_line
    }
}

/// Returns the number of lines that only one of two texts has.
fn differing(a: &str, b: &str) -> usize {
    let mut counts: FxHashMap<&str, i64> = FxHashMap::default();
    a.lines().for_each(|line| *counts.entry(line).or_default() += 1);
    b.lines().for_each(|line| *counts.entry(line).or_default() -= 1);
    counts.values().map(|count| count.unsigned_abs() as usize).sum()
}
