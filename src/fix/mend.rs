//! Mends faults on the plain graph: what a rule of the phase `fix` matches is replaced.
//!
//! This is no e-graph's work: a mended graph is not equal to the faulty one, and the faulty form must
//! not be chosen again.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::options::Options;
use super::report::{self, Report};
use crate::extract::{Names, RULE_KEY};
use crate::graph::uses::Uses;
use crate::graph::{
    AttrKind, AttrValue, Attribute, Def, GraphId, Metadata, Model, Node, NodeId, Value, ValueId,
};
use crate::infer::{self, Facts};
use crate::rules::datum::Datum;
use crate::rules::matcher::{self, Binding};
use crate::rules::plain::PlainHost;
use crate::rules::plan::{Plan, PlannedNode, plan, schema_of};
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Phase, Rule, Safety, VarId};

/// Rounds of mending: a fix may bring another fault to light, node by node along a chain, but must not go
/// on for ever.
const ROUNDS: usize = 32;

/// Applies the selected fixes until none fits; whether any did, and what is known of the model as it is then,
/// where that was asked.
pub fn mend(
    model: &mut Model,
    options: &Options,
    rules: &RuleSet,
    report: &mut Report,
) -> (bool, Option<Facts>) {
    let wanted = |rule: &&Rule| {
        !rule.is_lint_only()
            && rule.is_selected(&options.selection)
            && (rule.safety != Safety::Unsafe || options.unsafe_fixes)
    };
    let within_reach = rules.within_reach(operators(model), &[Phase::Fix]);
    let fixes: Vec<&Rule> = within_reach.into_iter().filter(wanted).collect();
    let mut changed = false;
    if fixes.is_empty() {
        return (false, None);
    }
    for _ in 0..ROUNDS {
        let facts = infer::infer(model, infer::Options::default());
        if !round(model, &facts, &fixes, report) {
            return (changed, Some(facts));
        }
        changed = true;
    }
    report.limits.push(format!("mending stopped after {ROUNDS} rounds"));
    (changed, None)
}

/// The operators of a model, and those that getting around missing types takes.
pub(super) fn operators(model: &Model) -> FxHashSet<Arc<str>> {
    let own = model.nodes.iter().map(|(_, node)| node.op_type.clone());
    own.chain([Arc::from("Cast")]).collect()
}

/// A rewrite that was found, with the rule it is by and the graph it is in.
type Found<'r> = (&'r Rule, GraphId, Plan<'r, ValueId, NodeId>);

fn round(model: &mut Model, facts: &Facts, fixes: &[&Rule], report: &mut Report) -> bool {
    let found = search(model, facts, fixes);
    if found.is_empty() {
        return false;
    }
    let mut names = Names::of(model);
    let mut gone = FxHashSet::default();
    let mut changed = false;
    for (rule, graph, plan) in &found {
        // Two fixes of one place: the second has its turn in the next round, if it still fits.
        if plan.found.nodes.iter().any(|node| gone.contains(node)) {
            continue;
        }
        if let Some(replaced) = replace(model, *graph, rule, plan, &mut names) {
            report::mended(report, model, rule, replaced);
            gone.extend(plan.found.nodes.iter().copied());
            changed = true;
        }
    }
    sweep(model, &gone);
    changed
}

fn search<'r>(model: &Model, facts: &Facts, fixes: &[&'r Rule]) -> Vec<Found<'r>> {
    let uses = Uses::new(model);
    let mut found = Vec::new();
    for graph in model.graphs.ids() {
        let host = PlainHost::new(model, graph, facts, &uses);
        for rule in fixes {
            for direction in rule.directions() {
                let matches = matcher::find(&host, direction).matches;
                found.extend(
                    matches.into_iter().filter_map(|one| Some((*rule, graph, plan(&host, direction, one)?))),
                );
            }
        }
    }
    found
}

/// Puts the new nodes where the root of the match was, and gives them its outputs; the root, or `None`
/// where the rewrite cannot be made.
fn replace(
    model: &mut Model,
    graph: GraphId,
    rule: &Rule,
    plan: &Plan<ValueId, NodeId>,
    names: &mut Names,
) -> Option<NodeId> {
    let root = *plan.found.nodes.last()?;
    let mut made = Made { names, rule, values: FxHashMap::default(), root };
    for &var in &plan.rewrite.outputs {
        made.values.insert(var, plan.found.one(var)?);
    }
    let mut nodes = Vec::with_capacity(plan.nodes.len());
    for planned in &plan.nodes {
        nodes.push(made.node(model, graph, plan, planned)?);
    }
    let mut redirected = FxHashMap::default();
    for alias in &plan.rewrite.aliases {
        redirected.insert(plan.found.one(alias.target)?, made.value(plan, alias.source)?);
    }
    retire(model, plan);
    for (index, node) in nodes.iter().enumerate() {
        for (output, value) in model.nodes[*node].outputs.clone().into_iter().enumerate() {
            if let Some(value) = value {
                model.values[value].def = Def::Node { node: nodes[index], output: output as u32 };
            }
        }
    }
    redirect(model, graph, &redirected);
    let at = model.graphs[graph].nodes.iter().position(|&node| node == root)?;
    model.graphs[graph].nodes.splice(at..at, nodes);
    Some(root)
}

struct Made<'a> {
    names: &'a mut Names,
    rule: &'a Rule,
    values: FxHashMap<VarId, ValueId>,
    root: NodeId,
}

