//! Conversion of PyTorch programs to ONNX models.
//!
//! A TorchScript trace is first converted to a program in the form of `torch.export` (`script`). A program
//! becomes a graph of nodes of the domain `aten` (`graph`), in which in-place writes are functionalized
//! (`functionalization`). Rules of the phase `lower` then lower each node to ONNX (`lower`). Nodes that
//! cannot be lowered are reported at their Python line (`blocked`).

mod advice;
mod alias;
mod argument;
mod autocast;
mod bilinear;
mod blocked;
mod body;
mod builder;
mod complex;
mod control;
mod functionalization;
mod graph;
mod grouped;
mod imported;
mod interface;
mod jit;
mod lower;
mod mixed;
mod names;
mod ops;
mod overload;
mod part;
mod place;
mod polynomial;
mod projected;
mod promote;
mod recurrent;
mod refusal;
mod script;
mod stepwise;
mod vmap;
mod writes;
mod written_out;

pub use jit::{InputShape, outline, program as scripted};
pub use script::program;

use crate::diag::Finding;
use crate::graph::Model;
use crate::read::pt2::Exported;
use crate::rules::registry::RuleSet;

/// Opset that the lowering rules target. Conversion to other opsets happens later.
pub const OPSET: i64 = 18;

/// Converts a program to an equivalent ONNX model, with remarks about the conversion.
///
/// # Errors
/// Returns one finding for each construct that is unsupported or malformed.
pub fn import(exported: &Exported, rules: &RuleSet) -> Result<(Model, Vec<Finding>), Vec<Finding>> {
    let mut imported = graph::build(exported)?;
    lower::lower(&mut imported, rules)
        .map_err(|left| blocked::findings(&imported, &exported.trace, &left))?;
    Ok((imported.model, imported.remarks))
}
