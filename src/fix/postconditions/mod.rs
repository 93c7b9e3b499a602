//! Verifies the result independently of the rules.
//!
//! Definitions must precede uses, names must be unique, the interface must be unchanged, and nodes must be legal.
//! Faults of the source model are not reported again.

mod names;
mod nodes;

use rustc_hash::FxHashSet;

use crate::diag::rule_ids;
use crate::diag::{Finding, Place};
use crate::graph::{Def, GraphId, Model, Port, ValueId, scopes};
use crate::infer::{self, Facts};

/// Properties that the passes must have preserved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept {
    /// Whether the types of inputs and outputs must be unchanged; fixes may change them.
    pub types: bool,
}

/// Returns the faults of `after`, the result of rewriting `before`.
/// No fault is returned, unless this program or a rule has a bug.
pub fn verify((before, known): (&Model, &Facts), after: &Model, kept: Kept) -> Vec<Finding> {
    let mut faults = if is_sound(before) { undefined_uses(after) } else { Vec::new() };
    faults.extend(changed_interface(before, after));
    faults.extend(new_among(names::faults(before), names::faults(after)));
    // Inferred from scratch, because the incrementally updated facts may be wrong.
    let found = infer::infer(after, infer::Options::default());
    faults.extend(new_among(nodes::faults(before, known), nodes::faults(after, &found)));
    if kept.types {
        faults.extend(changed_types((before, known), (after, &found)));
    }
    let finding = |fault| {
        let message = format!("the rewritten graph is invalid: {fault}");
        let finding = rule_ids::INTERNAL_FAULT.finding(message, Place::File);
        finding
            .note("this is a bug in onnx-fix or in a rule; the model was left unchanged")
            .help("if rules of `--rules` are loaded, run without them: one of them may be wrong")
    };
    faults.into_iter().map(finding).collect()
}

/// Returns the faults that the source model does not have.
fn new_among(before: Vec<String>, after: Vec<String>) -> impl Iterator<Item = String> {
    let before: FxHashSet<String> = before.into_iter().collect();
    after.into_iter().filter(move |fault| !before.contains(fault))
}

/// Returns faults for uses of values that no preceding node, input or initializer defines.
pub fn undefined_uses(model: &Model) -> Vec<String> {
    let mut faults = Vec::new();
    let functions = model.functions.iter().map(|function| function.body);
    for root in functions.chain([model.main]) {
        graph(model, root, &mut FxHashSet::default(), &mut faults);
    }
    faults
}

/// Returns faults for renamed, added or removed inputs and outputs.
fn changed_interface(before: &Model, after: &Model) -> Vec<String> {
    let (old, new) = (interface(before), interface(after));
    let changed = old.iter().zip(&new).filter(|(old, new)| old != new);
    let mut faults: Vec<String> =
        changed.map(|(old, new)| format!("input or output `{old}` was renamed to `{new}`")).collect();
    if old.len() != new.len() {
        faults.push("the number of inputs or outputs has changed".to_owned());
    }
    faults
}

/// Returns faults for inputs and outputs whose known type has changed.
fn changed_types((before, known): (&Model, &Facts), (after, found): (&Model, &Facts)) -> Vec<String> {
    let ports = given(before).into_iter().zip(given(after));
    let changed = ports.filter_map(|(old, new)| {
        let (was, is) = (known[old].value_type()?, found[new].value_type()?);
        let name = &after.values[new].name;
        (was != is).then(|| format!("the type of `{name}` changed from {was} to {is}"))
    });
    changed.collect()
}

/// Returns the names of the inputs and outputs, without inputs that have a default.
fn interface(model: &Model) -> Vec<String> {
    given(model).into_iter().map(|value| model.values[value].name.to_string()).collect()
}

/// Returns the inputs and outputs, without inputs that have a default: callers need not pass them.
fn given(model: &Model) -> Vec<ValueId> {
    let main = &model.graphs[model.main];
    let is_given = |port: &&Port| {
        let value = &model.values[port.value];
        matches!(value.def, Def::Input(_)) && value.initial.is_none()
    };
    let given = main.inputs.iter().filter(is_given);
    given.chain(&main.outputs).map(|port| port.value).collect()
}

/// Adds a fault for every use in a graph or its subgraphs that precedes the definition of its value.
fn graph(model: &Model, id: GraphId, visible: &mut FxHashSet<ValueId>, faults: &mut Vec<String>) {
    let scope = &model.graphs[id];
    visible.extend(scope.inputs.iter().map(|port| port.value));
    visible.extend(scope.initializers.iter().chain(&scope.sparse_initializers));
    for &node in &scope.nodes {
        let used = model.nodes[node].inputs.iter().flatten();
        for value in used.filter(|value| !visible.contains(value)) {
            let name = &model.values[*value].name;
            faults.push(format!("`{}` uses `{name}` before its definition", model.nodes[node].op_name()));
        }
        for body in model.nodes[node].graphs() {
            graph(model, body, &mut visible.clone(), faults);
        }
        visible.extend(model.nodes[node].outputs.iter().flatten());
    }
    for port in scope.outputs.iter().filter(|port| !visible.contains(&port.value)) {
        faults.push(format!("output `{}` is not defined", model.values[port.value].name));
    }
}

/// Returns true if every use in the source model has a preceding definition.
/// If a use in the source model is undefined, uses in the rewritten model are not checked.
fn is_sound(model: &Model) -> bool {
    let all = model.graphs.ids().flat_map(|graph| scopes::captures(model, graph));
    let missing = |value: ValueId| model.values[value].def == Def::Missing;
    !all.into_iter().any(missing) && undefined_uses(model).is_empty()
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
            .map(|fault| fault.message.trim_start_matches("the rewritten graph is invalid: "))
            .collect();
        assert_eq!(said, expected);
    }

    #[test]
    fn invalid_results_are_reported() {
        check(BEFORE, &[]);
        check(
            "g (float[N] x) => (float[N] y, int64[1] s) { y = Neg (t) t = Relu (x) s = Shape (x) }",
            &["`Neg` uses `t` before its definition"],
        );
        check(
            "g (float[N] x) => (float[N] y, int64[1] s) <float[1] y = {1}> { y = Neg (x) s = Shape (x) }",
            &["the name `y` is defined twice"],
        );
        check(
            "g (float[N] x) => (float[N] z, int64[1] s) { z = Neg (x) s = Shape (x) }",
            &["input or output `y` was renamed to `z`"],
        );
        check(
            "g (float[N] x) => (float[N] y, s) { y = Neg (x) i = Shape (x) s = Cast <to = 1> (i) }",
            &["the type of `s` changed from int64 to float"],
        );
        check(
            "g (float[N] x) => (float[N] y, int64[1] s) { y = Gelu (x) s = Shape (x) }",
            &["`Gelu` does not exist before opset 20"],
        );
        check(
            "g (float[N] x) => (float[N] y, int64[1] s) { y = Not (x) s = Shape (x) }",
            &["`Not` does not support float as input 0 (`X`)"],
        );
        check(
            "g (float[N] x) => (float[N] y, int64[1] s) { y = f.Not (x) s = Shape (x) }",
            &["the domain of `f.Not` is not imported"],
        );
    }
}
