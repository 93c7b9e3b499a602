//! How large values get, and what they are made of, as far as that decides about their type.
//!
//! Values of a model are of ordinary size unless something says otherwise: nobody trains a network whose activations
//! pass 65504. What says otherwise are constants (masks of -1e9), operators that leave that range (squares, exponentials),
//! and what was measured.

use rustc_hash::FxHashMap;

use super::numbers::{Extent, Narrow};
use super::operand_roles::{AllSlots, is_float};
use super::ports::Link;
use super::transfer;
use crate::graph::{AttrValue, Def, ElemType, GraphId, Id, Initial, Model, NodeId, ValueId, order, scopes};
use crate::infer::Facts;

/// How large the elements of a value get.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// As large as those of any network.
    Ordinary,
    /// No larger than this, for certain, infinities left aside.
    AtMost(f64),
    /// Maybe too large, where others are of ordinary size.
    Wide,
}

/// What a value is computed of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Constants alone.
    Constants,
    /// Integers, and constants: sizes, positions, counts.
    Integers,
    /// Inputs of float32, products with weights.
    Data,
}

/// What is known of a value of float32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueRange {
    pub size: Size,
    pub origin: Origin,
    /// A small number that keeps it from being zero; infinite where there is none.
    pub guard: f64,
    /// The least magnitude of its elements that are not zero, where it is a constant; else 0.
    pub least: f64,
    /// Computed of what the model cast to float32 by intent.
    pub is_meant: bool,
}

impl ValueRange {
    pub const DATA: ValueRange = ValueRange {
        size: Size::Ordinary,
        origin: Origin::Data,
        guard: f64::INFINITY,
        least: 0.0,
        is_meant: false,
    };

    pub fn of(size: Size, origin: Origin) -> ValueRange {
        ValueRange { size, origin, ..ValueRange::DATA }
    }

    /// What holds of a constant.
    pub fn constant(extent: Option<Extent>, narrow: Narrow) -> ValueRange {
        let Some(extent) = extent else { return ValueRange::of(Size::Ordinary, Origin::Constants) };
        let is_guard = extent.is_nonzero && extent.largest < narrow.tiny;
        let guard = if is_guard { extent.least } else { f64::INFINITY };
        let size = Size::AtMost(extent.largest);
        ValueRange { size, origin: Origin::Constants, guard, least: extent.least, is_meant: false }
    }

    /// What holds of either.
    pub fn join(self, other: ValueRange, narrow: Narrow) -> ValueRange {
        ValueRange {
            size: self.size.join(other.size, narrow),
            origin: self.origin.max(other.origin),
            guard: self.guard.min(other.guard),
            least: self.least.min(other.least),
            is_meant: self.is_meant || other.is_meant,
        }
    }
}

impl Size {
    pub fn fits(self, narrow: Narrow) -> bool {
        match self {
            Size::Ordinary => true,
            Size::AtMost(most) => most <= narrow.largest,
            Size::Wide => false,
        }
    }

    pub fn join(self, other: Size, narrow: Narrow) -> Size {
        match (self, other) {
            (Size::Wide, _) | (_, Size::Wide) => Size::Wide,
            (Size::AtMost(a), Size::AtMost(b)) => Size::AtMost(a.max(b)),
            (Size::Ordinary, other) | (other, Size::Ordinary) => {
                if other.fits(narrow) {
                    Size::Ordinary
                } else {
                    other
                }
            }
        }
    }
}

/// What is known of all values.
pub struct ValueRanges {
    found: Vec<Option<ValueRange>>,
    narrow: Narrow,
}

/// After so many passes over the model, what still grows is taken to grow without end: what loops carry.
const GROWING: usize = 4;

/// Finds out about every value, bodies and functions included: as often as what goes in there changes.
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
            // What nothing goes into is like any input.
            (false, false) => is_open = true,
            (false, true) => return reaches,
        }
    }
}

impl ValueRanges {
    pub fn of(&self, value: ValueId) -> ValueRange {
        self.found[value.index()].unwrap_or(ValueRange::DATA)
    }

    /// What the initializers of a graph hold, and the inputs of the main one.
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

    /// What was measured, unless it is ordinary: what is certain of constants holds on all data.
    fn measured(&self, most: Option<&f64>) -> Option<Size> {
        let size = Size::AtMost(HEADROOM * most?);
        Some(if size.fits(self.narrow) { Size::Ordinary } else { size })
    }

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

/// What was measured is taken to be this much larger on other data.
const HEADROOM: f64 = 2.0;

/// Whether a value is a constant that the file holds: an initializer that no caller can replace.
pub fn is_weight(model: &Model, value: ValueId) -> bool {
    const OVERRIDABLE_SINCE: i64 = 4;
    let is_fixed = model.ir_version.is_some_and(|version| version < OVERRIDABLE_SINCE);
    match (&model.values[value].initial, model.values[value].def) {
        (Some(Initial::Dense(_)), Def::Initializer) => true,
        (Some(Initial::Dense(_)), Def::Input(_)) => is_fixed,
        _ => false,
    }
}

/// The extent of what a `Constant` holds.
pub fn extent_of_constant(model: &Model, id: NodeId) -> Option<Extent> {
    let node = &model.nodes[id];
    let of = |numbers: &[f32]| {
        let mut sizes = numbers.iter().map(|x| f64::from(x.abs())).filter(|x| x.is_finite());
        let nonzero = sizes.clone().filter(|&x| x > 0.0);
        let is_nonzero = !numbers.is_empty() && sizes.all(|x| x > 0.0);
        Extent {
            largest: nonzero.clone().fold(0.0, f64::max),
            least: nonzero.fold(f64::INFINITY, f64::min),
            is_nonzero,
        }
    };
    node.attrs.iter().find_map(|attr| match &attr.value {
        AttrValue::Tensor(tensor) => Extent::of(&model.tensors[*tensor]),
        AttrValue::Float(number) => Some(of(&[*number])),
        AttrValue::Floats(numbers) => Some(of(numbers)),
        _ => None,
    })
}
