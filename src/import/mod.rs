//! From what PyTorch traced to a model.
//!
//! The program is first a graph as it stands, whose nodes are of the domain `aten` (`graph`); its writes in place
//! become values of their own on the way (`functional`). Then rules of the phase `lower` say each node in ONNX
//! (`lower`). A trace of TorchScript is said as such a program before (`script`). What is left has no form there, and is said at its Python line.

mod alias;
mod argument;
mod blocked;
mod complex;
mod control;
mod functional;
mod graph;
mod interface;
mod lower;
mod overload;
mod place;
mod promote;
mod recurrent;
mod script;

pub use script::program;

use crate::diag::Finding;
use crate::graph::Model;
use crate::read::pt2::Exported;
use crate::rules::registry::RuleSet;

/// The opset that lowerings are written in; converting to another comes after.
pub const OPSET: i64 = 18;

/// The model that computes what a program does, and what is said of it.
///
/// # Errors
/// What of it has no form in ONNX, or makes no sense.
pub fn import(exported: &Exported, rules: &RuleSet) -> Result<(Model, Vec<Finding>), Vec<Finding>> {
    let mut imported = graph::build(exported)?;
    lower::lower(&mut imported, rules)
        .map_err(|left| blocked::findings(&imported, &exported.trace, &left))?;
    Ok((imported.model, imported.remarks))
}
