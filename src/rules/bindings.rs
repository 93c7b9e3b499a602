//! Bindings of pattern variables, during and after matching.

use std::sync::Arc;

use crate::rules::datum::Datum;
use crate::rules::rule::{AttrVarId, Count, Direction, Pattern, VarId};

/// Binding of a value variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding<V> {
    One(V),
    /// `b?` without a value.
    Absent,
    /// `xs...`.
    Many(Arc<[V]>),
}

impl<V: Copy> Binding<V> {
    /// Maps the bound values.
    pub fn map<W>(&self, change: impl Fn(V) -> W) -> Binding<W> {
        match self {
            Binding::One(value) => Binding::One(change(*value)),
            Binding::Absent => Binding::Absent,
            Binding::Many(values) => Binding::Many(values.iter().copied().map(change).collect()),
        }
    }
}

/// Match of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Match<V, N> {
    /// Matched node for each node of the pattern.
    pub nodes: Vec<N>,
    values: Vec<Option<Binding<V>>>,
    attrs: Vec<Option<Datum>>,
    /// Variable of each `..@rest`, and the attributes that it binds.
    rests: Vec<(AttrVarId, Rest)>,
}

/// Names and values of the attributes that a pattern does not name, in the order of the node.
pub type Rest = Arc<[(Arc<str>, Datum)]>;

impl<V: Copy, N> Match<V, N> {
    /// Creates a match of one node without variables.
    pub fn of_node(node: N) -> Self {
        Match { nodes: vec![node], values: Vec::new(), attrs: Vec::new(), rests: Vec::new() }
    }

    /// Returns the binding of a variable, or `None` if the pattern does not bind the variable.
    pub fn value(&self, var: VarId) -> Option<&Binding<V>> {
        self.values.get(usize::from(var.0))?.as_ref()
    }

    /// Returns the number of pattern variables, after which the variables of the rewrite are numbered.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Returns the value of a variable that binds exactly one value.
    pub fn one(&self, var: VarId) -> Option<V> {
        match self.value(var)? {
            Binding::One(value) => Some(*value),
            Binding::Absent | Binding::Many(_) => None,
        }
    }

    /// Iterates over all bound values, variable by variable.
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

    /// Returns the value of an attribute variable.
    pub fn attr(&self, var: AttrVarId) -> Option<&Datum> {
        self.attrs.get(usize::from(var.0))?.as_ref()
    }

    /// Returns the attributes bound by `..@rest`.
    pub fn rest(&self, var: AttrVarId) -> Option<&Rest> {
        self.rests.iter().find(|(name, _)| *name == var).map(|(_, rest)| rest)
    }

    /// Binds an attribute variable.
    pub(super) fn set_attr(&mut self, var: AttrVarId, datum: Datum) {
        if let Some(slot) = self.attrs.get_mut(usize::from(var.0)) {
            *slot = Some(datum);
        }
    }
}

/// Partial match.
#[derive(Clone, Debug)]
pub(super) struct State<V, N> {
    nodes: Vec<Option<N>>,
    values: Vec<Option<Binding<V>>>,
    attrs: Vec<Option<Datum>>,
    rests: Vec<(AttrVarId, Rest)>,
}

impl<V: Copy + Eq, N: Copy + Eq> State<V, N> {
    /// Creates a state without bindings.
    pub fn new(direction: &Direction) -> Self {
        Self::for_pattern(&direction.pattern, direction)
    }

    /// Creates an empty state for `pattern`, which contains only the last nodes of the pattern of
    /// `direction`.
    pub fn for_pattern(pattern: &Pattern, direction: &Direction) -> Self {
        let mut state = State {
            nodes: vec![None; pattern.nodes.len()],
            values: vec![None; pattern.values.len()],
            attrs: vec![None; direction.attr_vars.len()],
            rests: Vec::new(),
        };
        for var in &direction.absent.values {
            let at = usize::from(var.0);
            let is_list = pattern.values[at].count == Count::Many;
            state.values[at] = Some(if is_list { Binding::Many(Arc::default()) } else { Binding::Absent });
        }
        for var in &direction.absent.attrs {
            state.attrs[usize::from(var.0)] = Some(Datum::Absent);
        }
        state
    }

    /// Returns the node bound to a pattern node.
    pub fn node(&self, index: usize) -> Option<N> {
        self.nodes[index]
    }

    /// Binds a pattern node.
    pub fn set_node(&mut self, index: usize, node: N) {
        self.nodes[index] = Some(node);
    }

    /// Returns the binding of a variable.
    pub fn value(&self, var: VarId) -> Option<&Binding<V>> {
        self.values[usize::from(var.0)].as_ref()
    }

    /// Binds a variable; returns false if the variable is already bound to a different value.
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

    /// Binds an attribute variable; returns false if the variable is already bound to a different datum.
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

    /// Records the attributes of a `..@rest`.
    pub fn keep(&mut self, var: AttrVarId, rest: Rest) {
        self.rests.push((var, rest));
    }

    /// Completes the match. Returns `None` if a node of the pattern is unmatched.
    pub fn finish(self) -> Option<Match<V, N>> {
        let nodes = self.nodes.into_iter().collect::<Option<Vec<N>>>()?;
        Some(Match { nodes, values: self.values, attrs: self.attrs, rests: self.rests })
    }
}
