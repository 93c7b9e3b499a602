//! Dtype classes: a union-find of nodes and values that must share one dtype.
//!
//! A class holds a node with the inputs and outputs that follow its dtype (`operand_roles`), the values of a link
//! (`ports`), an input or output of the model, or a sequence with its producer and all its users.

use rustc_hash::{FxHashMap, FxHashSet};

use super::keep_reason::KeepReason;
use super::operand_roles::{AllSlots, OperandRole, OperandRoles, is_float};
use super::ports::{Link, Reader};
use super::range_analysis::is_weight;
use crate::graph::{Def, ElemType, Id, Model, NodeId, ValueId, scopes};
use crate::infer::{Fact, Facts};

/// Index of a dtype class.
pub type DtypeClass = usize;

/// Origin of the dtype of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// The value has the dtype of this class.
    DtypeClass(DtypeClass),
    /// The value can be float32 or narrow: a constant, or a cast of integers or booleans.
    Any,
}

/// Dtype classes of a model, with the reason for each class that is kept in float32.
pub struct DtypeClasses {
    parents: Vec<DtypeClass>,
    stays: Vec<Option<KeepReason>>,
    /// Origin of the dtype of each float32 value.
    pub makers: FxHashMap<ValueId, Maker>,
    /// Uses of each float32 value, with the class that determines the dtype in which it is read.
    pub readers: FxHashMap<ValueId, Vec<(Reader, DtypeClass)>>,
}

/// Class of the values that always remain float32.
pub const STAYS: DtypeClass = 0;

impl DtypeClasses {
    /// Builds the classes of a model from the operand roles and the links.
    /// If `keep_io` is set, the inputs and outputs of the model are kept in float32.
    pub fn of(
        model: &Model,
        facts: &Facts,
        slots: &AllSlots,
        links: &[(Link, bool)],
        keep_io: bool,
    ) -> DtypeClasses {
        let count = 1 + model.nodes.len();
        let mut cells = DtypeClasses {
            parents: (0..count).collect(),
            stays: vec![None; count],
            makers: FxHashMap::default(),
            readers: FxHashMap::default(),
        };
        cells.stays[STAYS] = Some(KeepReason::Type);
        for (&node, slots) in slots {
            cells.stays[cell_of(node)] = slots.as_ref().err().copied();
        }
        let mut tied: FxHashMap<Reader, DtypeClass> = FxHashMap::default();
        for (link, is_free) in links {
            let cell = cells.add((!is_free).then_some(KeepReason::Unknown));
            let values = link.values.iter().filter(|&&value| is_float(&facts[value]));
            cells.makers.extend(values.map(|&value| (value, Maker::DtypeClass(cell))));
            tied.extend(link.readers.iter().map(|&reader| (reader, cell)));
        }
        cells.interface(model, facts, keep_io, &mut tied);
        for graph in scopes::live(model) {
            let scope = &model.graphs[graph];
            for &value in scope.initializers.iter().filter(|&&value| is_float(&facts[value])) {
                if is_weight(model, value) {
                    cells.makers.insert(value, Maker::Any);
                }
            }
            for &node in &scope.nodes {
                cells.node(model, facts, node, slots.get(&node), &tied);
            }
            for (at, port) in scope.outputs.iter().enumerate() {
                let reader = Reader::Result(graph, at);
                if let (Some(&cell), true) = (tied.get(&reader), is_float(&facts[port.value])) {
                    cells.readers.entry(port.value).or_default().push((reader, cell));
                }
            }
        }
        cells.tie_what_cannot_be_cast(facts);
        cells
    }

    /// Adds a class for each float32 input of the model, and for each output that is not an input.
    fn interface(
        &mut self,
        model: &Model,
        facts: &Facts,
        keep_io: bool,
        tied: &mut FxHashMap<Reader, DtypeClass>,
    ) {
        let main = &model.graphs[model.main];
        let kept = keep_io.then_some(KeepReason::Type);
        for port in main.inputs.iter().filter(|port| is_float(&facts[port.value])) {
            let cell = self.add(kept);
            self.makers.insert(port.value, Maker::DtypeClass(cell));
        }
        for (at, port) in main.outputs.iter().enumerate() {
            // A model output that is also a model input has the class of the input.
            let is_given = matches!(model.values[port.value].def, Def::Input(_));
            let cell = match self.makers.get(&port.value).filter(|_| is_given) {
                Some(Maker::DtypeClass(cell)) => *cell,
                _ => self.add(kept),
            };
            tied.insert(Reader::Result(model.main, at), cell);
        }
    }

