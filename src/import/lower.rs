//! Says each node of a program in ONNX, by the rules of the phase `lower`.
//!
//! The types of all values are known from the program, so that what one rule makes is of no account to the others: each
//! node is looked at once.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::Imported;
use crate::edit::Names;
use crate::graph::uses::Uses;
use crate::graph::{
    AttrValue, Attribute, Def, Initial, Model, Node, NodeId, Tensor, TensorId, Value, ValueId,
};
use crate::infer::{self, Fact};
use crate::rules::matcher;
use crate::rules::plain::PlainHost;
use crate::rules::plan::{self, Item, Plan, plan};
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Direction, Phase, Rule};

/// A node that no rule has lowered.
pub struct Left {
    pub node: NodeId,
    /// Whether there are rules about its operator.
    pub has_rule: bool,
}

type Found<'r> = (&'r Rule, Plan<ValueId, NodeId>);

/// Lowers every node that something needs.
///
/// # Errors
/// What is left.
pub fn lower(imported: &mut Imported, rules: &RuleSet) -> Result<(), Vec<Left>> {
    let model = &mut imported.model;
    sweep(model);
    let nodes = model.graphs[model.main].nodes.clone();
    let mut left = Vec::new();
    let mut found: FxHashMap<NodeId, Found> = FxHashMap::default();
    let known = by_operator(model, rules);
    let facts = infer::infer(model, infer::Options::default());
    let uses = Uses::new(model);
    let host = PlainHost::new(model, model.main, &facts, &uses);
    let mut nothing: FxHashMap<ValueId, Tensor> = FxHashMap::default();
    for &id in nodes.iter().filter(|&&id| !model.nodes[id].domain().is_empty()) {
        let node = &model.nodes[id];
        let empty = node
            .outputs
            .iter()
            .flatten()
            .filter_map(|&value| Some((value, without_elements(&facts[value])?)));
        nothing.extend(empty);
        if node.outputs.iter().flatten().all(|value| uses.count(*value) == 0 || nothing.contains_key(value)) {
            continue;
        }
        let rules = known.get(&(node.domain().to_owned(), node.op_type.to_string()));
        let mut plans = rules.into_iter().flatten().flat_map(|&(rule, direction)| {
            let matches = matcher::find_at(&host, direction, id).into_iter();
            matches
                .filter_map(|one| plan(&host, direction, one).ok())
                .map(move |plan| (rule, plan))
                .collect::<Vec<_>>()
        });
        let whole = plans.find(|(_, plan)| {
            let made = |value: &ValueId| plan.outputs.iter().any(|(old, _)| old == value);
            node.outputs
                .iter()
                .flatten()
                .all(|value| uses.count(*value) == 0 || nothing.contains_key(value) || made(value))
        });
        match whole {
            Some(whole) => drop(found.insert(id, whole)),
            None => left.push(Left { node: id, has_rule: rules.is_some() }),
        }
    }
    if !left.is_empty() {
        return Err(left);
    }
    let nodes = empty(model, nodes, nothing);
    replace(model, &nodes, &found);
    sweep(model);
    Ok(())
}

/// The tensor that a value is for certain, because it has no elements.
fn without_elements(fact: &Fact) -> Option<Tensor> {
    let dims: Option<Vec<i64>> = fact.dims()?.iter().map(|size| size.as_ref()?.as_const()).collect();
    let dims = dims.filter(|dims| dims.contains(&0))?;
    Some(Tensor::from_raw(fact.elem()?, dims, Vec::new()))
}

