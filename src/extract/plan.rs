//! Turns the selected e-nodes into a patch of the source model.

use std::sync::Arc;

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use super::change_report::{Owed, account};
use super::chosen::Chosen;
use super::cost_delta::CostDelta;
use super::outputs::may_lose_outputs;
use crate::edit::{At, Item, Patch, PatchNode, PatchOp};
use crate::egraph::{Call, ENode};
use crate::graph::{Def, GraphId, Model, NodeId, ValueId, trimmed};
use crate::infer::eval::Array;

/// Patch for a graph, with the classes that need an `Identity`.
pub struct Planned {
    pub patch: Patch,
    /// Classes whose value an `Identity` copies to a graph output.
    pub renamed: Vec<Id>,
}

/// Plans the patch with which a graph computes the selected e-nodes.
pub fn plan(model: &Model, graph: GraphId, chosen: &Chosen) -> Planned {
    let mut planner = Planner::new(model, graph, chosen);
    let outputs: Vec<ValueId> = model.graphs[graph].outputs.iter().map(|port| port.value).collect();
    planner.claim(&outputs);
    outputs.iter().for_each(|&output| planner.output(output));
    chosen.dead.iter().for_each(|&value| planner.dead(value));
    planner.captured();
    let Planner { mut patch, kept, renamed, ledger, owed, .. } = planner;
    let replaced = model.graphs[graph].nodes.iter().copied().filter(|node| !kept.contains(node));
    patch.replaced = replaced.collect();
    patch.tensors = chosen.egraph.analysis.tables.new_tensors().to_vec();
    patch.first_tensor = model.tensors.len();
    patch.changes = account(model, chosen, &patch, ledger, owed);
    Planned { patch, renamed }
}

struct Planner<'a, 'm> {
    model: &'a Model,
    graph: GraphId,
    chosen: &'a Chosen<'a, 'm>,
    slots: FxHashMap<Id, Item<ValueId>>,
    emitted: FxHashSet<Id>,
    /// Source nodes to keep.
    kept: FxHashSet<NodeId>,
    patch: Patch,
    /// Outputs of the graph.
    outputs: FxHashSet<ValueId>,
    /// Outputs of the graph that are already produced.
    given: FxHashSet<ValueId>,
    renamed: Vec<Id>,
    ledger: CostDelta,
    /// Steps that justify the changes, by the last source node that a change replaces.
    owed: Owed,
}