    /// Adds the inputs and outputs of a node.
    fn node(
        &mut self,
        model: &Model,
        facts: &Facts,
        id: NodeId,
        slots: Option<&Result<OperandRoles, KeepReason>>,
        tied: &FxHashMap<Reader, DtypeClass>,
    ) {
        let node = &model.nodes[id];
        let own = |slot: Option<&OperandRole>| {
            if slot == Some(&OperandRole::Follows) { cell_of(id) } else { STAYS }
        };
        let slots = slots.and_then(|slots| slots.as_ref().ok());
        for (at, input) in node.inputs.iter().enumerate() {
            let Some(value) = input.filter(|&value| is_float(&facts[value])) else { continue };
            let reader = Reader::Input(id, at);
            let by_slot = || own(slots.and_then(|slots| slots.inputs.get(at)));
            let cell = tied.get(&reader).copied().unwrap_or_else(by_slot);
            self.readers.entry(value).or_default().push((reader, cell));
        }
        let is_any = is_there_in_any_type(model, facts, id);
        for (at, output) in node.outputs.iter().enumerate() {
            let Some(value) = output.filter(|&value| is_float(&facts[value])) else { continue };
            let slot = slots.and_then(|slots| slots.outputs.get(at));
            let maker = match is_any && slot == Some(&OperandRole::Follows) {
                true => Maker::Any,
                false => Maker::DtypeClass(own(slot)),
            };
            self.makers.entry(value).or_insert(maker);
        }
    }

    /// Unites the producers and users of sequences and optionals, which Cast does not support.
    fn tie_what_cannot_be_cast(&mut self, facts: &Facts) {
        let readers = std::mem::take(&mut self.readers);
        let mut sorted: Vec<_> = readers.keys().copied().collect();
        sorted.sort_unstable();
        for value in sorted.into_iter().filter(|&value| !matches!(facts[value], Fact::Tensor(_))) {
            let maker = match self.makers.get(&value) {
                Some(Maker::DtypeClass(cell)) => *cell,
                _ => STAYS,
            };
            for &(_, cell) in &readers[&value] {
                self.unite(maker, cell);
            }
        }
        self.readers = readers;
    }

    /// Adds a class; `stays` is the reason to keep the class in float32, if any.
    fn add(&mut self, stays: Option<KeepReason>) -> DtypeClass {
        self.parents.push(self.parents.len());
        self.stays.push(stays);
        self.parents.len() - 1
    }

    /// Unites two classes; the result is kept in float32 if either of them is.
    fn unite(&mut self, a: DtypeClass, b: DtypeClass) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        let (root, child) = (a.min(b), a.max(b));
        self.parents[child] = root;
        if self.stays[child].is_some() && self.stays[root].is_none() {
            self.stays[root] = Some(KeepReason::Tied);
        }
    }

    /// Returns the representative of a class.
    fn root(&self, mut cell: DtypeClass) -> DtypeClass {
        while self.parents[cell] != cell {
            cell = self.parents[cell];
        }
        cell
    }

    /// Keeps a class in float32; the first reason is recorded.
    pub fn keep(&mut self, cell: DtypeClass, why: KeepReason) {
        let root = self.root(cell);
        self.stays[root].get_or_insert(why);
    }

    /// Returns the reason why a class is kept in float32, if it is.
    pub fn why(&self, cell: DtypeClass) -> Option<KeepReason> {
        self.stays[self.root(cell)]
    }

    /// Returns true if a class is kept in float32.
    pub fn is_kept(&self, cell: DtypeClass) -> bool {
        self.why(cell).is_some()
    }

    /// Returns the classes that were united with others.
    pub fn tied(&self) -> FxHashSet<DtypeClass> {
        let parents = self.parents.iter().copied().enumerate();
        parents
            .filter(|(cell, parent)| cell != parent)
            .flat_map(|(cell, _)| [cell, self.root(cell)])
            .collect()
    }

    /// Returns true if a value is narrow in the converted model.
    /// A value that can be float32 or narrow is narrow if it has uses and all of them are narrow.
    pub fn is_narrow(&self, value: ValueId) -> bool {
        match self.makers.get(&value) {
            Some(Maker::DtypeClass(cell)) => !self.is_kept(*cell),
            Some(Maker::Any) => {
                let readers = self.readers.get(&value).map_or(&[][..], Vec::as_slice);
                !readers.is_empty() && readers.iter().all(|&(_, cell)| !self.is_kept(cell))
            }
            None => false,
        }
    }
}

/// Returns the class that a node shares with those of its inputs and outputs that follow its dtype.
pub fn cell_of(node: NodeId) -> DtypeClass {
    node.index() + 1
}

/// Returns true if a node can produce its output as float32 and as the narrow type.
/// This is true for a constant, and for a cast of integers or booleans.
fn is_there_in_any_type(model: &Model, facts: &Facts, id: NodeId) -> bool {
    let node = &model.nodes[id];
    let is_whole =
        |value: ValueId| facts[value].elem().is_some_and(|elem| elem.is_integer() || elem == ElemType::Bool);
    node.is("Constant") || node.is("Cast") && node.input(0).is_some_and(is_whole)
}
