//! Checks a model that was written back: whatever a rule did, the result must hang together.

use rustc_hash::FxHashSet;

use crate::diag::known;
use crate::diag::{Finding, Place};
use crate::graph::{Def, GraphId, Model, Port, ValueId, scopes};

/// Says what is wrong with `after`, which was made from `before`; nothing, unless there is a fault in this
/// program or in a rule.
pub fn verify(before: &Model, after: &Model) -> Vec<Finding> {
    let mut faults = Vec::new();
    let functions = after.functions.iter().map(|function| function.body);
    for root in functions.chain([after.main]) {
        let mut visible = FxHashSet::default();
        graph(after, root, &mut visible, &mut faults);
    }
    for (old, new) in interface(before).into_iter().zip(interface(after)) {
        if old != new {
            faults.push(format!("`{old}` of the model became `{new}`"));
        }
    }
    if interface(before).len() != interface(after).len() {
        faults.push("the model has another number of inputs or outputs".to_owned());
    }
    let finding = |fault| {
        let message = format!("the result does not hang together: {fault}");
        let finding = known::INTERNAL_FAULT.finding(message, Place::File);
        finding.note("this is a fault of onnx-fix or of a rule; the model was left as it is")
    };
    faults.into_iter().map(finding).collect()
}

/// The names of what goes in and out, weights that are inputs left aside: a caller need not give them.
fn interface(model: &Model) -> Vec<String> {
    let main = &model.graphs[model.main];
    let is_given = |port: &&Port| {
        let value = &model.values[port.value];
        matches!(value.def, Def::Input(_)) && value.initial.is_none()
    };
    let given = main.inputs.iter().filter(is_given);
    given.chain(&main.outputs).map(|port| model.values[port.value].name.to_string()).collect()
}

/// Every value that a node uses must be made before it, here or in a graph around.
fn graph(model: &Model, id: GraphId, visible: &mut FxHashSet<ValueId>, faults: &mut Vec<String>) {
    let scope = &model.graphs[id];
    visible.extend(scope.inputs.iter().map(|port| port.value));
    visible.extend(scope.initializers.iter().chain(&scope.sparse_initializers));
    for &node in &scope.nodes {
        let used = model.nodes[node].inputs.iter().flatten();
        for value in used.filter(|value| !visible.contains(value)) {
            let name = &model.values[*value].name;
            faults.push(format!("`{}` uses `{name}` before it is made", model.nodes[node].op_name()));
        }
        for body in model.nodes[node].graphs() {
            graph(model, body, &mut visible.clone(), faults);
        }
        visible.extend(model.nodes[node].outputs.iter().flatten());
    }
    for port in scope.outputs.iter().filter(|port| !visible.contains(&port.value)) {
        faults.push(format!("the output `{}` is made by nothing", model.values[port.value].name));
    }
}

/// Whether a model holds together as it came: one that did not cannot be held to it afterwards.
pub fn is_sound(model: &Model) -> bool {
    let all = model.graphs.ids().flat_map(|graph| scopes::captures(model, graph));
    let missing = |value: ValueId| model.values[value].def == Def::Missing;
    !all.into_iter().any(missing) && verify(model, model).is_empty()
}
