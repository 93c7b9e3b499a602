//! Sizes that are computed in several ways.
//!
//! What inference knows of them is in terms of the inputs: two classes whose elements are the same in those terms are
//! one, however they are made, so that the shortest way serves all.

use egg::Id;
use rustc_hash::FxHashMap;

use super::EGraph;
use super::rebuild::rebuild;
use super::tables::Tables;
use crate::graph::ElemType;
use crate::graph::dim::Dim;
use crate::infer::{Fact, Known};

type Sizes = (ElemType, Vec<usize>, Vec<Dim>);

/// Unites them; whether there were any.
///
/// Only in the main graph: in a body, what a symbol stands for may differ from one run of it to the next.
pub fn unite(egraph: &mut EGraph) -> bool {
    if egraph.analysis.graph != egraph.analysis.tables.model.main {
        return false;
    }
    let mut classes: Vec<(Id, Sizes)> = egraph
        .classes()
        .filter(|class| !class.nodes.iter().any(|node| is_tuple(&egraph.analysis.tables, node)))
        .filter_map(|class| Some((class.id, sizes(class.data.fact())?)))
        .collect();
    classes.sort_unstable_by_key(|(id, _)| *id);
    let mut first: FxHashMap<Sizes, Id> = FxHashMap::default();
    let mut changed = false;
    for (id, sizes) in classes {
        let first = *first.entry(sizes).or_insert(id);
        changed |= first != id && egraph.union(first, id);
    }
    rebuild(egraph);
    changed
}

/// All elements of a small tensor of integers that is no constant, where each is known in terms of the inputs.
fn sizes(fact: &Fact) -> Option<Sizes> {
    let tensor = fact.as_tensor()?;
    let (elem, Known::Ints(elements)) = (tensor.elem.filter(|elem| elem.is_integer())?, &tensor.value) else {
        return None;
    };
    let elements: Option<Vec<Dim>> = elements.iter().cloned().collect();
    Some((elem, tensor.shape.to_static()?, elements?))
}

/// Whether an e-node is a tuple of outputs, which is no value.
pub(super) fn is_tuple(tables: &Tables, node: &super::ENode) -> bool {
    node.as_call().is_some_and(|call| !tables.is_single(call))
}
