//! Builds the change report for a planned graph.
//! Each removed node is attributed to the rules that replaced it, if known, or else to a pass.

use std::collections::BTreeSet;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxHashMap, FxHashSet};

use super::chosen::Chosen;
use super::cost_delta::CostDelta;
use super::proof::ProofWriter;
use crate::diag::RuleId;
use crate::diag::rule_ids::{ADAPTED_FORM, CONSTANT_RESULT, DEAD_NODE, REPEATED_NODE, UNUSED_OUTPUT};
use crate::edit::{By, Change, Kind, Patch, PatchOp, REMOVED, Site};
use crate::egraph::ENode;
use crate::graph::{Model, NodeId};

/// Saturation steps that justify the changes, by the last source node that a change replaces.
pub(super) type Owed = FxHashMap<NodeId, BTreeSet<usize>>;

/// Replacement of a source node by new nodes.
#[derive(Default)]
struct Made<'p> {
    rules: IndexSet<&'p str>,
    ops: IndexSet<&'p str>,
    /// Number of new nodes.
    count: usize,
    /// Further removed source nodes that the new nodes replace.
    with: IndexSet<NodeId>,
}

/// Builds the changes of a patch. Every removed node belongs to a change.
pub(super) fn account(
    model: &Model,
    chosen: &Chosen,
    patch: &Patch,
    mut ledger: CostDelta,
    mut owed: Owed,
) -> Vec<Change> {
    let gone: FxHashSet<NodeId> = patch.replaced.iter().copied().collect();
    let mut made: IndexMap<NodeId, Made> = IndexMap::new();
    for node in &patch.nodes {
        let PatchOp::New { op_type, .. } = &node.form else { continue };
        let Some((&last, rest)) = node.origin.split_last() else { continue };
        let entry = made.entry(last).or_default();
        entry.rules.extend(node.rule.as_deref());
        entry.ops.insert(op_type);
        entry.count += 1;
        entry.with.extend(rest.iter().copied().filter(|node| gone.contains(node)));
    }
    ledger.note_gone(chosen, &gone);
    let mut told: FxHashSet<NodeId> = FxHashSet::default();
    let mut changes = Vec::new();
    for (&at, made) in &made {
        told.insert(at);
        told.extend(&made.with);
        let what = summary(&model.nodes[at].op_name(), &made.ops);
        let with: Vec<NodeId> = made.with.iter().copied().collect();
        let (removed, added) = (1 + with.len(), made.count);
        // List the latest rule first.
        let owing =
            owed.get(&at).into_iter().flatten().rev().map(|&step| &*chosen.provenance.step(step).code);
        let codes = made.rules.iter().copied().chain(owing);
        let change = by_rules(chosen, codes, ADAPTED_FORM, at, with, what);
        changes.push(Change { kind: change.by.kind.of_replacement(removed, added), ..change });
    }
    let mut equated: FxHashMap<NodeId, IndexSet<NodeId>> = FxHashMap::default();
    for (at, step) in chosen.provenance.equating() {
        let Some((&last, rest)) = step.equated.split_last() else { continue };
        let with = equated.entry(last).or_default();
        with.extend(rest.iter().copied().filter(|node| gone.contains(node)));
        if !made.contains_key(&last) {
            owed.entry(last).or_default().insert(at);
        }
    }
    // Go from outputs to inputs, so that nodes replaced together with their user are reported with this user.
    for &node in patch.replaced.iter().rev() {
        if !told.insert(node) {
            continue;
        }
        let (pass, what) = became(chosen, model, node);
        if pass == DEAD_NODE {
            owed.remove(&node);
        }
        let with = equated.remove(&node).filter(|_| pass != DEAD_NODE).unwrap_or_default();
        let with: Vec<NodeId> = with.into_iter().filter(|&node| told.insert(node)).collect();
        let codes = owed.get(&node).into_iter().flatten().map(|&step| &*chosen.provenance.step(step).code);
        let change = by_rules(chosen, codes, pass, node, with, what.to_owned());
        let kind = match Kind::from(pass) {
            // A node merged by a rule was redundant; a node merged by the pass is a common subexpression.
            Kind::Merged if change.by != By::from(pass) => Kind::Removed,
            kind => kind,
        };
        changes.push(Change { kind, ..change });
    }
    if chosen.explains {
        let mut speller = ProofWriter::new(model, patch.graph, chosen);
        for change in &mut changes {
            let Site::Node(at) = change.at else { continue };
            change.proof = owed.get(&at).map_or_else(Vec::new, |steps| speller.proof(steps));
        }
    }
    changes.extend(lost_outputs(model, patch));
    changes.iter_mut().for_each(|change| change.saved = ledger.saved(change));
    if changes.is_empty() && !patch.is_empty() {
        // The patch only redirects inputs of nodes to equal values.
        changes.push(Change::new(REPEATED_NODE, Site::Graph(patch.graph), "equal values merged"));
    }
    changes
}

/// Creates a change attributed to rules, or to a pass if no rule is known.
fn by_rules<'c>(
    chosen: &Chosen,
    codes: impl Iterator<Item = &'c str>,
    otherwise: RuleId,
    at: NodeId,
    with: Vec<NodeId>,
    what: String,
) -> Change {
    let codes: IndexSet<&str> = codes.collect();
    let mut rules = codes.into_iter().filter_map(|code| (chosen.rule)(code));
    let by = rules.next().unwrap_or_else(|| By::from(otherwise));
    Change { also: rules.collect(), with, ..Change::new(by, Site::Node(at), what) }
}

/// Returns the pass and the description for a removed node without new nodes in its place.
fn became(chosen: &Chosen, model: &Model, node: NodeId) -> (RuleId, &'static str) {
    let outputs = model.nodes[node].outputs.iter().flatten();
    let mut forms = outputs.filter_map(|output| {
        let class = chosen.egraph.find(*chosen.class_of.get(output)?);
        chosen.choice.form(chosen.egraph, class)
    });
    match forms.next() {
        Some(ENode::Const(_)) => (CONSTANT_RESULT, "constant-folded"),
        Some(_) => (REPEATED_NODE, "merged with an equal node"),
        None => (DEAD_NODE, REMOVED),
    }
}

/// Reports the removed outputs of kept nodes.
fn lost_outputs<'a>(model: &'a Model, patch: &'a Patch) -> impl Iterator<Item = Change> + 'a {
    patch.nodes.iter().filter_map(|new| {
        let PatchOp::Kept(node) = new.form else { return None };
        let before = &model.nodes[node].outputs;
        let is_lost = |(at, output): (usize, &Option<_>)| {
            output.is_some() && new.outputs.get(at).copied().flatten().is_none()
        };
        let is_any = before.iter().enumerate().any(is_lost);
        let what = format!("removed unused output of `{}`", model.nodes[node].op_name());
        is_any.then(|| Change::new(UNUSED_OUTPUT, Site::Node(node), what))
    })
}

/// Maximum number of kinds of operators that the description of a replacement lists.
const MAX_NAMED: usize = 3;

/// Describes the replacement of a node with operator `from`.
fn summary(from: &str, to: &IndexSet<&str>) -> String {
    match to.len() {
        1 if to[0] == from => format!("`{from}` rewritten"),
        0..=MAX_NAMED => {
            let named: Vec<String> = to.iter().map(|op| format!("`{op}`")).collect();
            format!("`{from}` replaced with {}", named.join(", "))
        }
        more => format!("`{from}` replaced with {more} kinds of operators"),
    }
}