impl<'a, 'm> Planner<'a, 'm> {
    fn new(model: &'a Model, graph: GraphId, chosen: &'a Chosen<'a, 'm>) -> Self {
        Planner {
            model,
            graph,
            chosen,
            slots: FxHashMap::default(),
            emitted: FxHashSet::default(),
            kept: FxHashSet::default(),
            patch: Patch::new(graph),
            outputs: model.graphs[graph].outputs.iter().map(|port| port.value).collect(),
            given: FxHashSet::default(),
            renamed: Vec::new(),
            ledger: CostDelta::default(),
            owed: Owed::default(),
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

    /// Names the classes of graph outputs after the outputs, before other values can name these classes.
    fn claim(&mut self, outputs: &[ValueId]) {
        for &output in outputs {
            let Some(&class) = self.chosen.class_of.get(&output) else { continue };
            let class = self.class(class);
            let is_made = matches!(self.form(class), Some(ENode::Call(_) | ENode::Output { .. }));
            let own = matches!(self.model.values[output].def, Def::Node { .. });
            if is_made && own {
                self.slots.entry(class).or_insert(Item::Old(output));
            }
        }
    }

    /// Produces a graph output under its name; adds an `Identity` if another value represents its class.
    fn output(&mut self, output: ValueId) {
        // A value that no node of this graph produces needs no node. A repeated output is produced once.
        if !self.is_made_here(output) || !self.given.insert(output) {
            return;
        }
        let Some(&class) = self.chosen.class_of.get(&output) else { return };
        let slot = self.value(class);
        if slot == Item::Old(output) {
            return;
        }
        // A constant class can have another node as origin, so use the producer of the output as the origin.
        let origin = self.model.producer(output).map(|(node, _)| node);
        self.owe_at(origin, class);
        self.renamed.push(self.class(class));
        // Reuse the Identity of the source, unless it already computes another output.
        let is_reusable = |node: &NodeId| self.model.nodes[*node].is("Identity") && !self.kept.contains(node);
        self.push(PatchNode {
            form: origin.filter(is_reusable).map_or_else(PatchOp::identity, PatchOp::Kept),
            inputs: vec![Some(slot)],
            outputs: vec![Some(Item::Old(output))],
            at: At::End,
            origin: origin.into_iter().collect(),
            rule: None,
        });
    }

    /// Keeps the node of an unused value, unless the value is constant.
    fn dead(&mut self, value: ValueId) {
        let class = self.chosen.class_of.get(&value).map(|&class| self.class(class));
        if let Some(class) = class.filter(|&class| !matches!(self.form(class), Some(ENode::Const(_)))) {
            self.value(class);
        }
    }

    /// Records, for the last source node of a class, the provenance of the e-node selected for the class.
    fn owe(&mut self, class: Id) {
        self.owe_at(self.chosen.egraph[self.class(class)].data.origin.last().copied(), class);
    }

    /// Records, for a source node, the provenance of the e-node selected for a class.
    fn owe_at(&mut self, node: Option<NodeId>, class: Id) {
        let class = self.class(class);
        if let (Some(form), Some(node)) = (self.form(class), node) {
            self.owed.entry(node).or_default().extend(self.chosen.provenance.steps(class, form));
        }
    }

    /// Adds a node to the patch; unchanged nodes need no entry.
    fn push(&mut self, node: PatchNode) {
        if let PatchOp::Kept(kept) = node.form {
            self.kept.insert(kept);
            let is_same = |items: &[Option<Item<ValueId>>], values: &[Option<ValueId>]| {
                items.iter().copied().eq(values.iter().map(|value| value.map(Item::Old)))
            };
            let before = &self.model.nodes[kept];
            if is_same(&node.inputs, &before.inputs) && is_same(&node.outputs, &before.outputs) {
                return;
            }
        }
        self.patch.nodes.push(node);
    }

    /// Returns the value of a class, after emitting the nodes that compute it.
    /// Iterative, because graphs are deep.
    fn value(&mut self, class: Id) -> Item<ValueId> {
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

    /// Returns the value that represents a class.
    ///
    /// This is a new value for a selected constant, else an existing value if the class has one.
    fn slot(&mut self, class: Id) -> Item<ValueId> {
        let class = self.class(class);
        if let Some(&slot) = self.slots.get(&class) {
            return slot;
        }
        let slot = match self.form(class) {
            Some(ENode::Leaf(value)) => Item::Old(*value),
            Some(ENode::Const(id)) => {
                let constant = self.chosen.egraph.analysis.tables.constant(*id).clone();
                self.owe(class);
                self.new_value(class, Some(constant))
            }
            _ => match self.source_value(class) {
                Some(value) => Item::Old(value),
                None => self.new_value(class, None),
            },
        };
        self.slots.insert(class, slot);
        slot
    }

    /// Finds a value of the class that a node of this graph produces.
    fn source_value(&self, class: Id) -> Option<ValueId> {
        let values = &self.chosen.egraph[class].data.values;
        values.iter().copied().find(|&value| self.is_made_here(value))
    }

    fn new_value(&mut self, class: Id, constant: Option<Arc<Array>>) -> Item<ValueId> {
        let data = &self.chosen.egraph[class].data;
        let named = data.values.first().copied();
        let made =
            data.origin.iter().rev().find_map(|&node| self.model.nodes[node].outputs.iter().flatten().next());
        let base =
            named.or(made.copied()).map_or(Arc::from("value"), |value| self.model.values[value].name.clone());
        let rule = self.form(class).and_then(|form| self.chosen.provenance.maker(form));
        let value = self.patch.new_value(base, rule.map(Arc::from));
        if let Some(constant) = constant {
            self.patch.constant(value, &constant);
        }
        value
    }

    /// Emits the node of a class, if its selected e-node is a call or a `Constant` node.
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

    /// Keeps a `Constant` node of the graph.
    fn leaf(&mut self, value: ValueId) {
        let maker = self.model.producer(value).filter(|_| self.model.values[value].graph == self.graph);
        self.kept.extend(maker.map(|(node, _)| node));
    }

    fn call(&mut self, class: Id, call: &Call, enode: &ENode) {
        let tables = &self.chosen.egraph.analysis.tables;
        let kept = self.chosen.original.get(enode).copied();
        let form = match kept {
            Some(node) => PatchOp::Kept(node),
            None => {
                let key = tables.op(call.op).clone();
                PatchOp::New {
                    domain: key.domain,
                    op_type: key.name,
                    attrs: tables.attrs(call.attrs).to_vec(),
                }
            }
        };
        let (inputs, captures) = call.children.split_at(usize::from(call.inputs));
        let inputs = inputs.iter().map(|&child| self.input(child)).collect();
        for &child in captures {
            self.slot(child);
        }
        let outputs = self.outputs(class, call, kept);
        if kept.is_none() {
            self.ledger.pay(self.chosen, class, call);
            self.owe(class);
        }
        self.push(PatchNode {
            form,
            inputs,
            outputs,
            at: At::Origin,
            origin: self.chosen.egraph[class].data.origin.clone(),
            rule: self.chosen.provenance.maker(enode).filter(|_| kept.is_none()).map(Arc::from),
        });
    }

    fn input(&mut self, child: Id) -> Option<Item<ValueId>> {
        (!self.is_absent(child)).then(|| self.slot(self.class(child)))
    }

    /// Returns the outputs of a call.
    /// Unused outputs are kept, because the number of outputs may matter (`Split`), unless the cleanup
    /// removes them and [`may_lose_outputs`] permits it.
    fn outputs(&mut self, class: Id, call: &Call, kept: Option<NodeId>) -> Vec<Option<Item<ValueId>>> {
        let tables = &self.chosen.egraph.analysis.tables;
        if tables.is_single(call) {
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
            let may_drop = is_optional
                && self.chosen.drops_outputs
                && may_lose_outputs(key, &|input| self.is_given(call, input));
            outputs.push(match (needed, old) {
                (Some(value), _) => Some(self.slot(value)),
                // The class of this output is unused, or is produced under another name: `old` is still free.
                (None, Some(old)) if !may_drop && !self.is_taken(old) => Some(Item::Old(old)),
                (None, _) if may_drop || (kept.is_some() && old.is_none()) => None,
                (None, _) => Some(self.new_value(class, None)),
            });
        }
        outputs.truncate(trimmed(&outputs).len().max(1));
        outputs
    }

    fn is_given(&self, call: &Call, input: usize) -> bool {
        let inputs = &call.children[..usize::from(call.inputs)];
        inputs.get(input).is_some_and(|&input| !self.is_absent(input))
    }

    fn is_absent(&self, child: Id) -> bool {
        self.form(self.class(child)) == Some(&ENode::Absent)
    }

    /// Returns true if a value of the source represents its class in the new graph, or is a graph output.
    fn is_taken(&self, value: ValueId) -> bool {
        let Some(class) = self.chosen.class_of.get(&value).map(|&class| self.class(class)) else {
            return false;
        };
        let is_named_so = match (self.slots.get(&class), self.form(class)) {
            (Some(slot), _) => *slot == Item::Old(value),
            (None, Some(ENode::Call(_) | ENode::Output { .. })) => self.source_value(class) == Some(value),
            (None, _) => false,
        };
        is_named_so || self.outputs.contains(&value)
    }

    /// Redirects captures in the subgraphs of kept nodes to the new values.
    fn captured(&mut self) {
        let has_body = |node: &&NodeId| self.model.nodes[**node].graphs().next().is_some();
        let mut with_bodies: Vec<NodeId> = self.kept.iter().filter(has_body).copied().collect();
        with_bodies.sort_unstable();
        let mut captured: Vec<ValueId> = with_bodies
            .into_iter()
            .flat_map(|node| crate::graph::scopes::captures_of_node(self.model, node))
            .collect();
        captured.sort_unstable();
        captured.dedup();
        // A graph output that no node produces, such as an input, is not redirected.
        captured.retain(|value| !self.outputs.contains(value) || self.is_made_here(*value));
        for value in captured {
            if let Some(&class) = self.chosen.class_of.get(&value) {
                let slot = self.slot(class);
                if slot != Item::Old(value) {
                    self.patch.redirects.push((value, slot));
                }
            }
        }
    }
}
