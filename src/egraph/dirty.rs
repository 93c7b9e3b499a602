//! Changes since rules were last tried.
//!
//! A rule that was tried everywhere is retried only where its pattern can reach a change: at changed
//! classes, and at their ancestors up to the depth of the pattern.

use egg::Id;

use super::EGraph;
use super::enode::ENode;
use super::sizes::is_tuple;

/// Changed classes and their ancestors.
#[derive(Debug, Default)]
pub(super) struct DirtySet {
    /// Distance from a changed class in nodes, by class; [`usize::MAX`] for the other classes.
    distance: Vec<usize>,
}

impl DirtySet {
    /// Returns the e-classes changed since the last call, and their ancestors up to `reach` levels.
    pub(super) fn take(egraph: &mut EGraph, reach: usize) -> Self {
        let mut touched = std::mem::take(&mut egraph.analysis.touched);
        touched.iter_mut().for_each(|id| *id = egraph.find(*id));
        touched.sort_unstable();
        touched.dedup();
        let mut distance = Vec::new();
        let mut level = touched;
        for above in 0..=reach {
            let mut next = Vec::new();
            while let Some(class) = level.pop() {
                let at = usize::from(class);
                if distance.get(at).is_some_and(|&known| known < usize::MAX) {
                    continue;
                }
                if at >= distance.len() {
                    distance.resize(at + 1, usize::MAX);
                }
                distance[at] = above;
                let nodes = &egraph[class].nodes;
                // An output and its call count as one node.
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
        DirtySet { distance }
    }

    /// Returns true if a pattern of this depth, rooted at `class`, can reach a changed class.
    pub(super) fn reaches(&self, class: Id, depth: usize) -> bool {
        self.distance.get(usize::from(class)).is_some_and(|&distance| distance <= depth)
    }
}
