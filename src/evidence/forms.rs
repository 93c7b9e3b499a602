//! Suggests replacements for nodes that a target does not support, by fixing each node on its own.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diag::rule_ids::TARGET_UNSUPPORTED;
use crate::diag::{Finding, Level};
use crate::fix::{Options, fix};
use crate::graph::{Def, Id, Model, NodeId, Port, ValueId, ValueInfo};
use crate::infer::{self, Facts};
use crate::lint::LintOptions;
use crate::rules::registry::RuleSet;
use crate::targets::Profile;

/// Maximum number of nodes to try per target.
/// Nodes with equal operators, attributes and input types count once.
const MOST_ASKED: usize = 32;

/// Adds help to findings about unsupported nodes.
/// The help names the replacement that `onnx-fix --target` finds for the node alone, or states that there
/// is none. Nodes that [`alone`] rejects, and nodes beyond [`MOST_ASKED`], get no help.
pub fn tell(model: &Model, options: &LintOptions, findings: &mut [Finding]) {
    let is_refused = |finding: &&mut Finding| {
        *finding.code == *TARGET_UNSUPPORTED.code && finding.level >= Level::Warning && finding.help.is_none()
    };
    let mut refused = findings.iter_mut().filter(is_refused).peekable();
    if refused.peek().is_none() {
        return;
    }
    let facts = infer::infer(model, infer::Options::default());
    let rules = RuleSet::patterns().overlaid(&options.rules);
    let profiles = options.targets.iter().map(|profile| (profile, format!("{profile} does not support ")));
    let mut targets: Vec<_> =
        profiles.map(|(profile, words)| (profile, words, FxHashMap::default())).collect();
    for finding in refused {
        let target = targets.iter_mut().find(|(_, words, _)| finding.message.starts_with(words));
        let (Some((profile, _, asked)), Some(&number)) = (target, finding.nodes.first()) else { continue };
        let node = NodeId::from_index(number as usize);
        let likeness = likeness(model, &facts, node);
        if asked.len() < MOST_ASKED || asked.contains_key(&likeness) {
            let help = asked.entry(likeness);
            finding.help = help.or_insert_with(|| help_for(model, &facts, node, profile, &rules)).clone();
        }
    }
}

/// Returns the key of nodes that share their help: operator, attributes and input types.
fn likeness(model: &Model, facts: &Facts, node: NodeId) -> String {
    let node = &model.nodes[node];
    let types = node.inputs.iter().flatten().map(|&value| facts[value].value_type());
    format!("{} {:?} {:?}", node.op_name(), node.attrs, types.collect::<Vec<_>>())
}

fn help_for(
    model: &Model,
    facts: &Facts,
    node: NodeId,
    profile: &Arc<Profile>,
    rules: &RuleSet,
) -> Option<String> {
    let alone = alone(model, facts, node)?;
    let command = format!("`onnx-fix --target {}`", profile.argument());
    let options = Options { targets: vec![profile.clone()], optimize: false, ..Options::default() };
    let outcome = fix(alone, &options, rules);
    if outcome.findings.iter().any(|finding| finding.level == Level::Error) {
        return Some(format!(
            "{command} finds no supported replacement for this node alone; it may find one for the node with its neighbors"
        ));
    }
    let made = &outcome.model;
    let nodes = made.graphs[made.main].nodes.iter().map(|&node| &made.nodes[node]);
    let ops: Vec<String> = nodes.filter(|node| !node.is("Constant")).map(|node| node.op_name()).collect();
    let runs = ops.chunk_by(|one, next| one == next).map(|run| match run.len() {
        1 => format!("`{}`", run[0]),
        times => format!("{times} × `{}`", run[0]),
    });
    let form = runs.collect::<Vec<_>>().join(" + ");
    (outcome.changed && !form.is_empty()).then(|| format!("{command} replaces this node with {form}"))
}

/// Extracts one node of the main graph as a model; its operands become inputs, or stay constants.
/// Returns `None` for a function call, and for a node that is in another graph, has a subgraph, or has an
/// output or a nonconstant input of unknown type.
fn alone(model: &Model, facts: &Facts, id: NodeId) -> Option<Model> {
    let node = &model.nodes[id];
    if node.graph != model.main || node.graphs().next().is_some() || model.callee(id).is_some() {
        return None;
    }
    let mut declarer = infer::Declarer::of(model, model.main, facts);
    let mut port = |value: ValueId| {
        let mut port = Port { value, info: ValueInfo::default() };
        declarer.declare(&mut port);
        port.info.ty.is_some().then_some(port)
    };
    let mut cut = model.clone();
    let (mut nodes, mut inputs, mut initializers) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen = FxHashSet::default();
    for value in node.inputs.iter().flatten().copied().filter(|&value| seen.insert(value)) {
        match model.producer(value) {
            Some((maker, _)) if model.nodes[maker].is("Constant") => nodes.push(maker),
            _ if model.values[value].initial.is_some()
                && matches!(model.values[value].def, Def::Initializer) =>
            {
                initializers.push(value);
            }
            _ => {
                cut.values[value].def = Def::Input(u32::try_from(inputs.len()).ok()?);
                cut.values[value].initial = None;
                inputs.push(port(value)?);
            }
        }
    }
    nodes.push(id);
    let outputs = node.outputs.iter().flatten().map(|&value| port(value)).collect::<Option<Vec<_>>>()?;
    let graph = &mut cut.graphs[model.main];
    graph.value_info.clear();
    graph.quantization.clear();
    graph.sparse_initializers.clear();
    (graph.nodes, graph.inputs, graph.outputs, graph.initializers) = (nodes, inputs, outputs, initializers);
    Some(cut)
}
