//! The state of a batching pass: layouts, the patches that are being made, and obstacles.

use rustc_hash::{FxHashMap, FxHashSet};

use super::layout::{Layout, OldDim};
use super::obstacle::{Kind, Obstacle, Reason, Result, unknown};
use super::{Batched, finish, rules};
use crate::edit::{Item, Patch};
use crate::graph::{ElemType, GraphId, Model, NodeId, ValueId, order, scopes};
use crate::infer::{Fact, Facts};

pub(super) type It = Item<ValueId>;

/// The inputs that carry the samples, and how many there were when the model was traced.
#[derive(Clone, Debug)]
pub struct Samples {
    /// Inputs of the main graph, each with the axis of its samples. Not empty.
    pub inputs: Vec<(ValueId, usize)>,
    /// The size of these axes in the traced model.
    pub traced: i64,
    /// The code of the rule or pass that asks.
    pub by: crate::diag::RuleId,
}

impl Samples {
    /// Inputs with the axes of their samples, and how many those were.
    pub fn new(inputs: Vec<(ValueId, usize)>, traced: i64) -> Self {
        Samples { inputs, traced, by: crate::diag::rule_ids::DYNAMIC_AXIS }
    }
}

/// An operand of a node.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    /// The value in the rewritten graph.
    pub item: It,
    pub layout: Layout,
    /// The shape in the traced model; `None` where the rank is not known.
    pub dims: Option<Vec<OldDim>>,
    /// The value in the traced graph.
    pub value: ValueId,
}

impl Operand {
    pub fn rank(&self) -> Result<usize> {
        match &self.dims {
            Some(dims) => Ok(dims.len()),
            None => unknown("the rank of an input is not known"),
        }
    }

    pub fn dims(&self) -> Result<&[OldDim]> {
        match &self.dims {
            Some(dims) => Ok(dims),
            None => unknown("the rank of an input is not known"),
        }
    }

    pub fn is_carried(&self) -> bool {
        self.layout.is_carried()
    }
}

/// A graph that is being rewritten.
#[derive(Clone)]
pub(super) struct Scope {
    pub graph: GraphId,
    pub opset: i64,
    pub patch: Patch,
    /// Replacements of traced values; a value without an entry is unchanged.
    pub items: FxHashMap<ValueId, It>,
    /// Values in another layout, made before.
    pub converted: FxHashMap<(It, &'static str, Vec<i64>), It>,
    /// Constants, by elements.
    pub ints: FxHashMap<(Vec<i64>, bool), It>,
    /// The element types of new values, where known.
    pub elems: FxHashMap<It, ElemType>,
    /// The number of samples: int64[1].
    pub size: Option<It>,
    /// The node that is being rewritten.
    pub node: Option<NodeId>,
    /// Nodes that are in the patch.
    pub emitted: FxHashSet<NodeId>,
}

pub(super) struct Cx<'m> {
    pub model: &'m Model,
    pub facts: &'m Facts,
    pub samples: &'m Samples,
    pub layouts: FxHashMap<ValueId, Layout>,
    /// Values that an obstacle left without a layout.
    pub lost: FxHashSet<ValueId>,
    /// Carried values of outer graphs that a body reads.
    pub captured: FxHashSet<ValueId>,
    pub obstacles: Vec<Obstacle>,
    pub done: Vec<Patch>,
    pub scope: Scope,
}

impl<'m> Cx<'m> {
    pub fn new(model: &'m Model, facts: &'m Facts, samples: &'m Samples) -> Self {
        let layouts = samples.inputs.iter().map(|&(value, axis)| (value, Layout::plain(axis))).collect();
        let scope = Scope::new(model, model.main);
        let (lost, captured, obstacles, done) = Default::default();
        Cx { model, facts, samples, layouts, lost, captured, obstacles, done, scope }
    }

    pub fn run(mut self) -> std::result::Result<Batched, Vec<Obstacle>> {
        self.nodes();
        let outputs = finish::outputs(&mut self);
        if !self.obstacles.is_empty() {
            return Err(self.obstacles);
        }
        let scope = std::mem::replace(&mut self.scope, Scope::new(self.model, self.model.main));
        self.done.push(finish::patch(&self, scope));
        let patches = self.done.into_iter().filter(|patch| !patch.is_empty()).collect();
        let carried = self.layouts.iter().filter(|(_, layout)| layout.is_carried());
        let mut carried: Vec<(ValueId, Layout)> = carried.map(|(&value, &layout)| (value, layout)).collect();
        carried.sort_unstable_by_key(|(value, _)| *value);
        Ok(Batched { patches, outputs, carried })
    }

    /// Rewrites the nodes of the current graph.
    pub fn nodes(&mut self) {
        for node in order::sorted_or_file(self.model, self.scope.graph) {
            self.scope.node = Some(node);
            if let Err(why) = self.node(node) {
                if let Some(why) = why.filter(|why| !why.text.is_empty()) {
                    let Reason { kind, text } = why;
                    self.obstacles.push(Obstacle { node: Some(node), value: None, kind, why: text });
                }
                let outputs = self.model.nodes[node].outputs.iter().flatten();
                self.lost.extend(outputs.copied());
            }
        }
    }

    /// Rewrites a node. The error is `None` where an obstacle before it left an operand without a layout.
    fn node(&mut self, id: NodeId) -> std::result::Result<(), Option<Reason>> {
        let model = self.model;
        let node = &model.nodes[id];
        let captured = scopes::captures_of_node(model, id);
        let read: Vec<ValueId> = node.inputs.iter().flatten().copied().chain(captured).collect();
        if read.iter().any(|value| self.lost.contains(value)) {
            return Err(None);
        }
        if !read.iter().any(|&value| self.layout(value).is_carried()) {
            return rules::shared(node).map_err(Some);
        }
        if self.constant_outputs(id) {
            return Ok(());
        }
        rules::apply(self, id).map_err(Some)
    }

