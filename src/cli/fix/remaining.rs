//! Errors that the linter finds in a result.

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cli::catalog::Catalog;
use crate::cli::lint::settings::Settings;
use crate::cli::lint::suppress::Suppressions;
use crate::diag::counted;
use crate::diag::{Finding, Level, RuleId, rule_ids};
use crate::evidence::{Input, Linted, accepted};
use crate::files::{ModelFile, ModelFormat};
use crate::fix::{Options, fix};
use crate::graph::syntax::TextSpans;
use crate::graph::{Model, normal_domain, scopes};
use crate::lint::{LintOptions, lint_text};
use crate::read::any;
use crate::rules::registry::RuleSet;
use crate::rules::rule::Phase;
use crate::schema;

/// Rules whose errors no conversion removes: the node or function is wrong in every opset.
const LASTING: [RuleId; 4] = [
    rule_ids::SHAPE_MISMATCH,
    rule_ids::BAD_VALUE,
    rule_ids::UNBOUND_ATTRIBUTE_REFERENCE,
    rule_ids::DUPLICATE_FUNCTION,
];

/// Family of rules about the export: failures at some sizes only, or results that differ from PyTorch.
///
/// Errors of this family do not prevent writing a model, because it works at all sizes at which the source works.
const PARTIAL: &str = "EXP";

/// The rule of this family whose errors concern every size: OneHot with less than one class.
///
/// In a subgraph or function, the OneHot may never run.
const FATAL: RuleId = rule_ids::ONE_HOT_DEPTH;

/// Maximum number of nodes that the line with the number of errors names.
const NODES_SHOWN: usize = 3;

/// Errors in a fixed model.
#[derive(Debug, Default)]
pub struct Remaining {
    /// The errors that are not suppressed.
    pub errors: Vec<Finding>,
    /// Number of new errors: no error of the source has the same code and node.
    new: usize,
    /// Whether the model fails at every size because of an error.
    is_fatal: bool,
}

impl Remaining {
    fn new(errors: Vec<Finding>, new: usize, model: &Model) -> Self {
        let main = name_of_main(model);
        let is_in_main = |error: &Finding| error.place.graph().is_some_and(|place| *place.graph == *main);
        let is_fatal = errors
            .iter()
            .any(|error| !error.code.starts_with(PARTIAL) || *error.code == *FATAL.code && is_in_main(error));
        Remaining { errors, new, is_fatal }
    }

    /// Returns true if the model fails at every size because of an error.
    pub fn is_fatal(&self) -> bool {
        self.is_fatal
    }

    /// Returns true if the fixed model may be written.
    pub fn may_write(&self, allow_errors: bool) -> bool {
        !self.is_fatal() || (allow_errors && self.new == 0)
    }

    /// Returns the line with the number of errors and their nodes. It tells whether `target` is written.
    pub fn verdict(&self, source: &str, target: Option<&Path>, is_written: bool) -> String {
        let (count, nodes) = (counted(self.errors.len(), "error"), self.nodes());
        let remain = if self.errors.len() > 1 { "remain" } else { "remains" };
        let errors = format!("{count} of `{source}` {remain}{nodes}");
        match target {
            _ if !self.is_fatal() => format!("warning: {errors}: the model can fail or give wrong results\n"),
            None => format!("error: {errors}\n"),
            Some(target) if is_written => {
                format!("error: {errors} in the result, written to `{}`\n", target.display())
            }
            Some(_) if self.new > 0 => {
                let new = counted(self.new, "error");
                format!(
                    "error: the result has {new}{nodes} that `{source}` does not have: nothing is written\n"
                )
            }
            Some(_) => format!("error: {errors}: nothing is written (unless with --allow-errors)\n"),
        }
    }

    /// Returns the first nodes with errors, as `" at `a` and 2 more nodes"`; `""` if no error has a node.
    fn nodes(&self) -> String {
        let places = self.errors.iter().filter_map(|error| error.place.graph());
        let nodes = places.map(|place| place.node.trim_matches('"')).filter(|node| !node.is_empty());
        let nodes: IndexSet<&str> = nodes.collect();
        let shown: Vec<String> = nodes.iter().take(NODES_SHOWN).map(|node| format!("`{node}`")).collect();
        match (shown.is_empty(), nodes.len().saturating_sub(NODES_SHOWN)) {
            (true, _) => String::new(),
            (false, 0) => format!(" at {}", shown.join(", ")),
            (false, more) => format!(" at {} and {}", shown.join(", "), counted(more, "more node")),
        }
    }
}

/// Identity of an error across a rewrite: its code and the name of its node.
type Key = (String, Option<String>);

/// Linter with the settings of a run.
pub struct Linter<'a> {
    pub input: &'a Input,
    pub settings: &'a Settings,
    pub catalog: &'a Catalog,
    /// The rules that the run applies.
    pub rules: &'a RuleSet,
}

