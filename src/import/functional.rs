//! Writes in place as values of their own.
//!
//! What was written into is another value from there on. Where views share its elements, each of them would have to
//! be another one, too.

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::Builder;
use crate::torch::{self, Argument, Node, Op};

/// Which values share elements.
#[derive(Default)]
pub struct Writes {
    /// For a value that may share its elements with another one, that one.
    bases: FxHashMap<torch::ValueId, torch::ValueId>,
    /// What has views.
    viewed: FxHashSet<torch::ValueId>,
}

/// Operators whose result may be a view of their first operand.
const VIEWS: [&str; 42] = [
    "alias",
    "as_strided",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "chunk",
    "contiguous",
    "detach",
    "diagonal",
    "expand",
    "expand_as",
    "flatten",
    "hsplit",
    "imag",
    "mH",
    "mT",
    "movedim",
    "narrow",
    "numpy_T",
    "permute",
    "ravel",
    "real",
    "reshape",
    "reshape_as",
    "select",
    "slice",
    "split",
    "split_with_sizes",
    "squeeze",
    "swapaxes",
    "swapdims",
    "t",
    "to",
    "transpose",
    "unbind",
    "unflatten",
    "unfold",
    "unsqueeze",
    "view",
    "view_as",
    "view_as_real",
    "vsplit",
];

impl Builder<'_> {
    /// Takes note of what a node views, and of what it writes into.
    pub fn write(&mut self, node: &Node) -> Result<(), String> {
        let operand = node.inputs.first().and_then(|input| match input.argument {
            Argument::Value(value) => Some(value),
            _ => None,
        });
        let Some(operand) = operand else { return Ok(()) };
        if is_view(&node.op) {
            self.writes.viewed.insert(operand);
            self.writes.bases.extend(node.outputs.iter().map(|&output| (output, operand)));
            return Ok(());
        }
        if node.op.in_place_of().is_none() {
            return Ok(());
        }
        let Some(&written) = node.outputs.first() else { return Ok(()) };
        if self.writes.bases.contains_key(&operand) || self.writes.viewed.contains(&operand) {
            return Err("it writes into what shares its elements with another tensor".to_owned());
        }
        if self.is_given(operand) {
            return Err("it writes into an input or a buffer".to_owned());
        }
        self.rebind(operand, written);
        Ok(())
    }

    fn is_given(&self, value: torch::ValueId) -> bool {
        !matches!(self.trace.value(value).definition, torch::Definition::Node(..))
    }
}

fn is_view(op: &Op) -> bool {
    let base = op.in_place_of().or(op.aten());
    base.is_some_and(|base| VIEWS.contains(&base)) && (op.in_place_of().is_none() || op.writes().is_none())
}
