//! Optimizes or converts one graph: builds the e-graph, saturates it, and extracts the result.

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use super::cost::CostModel;
use super::legalize::adapt;
use super::provenance::Provenance;
use super::{Blocker, Chosen, Selection, Target, blockers, choose, plan};
use crate::diag::rule_ids::ADAPTED_FORM;
use crate::edit::{By, Patch, is_unused};
use crate::egraph::{self, EGraph, ENode, NodeRef, canonical};
use crate::graph::uses::Uses;
use crate::graph::{GraphId, Model, NodeId, ValueId};
use crate::infer::Facts;
use crate::rules::rule::{Phase, Rule};

/// Maximum number of adaptation rounds: one call may need several, for its type, axes and indices.
const ADAPTATIONS: usize = 4;

/// Settings for one graph.
pub struct Task<'a> {
    pub target: &'a Target,
    /// Rules of the phase `simplify`; they run first.
    pub simplify: &'a [&'a Rule],
    /// All rules, including those of `simplify`.
    pub all: &'a [&'a Rule],
    /// Cost model; without one, legal original e-nodes are kept even if an alternative is cheaper.
    pub pricing: Option<&'a CostModel>,
    /// Whether changes include their proofs.
    pub explains: bool,
    /// Changes that extraction makes without a rule.
    pub cleanup: Cleanup,
}

/// Changes that extraction makes without a rule.
#[derive(Clone, Copy, Debug)]
pub struct Cleanup {
    /// Whether nodes with constant outputs are replaced by constants.
    pub folds_constants: bool,
    /// Whether equal nodes are merged.
    pub merges_nodes: bool,
    /// Whether unused optional outputs are removed.
    pub drops_outputs: bool,
    /// Whether nodes that are dead in the source graph are removed.
    pub drops_dead_nodes: bool,
}

/// Outcome of optimizing or converting one graph.
pub enum Done {
    /// The graph is kept: it has a cycle, or its replacement needs an `Identity` of an unsupported type.
    Unchanged,
    Planned {
        patch: Box<Patch>,
        report: egraph::Report,
    },
    /// No legal equivalent at the target was found, because of the given nodes.
    Blocked(Vec<Blocker>),
}

/// Plans a patch that replaces a graph with a cheap equivalent that is legal at the target.
pub fn run(model: &Model, graph: GraphId, facts: &Facts, uses: &Uses, task: &Task) -> Done {
    let Ok(egraph::Built { mut egraph, class_of, calls }) =
        egraph::build(model, graph, facts, uses, task.cleanup.merges_nodes)
    else {
        return Done::Unchanged;
    };
    let mut saturation = egraph::Saturation::new(task.cleanup.folds_constants, task.cleanup.merges_nodes);
    let useless =
        |egraph: &EGraph, rule: &Rule, nodes: &[NodeRef]| is_useless(task.target, egraph, rule, nodes);
    saturation.run(&mut egraph, task.simplify, &useless);
    if task.all.len() > task.simplify.len() {
        saturation.run(&mut egraph, task.all, &useless);
    }
    for _ in 0..ADAPTATIONS {
        if task.target.is_source || !adapt(&mut egraph, task.target, &mut saturation.report.steps) {
            break;
        }
        saturation.run(&mut egraph, task.all, &useless);
    }
    let mut report = saturation.report;
    let lies = std::mem::take(&mut egraph.analysis.conflicts);
    let refused = |why| egraph::Refused { code: "facts".to_owned(), name: String::new(), why };
    report.refused.extend(lies.into_iter().map(refused));
    let mut original: FxHashMap<ENode, NodeId> = FxHashMap::default();
    for (node, enode) in &calls {
        original.entry(canonical(&egraph, enode)).or_insert(*node);
    }
    let provenance = Provenance::new(&egraph, &original, &report.steps);
    let dead = match task.cleanup.drops_dead_nodes {
        true => Vec::new(),
        false => unused_outputs(model, graph, uses),
    };
    let mut roots = roots(model, graph, &class_of, task.pricing.is_none());
    roots.extend(dead.iter().filter_map(|value| class_of.get(value).copied()));
    let preferred = preferred(&egraph, &report.steps, task);
    let choice = choose(&egraph, task.target, &original, &preferred, &roots, task.pricing);
    let unselected = unselected(&egraph, &choice, &original, &report.steps, task);
    if roots.iter().any(|&root| !choice.is_possible(egraph.find(root))) {
        let possible = |class: Id| choice.is_possible(class);
        return Done::Blocked(blockers(&egraph, task.target, &possible, &calls));
    }
    let rule = |code: &str| match task.all.iter().find(|rule| *rule.code == *code) {
        Some(rule) => Some(rule.by()),
        None => (code == ADAPTED_FORM.code).then(|| By::from(ADAPTED_FORM)),
    };
    let chosen = Chosen {
        egraph: &egraph,
        choice: &choice,
        original: &original,
        calls: &calls,
        provenance: &provenance,
        class_of: &class_of,
        rule: &rule,
        explains: task.explains,
        dead: &dead,
        drops_outputs: task.cleanup.drops_outputs,
        pricing: task.pricing,
    };
    let planned = plan(model, graph, &chosen);
    for &class in &planned.renamed {
        if let Err(illegal) = task.target.legal_identity(&egraph, class) {
            // The new graph would have an illegal `Identity`; at the same opset, keep the source graph.
            if task.target.is_source {
                return Done::Unchanged;
            }
            let node = egraph[class].data.origin.last().copied();
            return Done::Blocked(node.map(|node| Blocker { node, illegal }).into_iter().collect());
        }
    }
    unselected.into_iter().for_each(|(rule, why)| report.veto(rule, why));
    Done::Planned { patch: Box::new(planned.patch), report }
}

