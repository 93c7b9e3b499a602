//! Local functions that import another opset than the model.

use crate::graph::{Model, NodeId, scopes};
use crate::schema;

/// Local function with a node that is invalid, or has another meaning, at the opset of the model.
#[derive(Clone, Copy, Debug)]
pub struct OtherOpset {
    /// Index of the function.
    pub function: usize,
    /// Opset of ai.onnx that the function imports.
    pub own: i64,
    /// Opset of ai.onnx that the model imports.
    pub model: i64,
    /// First node that ONNX Runtime rejects, or else the first with another meaning at the model's opset.
    pub node: NodeId,
    /// Whether ONNX Runtime rejects the node, because it is not valid at the opset of the model.
    pub is_refused: bool,
}

/// Returns the functions with nodes that are invalid, or have another meaning, at the model's opset.
pub fn functions_of_other_opset(model: &Model) -> Vec<OtherOpset> {
    let Some(wanted) = model.opset(model.main, "") else { return Vec::new() };
    let mut found = Vec::new();
    for (index, function) in model.functions.iter().enumerate() {
        let Some(own) = model.opset(function.body, "").filter(|&own| own != wanted) else { continue };
        let graphs = scopes::nested(model, function.body);
        let nodes = graphs.iter().flat_map(|&graph| &model.graphs[graph].nodes).copied();
        let mut differing = nodes.filter(|&id| model.callee(id).is_none()).filter_map(|id| {
            let node = &model.nodes[id];
            let version =
                |opset: i64| schema::lookup(node.domain(), &node.op_type, u16::try_from(opset).ok()?);
            let (at_own, at_model) = (version(own)?, version(wanted));
            let is_written = schema::opset_as_written(node, wanted) == wanted;
            let is_same = at_model.is_some_and(|schema| schema.epoch == at_own.epoch && !schema.deprecated);
            (node.domain().is_empty() && !(is_same && is_written)).then_some((id, !is_written))
        });
        let first = match differing.next() {
            Some((id, true)) => Some((id, true)),
            first => differing.find(|(_, is_refused)| *is_refused).or(first),
        };
        if let Some((node, is_refused)) = first {
            found.push(OtherOpset { function: index, own, model: wanted, node, is_refused });
        }
    }
    found
}
