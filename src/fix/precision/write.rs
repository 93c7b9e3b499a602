//! Writes the decided dtypes into the model: weights, attributes, casts and declarations.

use rustc_hash::{FxHashMap, FxHashSet};

use super::attributes::{self, declare};
use super::dtype_classes::{DtypeClass, DtypeClasses};
use super::numbers::Narrow;
use super::ports::{Calls, Reader};
use super::range_analysis::is_weight;
use crate::diag::rule_ids::NARROWED_NUMBERS;
use crate::edit::{By, Change, Names, Safety, Site};
use crate::graph::{
    AttrValue, Attribute, Def, ElemType, GraphId, Initial, Metadata, Model, Node, NodeId, TensorId, Value,
    ValueId,
};

/// Applies the decided dtypes to the model, and returns the changes.
pub fn write(
    model: &mut Model,
    names: &mut Names,
    cells: &DtypeClasses,
    calls: &Calls,
    narrow: Narrow,
) -> Vec<Change> {
    let mut writer = Writer {
        model,
        names,
        cells,
        calls,
        narrow,
        behind: FxHashMap::default(),
        first: FxHashMap::default(),
        renamed: FxHashSet::default(),
        changes: Vec::new(),
    };
    let mut values: Vec<ValueId> = cells.makers.keys().copied().collect();
    values.sort_unstable();
    writer.nodes(&values);
    for &value in &values {
        match is_weight(writer.model, value) && matches!(writer.model.values[value].def, Def::Initializer) {
            true => writer.weight(value),
            false => writer.value(value),
        }
    }
    writer.place();
    writer.declare();
    writer.changes
}

/// State of writing.
struct Writer<'a> {
    model: &'a mut Model,
    names: &'a mut Names,
    cells: &'a DtypeClasses,
    calls: &'a Calls,
    narrow: Narrow,
    /// New casts, by the producer of their input.
    behind: FxHashMap<NodeId, Vec<NodeId>>,
    /// New casts of graph inputs and initializers, by graph.
    first: FxHashMap<GraphId, Vec<NodeId>>,
    /// Model outputs that a new cast produces.
    renamed: FxHashSet<ValueId>,
    changes: Vec<Change>,
}

