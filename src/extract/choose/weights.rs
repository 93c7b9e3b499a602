//! Folded constants and the constants that they are computed from (their *materials*).
//!
//! A folded constant is stored, as an initializer or a `Constant` node: its candidate has no inputs, and
//! costs its storage.
//! The materials of a folded constant are stored or folded constants, so the computation is acyclic.

use egg::Id;

use super::Candidate;
use crate::egraph::{EGraph, ENode, is_computed};
use crate::extract::cost::CostModel;

/// Maximum depth of computations that are folded.
const MAX_LEVELS: usize = 64;

/// Replaces all candidates of each constant that is not stored by one folded candidate, if possible.
pub(super) fn compute(egraph: &EGraph, pricing: &CostModel, ids: &[Id], of: &mut [Vec<Candidate>]) {
    let is_held = |class: usize| {
        let nodes = &egraph[ids[class]].nodes;
        of[class].iter().any(|form| !matches!(nodes[form.at], ENode::Call(_) | ENode::Output { .. }))
    };
    let count = ids.len();
    let is_const: Vec<bool> = ids.iter().map(|&id| egraph[id].data.fact().is_const()).collect();
    let mut is_known: Vec<bool> = (0..count).map(|class| is_const[class] && is_held(class)).collect();
    let mut open: Vec<usize> = (0..count).filter(|&class| is_const[class] && !is_known[class]).collect();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for _ in 0..MAX_LEVELS {
        let way = |&class: &usize| {
            let nodes = &egraph[ids[class]].nodes;
            let is_way = |at: &usize| {
                let form = &of[class][*at];
                let is_call = nodes[form.at].as_call().is_some_and(|call| is_computed(egraph, call));
                is_call && is_const[class] && form.inputs.iter().all(|&input| is_known[input])
            };
            (0..of[class].len()).find(is_way).map(|at| (class, at))
        };
        let level: Vec<(usize, usize)> = open.iter().filter_map(way).collect();
        if level.is_empty() {
            break;
        }
        level.iter().for_each(|&(class, _)| is_known[class] = true);
        open.retain(|&class| !is_known[class]);
        found.extend(level);
    }
    for &(class, at) in &found {
        let mut form = of[class].swap_remove(at);
        form.materials = std::mem::take(&mut form.inputs);
        form.cost = pricing.beforehand(egraph, ids[class]);
        of[class] = vec![form];
    }
    let materials: Vec<usize> = found.iter().flat_map(|&(class, _)| of[class][0].materials.clone()).collect();
    for class in materials {
        let nodes = &egraph[ids[class]].nodes;
        let is_constant = |at: usize| !matches!(nodes[at], ENode::Call(_) | ENode::Output { .. });
        of[class].retain(|form| is_constant(form.at) || !form.materials.is_empty());
    }
}