/// Makes constants of what has no elements, whatever would make it; the nodes with those.
fn empty(model: &mut Model, nodes: Vec<NodeId>, nothing: FxHashMap<ValueId, Tensor>) -> Vec<NodeId> {
    let mut all = Vec::with_capacity(nodes.len());
    for id in nodes {
        let outputs = model.nodes[id].outputs.clone();
        for value in outputs.into_iter().flatten() {
            let Some(tensor) = nothing.get(&value) else { continue };
            let tensor = model.tensors.push(tensor.clone());
            let attrs = vec![Attribute::new("value", AttrValue::Tensor(tensor))];
            let origin = model.nodes[id].clone();
            let made = Node {
                domain: None,
                op_type: Arc::from("Constant"),
                name: Some(model.values[value].name.clone()),
                inputs: Vec::new(),
                outputs: vec![Some(value)],
                attrs,
                ..origin
            };
            all.push(model.nodes.push(made));
            for output in &mut model.nodes[id].outputs {
                *output = output.filter(|output| *output != value);
            }
        }
        if model.nodes[id].outputs.iter().any(Option::is_some) {
            all.push(id);
        }
    }
    all
}

/// The rules about the operators of a model, by domain and name.
fn by_operator<'r>(
    model: &Model,
    rules: &'r RuleSet,
) -> FxHashMap<(String, String), Vec<(&'r Rule, &'r Direction)>> {
    let operators = model.nodes.iter().map(|(_, node)| node.op_type.clone()).collect();
    let mut known: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for rule in rules.within_reach(operators, &[Phase::Lower]) {
        for direction in rule.directions() {
            if let Some(root) = direction.pattern.nodes.last() {
                let key = (root.op.domain.to_string(), root.op.name.to_string());
                known.entry(key).or_default().push((rule, direction));
            }
        }
    }
    known
}

/// Takes out the nodes that no output needs.
fn sweep(model: &mut Model) {
    let main = model.main;
    let mut needed: FxHashSet<ValueId> = model.graphs[main].outputs.iter().map(|port| port.value).collect();
    let mut kept = Vec::new();
    for &id in model.graphs[main].nodes.iter().rev() {
        let node = &model.nodes[id];
        if node.outputs.iter().flatten().any(|value| needed.contains(value)) {
            needed.extend(node.inputs.iter().flatten());
            kept.push(id);
        }
    }
    kept.reverse();
    let graph = &mut model.graphs[main];
    graph.nodes = kept;
    graph.initializers.retain(|value| needed.contains(value));
    graph.value_info.retain(|port| needed.contains(&port.value));
}

/// Puts what was planned in the place of each node.
fn replace(model: &mut Model, nodes: &[NodeId], found: &FxHashMap<NodeId, Found>) {
    let main = model.main;
    let mut names = Names::of(model);
    let returned: FxHashSet<ValueId> = model.graphs[main].outputs.iter().map(|port| port.value).collect();
    let mut same: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let mut kept = Vec::with_capacity(nodes.len());
    for &id in nodes {
        let Some((rule, plan)) = found.get(&id) else {
            kept.push(id);
            continue;
        };
        let mut making = Making {
            model,
            names: &mut names,
            rule,
            root: id,
            values: vec![None; plan.values.len()],
            nodes: Vec::new(),
        };
        let outputs = making.model.nodes[id].outputs.clone();
        for &(old, new) in plan.outputs.iter().filter(|(old, _)| outputs.contains(&Some(*old))) {
            match new {
                Item::New(new) if making.values[new.0].is_none() => making.values[new.0] = Some(old),
                new => {
                    let value = making.item(new);
                    if returned.contains(&old) {
                        making.add(("", "Identity"), vec![Some(value)], vec![Some(old)], Vec::new());
                    } else {
                        same.insert(old, value);
                    }
                }
            }
        }
        let late = std::mem::take(&mut making.nodes);
        making.plan(plan);
        kept.append(&mut making.nodes);
        kept.extend(late);
    }
    for &id in &kept {
        for input in model.nodes[id].inputs.iter_mut().flatten() {
            while let Some(&other) = same.get(input) {
                *input = other;
            }
        }
        for (output, value) in model.nodes[id].outputs.clone().into_iter().enumerate() {
            if let Some(value) = value {
                model.values[value].def = Def::Node { node: id, output: output as u32 };
            }
        }
    }
    model.graphs[main].nodes = kept;
}

