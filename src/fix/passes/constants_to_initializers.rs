//! Turns `Constant` nodes into initializers, so that runtimes load and schedule fewer nodes.
//!
//! `Constant` nodes are kept in local functions, which have no initializers, and before IR version 4, where every
//! initializer must also be an input. `Constant` nodes are also kept if their value is a graph output: some
//! runtimes do not support initializers as outputs.
//!
//! Large constants become initializers before the rewrites, so that equal ones are merged; the e-graph merges small
//! ones.

use rustc_hash::FxHashSet;

use crate::diag::rule_ids::LIFTED_CONSTANT;
use crate::edit::{Change, Editor, Site, initialize};
use crate::fix::pass::{Need, Pass};
use crate::fix::target::are_inputs;
use crate::graph::{AttrValue, ElemType, Model, NodeId, Tensor, TensorData, ValueId, scopes};
use crate::infer::{self, Array, MAX_ELEMENTS};

/// The pass.
pub const PASS: Pass = Pass {
    id: "constants-to-initializers",
    summary: "Turns `Constant` nodes into initializers.",
    codes: &[LIFTED_CONSTANT],
    phases: &[],
    need: Need::Optional,
    is_enabled: |cx| cx.options.optimize,
    run: |editor, cx| Ok(lift(editor, if cx.round.is_none() { MAX_ELEMENTS + 1 } else { 0 })),
};

/// Turns every eligible `Constant` node of at least `least` elements into an initializer.
///
/// Returns true if a node became an initializer.
fn lift(editor: &mut Editor, least: usize) -> bool {
    let model = editor.model();
    if model.ir_version.is_none() || are_inputs(model.ir_version) {
        return false;
    }
    let mut lifted: Vec<(NodeId, ValueId, Tensor)> = Vec::new();
    for graph in scopes::live(model) {
        if model.function_of(graph).is_some() {
            continue;
        }
        let scope = &model.graphs[graph];
        let outputs: FxHashSet<ValueId> = scope.outputs.iter().map(|port| port.value).collect();
        let constants = scope.nodes.iter().filter_map(|&node| Some((node, made(model, node)?)));
        let inner = constants.filter(|(_, value)| !outputs.contains(value));
        let tensors = inner.filter_map(|(node, value)| Some((node, value, tensor(model, node)?)));
        lifted.extend(tensors.filter(|(.., tensor)| tensor.len().is_some_and(|len| len >= least)));
    }
    if lifted.is_empty() {
        return false;
    }
    let change = |(node, ..): &(NodeId, ValueId, Tensor)| {
        Change::new(LIFTED_CONSTANT, Site::Node(*node), "turned into an initializer")
    };
    let changes = lifted.iter().map(change).collect();
    editor.change_all(changes, |model, _| {
        let gone: FxHashSet<NodeId> = lifted.iter().map(|(node, ..)| *node).collect();
        for (node, value, tensor) in lifted {
            initialize(model, model.nodes[node].graph, value, tensor);
        }
        for (_, graph) in model.graphs.iter_mut() {
            graph.nodes.retain(|node| !gone.contains(node));
        }
        true
    })
}

/// Returns the output of a `Constant` node.
fn made(model: &Model, node: NodeId) -> Option<ValueId> {
    let node = &model.nodes[node];
    let is_constant = node.is("Constant") && node.outputs.len() == 1;
    node.output(0).filter(|_| is_constant && node.attrs.len() == 1)
}

/// Returns the tensor of a `Constant` node, if it has a dense value.
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

#[cfg(test)]
mod tests {
    use crate::fix::passes::testing::model;
    use crate::fix::{Options, fix};
    use crate::infer::MAX_ELEMENTS;
    use crate::rules::registry::RuleSet;

    #[test]
    fn equal_large_constants_become_one_initializer() {
        let len = MAX_ELEMENTS + 1;
        let numbers = vec!["1.5"; len].join(",");
        let constant = format!("Constant <value = float[{len}] {{{numbers}}}> ()");
        let text = format!(
            "g (float[{len}] x) => (float[{len}] y) {{
                a = {constant}  b = {constant}  t = Add (x, a)  u = Exp (t)  y = Mul (u, b) }}"
        );
        let fixed = fix(model(&text), &Options::default(), &RuleSet::patterns()).model;
        assert_eq!(fixed.graphs[fixed.main].initializers.len(), 1);
    }
}
