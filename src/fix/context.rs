//! State that the passes of one run share.

use std::collections::BTreeSet;

use super::options::Options;
use super::record::Record;
use super::report::Report;
use super::target;
use crate::diag::RuleId;
use crate::edit::Constants;
use crate::extract::Target;
use crate::graph::Model;
use crate::rules::registry::RuleSet;

/// Resolved options, the target, and flags that passes leave for later ones.
pub struct Context<'a> {
    /// The model before the first pass.
    pub source: &'a Model,
    /// Options. The first check sets the opset if the target runtimes do not support that of the model.
    pub options: Options,
    /// Rules that may be applied.
    pub rules: &'a RuleSet,
    /// Opset imports of the fixed model.
    ///
    /// Repairs may change imports, so the target is resolved again before the first rewrite.
    pub target: Target,
    /// Report of the run so far.
    pub report: Report,
    /// The pass of each change.
    pub record: Record,
    /// Whether a repair was applied, which may change the types of inputs and outputs.
    pub is_repaired: bool,
    /// Whether declared types may be stale; `None` until it is first decided.
    pub has_stale_types: Option<bool>,
    /// State of the current rewrite round; `None` before the first round.
    pub round: Option<Round>,
}

/// State of one rewrite round.
#[derive(Default)]
pub struct Round {
    /// Domains of the nodes before the round.
    pub domains: BTreeSet<String>,
    /// Result of rewriting.
    pub rewritten: Rewritten,
    /// Whether nodes or initializers were removed, folded or inlined, so that more rules may match.
    pub is_reduced: bool,
}

/// Result of rewriting all graphs once.
#[derive(Default)]
pub struct Rewritten {
    /// Whether a graph was changed.
    pub is_changed: bool,
    /// Whether a subgraph was changed, so that more may be inferred about the node that owns it.
    pub is_within: bool,
    /// Whether a limit of the search was reached.
    pub is_cut: bool,
    /// Whether the node count increased.
    ///
    /// More rules may match the new nodes of a decomposition once their facts are inferred.
    pub is_longer: bool,
}

impl Rewritten {
    /// Returns true if another rewrite may change the model further.
    pub fn is_unsettled(&self) -> bool {
        self.is_within || self.is_cut || self.is_longer
    }
}

impl<'a> Context<'a> {
    /// Creates the state of a run on `source`.
    pub fn new(source: &'a Model, options: &Options, rules: &'a RuleSet) -> Self {
        Context {
            source,
            options: options.clone(),
            rules,
            target: target::target(&source.opsets, options.opset),
            report: Report::of(source),
            record: Record::default(),
            is_repaired: false,
            has_stale_types: None,
            round: None,
        }
    }

    /// Returns true if changes with this code are selected.
    pub fn selects(&self, code: RuleId) -> bool {
        self.options.selection.contains(code.code)
    }

    /// Returns how constants are stored: as nodes if initializers must be inputs (before IR version 4).
    pub fn constants_of(&self, model: &Model) -> Constants {
        let version = target::ir_version(model, &self.target, &self.options);
        if target::are_inputs(version) { Constants::Nodes } else { Constants::Initializers }
    }
}
