//! Repairs that rules cannot express, for `onnx-lint` and `onnx-fix` alike.

mod casts;
mod convert;
mod functions;
mod lossless;
mod patches;
mod subgraphs;

pub use casts::{Casts, casts};
pub use convert::{converted, written_for};
pub use functions::{OtherOpset, functions_of_other_opset};
pub use subgraphs::{
    MisdeclaredInput, OutputRepair, StateCast, branch_casts, misdeclared_inputs, outer_outputs, state_cast,
    type_repairs,
};

use rustc_hash::FxHashSet;

use super::context::LintContext;
use crate::diag::rule_ids::{
    ATTRIBUTE_NOT_IN_VERSION, BAD_ATTRIBUTE, CONVERTED_NODE, DTYPE_MISMATCH, INSERTED_CAST,
    MISSING_ATTRIBUTE, MISSING_INPUT, OP_NEWER_THAN_OPSET, OP_REMOVED, RESIZE_SEMANTICS_CHANGED,
    TYPE_NOT_IN_VERSION, WRONG_ARITY,
};
use crate::diag::{Finding, Selection};
use crate::edit::Patch;
use crate::graph::{Id as _, NodeId};
use crate::infer::{Conflict, Fault};

/// Codes of the findings that [`repairs`] repairs, each with the code of the pass that repairs them.
pub const REPAIRED: &[(&str, &str)] = &[
    (DTYPE_MISMATCH.code, INSERTED_CAST.code),
    (TYPE_NOT_IN_VERSION.code, INSERTED_CAST.code),
    (ATTRIBUTE_NOT_IN_VERSION.code, CONVERTED_NODE.code),
    (BAD_ATTRIBUTE.code, CONVERTED_NODE.code),
    (MISSING_ATTRIBUTE.code, CONVERTED_NODE.code),
    (MISSING_INPUT.code, CONVERTED_NODE.code),
    (OP_NEWER_THAN_OPSET.code, CONVERTED_NODE.code),
    (OP_REMOVED.code, CONVERTED_NODE.code),
    (RESIZE_SEMANTICS_CHANGED.code, CONVERTED_NODE.code),
    (WRONG_ARITY.code, CONVERTED_NODE.code),
];

/// Returns true if a selection includes a repair, by the code of the fault or of the pass.
pub fn is_wanted(selection: &Selection, fault: &str, pass: &str) -> bool {
    let is_ignored = selection.ignores(fault) || selection.ignores(pass);
    !is_ignored && (selection.contains(fault) || selection.contains(pass))
}

/// Returns the patches that repair these findings, at most one for each node.
///
/// The findings must be those of the built-in detectors for the model of `cx`.
pub fn repairs(cx: &LintContext, findings: &[Finding]) -> Vec<Patch> {
    let mut patches = Vec::new();
    let mut taken: FxHashSet<NodeId> = FxHashSet::default();
    for finding in findings {
        let Some(node) = finding.nodes.first().map(|&node| NodeId::from_index(node as usize)) else {
            continue;
        };
        let pass = REPAIRED.iter().find(|(code, _)| **code == *finding.code).map(|(_, pass)| *pass);
        let patch = match pass {
            Some(pass) if pass == INSERTED_CAST.code => of_types(cx, node),
            Some(pass) if pass == CONVERTED_NODE.code => converted(cx, node),
            _ => None,
        };
        patches.extend(patch.filter(|_| taken.insert(node)));
    }
    patches
}

/// Returns the patch that makes the types of a node legal: by another operator, or by casts.
///
/// A node with attributes of another opset must be converted first, because its types depend on its opset.
pub fn of_types(cx: &LintContext, node: NodeId) -> Option<Patch> {
    if written_for(cx, node, false).is_some() {
        return None;
    }
    let casts = casts(cx, node).or_else(|| initial_state_casts(cx, node));
    let by_version = || written_for(cx, node, true).and_then(|_| converted(cx, node));
    by_version().or_else(|| patches::of_casts(cx, node, &casts?))
}

/// Returns the casts of initial loop states to the wider types that the loop body returns.
fn initial_state_casts(cx: &LintContext, node: NodeId) -> Option<Casts> {
    let mut casts = Casts::default();
    for (_, fault) in cx.facts.faults.iter().filter(|(at, _)| *at == node) {
        if let Fault::Carried { input, what: Conflict::Elem(x, y) } = fault
            && let Some(StateCast::Input(more)) = state_cast(cx, node, *input, (*x, *y))
        {
            casts.inputs.extend(more.inputs);
        }
    }
    (!casts.inputs.is_empty()).then_some(casts)
}
