//! Functions on the lists that describe the nodes of tree ensembles.

use rustc_hash::FxHashSet;

use super::value::{Value, decided};
use crate::infer::shape::{Size, number};

/// Mode of a node without children.
const LEAF: &str = "LEAF";

/// Returns the elements of a list that belong to nodes with children, by the modes of the nodes.
pub fn of_branches(list: &Value, modes: &Value) -> Option<Value> {
    let (list, Value::Texts(modes)) = (list.as_ints()?, modes) else { return None };
    let branches = list.iter().zip(modes).filter(|(_, mode)| *mode != LEAF);
    (list.len() == modes.len()).then(|| Value::Ints(branches.map(|(size, _)| size.clone()).collect()))
}

/// Decides whether each pair of tree id and node id also is a pair of the last two lists.
pub fn are_pairs(trees: &Value, nodes: &Value, all_trees: &Value, all_nodes: &Value) -> Option<Value> {
    let all: FxHashSet<(i64, i64)> = pairs(all_trees, all_nodes)?.into_iter().collect();
    Some(Value::Answer(decided(pairs(trees, nodes)?.iter().all(|pair| all.contains(pair)))))
}

/// Returns the pairs of elements of two lists; `None` if an element is unknown or the lengths differ.
fn pairs(a: &Value, b: &Value) -> Option<Vec<(i64, i64)>> {
    let (a, b) = (a.as_ints()?, b.as_ints()?);
    let pair = |(a, b): (&Size, &Size)| Some((number(a)?, number(b)?));
    if a.len() == b.len() { a.iter().zip(b).map(pair).collect() } else { None }
}