/// Adds the nodes of a plan.
struct Making<'a> {
    model: &'a mut Model,
    names: &'a mut Names,
    rule: &'a Rule,
    root: NodeId,
    /// The value of the graph for each value of the plan, as far as it has one.
    values: Vec<Option<ValueId>>,
    nodes: Vec<NodeId>,
}

impl Making<'_> {
    fn plan(&mut self, plan: &Plan<ValueId, NodeId>) {
        for (index, made) in plan.values.iter().enumerate() {
            if let plan::Made::Constant(array) = made {
                let tensor = self.model.tensors.push(infer::tensor_of(array));
                self.constant(index, tensor);
            }
        }
        let tensors: Vec<_> =
            plan.tensors.iter().map(|tensor| self.model.tensors.push(tensor.clone())).collect();
        let mut outputs: Vec<Vec<Option<ValueId>>> =
            plan.nodes.iter().map(|node| vec![None; node.outputs.len()]).collect();
        for (index, made) in plan.values.iter().enumerate() {
            if let plan::Made::Output { node, index: output } = made {
                outputs[*node][*output] = Some(self.item(Item::New(plan::NewId(index))));
            }
        }
        for (planned, outputs) in plan.nodes.iter().zip(outputs) {
            let inputs = planned.inputs.iter().map(|input| input.map(|input| self.item(input))).collect();
            let op = (planned.schema.domain, planned.schema.name);
            self.add(op, inputs, outputs, planned.attrs_with(&tensors));
        }
    }

    /// A constant as an initializer, or, where it is an output, as a node.
    fn constant(&mut self, index: usize, tensor: TensorId) {
        match self.values[index] {
            Some(value) if matches!(self.model.values[value].def, Def::Node { .. }) => {
                let attrs = vec![Attribute::new("value", AttrValue::Tensor(tensor))];
                self.add(("", "Constant"), Vec::new(), vec![Some(value)], attrs);
            }
            _ => {
                let value = self.item(Item::New(plan::NewId(index)));
                self.model.values[value].def = Def::Initializer;
                self.model.values[value].initial = Some(Initial::Dense(tensor));
                let main = self.model.main;
                self.model.graphs[main].initializers.push(value);
            }
        }
    }

    fn item(&mut self, item: Item<ValueId>) -> ValueId {
        let index = match item {
            Item::Old(value) => return value,
            Item::New(id) => id.0,
        };
        if let Some(value) = self.values[index] {
            return value;
        }
        let base = self.model.nodes[self.root].outputs.iter().flatten().next();
        let base = base.map_or(Arc::from("value"), |&value| self.model.values[value].name.clone());
        let name = self.names.fresh(&base, Some(&self.rule.code));
        let graph = self.model.main;
        let value = self.model.values.push(Value { name, graph, def: Def::Missing, initial: None });
        self.values[index] = Some(value);
        value
    }

    fn add(
        &mut self,
        (domain, op): (&str, &str),
        inputs: Vec<Option<ValueId>>,
        outputs: Vec<Option<ValueId>>,
        attrs: Vec<Attribute>,
    ) {
        let origin = &self.model.nodes[self.root];
        let (metadata, doc) = (origin.metadata.clone(), origin.doc.clone());
        let base = origin.name.clone().unwrap_or_else(|| Arc::from(op));
        let node = Node {
            graph: self.model.main,
            domain: (!domain.is_empty()).then(|| Arc::from(domain)),
            op_type: Arc::from(op),
            overload: None,
            name: Some(self.names.fresh(&base, Some(&self.rule.code))),
            inputs,
            outputs,
            attrs,
            doc,
            metadata,
            device_configurations: Vec::new(),
        };
        let id = self.model.nodes.push(node);
        self.nodes.push(id);
    }
}
