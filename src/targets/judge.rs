//! Support of all nodes of a model by a target.

use rustc_hash::FxHashSet;

use super::answer::{Answer, Query, Refusal};
use super::profile::Profile;
use crate::graph::uses::Uses;
use crate::graph::{Model, NodeId, ValueId, scopes};
use crate::infer::Facts;
use crate::rules::plain::PlainHost;
use crate::schema;

/// Nodes that a target does not support, or whose support is unknown.
#[derive(Debug, Default)]
pub struct Judged {
    /// Unsupported nodes, in model order.
    pub refused: Vec<(NodeId, Refusal)>,
    /// Nodes with unknown support.
    pub unknown: Vec<NodeId>,
}

/// Determines the support of every node by a target, including nodes of subgraphs and functions.
/// For a call of a local function, only the nodes of the function count. Unknown support of a `Constant` is
/// ignored, because constants are data.
pub fn judge(model: &Model, facts: &Facts, uses: &Uses, profile: &Profile) -> Judged {
    let mut judged = Judged::default();
    let names = model.functions.iter().map(|function| function.name.as_deref().unwrap_or(""));
    let functions: FxHashSet<&str> = names.collect();
    for graph in scopes::live(model) {
        let host = PlainHost::new(model, graph, facts, uses);
        for &id in &model.graphs[graph].nodes {
            let node = &model.nodes[id];
            let (domain, op) = (node.domain(), &*node.op_type);
            if functions.contains(op) && model.callee(id).is_some() {
                continue;
            }
            let opset = model.opset(graph, domain).and_then(|opset| u16::try_from(opset).ok());
            let epoch = opset.and_then(|opset| schema::lookup(domain, op, opset)).map(|schema| schema.epoch);
            match profile.ask(&Query { host: &host, node: id, domain, op, epoch }) {
                Answer::Yes => {}
                Answer::No(refusal) => judged.refused.push((id, refusal)),
                Answer::Unknown if domain.is_empty() && op == "Constant" => {}
                Answer::Unknown => judged.unknown.push(id),
            }
        }
    }
    judged
}

/// Returns the inputs with dynamic dimensions that the target requires to be static.
/// Inputs of unknown rank are included; inputs with a default value are not.
pub fn free_inputs(model: &Model, facts: &Facts, profile: &Profile) -> Vec<ValueId> {
    let Some(free) = &profile.fixed else { return Vec::new() };
    let is_free = |value: &ValueId| {
        let Some(dims) = facts[*value].dims() else { return facts[*value].as_tensor().is_some() };
        let mut dims = dims.iter().enumerate();
        dims.any(|(axis, dim)| {
            let may_be = i64::try_from(axis).is_ok_and(|axis| free.contains(&axis));
            !may_be && dim.as_ref().is_none_or(|dim| dim.as_const().is_none())
        })
    };
    let inputs = model.graphs[model.main].inputs.iter().map(|port| port.value);
    inputs.filter(|&value| model.values[value].initial.is_none()).filter(is_free).collect()
}