/// Reason why the result of a rule was not selected.
const COSTS_LESS: &str =
    "an equivalent form costs less; results of user rules with `phase simplify` are always selected";

/// Returns the e-nodes that the preferred rules added, and the outputs of their calls.
fn preferred(egraph: &EGraph, steps: &[egraph::Step], task: &Task) -> FxHashSet<ENode> {
    let rules = task.all.iter().filter(|rule| rule.is_preferred());
    let codes: FxHashSet<&str> = rules.map(|rule| &*rule.code).collect();
    let mut preferred = FxHashSet::default();
    for call in steps.iter().filter(|step| codes.contains(&*step.code)).flat_map(|step| &step.added) {
        let call = canonical(egraph, call);
        let outputs = call.as_call().map_or(0, |call| call.outputs);
        if let Some(class) = egraph.lookup(call.clone()) {
            preferred.extend((0..outputs).map(|index| ENode::Output { index, call: [egraph.find(class)] }));
        }
        preferred.insert(call);
    }
    preferred
}

/// Returns the user's rules that match nodes of the graph but have no selected result, and the reasons.
fn unselected<'r>(
    egraph: &EGraph,
    choice: &Selection,
    original: &FxHashMap<ENode, NodeId>,
    steps: &[egraph::Step],
    task: &Task<'r>,
) -> Vec<(&'r Rule, String)> {
    let mut unselected = Vec::new();
    for &rule in task.all.iter().filter(|rule| !rule.is_built_in) {
        let matches_graph = |step: &&egraph::Step| {
            let is_original = |enode: &ENode| original.contains_key(&canonical(egraph, enode));
            step.code == rule.code && step.matched.iter().all(is_original)
        };
        let steps: Vec<&egraph::Step> = steps.iter().filter(matches_graph).collect();
        let is_selected = |enode: &ENode| {
            let enode = canonical(egraph, enode);
            egraph.lookup(enode.clone()).is_some_and(|class| choice.form(egraph, class) == Some(&enode))
        };
        let has_effect = |step: &&egraph::Step| step.added.is_empty() || step.added.iter().any(is_selected);
        if steps.is_empty() || steps.iter().any(has_effect) {
            continue;
        }
        let calls = steps.iter().flat_map(|step| &step.added).filter_map(ENode::as_call);
        let mut illegal = calls.filter_map(|call| {
            let why = task.target.legal(egraph, call).err()?;
            Some(format!("`{}` {why}", egraph.analysis.tables.op(call.op).name))
        });
        let why = illegal.next().unwrap_or_else(|| COSTS_LESS.to_owned());
        unselected.push((rule, why));
    }
    unselected
}

/// Returns true if a rule would only convert nodes that are legal already.
fn is_useless(target: &Target, egraph: &EGraph, rule: &Rule, nodes: &[NodeRef]) -> bool {
    let call = |node: &NodeRef| egraph[node.class].nodes.get(node.index as usize)?.as_call();
    rule.phase == Phase::Convert
        && nodes.iter().all(|node| call(node).is_some_and(|call| target.legal(egraph, call).is_ok()))
}

/// Returns the outputs of all dead nodes in a graph: nodes without any used output.
fn unused_outputs(model: &Model, graph: GraphId, uses: &Uses) -> Vec<ValueId> {
    let dead = model.graphs[graph].nodes.iter().filter(|&&node| is_unused(model, uses, node));
    dead.flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied()).collect()
}

/// Returns the classes to extract: graph outputs and, if `keep` is set, the outputs of all nodes.
fn roots(model: &Model, graph: GraphId, class_of: &FxHashMap<ValueId, Id>, keep: bool) -> Vec<Id> {
    let scope = &model.graphs[graph];
    let outputs = scope.outputs.iter().map(|port| port.value);
    let made = scope.nodes.iter().flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied());
    let made = made.filter(|_| keep);
    outputs.chain(made).filter_map(|value| class_of.get(&value).copied()).collect()
}
