//! Partial result of a rewrite.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::bindings::Binding;
use super::datum::Datum;
use super::rule::{AttrVarId, EachTerm, Rewrite, VarId};
use crate::edit::{Item, NewId};
use crate::graph::{AttrValue, Attribute, Id as _, Tensor, TensorId};
use crate::infer::Fact;
use crate::infer::eval::Array;
use crate::schema::Schema;

/// Operator of a node to add.
#[derive(Clone, Debug)]
pub struct PlannedOp {
    pub domain: Arc<str>,
    pub name: Arc<str>,
    /// `None` for an operator of a custom domain.
    pub schema: Option<&'static Schema>,
}

/// Node to add.
#[derive(Debug)]
pub struct PlannedNode<V> {
    pub op: PlannedOp,
    /// Inputs of the node; `None` for an omitted input. The last input is never omitted.
    pub inputs: Vec<Option<Item<V>>>,
    /// Whether each output is present.
    pub outputs: Vec<bool>,
    /// Attributes; tensor ids index [`Plan::tensors`](super::plan::Plan::tensors).
    pub attrs: Vec<Attribute>,
}

impl<V> PlannedNode<V> {
    /// Returns the attributes of the node, with tensor ids mapped to those of the owner.
    pub fn attrs_with(&self, tensors: &[TensorId]) -> Vec<Attribute> {
        let owned = |attr: &Attribute| match attr.value {
            AttrValue::Tensor(id) => Attribute::new(&attr.name, AttrValue::Tensor(tensors[id.index()])),
            _ => attr.clone(),
        };
        self.attrs.iter().map(owned).collect()
    }
}

/// Value that a rewrite creates.
#[derive(Clone, Debug)]
pub enum Made {
    Constant(Arc<Array>),
    /// Output of one of [`Plan::nodes`](super::plan::Plan::nodes).
    Output {
        node: usize,
        index: usize,
    },
}

/// Reason why there is no plan for a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unplanned {
    /// An expression of the rewrite is undefined here, so the rule does not apply.
    Undefined,
    /// The rewrite is invalid for this reason, such as an unknown operator.
    Malformed(String),
}

/// Evaluated term.
#[derive(Clone, Debug)]
pub enum Slot<V> {
    Absent,
    Value(Item<V>),
    /// Constant whose type depends on its use.
    Literal(Datum),
    Many(Vec<Slot<V>>),
}

impl<V> Slot<V> {
    /// Returns the members of a list; any other slot becomes a list of one.
    pub fn into_list(self) -> Vec<Slot<V>> {
        match self {
            Slot::Many(slots) => slots,
            slot => vec![slot],
        }
    }
}

/// Partial result of a rewrite.
///
/// While conditions are evaluated, the draft contains only the values of names bound by `for …`.
pub struct Draft<'a, V> {
    pub(super) rewrite: Option<&'a Rewrite>,
    /// Variable and value of each name that only the rewrite has, including names bound by `for …`.
    slots: Vec<(VarId, Slot<V>)>,
    /// Variable and replacement of each pattern value that has a replacement.
    outputs: Vec<(VarId, Slot<V>)>,
    attrs: Vec<(AttrVarId, Datum)>,
    /// Outputs being computed, to detect an output that depends on itself.
    pub(super) open: FxHashSet<VarId>,
    /// For each planned node, its number in the rewrite and its index in `nodes`.
    placed: Vec<(u16, usize)>,
    pub(super) nodes: Vec<PlannedNode<V>>,
    pub(super) values: Vec<Made>,
    pub(super) facts: Vec<Option<Fact>>,
    pub(super) tensors: Vec<Tensor>,
    /// Reason why the rewrite is invalid for every match.
    pub(super) malformed: Option<String>,
}

/// Nodes, values and tensors of a plan.
pub(super) type Parts<V> = (Vec<PlannedNode<V>>, Vec<Made>, Vec<Tensor>);

impl<'a, V: Copy> Draft<'a, V> {
    /// Creates an empty draft; `rewrite` is `None` for conditions.
    pub fn new(rewrite: Option<&'a Rewrite>) -> Self {
        Draft {
            rewrite,
            slots: Vec::new(),
            outputs: Vec::new(),
            attrs: Vec::new(),
            open: FxHashSet::default(),
            placed: Vec::new(),
            nodes: Vec::new(),
            values: Vec::new(),
            facts: Vec::new(),
            tensors: Vec::new(),
            malformed: None,
        }
    }

