//! Declares initializers as inputs before IR version 4.
//!
//! Before IR version 4, every initializer must also be an input, so only the main graph can have
//! initializers.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diag::rule_ids::MOVED_CONSTANT;
use crate::edit::{Change, Editor, Names, Site};
use crate::fix::pass::{Need, Pass};
use crate::fix::target::are_inputs;
use crate::graph::{
    DeclaredDim, Def, Dimension, Model, Node, NodeId, Port, Tensor, TypeKind, Value, ValueId, ValueInfo,
    scopes,
};
use crate::infer::Content;

/// The pass.
pub const PASS: Pass = Pass {
    id: "declare-initializers",
    summary: "Declares initializers as inputs before IR version 4.",
    codes: &[MOVED_CONSTANT],
    phases: &[],
    need: Need::Required,
    is_enabled: |_| true,
    run: |editor, cx| Ok(declare(editor, cx.options.optimize)),
};

/// Declares every initializer as an input of the main graph, if the IR version is below 4.
/// With `merges`, one initializer replaces those of subgraphs and `Constant` nodes that are equal to it.
/// Returns true if an initializer was moved or declared.
fn declare(editor: &mut Editor, merges: bool) -> bool {
    if !are_inputs(editor.model().ir_version) {
        return false;
    }
    let lifted = Change::new(MOVED_CONSTANT, Site::Model, "subgraph initializers moved to the main graph");
    let is_lifted = editor.change(lifted, |model, names| lift_initializers(model, names, merges));
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
/// If an initializer is an output of its subgraph, an `Identity` of the moved initializer becomes the output.
/// Returns true if an initializer was moved.
fn lift_initializers(model: &mut Model, names: &mut Names, merges: bool) -> bool {
    let main = model.main;
    let bodies = scopes::live(model).into_iter().filter(|&graph| graph != main);
    let found = bodies.flat_map(|body| model.graphs[body].initializers.clone());
    let lifted: FxHashSet<ValueId> = found.filter(|&value| model.constant(value).is_some()).collect();
    let mut sorted: Vec<ValueId> = lifted.iter().copied().collect();
    sorted.sort_unstable();
    let equal = if merges { equal_initializers(model, &sorted) } else { FxHashMap::default() };
    // Initializers of the main graph that replace the initializers of subgraphs.
    let mut sources: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let mut redirected: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    for &value in &sorted {
        let body = model.values[value].graph;
        model.graphs[body].initializers.retain(|other| !lifted.contains(other));
        let is_output = model.graphs[body].outputs.iter().any(|port| port.value == value);
        let source = match equal.get(&value) {
            Some(&first) if first != value => sources.get(&first).copied().unwrap_or(first),
            _ => {
                let source = if is_output { copied(model, names, value) } else { value };
                names.move_value(model, source, main);
                model.graphs[main].initializers.push(source);
                source
            }
        };
        sources.insert(value, source);
        if is_output {
            hand_out(model, value, source);
        } else if source != value {
            model.graphs[body].value_info.retain(|port| port.value != value);
            redirected.insert(value, source);
        }
    }
    if merges {
        redirected.extend(take_constants(model, sources.values().copied().collect()));
    }
    for node in scopes::live(model).into_iter().flat_map(|graph| model.graphs[graph].nodes.clone()) {
        for input in model.nodes[node].inputs.iter_mut().flatten() {
            *input = redirected.get(input).copied().unwrap_or(*input);
        }
    }
    !sorted.is_empty()
}

/// Maps each initializer of a subgraph to the first equal one, of the main graph or of `lifted`.
fn equal_initializers(model: &Model, lifted: &[ValueId]) -> FxHashMap<ValueId, ValueId> {
    let mut first: FxHashMap<Content, ValueId> = FxHashMap::default();
    let all = model.graphs[model.main].initializers.iter().chain(lifted);
    let content = |value: ValueId| model.constant(value).and_then(Content::of);
    let equal = all.filter_map(|&value| Some((value, *first.entry(content(value)?).or_insert(value))));
    equal.collect()
}

/// Removes the `Constant` nodes of the main graph that are equal to an initializer in `sources`.
/// `Constant` nodes whose output is a graph output are kept.
/// Returns a map from the output of each removed node to the equal initializer.
fn take_constants(model: &mut Model, sources: Vec<ValueId>) -> FxHashMap<ValueId, ValueId> {
    let main = &model.graphs[model.main];
    let content = |&value: &ValueId| Some((Content::of(model.constant(value)?)?, value));
    let sources: FxHashMap<Content, ValueId> = sources.iter().filter_map(content).collect();
    let taken = main.nodes.iter().filter_map(|&id| {
        let node = &model.nodes[id];
        let tensor = node.attr("value").filter(|_| node.is("Constant"))?.as_tensor()?;
        let source = *sources.get(&Content::of(&model.tensors[tensor])?)?;
        let value = node.output(0)?;
        main.outputs.iter().all(|port| port.value != value).then_some((id, value, source))
    });
    let (nodes, taken): (FxHashSet<NodeId>, FxHashMap<ValueId, ValueId>) =
        taken.map(|(node, value, source)| (node, (value, source))).unzip();
    let main = &mut model.graphs[model.main];
    main.nodes.retain(|node| !nodes.contains(node));
    main.value_info.retain(|port| !taken.contains_key(&port.value));
    taken
}

/// Returns a new value with the name and tensor of another one, in the same graph.
fn copied(model: &mut Model, names: &mut Names, value: ValueId) -> ValueId {
    let copy =
        Value { name: names.fresh(&model.values[value].name.clone(), None), ..model.values[value].clone() };
    model.values.push(copy)
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
