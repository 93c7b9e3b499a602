//! Turns `Constant` nodes into initializers if the target opset does not support their element type.
//!
//! Before opset 9, `Constant` only supports floats.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::diag::counted;
use crate::diag::rule_ids::MOVED_CONSTANT;
use crate::edit::{Change, Editor, Names, Site, initialize};
use crate::extract::Target;
use crate::fix::pass::{Need, Pass};
use crate::fix::target::are_inputs;
use crate::graph::{Def, Metadata, Model, Node, NodeId, TensorId, Value, ValueId, scopes};
use crate::schema::{self, ValueType};

/// The pass.
pub const PASS: Pass = Pass {
    id: "lift-constants",
    summary: "Turns `Constant` nodes of unsupported element types into initializers.",
    codes: &[MOVED_CONSTANT],
    phases: &[],
    need: Need::Required,
    is_enabled: |_| true,
    run: |editor, cx| Ok(lift_constants(editor, &cx.target)),
};

/// Turns `Constant` nodes of unsupported element types into initializers of the main graph.
///
/// Returns true if a node became an initializer. `Constant` nodes of functions stay, because functions cannot read
/// initializers, and have opsets of their own.
fn lift_constants(editor: &mut Editor, target: &Target) -> bool {
    let Some(opset) = target.opset("").and_then(|opset| u16::try_from(opset).ok()) else { return false };
    let model = editor.model();
    let live = scopes::live(model);
    let outside = live.iter().filter(|&&graph| model.function_of(graph).is_none());
    let nodes = outside.flat_map(|&graph| &model.graphs[graph].nodes).copied();
    let lifted = nodes.filter_map(|node| {
        let tensor = constant_tensor(model, node)?;
        let elem = model.tensors[tensor].elem()?;
        (!schema::makes_constants(elem, opset)).then_some((node, tensor))
    });
    let lifted: FxHashMap<NodeId, TensorId> = lifted.collect();
    if lifted.is_empty() {
        return false;
    }
    let what =
        format!("{} moved to initializers of the main graph", counted(lifted.len(), "`Constant` node"));
    editor.change(Change::new(MOVED_CONSTANT, Site::Model, what), |model, names| {
        let mut sorted: Vec<_> = lifted.iter().map(|(&node, &tensor)| (node, tensor)).collect();
        sorted.sort_unstable();
        for (_, graph) in model.graphs.iter_mut() {
            graph.nodes.retain(|node| !lifted.contains_key(node));
        }
        let passed: FxHashMap<ValueId, ValueId> =
            sorted.into_iter().filter_map(|(node, tensor)| lift(model, node, tensor, opset, names)).collect();
        // Nodes read the initializer directly; only the graph output remains the result of the `Identity`.
        for node in scopes::live(model).into_iter().flat_map(|graph| model.graphs[graph].nodes.clone()) {
            for input in model.nodes[node].inputs.iter_mut().flatten() {
                *input = passed.get(input).copied().unwrap_or(*input);
            }
        }
        true
    })
}

/// Returns the `value` tensor of a `Constant` node.
fn constant_tensor(model: &Model, node: NodeId) -> Option<TensorId> {
    let node = &model.nodes[node];
    let is_constant = node.is("Constant");
    node.attr("value").filter(|_| is_constant)?.as_tensor()
}

/// Turns the output of a `Constant` node into an initializer of the main graph.
///
/// If the value is an output of a subgraph, or would be both an input and an output of the model and
/// `Identity` supports its type, the initializer is a new value, and its `Identity` replaces the node.
/// If the `Identity` is inserted, returns the old value and the initializer.
fn lift(
    model: &mut Model,
    node: NodeId,
    tensor: TensorId,
    opset: u16,
    names: &mut Names,
) -> Option<(ValueId, ValueId)> {
    let value = model.nodes[node].output(0)?;
    let is_passed = || {
        model.tensors[tensor]
            .elem()
            .is_some_and(|elem| schema::legal_identity(Some(ValueType::Tensor(elem)), opset).is_ok())
    };
    let body = model.values[value].graph;
    let main = model.main;
    if (body != main || are_inputs(model.ir_version) && is_passed())
        && model.graphs[body].outputs.iter().any(|port| port.value == value)
    {
        let lifted = Value {
            name: names.fresh(&model.values[value].name.clone(), None),
            graph: main,
            def: Def::Missing,
            initial: None,
        };
        let lifted = model.values.push(lifted);
        pass_on(model, node, lifted);
        initialize(model, main, lifted, model.tensors[tensor].clone());
        Some((value, lifted))
    } else {
        names.move_value(model, value, main);
        initialize(model, main, value, model.tensors[tensor].clone());
        None
    }
}

/// Replaces a node by an `Identity` of `from`, in the same graph and with the same outputs.
fn pass_on(model: &mut Model, node: NodeId, from: ValueId) {
    let graph = model.nodes[node].graph;
    let old = &mut model.nodes[node];
    *old = Node {
        op_type: Arc::from("Identity"),
        inputs: vec![Some(from)],
        attrs: Vec::new(),
        metadata: Metadata::new(),
        ..old.clone()
    };
    model.graphs[graph].nodes.insert(0, node);
}
