//! What changed since rules were last tried.
//!
//! A rule that was tried everywhere need only be tried again where what its pattern sees has changed: at the classes that
//! changed, and at those above them, as far as the pattern is deep.

use egg::Id;
use rustc_hash::FxHashMap;

use super::EGraph;
use super::enode::ENode;
use super::sizes::is_tuple;

/// How many nodes above a change each class is.
#[derive(Debug, Default)]
pub(super) struct News {
    distance: FxHashMap<Id, usize>,
}

impl News {
    /// Of all that changed since this was last asked, and of what is at most `reach` nodes above.
    pub(super) fn take(egraph: &mut EGraph, reach: usize) -> Self {
        let mut touched = std::mem::take(&mut egraph.analysis.touched);
        touched.iter_mut().for_each(|id| *id = egraph.find(*id));
        touched.sort_unstable();
        touched.dedup();
        let mut distance: FxHashMap<Id, usize> = FxHashMap::default();
        let mut level = touched;
        for above in 0..=reach {
            let mut next = Vec::new();
            while let Some(class) = level.pop() {
                if distance.contains_key(&class) {
                    continue;
                }
                distance.insert(class, above);
                let nodes = &egraph[class].nodes;
                // An output and the call that makes it are one node.
                level.extend(nodes.iter().filter_map(|node| match node {
                    ENode::Output { call, .. } => Some(egraph.find(call[0])),
                    _ => None,
                }));
                let is_call = nodes.iter().any(|node| is_tuple(&egraph.analysis.tables, node));
                let users = egraph[class].parents().map(|user| egraph.find(user));
                if is_call { level.extend(users) } else { next.extend(users) }
            }
            level = next;
        }
        News { distance }
    }

    /// Whether a pattern of so many nodes, one above the other, may see something new at `class`.
    pub(super) fn reaches(&self, class: Id, depth: usize) -> bool {
        self.distance.get(&class).is_some_and(|&distance| distance <= depth)
    }
}
