//! Range analysis: magnitudes and origins of float32 values, for the choice of their dtype.
//!
//! Values are assumed to be of ordinary magnitude: trained networks rarely have activations beyond 65504.
//! Larger magnitudes come from constants (masks of -1e9), from operators that leave the ordinary range
//! (squares, exponentials), and from measurements.

use rustc_hash::FxHashMap;

use super::numbers::{Extent, Narrow};
use super::operand_roles::{AllSlots, is_float};
use super::ports::Link;
use super::transfer;
use super::value_range::{Origin, Size, ValueRange};
use crate::graph::{Def, ElemType, GraphId, Id, Initial, Model, NodeId, ValueId, order, scopes};
use crate::infer::Facts;

/// Range facts of all values.
pub struct ValueRanges {
    found: Vec<Option<ValueRange>>,
    narrow: Narrow,
}

/// Number of passes over the model after which a value that still grows becomes [`Size::Wide`].
/// A value that a loop carries may grow in every pass; it is then assumed to grow without bound.
const GROWING: usize = 4;

/// Analyzes all values, including those of subgraphs and functions, until a fixed point is reached.
pub fn reaches(
    model: &Model,
    facts: &Facts,
    slots: &AllSlots,
    links: &[(Link, bool)],
    measured: &FxHashMap<ValueId, f64>,
    narrow: Narrow,
) -> ValueRanges {
    let mut reaches = ValueRanges { found: vec![None; model.values.len()], narrow };
    let live = scopes::live(model);
    live.iter().for_each(|&graph| reaches.given(model, graph, measured));
    let nodes = live.iter().flat_map(|&graph| order::sorted_or_file(model, graph));
    let nodes: Vec<NodeId> = nodes.filter(|node| slots.contains_key(node)).collect();
    let (mut pass, mut is_open) = (0, false);
    loop {
        let mut is_changed = false;
        for &node in &nodes {
            is_changed |= reaches.node(model, facts, node, measured, (pass, is_open));
        }
        for (link, _) in links {
            let from = link.sources(model).filter_map(|value| reaches.found[value.index()]);
            let Some(joined) = from.reduce(|a, b| a.join(b, narrow)) else { continue };
            for &value in &link.values {
                is_changed |= reaches.take(value, joined, pass);
            }
        }
        pass += 1;
        match (is_changed, is_open) {
            (true, _) => {}
            // No fact changed: from now on, inputs that could not be analyzed count as ordinary data.
            (false, false) => is_open = true,
            (false, true) => return reaches,
        }
    }
}

impl ValueRanges {
    /// Returns the facts of a value.
    pub fn of(&self, value: ValueId) -> ValueRange {
        self.found[value.index()].unwrap_or(ValueRange::DATA)
    }

    /// Sets the facts of the initializers of a graph, and of the inputs of the main graph.
    fn given(&mut self, model: &Model, graph: GraphId, measured: &FxHashMap<ValueId, f64>) {
        for port in model.graphs[graph].inputs.iter().filter(|_| graph == model.main) {
            let size = self.measured(measured.get(&port.value)).unwrap_or(Size::Ordinary);
            self.found[port.value.index()] = Some(ValueRange::of(size, Origin::Data));
        }
        for &value in &model.graphs[graph].initializers {
            if is_weight(model, value)
                && let Some(Initial::Dense(tensor)) = model.values[value].initial
            {
                let tensor = &model.tensors[tensor];
                if tensor.elem() == Some(ElemType::Float) {
                    self.found[value.index()] = Some(ValueRange::constant(Extent::of(tensor), self.narrow));
                }
            }
        }
    }

    /// Updates the facts of the outputs of a node; returns true if a fact changed.
    fn node(
        &mut self,
        model: &Model,
        facts: &Facts,
        id: NodeId,
        measured: &FxHashMap<ValueId, f64>,
        (pass, is_open): (usize, bool),
    ) -> bool {
        let node = &model.nodes[id];
        let mut is_changed = false;
        let operand = |at: usize| {
            let value = node.input(at).filter(|&value| is_float(&facts[value]))?;
            Some(self.found[value.index()].or(is_open.then_some(ValueRange::DATA)))
        };
        let Some(mut made) = transfer::made(model, facts, id, &operand, self.narrow) else { return false };
        for &output in node.outputs.iter().flatten().filter(|&&output| is_float(&facts[output])) {
            let is_certain = matches!(made.size, Size::AtMost(_));
            if let Some(size) = self.measured(measured.get(&output)).filter(|_| !is_certain) {
                made.size = size;
            }
            is_changed |= self.take(output, made, pass);
        }
        is_changed
    }

    /// Returns the magnitude for a measured maximum: ordinary if [`HEADROOM`] times the maximum fits.
    fn measured(&self, most: Option<&f64>) -> Option<Size> {
        let size = Size::AtMost(HEADROOM * most?);
        Some(if size.fits(self.narrow) { Size::Ordinary } else { size })
    }

    /// Joins new facts into the facts of a value; returns true if the facts of the value changed.
    fn take(&mut self, value: ValueId, new: ValueRange, pass: usize) -> bool {
        let old = self.found[value.index()];
        let mut joined = old.map_or(new, |old| old.join(new, self.narrow));
        if pass >= GROWING && old.is_some_and(|old| old.size != joined.size) {
            joined.size = Size::Wide;
        }
        self.found[value.index()] = Some(joined);
        old != Some(joined)
    }
}

/// Factor by which values on unmeasured data may exceed the measured maximum.
const HEADROOM: f64 = 2.0;

/// Returns true if a value is an initializer that callers cannot override.
pub fn is_weight(model: &Model, value: ValueId) -> bool {
    const OVERRIDABLE_SINCE: i64 = 4;
    let is_fixed = model.ir_version.is_some_and(|version| version < OVERRIDABLE_SINCE);
    match (&model.values[value].initial, model.values[value].def) {
        (Some(Initial::Dense(_)), Def::Initializer) => true,
        (Some(Initial::Dense(_)), Def::Input(_)) => is_fixed,
        _ => false,
    }
}
