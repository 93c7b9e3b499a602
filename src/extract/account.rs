//! What is said of a graph that was planned: for each form that goes, the rules that took its place, as far as they are
//! known; else what else became of it.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ledger::Ledger;
use super::plan::Chosen;
use crate::diag::RuleId;
use crate::diag::known::{ADAPTED_FORM, CONSTANT_RESULT, DEAD_NODE, REPEATED_NODE, UNUSED_OUTPUT};
use crate::edit::{By, Change, Form, LEFT_OUT, Patch, Site};
use crate::egraph::ENode;
use crate::graph::{Model, NodeId};

/// What stands in the place of a node.
#[derive(Default)]
struct Made<'p> {
    rules: IndexSet<&'p str>,
    ops: IndexSet<&'p str>,
    /// The other nodes that it stands for.
    with: IndexSet<NodeId>,
}

/// What is written down of a patch: each node that goes, and each that comes, is in one change.
pub(super) fn account(model: &Model, chosen: &Chosen, patch: &Patch, mut ledger: Ledger) -> Vec<Change> {
    let gone: FxHashSet<NodeId> = patch.replaced.iter().copied().collect();
    let mut made: IndexMap<NodeId, Made> = IndexMap::new();
    for node in &patch.nodes {
        let Form::New { op_type, .. } = &node.form else { continue };
        let Some((&last, rest)) = node.origin.split_last() else { continue };
        let entry = made.entry(last).or_default();
        entry.rules.extend(node.rule.as_deref());
        entry.ops.insert(op_type);
        entry.with.extend(rest.iter().copied().filter(|node| gone.contains(node)));
    }
    ledger.note_gone(chosen, &gone);
    let mut told: FxHashSet<NodeId> = FxHashSet::default();
    let mut changes = Vec::new();
    for (&at, made) in &made {
        told.insert(at);
        told.extend(&made.with);
        let what = summary(&model.nodes[at].op_name(), &made.ops);
        let with = made.with.iter().copied().collect();
        changes.push(by_rules(chosen, made.rules.iter().copied(), ADAPTED_FORM, at, with, what));
    }
    let mut equated: FxHashMap<NodeId, (IndexSet<&str>, IndexSet<NodeId>)> = FxHashMap::default();
    for one in chosen.equated {
        let Some((&last, rest)) = one.nodes.split_last() else { continue };
        let (codes, with) = equated.entry(last).or_default();
        codes.insert(&one.code);
        with.extend(rest.iter().copied().filter(|node| gone.contains(node)));
    }
    // From the outputs up: what a rule took along with a node is told of with it.
    for &node in patch.replaced.iter().rev() {
        if !told.insert(node) {
            continue;
        }
        let (pass, what) = became(chosen, model, node);
        match equated.get(&node).filter(|_| pass != DEAD_NODE) {
            Some((codes, with)) => {
                let with: Vec<NodeId> = with.iter().copied().filter(|&node| told.insert(node)).collect();
                changes.push(by_rules(chosen, codes.iter().copied(), pass, node, with, what.to_owned()));
            }
            None => changes.push(Change::new(pass, Site::Node(node), what)),
        }
    }
    changes.extend(lost_outputs(model, patch));
    changes.iter_mut().for_each(|change| change.saved = ledger.saved(change));
    if changes.is_empty() && !patch.is_empty() {
        // Inputs that are others now: of values that are equal.
        changes.push(Change::new(REPEATED_NODE, Site::Graph(patch.graph), "equal values read from one"));
    }
    changes
}

/// A change by rules, or by a pass where none is known.
fn by_rules<'c>(
    chosen: &Chosen,
    codes: impl Iterator<Item = &'c str>,
    otherwise: RuleId,
    at: NodeId,
    with: Vec<NodeId>,
    what: String,
) -> Change {
    let mut rules = codes.filter_map(|code| (chosen.rule)(code));
    let by = rules.next().unwrap_or_else(|| By::from(otherwise));
    Change { also: rules.collect(), with, ..Change::new(by, Site::Node(at), what) }
}

/// What became of a node that goes and that no rule made anything of.
fn became(chosen: &Chosen, model: &Model, node: NodeId) -> (RuleId, &'static str) {
    let outputs = model.nodes[node].outputs.iter().flatten();
    let mut forms = outputs.filter_map(|output| {
        let class = chosen.egraph.find(*chosen.class_of.get(output)?);
        chosen.choice.form(chosen.egraph, class)
    });
    match forms.next() {
        Some(ENode::Const(_)) => (CONSTANT_RESULT, "computed beforehand"),
        Some(_) => (REPEATED_NODE, "taken from what is equal to it"),
        None => (DEAD_NODE, LEFT_OUT),
    }
}

/// Outputs that nodes that stay do not give any more.
fn lost_outputs<'a>(model: &'a Model, patch: &'a Patch) -> impl Iterator<Item = Change> + 'a {
    patch.nodes.iter().filter_map(|new| {
        let Form::Kept(node) = new.form else { return None };
        let before = &model.nodes[node].outputs;
        let is_lost = |(at, output): (usize, &Option<_>)| {
            output.is_some() && new.outputs.get(at).copied().flatten().is_none()
        };
        let is_any = before.iter().enumerate().any(is_lost);
        let what = format!("output of `{}` left out: nothing needs it", model.nodes[node].op_name());
        is_any.then(|| Change::new(UNUSED_OUTPUT, Site::Node(node), what))
    })
}

/// What became of a node of the operator `from`.
fn summary(from: &str, to: &IndexSet<&str>) -> String {
    match to.len() {
        1 if to[0] == from => format!("`{from}` in another form"),
        1 => format!("`{from}` as `{}`", to[0]),
        _ => format!("`{from}` written out"),
    }
}
