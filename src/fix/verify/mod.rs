//! Checks a model that was written back: whatever a rule did, the result must be what a runtime takes. It must hang
//! together, give every name once, keep its interface, and have legal nodes, as far as it had all that before.

mod names;
mod nodes;

use rustc_hash::FxHashSet;

use crate::diag::rule_ids;
use crate::diag::{Finding, Place};
use crate::graph::{Def, GraphId, Model, Port, ValueId, scopes};
use crate::infer::{self, Facts};

/// What is to be held of a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept {
    /// The types of its inputs and outputs: whoever mends a fault may change them.
    pub types: bool,
}

/// Says what is wrong with `after`, which was made from `before`; nothing, unless there is a fault in this
/// program or in a rule.
pub fn verify((before, known): (&Model, &Facts), after: &Model, kept: Kept) -> Vec<Finding> {
    let mut faults = if is_sound(before) { loose_ends(after) } else { Vec::new() };
    faults.extend(changed_interface(before, after));
    faults.extend(new_among(names::faults(before), names::faults(after)));
    // By itself: what was known while the model changed may be what is wrong.
    let found = infer::infer(after, infer::Options::default());
    faults.extend(new_among(nodes::faults(before, known), nodes::faults(after, &found)));
    if kept.types {
        faults.extend(changed_types((before, known), (after, &found)));
    }
    let finding = |fault| {
        let message = format!("the result does not hang together: {fault}");
        let finding = rule_ids::INTERNAL_FAULT.finding(message, Place::File);
        finding.note("this is a fault of onnx-fix or of a rule; the model was left as it is")
    };
    faults.into_iter().map(finding).collect()
}

/// Faults that a model did not have before.
fn new_among(before: Vec<String>, after: Vec<String>) -> impl Iterator<Item = String> {
    let before: FxHashSet<String> = before.into_iter().collect();
    after.into_iter().filter(move |fault| !before.contains(fault))
}

/// What is used where it is not there.
fn loose_ends(model: &Model) -> Vec<String> {
    let mut faults = Vec::new();
    let functions = model.functions.iter().map(|function| function.body);
    for root in functions.chain([model.main]) {
        graph(model, root, &mut FxHashSet::default(), &mut faults);
    }
    faults
}

fn changed_interface(before: &Model, after: &Model) -> Vec<String> {
    let (old, new) = (interface(before), interface(after));
    let changed = old.iter().zip(&new).filter(|(old, new)| old != new);
    let mut faults: Vec<String> =
        changed.map(|(old, new)| format!("`{old}` of the model became `{new}`")).collect();
    if old.len() != new.len() {
        faults.push("the model has another number of inputs or outputs".to_owned());
    }
    faults
}

/// Inputs and outputs of another type, as far as both are known.
fn changed_types((before, known): (&Model, &Facts), (after, found): (&Model, &Facts)) -> Vec<String> {
    let ports = given(before).into_iter().zip(given(after));
    let changed = ports.filter_map(|(old, new)| {
        let (was, is) = (known[old].value_type()?, found[new].value_type()?);
        let name = &after.values[new].name;
        (was != is).then(|| format!("`{name}` of the model was {was} and is {is}"))
    });
    changed.collect()
}

/// The names of what goes in and out, weights that are inputs left aside: a caller need not give them.
fn interface(model: &Model) -> Vec<String> {
    given(model).into_iter().map(|value| model.values[value].name.to_string()).collect()
}

/// What goes in and out.
fn given(model: &Model) -> Vec<ValueId> {
    let main = &model.graphs[model.main];
    let is_given = |port: &&Port| {
        let value = &model.values[port.value];
        matches!(value.def, Def::Input(_)) && value.initial.is_none()
    };
    let given = main.inputs.iter().filter(is_given);
    given.chain(&main.outputs).map(|port| port.value).collect()
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
fn is_sound(model: &Model) -> bool {
    let all = model.graphs.ids().flat_map(|graph| scopes::captures(model, graph));
    let missing = |value: ValueId| model.values[value].def == Def::Missing;
    !all.into_iter().any(missing) && loose_ends(model).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    const BEFORE: &str =
        "g (float[N] x) => (float[N] y, int64[1] s) { t = Relu (x) y = Neg (t) s = Shape (x) }";

    #[track_caller]
    fn check(after: &str, expected: &[&str]) {
        let model = |graph: &str| {
            let text = format!("<ir_version: 8, opset_import: [\"\" : 17]> {graph}");
            let (model, findings) = read::text::read(&text);
            assert!(findings.is_empty(), "{findings:?}");
            model.expect("a model")
        };
        let before = model(BEFORE);
        let known = infer::infer(&before, infer::Options::default());
        let faults = verify((&before, &known), &model(after), Kept { types: true });
        let said: Vec<&str> = faults
            .iter()
            .map(|fault| fault.message.trim_start_matches("the result does not hang together: "))
            .collect();
        assert_eq!(said, expected);
    }

    #[test]
    fn what_a_runtime_refuses_is_found() {
        check(BEFORE, &[]);
        check(
            "g (float[N] x) => (float[N] y, int64[1] s) { y = Neg (t) t = Relu (x) s = Shape (x) }",
            &["`Neg` uses `t` before it is made"],
        );
        check(
            "g (float[N] x) => (float[N] y, int64[1] s) <float[1] y = {1}> { y = Neg (x) s = Shape (x) }",
            &["the name `y` is given twice"],
        );
        check(
            "g (float[N] x) => (float[N] z, int64[1] s) { z = Neg (x) s = Shape (x) }",
            &["`y` of the model became `z`"],
        );
        check(
            "g (float[N] x) => (float[N] y, s) { y = Neg (x) i = Shape (x) s = Cast <to = 1> (i) }",
            &["`s` of the model was int64 and is float"],
        );
        check(
            "g (float[N] x) => (float[N] y, int64[1] s) { y = Gelu (x) s = Shape (x) }",
            &["`Gelu` does not exist before opset 20"],
        );
        check(
            "g (float[N] x) => (float[N] y, int64[1] s) { y = Not (x) s = Shape (x) }",
            &["`Not` does not take float as input 0 (`X`)"],
        );
        check(
            "g (float[N] x) => (float[N] y, int64[1] s) { y = f.Not (x) s = Shape (x) }",
            &["the domain of `f.Not` is not imported"],
        );
    }
}
