//! Which rules a form owes itself to: the one that made it, and those that made what that one saw.

use std::collections::BTreeSet;

use egg::{Id, Language};
use rustc_hash::FxHashMap;

use crate::egraph::{EGraph, ENode, Step, canonical, gives_constant};
use crate::graph::NodeId;

/// So many steps are looked at for one form, the last ones: of a chain of nodes of which any two in a row make one, each
/// owes itself to all before it.
const MOST_STEPS: usize = 64;

/// The steps of a saturation, by what they made.
pub struct Lineage<'a, 'm> {
    egraph: &'a EGraph<'m>,
    original: &'a FxHashMap<ENode, NodeId>,
    steps: &'a [Step],
    /// The first step that made a call.
    maker: FxHashMap<ENode, usize>,
    /// The steps that said a class to be another one that was there, or a constant.
    joining: FxHashMap<Id, Vec<usize>>,
}

impl<'a, 'm> Lineage<'a, 'm> {
    /// Of a clean e-graph, with the calls that it came with.
    pub fn new(
        egraph: &'a EGraph<'m>,
        original: &'a FxHashMap<ENode, NodeId>,
        steps: &'a [Step],
    ) -> Lineage<'a, 'm> {
        let mut lineage =
            Lineage { egraph, original, steps, maker: FxHashMap::default(), joining: FxHashMap::default() };
        for (at, step) in steps.iter().enumerate() {
            for made in &step.added {
                lineage.maker.entry(canonical(egraph, made)).or_insert(at);
            }
            for &class in &step.joined {
                lineage.joining.entry(egraph.find(class)).or_default().push(at);
            }
        }
        lineage
    }

    /// The code of the rule that made a call which the graph did not come with.
    pub fn maker(&self, call: &ENode) -> Option<&'a str> {
        self.maker.get(call).map(|&at| &*self.steps[at].code)
    }

    /// A step by its number.
    pub fn step(&self, at: usize) -> &'a Step {
        &self.steps[at]
    }

    /// The steps that a form of a class owes itself to, where the nodes of the graph had another.
    pub fn steps(&self, class: Id, form: &ENode) -> BTreeSet<usize> {
        let mut open: BTreeSet<usize> = BTreeSet::new();
        self.owe(&mut open, form);
        match form {
            ENode::Const(_) => self.owe_constant(&mut open, class),
            // What takes the place of a node as it is does so since both are one.
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
            // What a step says, later ones may say of what it made.
            open.retain(|earlier| *earlier < at);
        }
        seen
    }

    /// The steps that said a value to be there already, or to be a constant.
    pub fn equating(&self) -> impl Iterator<Item = (usize, &'a Step)> {
        self.steps.iter().enumerate().filter(|(_, step)| !step.equated.is_empty())
    }

    /// A form that the graph came with owes itself to nobody.
    fn owe(&self, open: &mut BTreeSet<usize>, form: &ENode) {
        if !self.original.contains_key(form) {
            open.extend(self.maker.get(form));
        }
    }

    /// A constant owes itself to the rules that said it to be one; else, perhaps, to those that made a form which gives it.
    fn owe_constant(&self, open: &mut BTreeSet<usize>, class: Id) {
        open.extend(self.joins(class, usize::MAX));
        if open.is_empty() {
            let forms = self.egraph[class].nodes.iter().filter(|form| gives_constant(self.egraph, form));
            forms.for_each(|form| self.owe(open, form));
        }
    }

    /// The last steps before one that joined a class, no more of them than are looked at: of a value that everything
    /// reads, there are as many as nodes.
    fn joins(&self, class: Id, before: usize) -> impl Iterator<Item = usize> {
        let joins = self.joining.get(&class).map_or(&[][..], Vec::as_slice);
        let before = &joins[..joins.partition_point(|&at| at < before)];
        before.iter().rev().take(MOST_STEPS).copied()
    }

    fn joins_below(&self, form: &ENode, before: usize) -> impl Iterator<Item = usize> {
        form.children().iter().flat_map(move |&child| self.joins(self.egraph.find(child), before))
    }
}
