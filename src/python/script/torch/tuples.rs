//! Layers that get a tuple, which layers such as `nn.LSTM` return.

use tree_sitter::Node;

use super::super::faults::Fault;
use super::super::machine::{Machine, Stop};
use crate::diag::rule_ids;

/// Layers that certainly raise for a tuple, besides convolutions.
const REFUSING: [&str; 12] = [
    "Linear",
    "LayerNorm",
    "Dropout",
    "ReLU",
    "GELU",
    "SiLU",
    "Tanh",
    "Sigmoid",
    "LeakyReLU",
    "ELU",
    "Embedding",
    "PReLU",
];

impl<'t> Machine<'t> {
    /// Reports a layer of `torch.nn` that gets a tuple in place of a tensor.
    pub fn refuse_tuple(&self, layer: &str, node: Node<'t>) -> Result<(), Stop> {
        let refuses = REFUSING.contains(&layer) || layer.starts_with("Conv");
        if !refuses || self.may_replace_forward() {
            return Ok(());
        }
        let fault = Fault {
            rule: rule_ids::ARGUMENT_TYPE,
            kind: "TypeError",
            ..Fault::shape(
                format!("`{layer}` gets a tuple, not a tensor"),
                "pass the first item of the tuple: layers such as `nn.LSTM` return their output and their state",
            )
        };
        Err(self.fault(node, fault))
    }
}
