//! Decides which nodes are narrowed and which are kept in float32.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::dtype_classes::{DtypeClass, DtypeClasses, Maker, cell_of};
use super::keep_reason::KeepReason;
use super::numbers::Narrow;
use super::operand_roles::{AllSlots, OperandRole, OperandRoles, is_float};
use super::ports::{Link, Reader};
use super::range_analysis::ValueRanges;
use super::transfer::{FEW, summed};
use super::value_range::{Origin, Size, ValueRange};
use crate::graph::{ElemType, Model, NodeId, ValueId, scopes};
use crate::infer::Facts;
use crate::schema::operator::{Work, operator};

/// Inputs for the choice of each dtype: the model and its analyses.
pub struct PrecisionAnalysis<'a> {
    /// Source model.
    pub model: &'a Model,
    /// Inferred facts.
    pub facts: &'a Facts,
    /// Result of the range analysis.
    pub reaches: &'a ValueRanges,
    /// Target type.
    pub narrow: Narrow,
}

impl PrecisionAnalysis<'_> {
    /// Keeps each node in float32 for which `why` finds a reason.
    pub fn keep(&self, cells: &mut DtypeClasses, slots: &AllSlots) {
        let mut nodes: Vec<NodeId> = slots.keys().copied().collect();
        nodes.sort_unstable();
        for node in nodes {
            if let Some(why) = self.why(node) {
                cells.keep(cell_of(node), why);
            }
        }
    }

    /// Keeps linked values and inputs and outputs of the model in float32 if the narrow type is too small.
    pub fn keep_links(&self, cells: &mut DtypeClasses, links: &[(Link, bool)]) {
        // Keep linked values and model inputs that would overflow in the narrow type.
        let main = &self.model.graphs[self.model.main];
        let given = main.inputs.iter().map(|port| port.value);
        let tied = links.iter().flat_map(|(link, _)| link.values.iter().copied());
        for value in tied.chain(given).filter(|&value| is_float(&self.facts[value])) {
            let fits = self.reaches.of(value).size.fits(self.narrow);
            if let (false, Some(&Maker::DtypeClass(cell))) = (fits, cells.makers.get(&value)) {
                cells.keep(cell, KeepReason::Overflows);
            }
        }
        for port in main.outputs.iter().filter(|port| is_float(&self.facts[port.value])) {
            // A bound up to `2 * largest` is no proof: for data plus a large constant, the bound is a guess.
            let is_certain = match self.reaches.of(port.value).size {
                Size::AtMost(most) => most > 2.0 * self.narrow.largest,
                Size::Ordinary | Size::Wide => false,
            };
            let readers = cells.readers.get(&port.value).into_iter().flatten();
            let result = readers.filter(
                |(reader, _)| matches!(reader, Reader::Result(graph, _) if *graph == self.model.main),
            );
            let own: Vec<DtypeClass> = result.map(|&(_, cell)| cell).collect();
            own.into_iter().filter(|_| is_certain).for_each(|cell| cells.keep(cell, KeepReason::Overflows));
        }
    }

    /// Returns the reason to keep a node, regardless of the nodes around it.
    fn why(&self, id: NodeId) -> Option<KeepReason> {
        let node = &self.model.nodes[id];
        let is_bound = |at: usize| node.is("Clip") && at > 0;
        let inputs = node.inputs.iter().enumerate().filter_map(|(at, input)| Some((at, (*input)?)));
        let inputs: Vec<(usize, ValueId)> =
            inputs.filter(|(_, value)| is_float(&self.facts[*value])).collect();
        let outputs = node.outputs.iter().flatten().copied().filter(|&value| is_float(&self.facts[value]));
        let outputs: Vec<ValueId> = outputs.collect();
        if node.is("Constant") {
            return None;
        }
        let read =
            || inputs.iter().filter(|(at, _)| !is_bound(*at)).map(|&(_, value)| self.reaches.of(value));
        let made = || outputs.iter().map(|&value| self.reaches.of(value));
        let is_large = |reach: ValueRange| !reach.size.fits(self.narrow);
        if inputs.iter().any(|&(_, value)| self.reaches.of(value).guard < self.narrow.tiny) {
            return Some(KeepReason::Tiny);
        }
        if let Some(reach) = read().chain(made()).find(|&reach| is_large(reach)) {
            let is_certain = matches!(reach.size, Size::AtMost(_));
            let is_sum = summing(&node.op_type) && !read().any(is_large);
            let is_added = ["Add", "Sub", "Sum"].iter().any(|op| node.is(op)) && !read().any(is_large);
            return Some(match (is_added, is_sum, is_certain) {
                (true, ..) => KeepReason::Absorbs,
                (_, true, _) => KeepReason::Sums,
                (.., true) => KeepReason::Overflows,
                _ => KeepReason::Passes,
            });
        }
        if read().chain(made()).any(|reach| reach.is_meant) && !self.is_product(id) {
            return Some(KeepReason::Meant);
        }
        let is_counted = |origin: Option<Origin>| origin == Some(Origin::Integers);
        if !inputs.is_empty() && is_counted(read().chain(made()).map(|reach| reach.origin).max()) {
            return Some(KeepReason::Counts);
        }
        let is_long = || summed(self.model, self.facts, id).is_none_or(|count| count > FEW);
        let is_default = node.domain().is_empty();
        match &*node.op_type {
            "ReduceL2" | "ReduceLogSumExp" | "ReduceLogSum" | "ReduceMean" | "ReduceSum" | "ReduceL1"
            | "CumSum"
                if is_default && is_long() =>
            {
                Some(KeepReason::Sums)
            }
            "MeanVarianceNormalization" | "LpNormalization" | "LRN" | "GlobalLpPool" | "LpPool" | "Det"
                if is_default && self.narrow.elem == ElemType::Float16 =>
            {
                Some(KeepReason::Passes)
            }
            _ => None,
        }
    }

    /// Returns true for operators that sum products, such as MatMul and Conv.
    fn is_product(&self, id: NodeId) -> bool {
        let node = &self.model.nodes[id];
        operator(node.domain(), &node.op_type).is_some_and(|operator| operator.work == Work::Product)
    }

    /// Keeps more nodes in float32, if that reduces the number of casts.
    /// Products are excluded, because narrow weights save more than a cast costs.
    pub fn grow(&self, cells: &mut DtypeClasses, slots: &AllSlots) {
        let tied = cells.tied();
        let mut counts: FxHashMap<ValueId, [usize; 2]> = FxHashMap::default();
        for (&value, readers) in &cells.readers {
            let mut wanted = [0, 0];
            readers.iter().for_each(|&(_, cell)| wanted[usize::from(cells.is_kept(cell))] += 1);
            counts.insert(value, wanted);
        }
        let live = scopes::live(self.model);
        let nodes = live.iter().flat_map(|&graph| &self.model.graphs[graph].nodes).copied();
        let mut open: VecDeque<NodeId> = nodes.filter(|node| slots.contains_key(node)).collect();
        while let Some(id) = open.pop_front() {
            let cell = cell_of(id);
            let is_free = !cells.is_kept(cell) && !tied.contains(&cell) && !self.is_product(id);
            let Some(Ok(slots)) = slots.get(&id) else { continue };
            if !is_free || !self.is_cheaper(cells, &counts, id, slots) {
                continue;
            }
            cells.keep(cell, KeepReason::Around);
            let node = &self.model.nodes[id];
            for (at, value) in node.inputs.iter().enumerate() {
                let Some(value) = *value else { continue };
                if slots.inputs[at] == OperandRole::Follows
                    && let Some([narrow, wide]) = counts.get_mut(&value)
                {
                    (*narrow, *wide) = (narrow.saturating_sub(1), *wide + 1);
                    open.extend(self.model.producer(value).map(|(node, _)| node));
                }
            }
            for value in node.outputs.iter().flatten() {
                let readers = cells.readers.get(value).into_iter().flatten();
                open.extend(readers.filter_map(|(reader, _)| match reader {
                    Reader::Input(node, _) => Some(*node),
                    Reader::Result(..) => None,
                }));
            }
        }
    }

    /// Returns true if keeping a narrow node reduces the number of casts around it.
    fn is_cheaper(
        &self,
        cells: &DtypeClasses,
        counts: &FxHashMap<ValueId, [usize; 2]>,
        id: NodeId,
        slots: &OperandRoles,
    ) -> bool {
        let node = &self.model.nodes[id];
        let (mut now, mut then) = (0, 0);
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        for (at, value) in node.inputs.iter().enumerate() {
            let Some(value) = value.filter(|_| slots.inputs[at] == OperandRole::Follows) else {
                continue;
            };
            let Some(Maker::DtypeClass(maker)) = cells.makers.get(&value) else { continue };
            if !seen.insert(value) {
                continue;
            }
            let [narrow, wide] = counts.get(&value).copied().unwrap_or_default();
            let times = node.inputs.iter().filter(|input| **input == Some(value)).count();
            match cells.is_kept(*maker) {
                true => {
                    now += usize::from(narrow > 0);
                    then += usize::from(narrow > times);
                }
                false => {
                    now += usize::from(wide > 0);
                    then += 1;
                }
            }
        }
        for (at, value) in node.outputs.iter().enumerate() {
            let Some(value) = value.filter(|_| slots.outputs[at] == OperandRole::Follows) else {
                continue;
            };
            let [narrow, wide] = counts.get(&value).copied().unwrap_or_default();
            now += usize::from(wide > 0);
            then += usize::from(narrow > 0);
        }
        then < now
    }
}

/// Returns true for operators that sum elements.
fn summing(op: &str) -> bool {
    matches!(op, "ReduceSum" | "ReduceL1" | "CumSum")
}
