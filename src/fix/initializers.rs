//! Makes initializers of `Constant` nodes: a node less each, to load and to schedule.
//!
//! Local functions have no initializers, and before IR version 4 each would be an input too: there, `Constant` nodes
//! stay. So do those whose value a graph hands out, since some runtimes take no initializer for an output.

use rustc_hash::FxHashSet;

use super::report::Report;
use crate::graph::syntax::suggest::counted;
use crate::graph::{
    AttrValue, Def, ElemType, Initial, Model, NodeId, Tensor, TensorData, TensorId, ValueId, scopes,
};
use crate::infer::{self, eval::Array};

/// The IR version from which on initializers need not be inputs.
const FREE_SINCE: i64 = 4;

/// Whether there were any.
pub fn lift(model: &mut Model, report: &mut Report) -> bool {
    if model.ir_version.is_none_or(|version| version < FREE_SINCE) {
        return false;
    }
    let mut lifted: Vec<(NodeId, ValueId)> = Vec::new();
    for graph in scopes::live(model) {
        if model.function_of(graph).is_some() {
            continue;
        }
        let scope = &model.graphs[graph];
        let outputs: FxHashSet<ValueId> = scope.outputs.iter().map(|port| port.value).collect();
        let constants = scope.nodes.iter().filter_map(|&node| Some((node, made(model, node)?)));
        lifted.extend(constants.filter(|(_, value)| !outputs.contains(value)));
    }
    let mut gone: FxHashSet<NodeId> = FxHashSet::default();
    for (node, value) in lifted {
        let Some(tensor) = tensor(model, node) else { continue };
        let named = Tensor { name: Some(model.values[value].name.clone()), ..tensor };
        let tensor: TensorId = model.tensors.push(named);
        let graph = model.nodes[node].graph;
        model.values[value].initial = Some(Initial::Dense(tensor));
        model.values[value].def = Def::Initializer;
        model.graphs[graph].initializers.push(value);
        gone.insert(node);
    }
    for (_, graph) in model.graphs.iter_mut() {
        graph.nodes.retain(|node| !gone.contains(node));
    }
    if !gone.is_empty() {
        let became = if gone.len() == 1 { "became an initializer" } else { "became initializers" };
        report.notes.push(format!("{} {became}", counted(gone.len(), "`Constant` node")));
    }
    !gone.is_empty()
}

/// What a `Constant` node makes.
fn made(model: &Model, node: NodeId) -> Option<ValueId> {
    let node = &model.nodes[node];
    let is_constant = node.domain().is_empty() && &*node.op_type == "Constant" && node.outputs.len() == 1;
    node.output(0).filter(|_| is_constant && node.attrs.len() == 1)
}

/// The tensor of a `Constant` node; `None` for a sparse one, and for what a function's caller says.
fn tensor(model: &Model, node: NodeId) -> Option<Tensor> {
    let ints = |dims: Vec<usize>, ints: &[i64]| Array::i64s(dims, ints.to_vec()).ok();
    let floats = |dims: Vec<usize>, floats: &[f32]| {
        Array::from_f64s(ElemType::Float, dims, floats.iter().map(|&x| f64::from(x)).collect()).ok()
    };
    let array = match &model.nodes[node].attrs.first()?.value {
        AttrValue::Tensor(id) => {
            let tensor = &model.tensors[*id];
            return (!matches!(tensor.data, TensorData::Absent)).then(|| tensor.clone());
        }
        AttrValue::Int(int) => ints(Vec::new(), &[*int]),
        AttrValue::Ints(all) => ints(vec![all.len()], all),
        AttrValue::Float(float) => floats(Vec::new(), &[*float]),
        AttrValue::Floats(all) => floats(vec![all.len()], all),
        AttrValue::String(text) => Array::strings(Vec::new(), vec![text.to_vec()]).ok(),
        AttrValue::Strings(all) => {
            Array::strings(vec![all.len()], all.iter().map(|text| text.to_vec()).collect()).ok()
        }
        _ => None,
    };
    array.map(|array| infer::tensor_of(&array))
}
