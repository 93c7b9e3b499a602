//! Provenance of e-nodes: the rules that each one derives from.
//!
//! An e-node derives from the rule that created it and, transitively, from the rules that created the
//! e-nodes that this rule matched.

use std::collections::BTreeSet;

use egg::{Id, Language};
use rustc_hash::FxHashMap;

use crate::egraph::{EGraph, ENode, Step, canonical, gives_constant};
use crate::graph::NodeId;

/// Maximum number of steps in the provenance of an e-node. The latest steps are kept.
/// In a chain that is fused pairwise, each step derives from all previous ones.
const MOST_STEPS: usize = 64;

/// Steps of a saturation, indexed by the calls that they added and the classes that they merged.
pub struct Provenance<'a, 'm> {
    egraph: &'a EGraph<'m>,
    original: &'a FxHashMap<ENode, NodeId>,
    steps: &'a [Step],
    /// First step that created each call.
    maker: FxHashMap<ENode, usize>,
    /// Steps that merged each class with an existing one, or with a constant.
    joining: FxHashMap<Id, Vec<usize>>,
}

impl<'a, 'm> Provenance<'a, 'm> {
    /// Indexes the steps of a rebuilt e-graph; `original` holds the calls of the source graph.
    pub fn new(
        egraph: &'a EGraph<'m>,
        original: &'a FxHashMap<ENode, NodeId>,
        steps: &'a [Step],
    ) -> Provenance<'a, 'm> {
        let mut provenance = Provenance {
            egraph,
            original,
            steps,
            maker: FxHashMap::default(),
            joining: FxHashMap::default(),
        };
        for (at, step) in steps.iter().enumerate() {
            for made in &step.added {
                provenance.maker.entry(canonical(egraph, made)).or_insert(at);
            }
            for &class in &step.joined {
                provenance.joining.entry(egraph.find(class)).or_default().push(at);
            }
        }
        provenance
    }

    /// Returns the code of the rule that first added a call, if one did.
    pub fn maker(&self, call: &ENode) -> Option<&'a str> {
        self.maker.get(call).map(|&at| &*self.steps[at].code)
    }

    /// Returns a step by index.
    pub fn step(&self, at: usize) -> &'a Step {
        &self.steps[at]
    }

    /// Returns the steps from which an e-node of a class derives.
    pub fn steps(&self, class: Id, form: &ENode) -> BTreeSet<usize> {
        let mut open: BTreeSet<usize> = BTreeSet::new();
        self.owe(&mut open, form);
        match form {
            ENode::Const(_) => self.owe_constant(&mut open, class),
            // A value used in place of a node is justified by the step that merged their classes.
            _ if open.is_empty() => open.extend(self.joins(class, usize::MAX)),
            _ => open.extend(self.joins_below(form, usize::MAX)),
        }
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        while let Some(at) = open.pop_last() {
            if seen.len() == MOST_STEPS || !seen.insert(at) {
                continue;
            }
            for matched in &self.steps[at].matched {
                let matched = canonical(self.egraph, matched);
                self.owe(&mut open, &matched);
                open.extend(self.joins_below(&matched, at));
            }
            // A step derives only from earlier steps.
            open.retain(|earlier| *earlier < at);
        }
        seen
    }

    /// Iterates over the steps that merged classes without adding calls.
    pub fn equating(&self) -> impl Iterator<Item = (usize, &'a Step)> {
        self.steps.iter().enumerate().filter(|(_, step)| !step.equated.is_empty())
    }

    /// Adds the step that created an e-node; original e-nodes have none.
    fn owe(&self, open: &mut BTreeSet<usize>, form: &ENode) {
        if !self.original.contains_key(form) {
            open.extend(self.maker.get(form));
        }
    }

    /// Adds the steps that merged a class with its constant.
    /// If no step merged them, adds the steps that created e-nodes of the class with a constant value.
    fn owe_constant(&self, open: &mut BTreeSet<usize>, class: Id) {
        open.extend(self.joins(class, usize::MAX));
        if open.is_empty() {
            let forms = self.egraph[class].nodes.iter().filter(|form| gives_constant(self.egraph, form));
            forms.for_each(|form| self.owe(open, form));
        }
    }

    /// Returns the latest steps, before the step `before`, in which a class was merged.
    /// At most [`MOST_STEPS`] steps are returned.
    /// The limit matters for a heavily used value, which may have as many steps as the graph has nodes.
    fn joins(&self, class: Id, before: usize) -> impl Iterator<Item = usize> {
        let joins = self.joining.get(&class).map_or(&[][..], Vec::as_slice);
        let before = &joins[..joins.partition_point(|&at| at < before)];
        before.iter().rev().take(MOST_STEPS).copied()
    }

    fn joins_below(&self, form: &ENode, before: usize) -> impl Iterator<Item = usize> {
        form.children().iter().flat_map(move |&child| self.joins(self.egraph.find(child), before))
    }
}
