//! What a rewrite has made so far.

use rustc_hash::FxHashSet;

use super::{Made, PlannedNode, Unplanned};
use crate::edit::{Item, NewId};
use crate::graph::Tensor;
use crate::infer::Fact;
use crate::rules::datum::Datum;
use crate::rules::matcher::Binding;
use crate::rules::rule::{AttrVarId, EachTerm, Rewrite, VarId};

/// What a term comes to.
#[derive(Clone, Debug)]
pub enum Slot<V> {
    Absent,
    Value(Item<V>),
    /// A constant whose type depends on where it stands.
    Literal(Datum),
    Many(Vec<Slot<V>>),
}

impl<V> Slot<V> {
    /// Many as they are, one as a list of one.
    pub fn into_list(self) -> Vec<Slot<V>> {
        match self {
            Slot::Many(slots) => slots,
            slot => vec![slot],
        }
    }
}

/// What a rewrite has made so far; empty while conditions are asked.
pub struct Draft<'a, V> {
    pub(super) rewrite: Option<&'a Rewrite>,
    /// What names that only the rewrite has stand for, and those of `for …`.
    slots: Vec<(VarId, Slot<V>)>,
    /// What the rewrite says that values of the pattern are equal to.
    outputs: Vec<(VarId, Slot<V>)>,
    attrs: Vec<(AttrVarId, Datum)>,
    /// Outputs that are being made: a function may hand them to what makes them.
    pub(super) open: FxHashSet<VarId>,
    /// The node in `nodes` for a node of the rewrite.
    placed: Vec<(u16, usize)>,
    pub(super) nodes: Vec<PlannedNode<V>>,
    pub(super) values: Vec<Made>,
    pub(super) facts: Vec<Option<Fact>>,
    pub(super) tensors: Vec<Tensor>,
    /// Why nothing can come of it, whatever the match.
    pub(super) malformed: Option<String>,
}

/// The nodes, values and tensors of a plan.
pub(super) type Parts<V> = (Vec<PlannedNode<V>>, Vec<Made>, Vec<Tensor>);

impl<'a, V: Copy> Draft<'a, V> {
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

    pub(super) fn into_made(self) -> Result<Parts<V>, Unplanned> {
        match self.malformed {
            Some(why) => Err(Unplanned::Malformed(why)),
            None => Ok((self.nodes, self.values, self.tensors)),
        }
    }

    pub fn attr(&self, var: AttrVarId) -> Option<&Datum> {
        self.attrs.iter().rfind(|(name, _)| *name == var).map(|(_, datum)| datum)
    }

    pub fn set_attr(&mut self, var: AttrVarId, datum: Datum) {
        match self.attrs.iter_mut().find(|(name, _)| *name == var) {
            Some((_, slot)) => *slot = datum,
            None => self.attrs.push((var, datum)),
        }
    }

    pub(super) fn slot(&self, var: VarId) -> Option<&Slot<V>> {
        self.slots.iter().rfind(|(name, _)| *name == var).map(|(_, slot)| slot)
    }

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

    pub(super) fn output(&self, var: VarId) -> Option<&Slot<V>> {
        self.outputs.iter().find(|(name, _)| *name == var).map(|(_, slot)| slot)
    }

    pub(super) fn set_output(&mut self, var: VarId, slot: Slot<V>) {
        self.outputs.push((var, slot));
    }

    pub(super) fn placed(&self, node: u16) -> Option<usize> {
        self.placed.iter().find(|(name, _)| *name == node).map(|(_, at)| *at)
    }

    /// Takes a node, which stands for `node` of the rewrite.
    pub(super) fn place(&mut self, node: u16, planned: PlannedNode<V>) -> usize {
        self.nodes.push(planned);
        self.placed.push((node, self.nodes.len() - 1));
        self.nodes.len() - 1
    }

    pub(super) fn add_value(&mut self, made: Made) -> Item<V> {
        self.values.push(made);
        self.facts.push(None);
        Item::New(NewId(self.values.len() - 1))
    }

    /// Forgets what is made anew for each of many: `bound` is the number of values of the pattern.
    pub(super) fn forget(&mut self, each: &EachTerm, bound: usize) {
        let lets: &[_] = self.rewrite.map_or(&[], |rewrite| &rewrite.lets[each.lets.clone()]);
        let is_made = |var: VarId| each.fresh.contains(&usize::from(var.0).wrapping_sub(bound));
        self.slots.retain(|(var, _)| !is_made(*var));
        self.attrs.retain(|(var, _)| !lets.iter().any(|(made, _)| made == var));
        self.placed.retain(|(node, _)| !each.nodes.contains(&usize::from(*node)));
    }
}

impl<V: Copy> Slot<V> {
    /// As what a name stands for; `None` where there is a constant of no type among it.
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
