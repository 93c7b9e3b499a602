//! Scatter nodes with a reduction, and the nodes of one step of the reduction.

use std::sync::Arc;

use super::writer::Writer;
use crate::graph::dim::Dim;
use crate::graph::{
    AttrValue, Attribute, ElemType, GraphId, Model, NodeId, Port, TypeKind, ValueId, ValueInfo,
};
use crate::infer::{Declarer, Facts};

/// A scatter node with a reduction.
pub struct Scatter {
    pub node: NodeId,
    pub graph: GraphId,
    pub form: Form,
    pub data: ValueId,
    /// Declaration of the data, and of the result.
    pub info: ValueInfo,
    /// Number of steps; `None` if it is dynamic.
    pub steps: Option<i64>,
    indices: ValueId,
    updates: ValueId,
    /// Operator that combines an element with an update.
    combination: &'static str,
}

/// Operator of a scatter node.
pub enum Form {
    /// `ScatterElements` along an axis.
    Elements { axis: i64 },
    /// `ScatterND` with index tuples.
    Slices {
        /// Length of an index tuple.
        depth: i64,
        /// Rank of the indices.
        rank: usize,
        /// Whether the updates of an index tuple are scalars.
        is_whole: bool,
    },
}

impl Form {
    /// Returns the operator that replaces elements.
    pub fn scatter(&self) -> &'static str {
        match self {
            Form::Elements { .. } => "ScatterElements",
            Form::Slices { .. } => "ScatterND",
        }
    }
}

impl Scatter {
    /// Reads a node; returns `None` if it is no scatter node with a reduction of numbers.
    /// Also returns `None` if its index tuples have an unknown length, or if reshaping its updates may fail.
    pub fn of(model: &Model, graph: GraphId, facts: &Facts, id: NodeId) -> Option<Self> {
        let node = &model.nodes[id];
        let is_elements = node.is("ScatterElements");
        if !is_elements && !node.is("ScatterND") {
            return None;
        }
        let combination = match node.attr("reduction")?.as_str()? {
            "add" => "Add",
            "mul" => "Mul",
            "max" => "Max",
            "min" => "Min",
            _ => return None,
        };
        let (data, indices, updates) = (node.input(0)?, node.input(1)?, node.input(2)?);
        facts[data].elem().filter(|elem| elem.is_float() || elem.is_integer())?;
        let sizes = facts[indices].dims()?;
        let rank = sizes.len();
        let size = |at: usize| sizes.get(at)?.as_ref().and_then(Dim::as_const);
        let (form, steps) = if is_elements {
            let axis = node.attr("axis").map_or(Some(0), AttrValue::as_int)?;
            let at = if axis < 0 { axis + rank as i64 } else { axis };
            (Form::Elements { axis }, size(usize::try_from(at).ok()?))
        } else {
            let depth = size(rank.checked_sub(1)?).filter(|&depth| depth > 0)?;
            let is_whole = facts[data].rank().is_some_and(|rank| rank as i64 == depth);
            let lead = sizes.split_last()?.1.iter();
            let steps = lead.map(|size| size.as_ref()?.as_const()).product();
            let form = Form::Slices { depth, rank, is_whole };
            if rank != 2 && !is_whole && !has_elements(facts, data, depth) {
                return None;
            }
            (form, steps)
        };
        let mut port = Port { value: data, info: ValueInfo::default() };
        Declarer::of(model, graph, facts).declare(&mut port);
        Some(Scatter { node: id, graph, form, data, info: port.info, steps, indices, updates, combination })
    }

    /// Returns the base of the names of new values: the name of the result.
    pub fn name(&self, model: &Model) -> Arc<str> {
        let result = model.nodes[self.node].output(0).unwrap_or(self.data);
        model.values[result].name.clone()
    }

    /// Returns the axis of the positions in the result of [`Scatter::rows`].
    pub fn axis(&self) -> i64 {
        match self.form {
            Form::Elements { axis } => axis,
            Form::Slices { .. } => 0,
        }
    }

    /// Adds nodes that reshape the indices and updates so that one axis has all positions.
    pub fn rows(&self, writer: &mut Writer) -> (ValueId, ValueId) {
        let Form::Slices { depth, rank, is_whole } = self.form else { return (self.indices, self.updates) };
        if rank == 2 {
            return (self.indices, self.updates);
        }
        let shape = writer.ints(vec![2], &[-1, depth]);
        let indices = writer.add("Reshape", &[self.indices, shape], Vec::new());
        let count = writer.ints(vec![1], &[-1]);
        let shape = match is_whole {
            true => count,
            false => {
                let all = writer.add("Shape", &[self.data], Vec::new());
                let [start, end] = [depth, i64::MAX].map(|bound| writer.ints(vec![1], &[bound]));
                let slice = writer.add("Slice", &[all, start, end], Vec::new());
                let along = vec![Attribute::new("axis", AttrValue::Int(0))];
                writer.add("Concat", &[count, slice], along)
            }
        };
        (indices, writer.add("Reshape", &[self.updates, shape], Vec::new()))
    }

    /// Returns the dtype of the data, if it is declared.
    pub fn elem(&self) -> Option<ElemType> {
        match &self.info.ty.as_ref()?.kind {
            TypeKind::Tensor { elem, .. } => elem.and_then(ElemType::from_number),
            _ => None,
        }
    }

    /// Adds nodes that combine the current elements at `indices` with their updates.
    /// The indices must select no element twice.
    pub fn combined(
        &self,
        writer: &mut Writer,
        data: ValueId,
        indices: ValueId,
        updates: ValueId,
    ) -> ValueId {
        let current = match self.form {
            Form::Elements { axis } => {
                let along = vec![Attribute::new("axis", AttrValue::Int(axis))];
                writer.add("GatherElements", &[data, indices], along)
            }
            Form::Slices { .. } => writer.add("GatherND", &[data, indices], Vec::new()),
        };
        writer.add(self.combination, &[current, updates], Vec::new())
    }
}

/// Returns true if each slice of `data` at an index tuple of this length has elements.
fn has_elements(facts: &Facts, data: ValueId, depth: i64) -> bool {
    let is_filled = |size: &Dim| size.at_least(&Dim::known(1), &facts.bounds).is_always();
    let depth = usize::try_from(depth).unwrap_or(usize::MAX);
    let sizes = facts[data].dims().map(|sizes| sizes.iter().skip(depth));
    sizes.is_some_and(|mut sizes| sizes.all(|size| size.as_ref().is_some_and(is_filled)))
}
