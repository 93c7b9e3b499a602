//! Merges equal shape computations.
//!
//! Inference expresses sizes in terms of the inputs. Classes with equal expressions are merged, so that
//! all users share the cheapest computation.

use egg::Id;
use rustc_hash::FxHashMap;

use super::EGraph;
use super::rebuild::rebuild;
use super::tables::Tables;
use crate::graph::ElemType;
use crate::graph::dim::Dim;
use crate::infer::{ConstValue, Fact};

type Sizes = (ElemType, Vec<usize>, Vec<Dim>);

/// Merges classes whose elements are equal size expressions; returns true if any were merged.
///
/// Only applies to the main graph: in a subgraph, the value of a symbol can change between iterations.
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

/// Returns the type, shape and elements of a small non-constant integer tensor.
/// Returns `None` unless the shape is static and all elements are known expressions.
fn sizes(fact: &Fact) -> Option<Sizes> {
    let tensor = fact.as_tensor()?;
    let (elem, ConstValue::Ints(elements)) = (tensor.elem.filter(|elem| elem.is_integer())?, &tensor.value)
    else {
        return None;
    };
    let elements: Option<Vec<Dim>> = elements.iter().cloned().collect();
    Some((elem, tensor.shape.to_static()?, elements?))
}

/// Returns true if an e-node is a tuple of outputs rather than a value.
pub(super) fn is_tuple(tables: &Tables, node: &super::ENode) -> bool {
    node.as_call().is_some_and(|call| !tables.is_single(call))
}