    /// Returns the planned parts, or the reason the rewrite cannot be planned.
    pub(super) fn into_made(self) -> Result<Parts<V>, Unplanned> {
        match self.malformed {
            Some(why) => Err(Unplanned::Malformed(why)),
            None => Ok((self.nodes, self.values, self.tensors)),
        }
    }

    /// Returns the value of an attribute variable of the rewrite.
    pub fn attr(&self, var: AttrVarId) -> Option<&Datum> {
        self.attrs.iter().rfind(|(name, _)| *name == var).map(|(_, datum)| datum)
    }

    /// Sets an attribute variable of the rewrite.
    pub fn set_attr(&mut self, var: AttrVarId, datum: Datum) {
        match self.attrs.iter_mut().find(|(name, _)| *name == var) {
            Some((_, slot)) => *slot = datum,
            None => self.attrs.push((var, datum)),
        }
    }

    /// Returns the value of a variable, if it has been evaluated.
    pub(super) fn slot(&self, var: VarId) -> Option<&Slot<V>> {
        self.slots.iter().rfind(|(name, _)| *name == var).map(|(_, slot)| slot)
    }

    /// Sets the value of a variable.
    pub(super) fn set_slot(&mut self, var: VarId, slot: Slot<V>) {
        match self.slots.iter_mut().find(|(name, _)| *name == var) {
            Some((_, old)) => *old = slot,
            None => self.slots.push((var, slot)),
        }
    }

    /// Binds a name of `for …`.
    pub fn set_value(&mut self, var: VarId, item: Item<V>) {
        self.set_slot(var, Slot::Value(item));
    }

    /// Returns the replacement of a matched output.
    pub(super) fn output(&self, var: VarId) -> Option<&Slot<V>> {
        self.outputs.iter().find(|(name, _)| *name == var).map(|(_, slot)| slot)
    }

    /// Sets the replacement of a matched output.
    pub(super) fn set_output(&mut self, var: VarId, slot: Slot<V>) {
        self.outputs.push((var, slot));
    }

    /// Returns the index of a planned node of the rewrite.
    pub(super) fn placed(&self, node: u16) -> Option<usize> {
        self.placed.iter().find(|(name, _)| *name == node).map(|(_, at)| *at)
    }

    /// Adds a node that implements `node` of the rewrite.
    pub(super) fn place(&mut self, node: u16, planned: PlannedNode<V>) -> usize {
        self.nodes.push(planned);
        self.placed.push((node, self.nodes.len() - 1));
        self.nodes.len() - 1
    }

    /// Adds a node that is not in the rewrite, with one output; returns the output.
    pub(super) fn add_node(&mut self, op: PlannedOp, inputs: Vec<Item<V>>, attrs: Vec<Attribute>) -> Item<V> {
        let inputs = inputs.into_iter().map(Some).collect();
        self.nodes.push(PlannedNode { op, inputs, outputs: vec![true], attrs });
        self.add_value(Made::Output { node: self.nodes.len() - 1, index: 0 })
    }

    /// Adds a created value.
    pub(super) fn add_value(&mut self, made: Made) -> Item<V> {
        self.values.push(made);
        self.facts.push(None);
        Item::New(NewId(self.values.len() - 1))
    }

    /// Clears the bindings that each iteration creates again; `bound` is the number of pattern values.
    pub(super) fn forget(&mut self, each: &EachTerm, bound: usize) {
        let lets: &[_] = self.rewrite.map_or(&[], |rewrite| &rewrite.lets[each.lets.clone()]);
        let is_made = |var: VarId| each.fresh.contains(&usize::from(var.0).wrapping_sub(bound));
        self.slots.retain(|(var, _)| !is_made(*var));
        self.attrs.retain(|(var, _)| !lets.iter().any(|(made, _)| made == var));
        self.placed.retain(|(node, _)| !each.nodes.contains(&usize::from(*node)));
    }
}

impl<V: Copy> Slot<V> {
    /// Converts to a binding.
    /// Returns `None` for an untyped constant, and for a list with members that are not values.
    pub fn binding(&self) -> Option<Binding<Item<V>>> {
        let item = |slot: &Slot<V>| match slot {
            Slot::Value(item) => Some(*item),
            _ => None,
        };
        Some(match self {
            Slot::Absent => Binding::Absent,
            Slot::Value(item) => Binding::One(*item),
            Slot::Literal(_) => return None,
            Slot::Many(slots) => Binding::Many(slots.iter().map(item).collect::<Option<Vec<_>>>()?.into()),
        })
    }
}
