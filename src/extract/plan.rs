//! Plans the graph that the chosen forms make, in terms of the model that they came from.

use std::sync::Arc;

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use super::choose::Choice;
use super::outputs::may_lose_outputs;
use super::planned::{NewNode, NewValue, Plan, Slot};
use crate::egraph::{Call, EGraph, ENode};
use crate::graph::{Def, GraphId, Model, NodeId, ValueId};
use crate::infer::eval::Array;

/// The parts of an e-graph that a rebuilt graph is made from.
pub struct Chosen<'a, 'm> {
    pub egraph: &'a EGraph<'m>,
    pub choice: &'a Choice,
    /// Calls the graph came with.
    pub original: &'a FxHashMap<ENode, NodeId>,
    /// Calls that rules added, with the code of the rule.
    pub added: &'a FxHashMap<ENode, String>,
    pub class_of: &'a FxHashMap<ValueId, Id>,
}

/// Plans the graph from the chosen forms.
pub fn plan(model: &Model, graph: GraphId, chosen: &Chosen) -> Plan {
    let mut planner = Planner::new(model, graph, chosen);
    let outputs: Vec<ValueId> = model.graphs[graph].outputs.iter().map(|port| port.value).collect();
    planner.claim(&outputs);
    let outputs = outputs.iter().map(|&output| planner.output(output)).collect();
    let replaced = planner.captured();
    let Planner { nodes, values, used, renamed, .. } = planner;
    let tensors = chosen.egraph.analysis.tables.new_tensors().to_vec();
    Plan { graph, nodes, values, tensors, replaced, used, outputs, renamed }
}

struct Planner<'a, 'm> {
    model: &'a Model,
    graph: GraphId,
    chosen: &'a Chosen<'a, 'm>,
    place: FxHashMap<NodeId, usize>,
    slots: FxHashMap<Id, Slot>,
    emitted: FxHashSet<Id>,
    /// Constants of the graph (`Constant` nodes) that were emitted.
    leaves: FxHashSet<ValueId>,
    nodes: Vec<NewNode>,
    values: Vec<NewValue>,
    used: FxHashSet<ValueId>,
    /// Outputs of the graph, and those that have their slot.
    outputs: FxHashSet<ValueId>,
    given: FxHashSet<ValueId>,
    renamed: Vec<Id>,
}

impl<'a, 'm> Planner<'a, 'm> {
    fn new(model: &'a Model, graph: GraphId, chosen: &'a Chosen<'a, 'm>) -> Self {
        let nodes = &model.graphs[graph].nodes;
        Planner {
            model,
            graph,
            chosen,
            place: nodes.iter().enumerate().map(|(place, &node)| (node, place)).collect(),
            slots: FxHashMap::default(),
            emitted: FxHashSet::default(),
            leaves: FxHashSet::default(),
            nodes: Vec::new(),
            values: Vec::new(),
            used: FxHashSet::default(),
            outputs: model.graphs[graph].outputs.iter().map(|port| port.value).collect(),
            given: FxHashSet::default(),
            renamed: Vec::new(),
        }
    }

    fn class(&self, id: Id) -> Id {
        self.chosen.egraph.find(id)
    }

    fn is_made_here(&self, value: ValueId) -> bool {
        let value = &self.model.values[value];
        value.graph == self.graph && matches!(value.def, Def::Node { .. })
    }

