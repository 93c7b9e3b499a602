//! Declares initializers as inputs before IR version 4.
//!
//! In these versions, every initializer must also be an input, so only the main graph can have initializers.

use rustc_hash::FxHashSet;

use crate::diag::rule_ids::MOVED_CONSTANT;
use crate::edit::{Change, Editor, Names, Site};
use crate::fix::pass::{Need, Pass};
use crate::fix::target::are_inputs;
use crate::graph::{
    DeclaredDim, Def, Dimension, Model, Node, Port, Tensor, TypeKind, Value, ValueId, ValueInfo, scopes,
};

/// The pass.
pub const PASS: Pass = Pass {
    id: "declare-initializers",
    summary: "Declares initializers as inputs before IR version 4.",
    codes: &[MOVED_CONSTANT],
    phases: &[],
    need: Need::Required,
    is_enabled: |_| true,
    run: |editor, _| Ok(declare(editor)),
};

/// Declares every initializer as an input of the main graph, if the IR version is below 4.
/// Returns true if one was moved or declared.
fn declare(editor: &mut Editor) -> bool {
    if !are_inputs(editor.model().ir_version) {
        return false;
    }
    let lifted = Change::new(MOVED_CONSTANT, Site::Model, "subgraph initializers moved to the main graph");
    let is_lifted = editor.change(lifted, lift_initializers);
    let declared = Change::new(MOVED_CONSTANT, Site::Model, "initializers declared as inputs");
    let is_declared = editor.change(declared, |model, _| {
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
    is_lifted || is_declared
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
