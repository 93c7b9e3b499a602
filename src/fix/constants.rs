//! Placement of constants for old opsets and IR versions.
//!
//! Before opset 9, `Constant` only supports floats, so that other constants must be initializers. Before IR
//! version 4, every initializer must also be an input, so that only the main graph can have initializers.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diag::rule_ids::MOVED_CONSTANT;
use crate::edit::{Change, Editor, Names, Site, initialize};
use crate::extract::Target;
use crate::graph::syntax::suggest::counted;
use crate::graph::{
    DeclaredDim, Def, Dimension, Metadata, Model, Node, NodeId, Port, Tensor, TensorId, TypeKind, Value,
    ValueId, ValueInfo, scopes,
};
use crate::schema::{self, ValueType};

/// Turns `Constant` nodes of unsupported element types into initializers of the main graph.
///
/// Local functions cannot read initializers, but they exist only since IR version 8, where `Constant` supports
/// all types.
pub fn lift_constants(editor: &mut Editor, target: &Target) {
    let Some(opset) = target.opset("").and_then(|opset| u16::try_from(opset).ok()) else { return };
    let model = editor.model();
    let live = scopes::live(model);
    let nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes).copied();
    let lifted = nodes.filter_map(|node| {
        let tensor = constant_tensor(model, node)?;
        let elem = model.tensors[tensor].elem()?;
        (!schema::makes_constants(elem, opset)).then_some((node, tensor))
    });
    let lifted: FxHashMap<NodeId, TensorId> = lifted.collect();
    if lifted.is_empty() {
        return;
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
    });
}

/// Returns the `value` tensor of a `Constant` node.
fn constant_tensor(model: &Model, node: NodeId) -> Option<TensorId> {
    let node = &model.nodes[node];
    let is_constant = node.is("Constant");
    node.attr("value").filter(|_| is_constant)?.as_tensor()
}

/// Turns the output of a `Constant` node into an initializer of the main graph.
///
/// If the value is an output of a subgraph, or would be both an input and an output of the model, the initializer is a
/// new value, and an `Identity` of it replaces the node. In this case, returns the old value and the initializer.
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

/// Returns true if every initializer must also be an input: before IR version 4.
pub fn are_inputs(ir_version: Option<i64>) -> bool {
    ir_version.is_some_and(|version| version < 4)
}

/// Declares every initializer as an input of the main graph, if the IR version is below 4.
pub fn declare_initializers(editor: &mut Editor) {
    if !are_inputs(editor.model().ir_version) {
        return;
    }
    let lifted = Change::new(MOVED_CONSTANT, Site::Model, "subgraph initializers moved to the main graph");
    editor.change(lifted, lift_initializers);
    let declared = Change::new(MOVED_CONSTANT, Site::Model, "initializers declared as inputs");
    editor.change(declared, |model, _| {
        let main = model.main;
        let inputs: FxHashSet<ValueId> = model.graphs[main].inputs.iter().map(|port| port.value).collect();
        let missing: Vec<Port> = model.graphs[main]
            .initializers
            .iter()
            .filter(|value| !inputs.contains(value))
            .filter_map(|&value| Some(Port { value, info: info_of(model.constant(value)?) }))
            .collect();
        let is_any = !missing.is_empty();
        model.graphs[main].inputs.extend(missing);
        is_any
    });
}

/// Moves the initializers of subgraphs to the main graph, from which the subgraphs capture them.
/// If one is an output of its subgraph, an `Identity` of it takes its place. Returns true if one was moved.
fn lift_initializers(model: &mut Model, names: &mut Names) -> bool {
    let main = model.main;
    let bodies = scopes::live(model).into_iter().filter(|&graph| graph != main);
    let found = bodies.flat_map(|body| model.graphs[body].initializers.clone());
    let lifted: FxHashSet<ValueId> = found.filter(|&value| model.constant(value).is_some()).collect();
    let mut sorted: Vec<ValueId> = lifted.iter().copied().collect();
    sorted.sort_unstable();
    for &value in &sorted {
        let body = model.values[value].graph;
        model.graphs[body].initializers.retain(|other| !lifted.contains(other));
        if model.graphs[body].outputs.iter().any(|port| port.value == value) {
            let Value { name, def, initial, .. } = model.values[value].clone();
            let source = Value { name: names.fresh(&name, None), graph: main, def, initial };
            let source = model.values.push(source);
            model.graphs[main].initializers.push(source);
            hand_out(model, value, source);
            continue;
        }
        names.move_value(model, value, main);
        model.graphs[main].initializers.push(value);
    }
    !sorted.is_empty()
}

/// Redefines a value as an `Identity` of `source`, in the graph of the value.
fn hand_out(model: &mut Model, value: ValueId, source: ValueId) {
    let graph = model.values[value].graph;
    let node = model.nodes.push(Node {
        inputs: vec![Some(source)],
        outputs: vec![Some(value)],
        ..Node::new(graph, "Identity")
    });
    (model.values[value].def, model.values[value].initial) = (Def::Node { node, output: 0 }, None);
    model.graphs[graph].nodes.insert(0, node);
}

/// Returns the declared type of a tensor.
fn info_of(tensor: &Tensor) -> ValueInfo {
    let dimension = |&size: &i64| Dimension { dim: DeclaredDim::Value(size), denotation: None };
    let shape = Some(tensor.dims.iter().map(dimension).collect());
    ValueInfo { ty: Some(TypeKind::Tensor { elem: tensor.data_type, shape }.into()), ..ValueInfo::default() }
}