    /// Makes constants of the outputs if inference knows their elements: they are the same for every sample.
    fn constant_outputs(&mut self, id: NodeId) -> bool {
        let outputs: Vec<ValueId> = self.model.nodes[id].outputs.iter().flatten().copied().collect();
        let facts = self.facts;
        if outputs.is_empty() || !outputs.iter().all(|&value| facts[value].as_const().is_some()) {
            return false;
        }
        for value in outputs {
            if let Some(array) = facts[value].as_const() {
                let item = self.new_item(value);
                self.scope.patch.constants.push((item, array.clone()));
                self.scope.items.insert(value, item);
            }
        }
        self.scope.patch.replaced.push(id);
        self.scope.emitted.insert(id);
        true
    }

    pub fn layout(&self, value: ValueId) -> Layout {
        self.layouts.get(&value).copied().unwrap_or(Layout::Shared)
    }

    pub fn fact(&self, value: ValueId) -> &'m Fact {
        &self.facts[value]
    }

    /// The shape of a value in the traced model.
    pub fn dims(&self, value: ValueId) -> Option<Vec<OldDim>> {
        let number = |size: &crate::infer::Size| size.as_ref().and_then(|dim| dim.as_const());
        Some(self.facts[value].dims()?.iter().map(number).collect())
    }

    /// Returns the replacement of a traced value in the rewritten graph.
    pub fn item(&mut self, value: ValueId) -> It {
        if self.model.values[value].graph != self.scope.graph {
            if self.layout(value).is_carried() {
                self.captured.insert(value);
            }
            return Item::Old(value);
        }
        self.scope.items.get(&value).copied().unwrap_or(Item::Old(value))
    }

    pub fn operand_of(&mut self, value: ValueId) -> Operand {
        Operand { item: self.item(value), layout: self.layout(value), dims: self.dims(value), value }
    }

    /// The operand at `index`, if the node has it.
    pub fn operand(&mut self, node: NodeId, index: usize) -> Option<Operand> {
        let value = self.model.nodes[node].input(index)?;
        Some(self.operand_of(value))
    }

    /// The operand at `index`, which the operator requires.
    pub fn required(&mut self, node: NodeId, index: usize) -> Result<Operand> {
        match self.operand(node, index) {
            Some(operand) => Ok(operand),
            None => unknown("an input that the operator requires is absent"),
        }
    }

    /// The elements of an input that all samples share, where they are known integers.
    pub fn const_ints(&self, node: NodeId, index: usize) -> Option<Vec<i64>> {
        let value = self.model.nodes[node].input(index)?;
        if self.layout(value).is_carried() {
            return None;
        }
        self.facts[value].as_const()?.as_i64s().ok()
    }

    /// The rank of the first output.
    pub fn out_dims(&self, node: NodeId) -> Option<Vec<OldDim>> {
        self.dims(self.model.nodes[node].output(0)?)
    }

    pub fn int(&self, node: NodeId, name: &str) -> Option<i64> {
        self.model.nodes[node].attr(name)?.as_int()
    }

    pub fn ints(&self, node: NodeId, name: &str) -> Option<Vec<i64>> {
        Some(self.model.nodes[node].attr(name)?.as_ints()?.to_vec())
    }

    /// The layout of a value that the rewrite gives, put in its canonical form.
    pub fn bind(&mut self, value: ValueId, item: It, layout: Layout) -> Result<()> {
        let leads = self.dims(value).is_some_and(|dims| dims.first() == Some(&Some(1)));
        let (item, layout) = match layout {
            Layout::Stacked if leads => (self.squeeze(item, &[1])?, Layout::plain(0)),
            other => (item, other),
        };
        self.scope.items.insert(value, item);
        self.layouts.insert(value, layout);
        Ok(())
    }

    /// Binds the outputs of a node, each with a layout.
    pub fn bind_outputs(&mut self, node: NodeId, items: &[Option<It>], layouts: &[Layout]) -> Result<()> {
        let outputs = self.model.nodes[node].outputs.clone();
        for (at, (output, item)) in outputs.iter().zip(items).enumerate() {
            let layout = layouts.get(at).or(layouts.last()).copied();
            if let (Some(value), Some(item), Some(layout)) = (*output, *item, layout) {
                self.bind(value, item, layout)?;
            }
        }
        Ok(())
    }
}

impl Scope {
    pub fn new(model: &Model, graph: GraphId) -> Self {
        let patch = Patch { keeps_values: false, ..Patch::new(graph) };
        Scope {
            graph,
            opset: model.opset(graph, "").unwrap_or(1),
            patch,
            items: FxHashMap::default(),
            converted: FxHashMap::default(),
            ints: FxHashMap::default(),
            elems: FxHashMap::default(),
            size: None,
            node: None,
            emitted: FxHashSet::default(),
        }
    }
}

/// An axis as an index; `None` if the tensor has no such axis.
pub(super) fn index(axis: i64, rank: usize) -> Option<usize> {
    let axis = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(axis).ok().filter(|&axis| axis < rank)
}

/// An obstacle of the interface.
pub(super) fn at_value(value: ValueId, node: Option<NodeId>, kind: Kind, why: String) -> Obstacle {
    Obstacle { node, value: Some(value), kind, why }
}