impl Writer<'_> {
    /// Records a change.
    fn note(&mut self, at: Site, what: impl Into<String>) {
        let by = By { safety: Safety::Rounding, ..By::from(NARROWED_NUMBERS) };
        self.changes.push(Change::new(by, at, what));
    }

    /// Updates the attributes of producers of narrow values, and records each narrowed node as a change.
    fn nodes(&mut self, values: &[ValueId]) {
        let mut nodes: Vec<NodeId> = Vec::new();
        for &value in values.iter().filter(|&&value| self.cells.is_narrow(value)) {
            nodes.extend(self.model.producer(value).map(|(node, _)| node));
            let readers = self.cells.readers.get(&value).into_iter().flatten();
            nodes.extend(readers.filter_map(|&(reader, cell)| match reader {
                Reader::Input(node, _) if !self.cells.is_kept(cell) => Some(node),
                _ => None,
            }));
        }
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            let outputs = self.model.nodes[node].outputs.iter().flatten();
            // A node without narrow outputs keeps its attributes.
            let is_own = outputs.clone().any(|&output| self.cells.is_narrow(output));
            if self.model.nodes[node].graphs().next().is_some() || self.calls.contains_key(&node) {
                continue;
            }
            if is_own {
                attributes::narrow(self.model, node, self.narrow);
            }
            self.note(Site::Node(node), format!("computed in {}", self.narrow.elem));
        }
    }

    /// Stores a weight once for each dtype in which it is read.
    fn weight(&mut self, value: ValueId) {
        let readers = self.cells.readers.get(&value).cloned().unwrap_or_default();
        let is_narrow = |cell: &DtypeClass| !self.cells.is_kept(*cell);
        if !readers.iter().any(|(_, cell)| is_narrow(cell)) {
            return;
        }
        let Some(Initial::Dense(tensor)) = self.model.values[value].initial else { return };
        let Some(narrowed) = self.narrow.tensor(&self.model.tensors[tensor]) else {
            return self.value(value);
        };
        let is_result = |(reader, _): &&(Reader, DtypeClass)| matches!(reader, Reader::Result(graph, _) if *graph == self.model.main);
        let own = readers
            .iter()
            .find(is_result)
            .map_or(readers.iter().all(|(_, cell)| is_narrow(cell)), |(_, cell)| is_narrow(cell));
        let others: Vec<Reader> =
            readers.iter().filter(|(_, cell)| is_narrow(cell) != own).map(|&(reader, _)| reader).collect();
        let narrowed = self.model.tensors.push(narrowed);
        let (kept, copied) = if own { (narrowed, tensor) } else { (tensor, narrowed) };
        self.model.values[value].initial = Some(Initial::Dense(kept));
        if !others.is_empty() {
            let copy = self.copy(value, copied);
            others.into_iter().for_each(|reader| self.rewire(reader, copy));
        }
        self.note(Site::Value(value), format!("stored in {}", self.narrow.elem));
    }

    /// Inserts an initializer like `value` that holds `tensor`.
    fn copy(&mut self, value: ValueId, tensor: TensorId) -> ValueId {
        let graph = self.model.values[value].graph;
        let name = self.names.fresh(&self.model.values[value].name.clone(), Some(NARROWED_NUMBERS.code));
        self.model.tensors[tensor].name = Some(name.clone());
        let initial = Some(Initial::Dense(tensor));
        let copy = self.model.values.push(Value { name, graph, def: Def::Initializer, initial });
        self.model.graphs[graph].initializers.push(copy);
        copy
    }

    /// Inserts at most one cast of a value, for all uses with a dtype other than that of the value.
    fn value(&mut self, value: ValueId) {
        let is_narrow = match self.model.values[value].def {
            // The elements of this weight are not available, so it stays in float32.
            Def::Initializer => false,
            _ => self.cells.is_narrow(value),
        };
        if is_narrow
            && let (Def::Input(_), Some(Initial::Dense(tensor))) =
                (self.model.values[value].def, &self.model.values[value].initial)
            && let Some(narrowed) = self.narrow.tensor(&self.model.tensors[*tensor])
        {
            self.model.values[value].initial = Some(Initial::Dense(self.model.tensors.push(narrowed)));
        }
        let readers = self.cells.readers.get(&value).cloned().unwrap_or_default();
        let (same, others): (Vec<_>, Vec<_>) =
            readers.into_iter().partition(|&(_, cell)| self.cells.is_kept(cell) != is_narrow);
        if others.is_empty() {
            return;
        }
        let is_result = |(reader, _): &&(Reader, DtypeClass)| matches!(reader, Reader::Result(graph, _) if *graph == self.model.main);
        let graph = self.model.values[value].graph;
        let name = self.names.fresh(&self.model.values[value].name.clone(), Some(NARROWED_NUMBERS.code));
        let initial = None;
        let new = self.model.values.push(Value { name, graph, def: Def::Missing, initial });
        // A model output keeps its name, so the input of its cast gets a new one.
        if let (true, Def::Node { node, output }) =
            (others.iter().any(|other| is_result(&other)), self.model.values[value].def)
        {
            self.model.values[new].def = self.model.values[value].def;
            self.model.nodes[node].outputs[output as usize] = Some(new);
            same.into_iter().for_each(|(reader, _)| self.rewire(reader, new));
            self.renamed.insert(value);
            self.cast(new, value, is_narrow);
        } else {
            others.into_iter().for_each(|(reader, _)| self.rewire(reader, new));
            self.cast(value, new, is_narrow);
        }
    }

    /// Inserts a cast that defines `to`: to float32 if `from` is narrow, else to the narrow type.
    fn cast(&mut self, from: ValueId, to: ValueId, is_narrow: bool) {
        let elem = if is_narrow { ElemType::Float } else { self.narrow.elem };
        let graph = self.model.values[from].graph;
        let maker = self.model.producer(from).map(|(node, _)| node);
        let name = self.names.fresh(&self.model.values[from].name.clone(), Some(NARROWED_NUMBERS.code));
        let node = self.model.nodes.push(Node {
            name: Some(name),
            inputs: vec![Some(from)],
            outputs: vec![Some(to)],
            attrs: vec![Attribute::new("to", AttrValue::Int(i64::from(elem.number())))],
            metadata: maker.map_or(Metadata::new(), |maker| self.model.nodes[maker].metadata.clone()),
            ..Node::new(graph, "Cast")
        });
        self.model.values[to].def = Def::Node { node, output: 0 };
        match maker {
            Some(maker) => self.behind.entry(maker).or_default().push(node),
            None => self.first.entry(graph).or_default().push(node),
        }
        self.note(Site::Node(node), format!("cast to {elem} inserted"));
    }

    /// Makes a use read another value.
    fn rewire(&mut self, reader: Reader, to: ValueId) {
        match reader {
            Reader::Input(node, at) => self.model.nodes[node].inputs[at] = Some(to),
            Reader::Result(graph, at) => self.model.graphs[graph].outputs[at].value = to,
        }
    }

    /// Inserts the new casts into their graphs, after the producers of their inputs.
    fn place(&mut self) {
        let graphs: FxHashSet<GraphId> = self
            .behind
            .keys()
            .map(|&node| self.model.nodes[node].graph)
            .chain(self.first.keys().copied())
            .collect();
        for graph in graphs {
            let nodes = std::mem::take(&mut self.model.graphs[graph].nodes);
            let mut placed = self.first.remove(&graph).unwrap_or_default();
            for node in nodes {
                placed.push(node);
                placed.extend(self.behind.remove(&node).unwrap_or_default());
            }
            self.model.graphs[graph].nodes = placed;
        }
    }

    /// Updates the declared types.
    fn declare(&mut self) {
        let (cells, narrow, renamed) = (self.cells, self.narrow, &self.renamed);
        for graph in self.model.graphs.ids().collect::<Vec<_>>() {
            let values = &self.model.values;
            let tensors = &self.model.tensors;
            let is_narrow = |value: ValueId| match (cells.makers.get(&value), &values[value].initial) {
                (None, _) => false,
                (_, Some(Initial::Dense(tensor))) => tensors[*tensor].elem() == Some(narrow.elem),
                _ => cells.is_narrow(value) != renamed.contains(&value),
            };
            let scope = &mut self.model.graphs[graph];
            for port in scope.inputs.iter_mut().chain(&mut scope.value_info) {
                if let Some(ty) = port.info.ty.as_mut().filter(|_| is_narrow(port.value)) {
                    declare(ty, narrow.elem);
                }
            }
        }
        for &(reader, cell) in cells.readers.values().flatten() {
            if let (Reader::Result(graph, at), false) = (reader, cells.is_kept(cell))
                && let Some(ty) = &mut self.model.graphs[graph].outputs[at].info.ty
            {
                declare(ty, narrow.elem);
            }
        }
    }
}
