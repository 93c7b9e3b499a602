//! What the variables of a pattern stand for, while it is being matched and after.

use std::sync::Arc;

use crate::rules::datum::Datum;
use crate::rules::rule::{AttrVarId, Direction, Pattern, VarId};

/// What a value variable stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding<V> {
    One(V),
    /// `b?` where nothing is.
    Absent,
    /// `xs...`.
    Many(Arc<[V]>),
}

impl<V: Copy> Binding<V> {
    /// The same of other values.
    pub fn map<W>(&self, change: impl Fn(V) -> W) -> Binding<W> {
        match self {
            Binding::One(value) => Binding::One(change(*value)),
            Binding::Absent => Binding::Absent,
            Binding::Many(values) => Binding::Many(values.iter().copied().map(change).collect()),
        }
    }
}

/// One way in which a pattern fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Match<V, N> {
    /// The node for each node of the pattern.
    pub nodes: Vec<N>,
    values: Vec<Option<Binding<V>>>,
    attrs: Vec<Option<Datum>>,
    /// The attributes behind each `..@rest`, by name.
    rests: Vec<(AttrVarId, Rest)>,
}

/// Attributes that a pattern does not name, in the order of the node.
pub type Rest = Arc<[(Arc<str>, Datum)]>;

impl<V: Copy, N> Match<V, N> {
    /// What a variable stands for; `None` for one that only the rewrite has.
    pub fn value(&self, var: VarId) -> Option<&Binding<V>> {
        self.values.get(usize::from(var.0))?.as_ref()
    }

    /// How many variables the pattern has: those of a rewrite come after them.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// The value of a variable that stands for exactly one.
    pub fn one(&self, var: VarId) -> Option<V> {
        match self.value(var)? {
            Binding::One(value) => Some(*value),
            Binding::Absent | Binding::Many(_) => None,
        }
    }

    /// Every value that a variable stands for, variable by variable.
    pub fn bound_values(&self) -> impl Iterator<Item = V> + '_ {
        self.values
            .iter()
            .flatten()
            .flat_map(|binding| match binding {
                Binding::One(value) => std::slice::from_ref(value),
                Binding::Many(values) => values,
                Binding::Absent => &[],
            })
            .copied()
    }

    pub fn attr(&self, var: AttrVarId) -> Option<&Datum> {
        self.attrs.get(usize::from(var.0))?.as_ref()
    }

    pub fn rest(&self, var: AttrVarId) -> Option<&Rest> {
        self.rests.iter().find(|(name, _)| *name == var).map(|(_, rest)| rest)
    }

    pub(super) fn set_attr(&mut self, var: AttrVarId, datum: Datum) {
        if let Some(slot) = self.attrs.get_mut(usize::from(var.0)) {
            *slot = Some(datum);
        }
    }
}

/// A match in the making.
#[derive(Clone, Debug)]
pub(super) struct State<V, N> {
    nodes: Vec<Option<N>>,
    values: Vec<Option<Binding<V>>>,
    attrs: Vec<Option<Datum>>,
    rests: Vec<(AttrVarId, Rest)>,
}

impl<V: Copy + Eq, N: Copy + Eq> State<V, N> {
    pub fn new(direction: &Direction) -> Self {
        Self::for_pattern(&direction.pattern, direction)
    }

    /// For a pattern that is part of the one of `direction`.
    pub fn for_pattern(pattern: &Pattern, direction: &Direction) -> Self {
        State {
            nodes: vec![None; pattern.nodes.len()],
            values: vec![None; pattern.values.len()],
            attrs: vec![None; direction.attr_vars.len()],
            rests: Vec::new(),
        }
    }

    pub fn node(&self, index: usize) -> Option<N> {
        self.nodes[index]
    }

    pub fn set_node(&mut self, index: usize, node: N) {
        self.nodes[index] = Some(node);
    }

    pub fn value(&self, var: VarId) -> Option<&Binding<V>> {
        self.values[usize::from(var.0)].as_ref()
    }

    /// Binds a variable; false where it stands for something else already.
    #[must_use]
    pub fn bind(&mut self, var: VarId, binding: Binding<V>) -> bool {
        let slot = &mut self.values[usize::from(var.0)];
        match slot {
            Some(bound) => *bound == binding,
            None => {
                *slot = Some(binding);
                true
            }
        }
    }

    /// As [`State::bind`], for an attribute.
    #[must_use]
    pub fn bind_attr(&mut self, var: AttrVarId, datum: Datum) -> bool {
        let slot = &mut self.attrs[usize::from(var.0)];
        match slot {
            Some(bound) => *bound == datum,
            None => {
                *slot = Some(datum);
                true
            }
        }
    }

    pub fn keep(&mut self, var: AttrVarId, rest: Rest) {
        self.rests.push((var, rest));
    }

    /// The match, once every node of the pattern has been found.
    pub fn finish(self) -> Option<Match<V, N>> {
        let nodes = self.nodes.into_iter().collect::<Option<Vec<N>>>()?;
        Some(Match { nodes, values: self.values, attrs: self.attrs, rests: self.rests })
    }
}