    fn form(&self, class: Id) -> Option<&'a ENode> {
        self.chosen.choice.form(self.chosen.egraph, class)
    }

    /// Graph outputs have the first claim to be what their class is called.
    fn claim(&mut self, outputs: &[ValueId]) {
        for &output in outputs {
            let Some(&class) = self.chosen.class_of.get(&output) else { continue };
            let class = self.class(class);
            let is_made = matches!(self.form(class), Some(ENode::Call(_) | ENode::Output { .. }));
            let own = matches!(self.model.values[output].def, Def::Node { .. });
            if is_made && own {
                self.slots.entry(class).or_insert(Slot::Old(output));
            }
        }
    }

    /// The slot of a graph output, which keeps its own value: where its class is called otherwise, an
    /// Identity gives it the name.
    fn output(&mut self, output: ValueId) -> Slot {
        // What no node of this graph makes is what it was; what is handed out twice is made once.
        if !self.is_made_here(output) || !self.given.insert(output) {
            self.used.insert(output);
            return Slot::Old(output);
        }
        let Some(&class) = self.chosen.class_of.get(&output) else { return Slot::Old(output) };
        let slot = self.value(class);
        if slot == Slot::Old(output) {
            return slot;
        }
        let origin = self.chosen.egraph[class].data.origin.clone();
        self.renamed.push(self.class(class));
        // Where an Identity of the source did so, it does so still.
        let is_identity = |node: &NodeId| {
            let node = &self.model.nodes[*node];
            node.domain().is_empty() && &*node.op_type == "Identity"
        };
        let kept = self.model.producer(output).map(|(node, _)| node).filter(is_identity);
        self.nodes.push(NewNode {
            kept,
            place: kept.and_then(|node| self.place.get(&node).copied()).unwrap_or(usize::MAX),
            domain: Arc::from(""),
            name: Arc::from("Identity"),
            attrs: Vec::new(),
            inputs: vec![Some(slot)],
            outputs: vec![Some(Slot::Old(output))],
            captures: Vec::new(),
            origin,
            rule: None,
        });
        Slot::Old(output)
    }

    /// What a class is called, its nodes emitted. Without recursion: graphs are deep.
    fn value(&mut self, class: Id) -> Slot {
        let mut open = vec![(self.class(class), false)];
        while let Some((class, inputs_done)) = open.pop() {
            if self.emitted.contains(&class) {
                continue;
            }
            if !inputs_done {
                open.push((class, true));
                let inputs = self.form(class).map_or(&[][..], super::cost::inputs);
                open.extend(inputs.iter().rev().map(|&input| (self.class(input), false)));
                continue;
            }
            self.emitted.insert(class);
            self.emit(class);
        }
        self.slot(class)
    }

    /// The name of a class: a value of the source where it has one.
    fn slot(&mut self, class: Id) -> Slot {
        let class = self.class(class);
        if let Some(&slot) = self.slots.get(&class) {
            return slot;
        }
        let slot = match self.form(class) {
            Some(ENode::Leaf(value)) => Slot::Old(*value),
            Some(ENode::Const(id)) => {
                let constant = self.chosen.egraph.analysis.tables.constant(*id).clone();
                self.new_value(class, Some(constant))
            }
            _ => match self.source_value(class) {
                Some(value) => Slot::Old(value),
                None => self.new_value(class, None),
            },
        };
        self.slots.insert(class, slot);
        slot
    }

    /// A value of this graph that the class is, and that a node made.
    fn source_value(&self, class: Id) -> Option<ValueId> {
        let values = &self.chosen.egraph[class].data.values;
        values.iter().copied().find(|&value| self.is_made_here(value))
    }

    fn new_value(&mut self, class: Id, constant: Option<Arc<Array>>) -> Slot {
        let data = &self.chosen.egraph[class].data;
        let named = data.values.first().copied();
        let made =
            data.origin.iter().rev().find_map(|&node| self.model.nodes[node].outputs.iter().flatten().next());
        let base =
            named.or(made.copied()).map_or(Arc::from("value"), |value| self.model.values[value].name.clone());
        let rule = self.form(class).and_then(|form| self.chosen.added.get(form)).cloned();
        self.values.push(NewValue { base, rule, constant });
        Slot::New(self.values.len() - 1)
    }

    /// Emits the node that makes a class, if it takes one.
    fn emit(&mut self, class: Id) {
        match self.form(class) {
            Some(ENode::Leaf(value)) => self.leaf(*value),
            Some(ENode::Call(call)) => {
                let enode = ENode::Call(call.clone());
                self.call(class, call, &enode);
            }
            Some(ENode::Absent | ENode::Const(_) | ENode::Output { .. }) | None => {}
        }
    }

    fn leaf(&mut self, value: ValueId) {
        self.used.insert(value);
        let Some((node, _)) = self.model.producer(value) else { return };
        if self.model.values[value].graph == self.graph && self.leaves.insert(value) {
            let kept = &self.model.nodes[node];
            self.nodes.push(NewNode {
                kept: Some(node),
                place: self.place.get(&node).copied().unwrap_or(0),
                domain: Arc::from(kept.domain()),
                name: kept.op_type.clone(),
                attrs: kept.attrs.clone(),
                inputs: Vec::new(),
                outputs: vec![Some(Slot::Old(value))],
                captures: Vec::new(),
                origin: vec![node],
                rule: None,
            });
        }
    }

    fn call(&mut self, class: Id, call: &Call, enode: &ENode) {
        let tables = &self.chosen.egraph.analysis.tables;
        let key = tables.op(call.op).clone();
        let kept = self.chosen.original.get(enode).copied();
        let origin = match kept {
            Some(node) => vec![node],
            None => self.chosen.egraph[class].data.origin.clone(),
        };
        let attrs = match kept {
            Some(node) => self.model.nodes[node].attrs.clone(),
            None => tables.attrs(call.attrs).to_vec(),
        };
        let (inputs, captures) = call.children.split_at(usize::from(call.inputs));
        let inputs = inputs.iter().map(|&child| self.input(child)).collect();
        let captures = captures.iter().map(|&child| self.slot(child)).collect();
        let outputs = self.outputs(class, call, kept);
        let place = origin.iter().filter_map(|node| self.place.get(node)).max().copied().unwrap_or(0);
        self.nodes.push(NewNode {
            kept,
            place,
            domain: key.domain,
            name: key.name,
            attrs,
            inputs,
            outputs,
            captures,
            origin,
            rule: self.chosen.added.get(enode).cloned().filter(|_| kept.is_none()),
        });
    }

    fn input(&mut self, child: Id) -> Option<Slot> {
        (!self.is_absent(child)).then(|| self.slot(self.class(child)))
    }

    /// The outputs of a call: those that are needed by their class's name, the others as they were, for
    /// the number of outputs may matter (`Split`).
    fn outputs(&mut self, class: Id, call: &Call, kept: Option<NodeId>) -> Vec<Option<Slot>> {
        let tables = &self.chosen.egraph.analysis.tables;
        if tables.is_single(call.op, call) {
            return vec![Some(self.slot(class))];
        }
        let key = tables.op(call.op);
        let schema = key.schema(i64::from(u16::MAX));
        let mut outputs = Vec::with_capacity(usize::from(call.outputs));
        for index in 0..call.outputs {
            let projection = self.chosen.egraph.lookup(ENode::Output { index, call: [class] });
            let needed = projection.filter(|&value| {
                matches!(self.form(value), Some(ENode::Output { index: at, call: [from] })
                    if *at == index && self.class(*from) == self.class(class))
            });
            let old = kept.and_then(|node| self.model.nodes[node].output(usize::from(index)));
            let formal = schema.and_then(|schema| schema.output(usize::from(index)));
            let is_optional = formal.is_some_and(|formal| formal.option == crate::schema::Arity::Optional);
            let may_drop = is_optional && may_lose_outputs(key, &|input| self.is_given(call, input));
            outputs.push(match (needed, old) {
                (Some(value), _) => Some(self.slot(value)),
                // Its class is made in another way, so that the value of this name is taken.
                (None, Some(old)) if !may_drop && !self.is_taken(old) => Some(Slot::Old(old)),
                (None, _) if may_drop || (kept.is_some() && old.is_none()) => None,
                (None, _) => Some(self.new_value(class, None)),
            });
        }
        let len = outputs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        outputs.truncate(len.max(1));
        outputs
    }

    fn is_given(&self, call: &Call, input: usize) -> bool {
        let inputs = &call.children[..usize::from(call.inputs)];
        inputs.get(input).is_some_and(|&input| !self.is_absent(input))
    }

    fn is_absent(&self, child: Id) -> bool {
        self.form(self.class(child)) == Some(&ENode::Absent)
    }

    /// Whether the class of a value is needed in another form, under this name; or it is an output.
    fn is_taken(&self, value: ValueId) -> bool {
        let Some(class) = self.chosen.class_of.get(&value).map(|&class| self.class(class)) else {
            return false;
        };
        let is_named_so = match (self.slots.get(&class), self.form(class)) {
            (Some(slot), _) => *slot == Slot::Old(value),
            (None, Some(ENode::Call(_) | ENode::Output { .. })) => self.source_value(class) == Some(value),
            (None, _) => false,
        };
        is_named_so || self.outputs.contains(&value)
    }

    /// What the bodies in this graph are to use for each value they capture from it.
    fn captured(&mut self) -> Vec<(ValueId, Slot)> {
        let with_bodies: Vec<NodeId> = self
            .nodes
            .iter()
            .filter_map(|node| node.kept)
            .filter(|&node| self.model.nodes[node].graphs().next().is_some())
            .collect();
        let mut replaced = Vec::new();
        for node in with_bodies {
            for value in crate::graph::scopes::captures_of_node(self.model, node) {
                if let Some(&class) = self.chosen.class_of.get(&value) {
                    let slot = self.slot(class);
                    if slot != Slot::Old(value) {
                        replaced.push((value, slot));
                    }
                }
            }
        }
        replaced.sort_unstable();
        replaced.dedup();
        replaced
    }
}
