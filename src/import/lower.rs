//! Lowering of `aten` nodes to ONNX, by rules of the phase `lower`.
//!
//! The program records the types of all values, so no rule depends on the result of another rule.
//! Therefore, a single pass lowers all nodes.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::advice::Refused;
use super::imported::Imported;
use super::refusal::Reason;
use crate::diag::rule_ids::CONSTANT_RESULT;
use crate::edit::{Change, Constants, Editor, Item, Patch, Site};
use crate::graph::dim::Dim;
use crate::graph::uses::Uses;
use crate::graph::{ElemType, Model, NodeId, ValueId};
use crate::infer::eval::Array;
use crate::infer::{self, Fact, Facts};
use crate::rules::matcher;
use crate::rules::plain::PlainHost;
use crate::rules::plan::{patch, patch_of_empty};
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Direction, Phase, Rule};

/// A node that no rule lowers.
pub struct Left {
    pub node: NodeId,
    /// Whether there are rules for the operator of the node.
    pub has_rule: bool,
    /// The failed condition that keeps a rule from lowering the node, if there is one.
    pub reason: Option<Reason>,
    /// A change of the arguments after which a rule lowers the node.
    pub advice: Option<&'static str>,
}

/// Lowers every live node.
///
/// # Errors
/// Returns the nodes that no rule lowers.
pub fn lower(imported: &mut Imported, rules: &RuleSet) -> Result<(), Vec<Left>> {
    let mut editor = Editor::new(std::mem::take(&mut imported.model));
    // A graph output must be produced by a node, not an initializer.
    editor.constants = Constants::Nodes;
    editor.remove_dead_code();
    let lowered = patches(editor.model(), rules, &imported.traced).map(|patches| editor.apply(patches));
    editor.remove_dead_code();
    imported.model = editor.into_parts().0;
    lowered.map(drop)
}

/// Returns a patch for each node of a domain other than ONNX, or the nodes that no rule lowers.
fn patches(
    model: &Model,
    rules: &RuleSet,
    traced: &FxHashMap<Arc<str>, i64>,
) -> Result<Vec<Patch>, Vec<Left>> {
    let known = by_operator(model, rules);
    // PyTorch recorded the type and shape of every value, outputs included.
    let facts = infer::infer(model, infer::Options::default());
    let facts = model.graphs.iter().fold(facts, |facts, (graph, _)| facts.trusting_outputs(model, graph));
    let uses = Uses::new(model);
    let (mut patches, mut left) = (Vec::new(), Vec::new());
    for (graph, it) in model.graphs.iter() {
        let mut host = PlainHost::new(model, graph, &facts, &uses);
        host.lowers = true;
        for &id in &it.nodes {
            let node = &model.nodes[id];
            if node.domain().is_empty() {
                continue;
            }
            let rules = known.get(&(node.domain().to_owned(), node.op_type.to_string()));
            let needed = node.outputs.iter().flatten().copied().filter(|value| uses.count(*value) > 0);
            // A value without elements becomes a constant, whatever its operator.
            let (empty, made): (Vec<_>, Vec<_>) = needed
                .map(|value| (value, without_elements(&facts[value])))
                .partition(|(_, empty)| empty.is_some());
            let mut found = rules.into_iter().flatten().flat_map(|&(rule, direction)| {
                let matches = matcher::find_at(&host, direction, id).into_iter();
                matches.filter_map(|one| patch(&host, rule, direction, one)).collect::<Vec<_>>()
            });
            // A value without elements but with dynamic sizes becomes an Expand to these sizes.
            let emptied = || {
                let sizes = made.iter().map(|(value, _)| dynamic_without_elements(*value, &facts));
                patch_of_empty(&host, id, &sizes.collect::<Option<Vec<_>>>()?)
            };
            let found = match made.is_empty() {
                true => Some(constants(model, id)),
                false => emptied()
                    .or_else(|| found.find(|patch| made.iter().all(|(value, _)| patch.gives(*value)))),
            };
            let Some(mut patch) = found else {
                let reason = rules.and_then(|rules| Reason::new(&host, rules, id));
                let refused = |rules| {
                    Refused { model, graph, facts: &facts, uses: &uses, rules, node: id, traced }.advice()
                };
                let advice = rules.and_then(|rules| refused(rules));
                left.push(Left { node: id, has_rule: rules.is_some(), reason, advice });
                continue;
            };
            for (value, array) in empty {
                if let Some(array) = array.filter(|_| !patch.gives(value)) {
                    patch.constant(Item::Old(value), &array);
                }
            }
            patches.push(patch);
        }
    }
    if left.is_empty() { Ok(patches) } else { Err(left) }
}

/// Returns a patch that removes a node whose used outputs are all constant.
fn constants(model: &Model, node: NodeId) -> Patch {
    let mut patch = Patch::new(model.nodes[node].graph);
    patch.replaced.push(node);
    patch.changes.push(Change::new(CONSTANT_RESULT, Site::Node(node), "without elements"));
    patch
}

/// Returns an empty array of the value's type if its shape is static and contains a 0.
fn without_elements(fact: &Fact) -> Option<Array> {
    let dims: Option<Vec<i64>> = fact.dims()?.iter().map(|size| size.as_ref()?.as_const()).collect();
    let dims = dims.filter(|dims| dims.contains(&0))?;
    let shape = dims.into_iter().map(usize::try_from).collect::<Result<_, _>>().ok()?;
    Array::zeros(fact.elem()?, shape).ok()
}

/// Returns a value with its element type and sizes if one of the sizes is 0.
fn dynamic_without_elements(value: ValueId, facts: &Facts) -> Option<(ValueId, ElemType, Vec<Dim>)> {
    let fact = &facts[value];
    let dims: Option<Vec<Dim>> = fact.dims()?.iter().cloned().collect();
    let dims = dims.filter(|dims| dims.contains(&Dim::known(0)))?;
    Some((value, fact.elem()?, dims))
}

/// Returns the lowering rules for the operators of a model, by domain and name.
fn by_operator<'r>(
    model: &Model,
    rules: &'r RuleSet,
) -> FxHashMap<(String, String), Vec<(&'r Rule, &'r Direction)>> {
    let operators = model.nodes.iter().map(|(_, node)| node.op_type.clone()).collect();
    let mut known: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for rule in rules.within_reach(operators, &[Phase::Lower], None) {
        for direction in rule.directions() {
            if let Some(root) = direction.pattern.nodes.last() {
                let key = (root.op.domain.to_string(), root.op.name.to_string());
                known.entry(key).or_default().push((rule, direction));
            }
        }
    }
    known
}
