//! State of a batching pass: layouts, patches, and obstacles.

use rustc_hash::{FxHashMap, FxHashSet};

use super::layout::{Layout, OldDim};
use super::obstacle::{Kind, Obstacle, Result, unknown};
use crate::edit::{Item, Patch};
use crate::graph::{ElemType, GraphId, Model, NodeId, ValueId};
use crate::infer::{Fact, Facts};

/// Value of the rewritten graph.
pub(super) type It = Item<ValueId>;

/// Inputs that carry the samples, and the number of traced samples.
#[derive(Clone, Debug)]
pub struct Samples {
    /// Inputs of the main graph, each with its sample axis; not empty.
    pub inputs: Vec<(ValueId, usize)>,
    /// Size of the sample axes in the traced model.
    pub traced: i64,
    /// Rule or pass that requests the rewrite.
    pub by: crate::diag::RuleId,
}

impl Samples {
    /// Creates a request of the rule of `--dynamic`: inputs with sample axes, and the traced batch size.
    pub fn new(inputs: Vec<(ValueId, usize)>, traced: i64) -> Self {
        Samples { inputs, traced, by: crate::diag::rule_ids::DYNAMIC_AXIS }
    }
}

/// Operand of a node.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    /// Value in the rewritten graph.
    pub item: It,
    /// Layout of the value.
    pub layout: Layout,
    /// Shape in the traced model; `None` if the rank is unknown.
    pub dims: Option<Vec<OldDim>>,
    /// Value in the traced graph.
    pub value: ValueId,
}

impl Operand {
    /// Returns the rank in the traced model.
    pub fn rank(&self) -> Result<usize> {
        match &self.dims {
            Some(dims) => Ok(dims.len()),
            None => unknown("the rank of an input is not known"),
        }
    }

    /// Returns the shape in the traced model.
    pub fn dims(&self) -> Result<&[OldDim]> {
        match &self.dims {
            Some(dims) => Ok(dims),
            None => unknown("the rank of an input is not known"),
        }
    }

    /// Returns true if each sample has its own elements.
    pub fn is_carried(&self) -> bool {
        self.layout.is_carried()
    }
}

/// State of a graph during its rewrite.
#[derive(Clone)]
pub(super) struct Scope {
    /// Traced graph.
    pub graph: GraphId,
    /// Imported version of ai.onnx.
    pub opset: i64,
    /// Patch under construction.
    pub patch: Patch,
    /// Replacements of traced values; a value without an entry is unchanged.
    pub items: FxHashMap<ValueId, It>,
    /// Emitted views that can be reused, keyed by input, operator and argument.
    pub converted: FxHashMap<(It, &'static str, Vec<i64>), It>,
    /// Integer constants that were already emitted, keyed by elements and by whether they are scalars.
    pub ints: FxHashMap<(Vec<i64>, bool), It>,
    /// Known element types of new values.
    pub elems: FxHashMap<It, ElemType>,
    /// Number of samples, an int64[1] value.
    pub size: Option<It>,
    /// Node that is being rewritten.
    pub node: Option<NodeId>,
    /// Traced nodes that the patch already replaces or keeps.
    pub emitted: FxHashSet<NodeId>,
}

/// State of a batching pass.
pub(super) struct Cx<'m> {
    /// Traced model.
    pub model: &'m Model,
    /// Inferred facts of the traced model.
    pub facts: &'m Facts,
    /// Requested inputs with samples.
    pub samples: &'m Samples,
    /// Layouts of values; a value without an entry is shared.
    pub layouts: FxHashMap<ValueId, Layout>,
    /// Values without a layout, because of an obstacle.
    pub lost: FxHashSet<ValueId>,
    /// Obstacles so far.
    pub obstacles: Vec<Obstacle>,
    /// Patches of finished subgraphs.
    pub done: Vec<Patch>,
    /// State of the current graph.
    pub scope: Scope,
}

impl<'m> Cx<'m> {
    /// Creates the state, with the layouts of the inputs.
    pub fn new(model: &'m Model, facts: &'m Facts, samples: &'m Samples) -> Self {
        let layouts = samples.inputs.iter().map(|&(value, axis)| (value, Layout::plain(axis))).collect();
        let scope = Scope::new(model, model.main);
        let (lost, obstacles, done) = Default::default();
        Cx { model, facts, samples, layouts, lost, obstacles, done, scope }
    }

    /// Returns the layout of a value.
    pub fn layout(&self, value: ValueId) -> Layout {
        self.layouts.get(&value).copied().unwrap_or(Layout::Shared)
    }

    /// Returns the fact of a value in the traced model.
    pub fn fact(&self, value: ValueId) -> &'m Fact {
        &self.facts[value]
    }

    /// Returns the shape of a value in the traced model.
    pub fn dims(&self, value: ValueId) -> Option<Vec<OldDim>> {
        let number = |size: &crate::infer::Size| size.as_ref().and_then(|dim| dim.as_const());
        Some(self.facts[value].dims()?.iter().map(number).collect())
    }

    /// Returns the replacement of a traced value in the rewritten graph.
    pub fn item(&self, value: ValueId) -> It {
        if self.model.values[value].graph != self.scope.graph {
            return Item::Old(value);
        }
        self.scope.items.get(&value).copied().unwrap_or(Item::Old(value))
    }

    /// Returns a value as an operand.
    pub fn operand_of(&mut self, value: ValueId) -> Operand {
        Operand { item: self.item(value), layout: self.layout(value), dims: self.dims(value), value }
    }

    /// Returns the operand at `index`, if the node has it.
    pub fn operand(&mut self, node: NodeId, index: usize) -> Option<Operand> {
        let value = self.model.nodes[node].input(index)?;
        Some(self.operand_of(value))
    }

    /// Returns the operand at `index`, which the operator requires.
    pub fn required(&mut self, node: NodeId, index: usize) -> Result<Operand> {
        match self.operand(node, index) {
            Some(operand) => Ok(operand),
            None => unknown("an input that the operator requires is absent"),
        }
    }

    /// Returns the elements of a shared input, if they are known integers.
    pub fn const_ints(&self, node: NodeId, index: usize) -> Option<Vec<i64>> {
        let value = self.model.nodes[node].input(index)?;
        if self.layout(value).is_carried() {
            return None;
        }
        self.facts[value].as_const()?.as_i64s().ok()
    }

    /// Returns the shape of the first output in the traced model.
    pub fn out_dims(&self, node: NodeId) -> Option<Vec<OldDim>> {
        self.dims(self.model.nodes[node].output(0)?)
    }

    /// Returns an integer attribute.
    pub fn int(&self, node: NodeId, name: &str) -> Option<i64> {
        self.model.nodes[node].attr(name)?.as_int()
    }

    /// Returns an attribute with a list of integers.
    pub fn ints(&self, node: NodeId, name: &str) -> Option<Vec<i64>> {
        Some(self.model.nodes[node].attr(name)?.as_ints()?.to_vec())
    }

    /// Binds a traced value to its replacement, with a canonicalized layout.
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

    /// Binds the outputs of a node; the last layout applies to all further outputs.
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
    /// Creates the state of a graph.
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

/// Returns an obstacle at a value.
pub(super) fn at_value(value: ValueId, node: Option<NodeId>, kind: Kind, why: String) -> Obstacle {
    Obstacle { node, value: Some(value), kind, why }
}
