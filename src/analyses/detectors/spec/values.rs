//! Undefined, duplicate and shadowed value names.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::RuleId;
use crate::diag::rule_ids::{
    DUPLICATE_INITIALIZER, DUPLICATE_VALUE, SHADOWED_VALUE, UNDEFINED_OUTPUT, UNDEFINED_VALUE,
};
use crate::diag::{Applicability, Finding, Level, Sink};
use crate::edit::duplicate_names;
use crate::graph::syntax::suggest;
use crate::graph::{Def, GraphId, Model, NodeId, ValueId};

/// Detector of SPC012, SPC013, SPC014, SPC015 and SPC023.
pub const DETECTOR: Detector = Detector {
    rules: &[UNDEFINED_VALUE, DUPLICATE_VALUE, UNDEFINED_OUTPUT, SHADOWED_VALUE, DUPLICATE_INITIALIZER],
    run,
};

fn undefined(cx: &LintContext, value: ValueId, guesses: bool) -> Option<Finding> {
    let first = cx.uses.of(value).first()?;
    let (node, name) = (cx.node_name(first.node), cx.name(value));
    let finding = cx
        .at_node(
            UNDEFINED_VALUE,
            first.node,
            Part::Input(first.input as usize),
            format!("input `{name}` of `{node}` is not defined"),
        )
        .label("no value in scope has this name");
    Some(if guesses { with_guess(cx, finding, value) } else { finding })
}

fn undefined_output(cx: &LintContext, value: ValueId, guesses: bool) -> Finding {
    let message = format!("graph output `{}` is not defined", cx.name(value));
    let finding = cx.at_value(UNDEFINED_OUTPUT, value, message).label("no value in scope has this name");
    if guesses { with_guess(cx, finding, value) } else { finding }
}

fn duplicate(cx: &LintContext, rule: RuleId, first: ValueId, second: ValueId) -> Finding {
    let name = cx.name(second);
    let kind = if rule == DUPLICATE_INITIALIZER { "initializers" } else { "values" };
    let label = match cx.uses.of(second).is_empty() {
        true => "defined again",
        false => "defined again; later uses refer to this definition",
    };
    cx.at_value(rule, second, format!("two {kind} of one graph are named `{name}`"))
        .label(label)
        .related(cx.places.value(first), "first definition")
}

fn shadowed(cx: &LintContext, inner: ValueId, outer: ValueId) -> Finding {
    let name = cx.name(inner);
    let level = if is_refused(cx.model, inner, outer) { Level::Error } else { Level::Warning };
    cx.at_value(SHADOWED_VALUE.at(level), inner, format!("`{name}` shadows a value of an outer graph"))
        .label("the name refers to this value within the subgraph")
        .related(cx.places.value(outer), "shadowed value")
        .help("rename it: names must differ from all names in scope")
}

/// Whether ONNX Runtime rejects the model because of the shadowed name.
///
/// If an outer value is defined before the subgraph runs, ONNX Runtime rejects a node output of the subgraph
/// with the same name.
fn is_refused(model: &Model, inner: ValueId, outer: ValueId) -> bool {
    if !matches!(model.values[inner].def, Def::Node { .. }) {
        return false;
    }
    let Def::Node { node: maker, .. } = model.values[outer].def else { return true };
    let graph = model.values[outer].graph;
    let holder = model.holders(model.values[inner].graph).find(|&node| model.nodes[node].graph == graph);
    let nodes = &model.graphs[graph].nodes;
    let place = |node: NodeId| nodes.iter().position(|&other| other == node);
    holder.is_some_and(|holder| place(maker) < place(holder))
}

/// Maximum number of undefined values to suggest names for, because each search visits all names.
const GUESSES: usize = 16;

/// Adds the location of an out-of-scope value with this name, or else suggests the intended name.
fn with_guess(cx: &LintContext, finding: Finding, value: ValueId) -> Finding {
    let elsewhere = cx
        .model
        .values
        .iter()
        .find(|(_, other)| other.def != Def::Missing && other.name == cx.model.values[value].name);
    if let Some((other, _)) = elsewhere {
        let message = "a value with this name is defined here, out of scope";
        return finding.related(cx.places.value(other), message);
    }
    let mut around = Some(cx.model.values[value].graph);
    let mut visible = Vec::new();
    while let Some(graph) = around {
        visible.push(graph);
        around = cx.model.parent(graph);
    }
    let defined = cx.model.values.iter().filter(|(_, other)| other.def != Def::Missing);
    let names = defined.filter(|(_, other)| visible.contains(&other.graph)).map(|(_, other)| &*other.name);
    match suggest::closest(cx.name(value), names) {
        Some(name) => finding.help(format!("did you mean `{name}`?")),
        None => finding,
    }
}

/// Adds a fix to the finding if `onnx-fix` renames values that have the same name as `value`.
fn with_fix(cx: &LintContext, renamed: &FxHashSet<&str>, finding: Finding, value: ValueId) -> Finding {
    match renamed.contains(cx.name(value)) {
        true => finding.fix(Applicability::Safe, "gives each value a unique name"),
        false => finding,
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let duplicates = duplicate_names(cx.model);
    let is_blocked = duplicates.iter().any(|group| group.obstacle(cx.model).is_some());
    let renamed: FxHashSet<&str> = match is_blocked {
        true => FxHashSet::default(),
        false => duplicates.iter().map(|group| &*group.name).collect(),
    };
    let mut first_of_name: FxHashMap<(GraphId, &str), ValueId> = FxHashMap::default();
    let mut missing = 0;
    for (id, value) in cx.model.values.iter() {
        if value.def == Def::Missing {
            let guesses = missing < GUESSES;
            missing += 1;
            sink.extend(undefined(cx, id, guesses));
            if cx.uses.of(id).is_empty() && cx.uses.is_output(id) {
                sink.push(undefined_output(cx, id, guesses));
            }
            continue;
        }
        match first_of_name.get(&(value.graph, &*value.name)) {
            Some(&first) => {
                let finding = duplicate(cx, duplicate_rule(cx.model, first, id), first, id);
                sink.push(with_fix(cx, &renamed, finding, id));
            }
            None => {
                first_of_name.insert((value.graph, &value.name), id);
            }
        }
    }
    for (id, value) in cx.model.values.iter().filter(|(_, value)| value.def != Def::Missing) {
        let mut around = cx.model.parent(value.graph);
        while let Some(graph) = around {
            if let Some(&outer) = first_of_name.get(&(graph, &*value.name)) {
                sink.push(with_fix(cx, &renamed, shadowed(cx, id, outer), id));
                break;
            }
            around = cx.model.parent(graph);
        }
    }
}

fn duplicate_rule(model: &Model, first: ValueId, second: ValueId) -> RuleId {
    let is_initializer = |id: ValueId| model.values[id].def == Def::Initializer;
    if !is_initializer(second) {
        return DUPLICATE_VALUE;
    }
    let first_has_tensor = is_initializer(first) || model.values[first].initial.is_some();
    if first_has_tensor { DUPLICATE_INITIALIZER } else { DUPLICATE_VALUE }
}