impl Linter<'_> {
    /// Lints the result of fixing `source`, and returns the errors that are not suppressed.
    ///
    /// `result` is `None` if nothing changed. A suppression in the source also applies to the same error in `result`.
    pub fn remaining(&self, source: &ModelFile, result: Option<&Model>, options: &Options) -> Remaining {
        let all = self.errors_in_file(source);
        let Some(result) = result else {
            return Remaining::new(self.unsuppressed(&source.model, all), 0, &source.model);
        };
        let open = self.unsuppressed(&source.model, all.clone()).into_iter();
        let open: FxHashMap<Key, Finding> = open.map(|error| (key(&error), error)).collect();
        let suppressed: FxHashSet<Key> = all.iter().map(key).filter(|key| !open.contains_key(key)).collect();
        let mut errors = self.unsuppressed(result, self.errors(result, None));
        let found: FxHashSet<Key> = errors.iter().map(key).collect();
        let is_of = |rules: &[RuleId], error: &Finding| rules.iter().any(|rule| *rule.code == *error.code);
        let may_last = |error: &Finding| is_of(&LASTING, error) || is_of(&[rule_ids::BAD_ATTRIBUTE], error);
        if all.iter().any(|error| may_last(error) && !found.contains(&key(error))) {
            // A rewrite may hide an error by replacing the node, but only a repair removes it.
            let mut repaired = self.repaired(&source.model, options);
            let mut hidden = self.unsuppressed(&repaired, self.errors(&repaired, None));
            let uncalled = uncalled(&repaired);
            let may_run = |error: &Finding| {
                let path = error.place.graph().map_or("", |place| &*place.graph);
                path.split('/').next().is_none_or(|root| !uncalled.contains(root))
            };
            hidden.retain(|error| may_last(error) && may_run(error) && !found.contains(&key(error)));
            if hidden.iter().any(|error| !is_of(&LASTING, error)) {
                // A conversion may define a bad attribute, but not one that is bad in the newest opset, too.
                relabel(&mut repaired);
                let lasting: FxHashSet<Key> = self.errors(&repaired, None).iter().map(key).collect();
                hidden.retain(|error| is_of(&LASTING, error) || lasting.contains(&key(error)));
            }
            errors.extend(hidden);
        }
        errors.retain(|error| !suppressed.contains(&key(error)));
        let new = errors.iter().filter(|error| !open.contains_key(&key(error))).count();
        // If the source has the same error, report it as found in the source, which users know.
        let errors =
            errors.into_iter().map(|error| open.get(&key(&error)).cloned().unwrap_or(error)).collect();
        Remaining::new(errors, new, &source.model)
    }

    /// Repairs a model without converting it.
    fn repaired(&self, source: &Model, options: &Options) -> Model {
        let options = Options { opset: None, targets: Vec::new(), precision: None, ..options.clone() };
        let rules = self.rules.filtered(|rule| matches!(rule.phase, Phase::Fix | Phase::Convert));
        fix(source.clone(), &options, &rules).model
    }

    /// Returns the errors of the source, with line numbers for ONNX text.
    fn errors_in_file(&self, source: &ModelFile) -> Vec<Finding> {
        let errors = self.errors(&source.model, None);
        if errors.is_empty() || source.form != ModelFormat::OnnxText {
            return errors;
        }
        match any::onnx_text(&source.bytes) {
            (Some(model), spans, _) => self.errors(&model, spans.as_ref()),
            (None, ..) => errors,
        }
    }

    fn errors(&self, model: &Model, spans: Option<&TextSpans>) -> Vec<Finding> {
        let options = self.settings.lint_options(self.input);
        let is_error = |code: &str, own: Level| self.settings.level(code, own) == Some(Level::Error);
        let options = LintOptions {
            rules: Arc::new(options.rules.of_severity(is_error)),
            opset: None,
            targets: Vec::new(),
            dynamic: Vec::new(),
            ..options
        };
        let mut findings = lint_text(model, spans, &options);
        findings.retain_mut(|finding| {
            finding.file = self.input.name.clone();
            self.settings.enables(self.input, finding) && finding.level == Level::Error
        });
        findings
    }

    fn unsuppressed(&self, model: &Model, findings: Vec<Finding>) -> Vec<Finding> {
        if findings.is_empty() {
            return findings;
        }
        let mut linted = Linted { findings, accepted: accepted::accepted(model, None), ..Linted::default() };
        Suppressions::new(self.catalog).apply(self.input, self.settings, &mut linted, &mut Vec::new());
        linted.findings
    }
}

/// Returns the name of the main graph in the places of findings.
fn name_of_main(model: &Model) -> &str {
    model.graphs[model.main].name.as_deref().unwrap_or("main")
}

/// Returns the names of the functions that the main graph does not call, directly or not.
fn uncalled(model: &Model) -> FxHashSet<&str> {
    let reached = scopes::reached(model, &scopes::callees(model));
    let others = model.functions.iter().filter(|function| !reached.contains(&function.body));
    let names = others.map(|function| function.name.as_deref().unwrap_or(""));
    names.filter(|name| *name != name_of_main(model)).collect()
}

/// Sets the opset of ai.onnx to the newest one, without changing any node.
fn relabel(model: &mut Model) {
    for import in model.opsets.iter_mut().filter(|import| normal_domain(import.domain.as_deref()).is_empty())
    {
        import.version = schema::latest("").map(i64::from);
    }
}

fn key(finding: &Finding) -> Key {
    (finding.code.to_string(), finding.place.graph().map(|graph| graph.node.to_string()))
}