impl Made<'_> {
    fn value(&self, plan: &Plan<ValueId, NodeId>, var: VarId) -> Option<ValueId> {
        self.values.get(&var).copied().or_else(|| plan.found.one(var))
    }

    fn node(
        &mut self,
        model: &mut Model,
        graph: GraphId,
        plan: &Plan<ValueId, NodeId>,
        planned: &PlannedNode,
    ) -> Option<NodeId> {
        let new = planned.node;
        let mut inputs = Vec::new();
        for input in &new.inputs {
            match input.var() {
                None => inputs.push(None),
                Some(var) => match (self.values.get(&var), plan.found.value(var)) {
                    (Some(&value), _) => inputs.push(Some(value)),
                    (None, Some(Binding::One(value))) => inputs.push(Some(*value)),
                    (None, Some(Binding::Many(values))) => inputs.extend(values.iter().copied().map(Some)),
                    (None, Some(Binding::Absent)) => inputs.push(None),
                    (None, None) => return None,
                },
            }
        }
        let len = inputs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        inputs.truncate(len);
        let schema = schema_of(new, model.opset(graph, &new.op.domain))?;
        let mut attrs = Vec::with_capacity(planned.attrs.len());
        for (name, datum) in &planned.attrs {
            attrs.push(Attribute::new(name, attr_value(model, schema.attr(name)?.kind, datum)?));
        }
        let outputs = new.outputs.iter().map(|var| var.map(|var| self.output(model, graph, var))).collect();
        let origin = &model.nodes[self.root];
        let base = origin.name.clone().filter(|name| !name.is_empty());
        let node = Node {
            graph,
            domain: (!new.op.domain.is_empty()).then(|| new.op.domain.clone()),
            op_type: new.op.name.clone(),
            overload: None,
            name: base.map(|base| self.names.fresh(&base, Some(&self.rule.code))),
            inputs,
            outputs,
            attrs,
            doc: origin.doc.clone(),
            metadata: self.metadata(&origin.metadata),
            device_configurations: Vec::new(),
        };
        Some(model.nodes.push(node))
    }

    fn metadata(&self, inherited: &Metadata) -> Metadata {
        let mut metadata = inherited.clone();
        metadata.retain(|(key, _)| &**key != RULE_KEY);
        metadata.push((Arc::from(RULE_KEY), self.rule.code.clone()));
        metadata
    }

    /// The value of an output: one of the match, or a new one.
    fn output(&mut self, model: &mut Model, graph: GraphId, var: VarId) -> ValueId {
        if let Some(&value) = self.values.get(&var) {
            return value;
        }
        let base = model.nodes[self.root].outputs.iter().flatten().next();
        let base = base.map_or(Arc::from("value"), |&value| model.values[value].name.clone());
        let name = self.names.fresh(&base, Some(&self.rule.code));
        let value = model.values.push(Value { name, graph, def: Def::Missing, initial: None });
        self.values.insert(var, value);
        value
    }
}

fn attr_value(model: &mut Model, kind: AttrKind, datum: &Datum) -> Option<AttrValue> {
    match (kind, datum) {
        (AttrKind::Tensor, Datum::Tensor(tensor)) => {
            Some(AttrValue::Tensor(model.tensors.push(crate::graph::Tensor::clone(tensor))))
        }
        _ => datum.to_attr(kind),
    }
}

/// Takes from the matched nodes the outputs that the rewrite makes now.
fn retire(model: &mut Model, plan: &Plan<ValueId, NodeId>) {
    let taken: FxHashSet<ValueId> =
        plan.rewrite.outputs.iter().filter_map(|&var| plan.found.one(var)).collect();
    for &node in &plan.found.nodes {
        for output in &mut model.nodes[node].outputs {
            if output.is_some_and(|value| taken.contains(&value)) {
                *output = None;
            }
        }
    }
}

/// Makes every user of a value use another one.
fn redirect(model: &mut Model, graph: GraphId, to: &FxHashMap<ValueId, ValueId>) {
    if to.is_empty() {
        return;
    }
    for scope in crate::graph::scopes::nested(model, graph) {
        for node in model.graphs[scope].nodes.clone() {
            for input in model.nodes[node].inputs.iter_mut().flatten() {
                *input = to.get(input).copied().unwrap_or(*input);
            }
        }
        let outputs = &mut model.graphs[scope].outputs;
        outputs.iter_mut().for_each(|port| port.value = to.get(&port.value).copied().unwrap_or(port.value));
    }
}

/// Removes those of the matched nodes that nothing needs any more, users before what they use.
fn sweep(model: &mut Model, matched: &FxHashSet<NodeId>) {
    let mut uses: FxHashMap<ValueId, usize> = FxHashMap::default();
    let counted = Uses::new(model);
    for &node in matched {
        for &value in model.nodes[node].inputs.iter().chain(&model.nodes[node].outputs).flatten() {
            uses.insert(value, counted.count(value));
        }
    }
    let mut dead = FxHashSet::default();
    let mut nodes: Vec<NodeId> = matched.iter().copied().collect();
    nodes.sort_unstable();
    for node in nodes.into_iter().rev() {
        let node_outputs = model.nodes[node].outputs.iter().flatten();
        if node_outputs.into_iter().all(|output| uses.get(output) == Some(&0)) {
            dead.insert(node);
            for input in model.nodes[node].inputs.iter().flatten() {
                uses.entry(*input).and_modify(|count| *count -= 1);
            }
        }
    }
    for (_, graph) in model.graphs.iter_mut() {
        graph.nodes.retain(|node| !dead.contains(node));
    }
}
