//! Findings about the obstacles of a conversion.

use super::options::Options;
use crate::analyses::locate::{Locator, Part};
use crate::diag::rule_ids;
use crate::diag::{Finding, Place};
use crate::edit::inline::Hindrance;
use crate::edit::{AnalysisView, Editor};
use crate::extract::{Blocker, Target};
use crate::graph::dim::Dim;
use crate::graph::uses::Uses;
use crate::graph::{GraphId, Model, Node, NodeId, ValueId, scopes};
use crate::infer::{Facts, Shape};
use crate::schema::{self, Illegal, Obstacle};
use crate::source::SourceFiles;
use crate::targets::{Refusal, free_inputs, judge};

/// Returns one finding for each node of `graph` that has no legal equivalent.
/// Returns one finding for the whole graph if no node is known to be the cause.
pub fn findings(model: &Model, graph: GraphId, target: &Target, blockers: &[Blocker]) -> Vec<Finding> {
    let (uses, sources) = (Uses::new(model), SourceFiles::default());
    let places = Locator::new(model, &uses, &sources);
    let opset = target.opset("").unwrap_or_default();
    if blockers.is_empty() {
        let name = places.graph_path(graph);
        let message = format!("graph `{name}` cannot be converted to opset {opset}");
        return vec![rule_ids::NOT_CONVERTIBLE.finding(message, Place::File)];
    }
    blockers.iter().map(|blocker| of_node(model, &places, opset, blocker.node, &blocker.illegal)).collect()
}

/// Returns a finding about local functions that can neither be kept nor inlined.
pub fn by_functions(model: &Model, hindrance: Hindrance) -> Finding {
    let name = model.functions.first().and_then(|function| function.name.as_deref()).unwrap_or("");
    let message =
        format!("the model has local functions (`{name}`), which require opset 15, and {hindrance}");
    rule_ids::NOT_CONVERTIBLE.finding(message, Place::File).help("convert to opset 15 or later")
}

/// Returns findings about nodes of a converted model that its opset does not support.
/// Types are not checked. No finding is returned, unless the source model has unsupported nodes or this
/// program has a bug.
pub fn illegal_nodes(model: &Model) -> Vec<Finding> {
    let (uses, sources) = (Uses::new(model), SourceFiles::default());
    let places = Locator::new(model, &uses, &sources);
    let live = scopes::live(model);
    let nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes);
    let illegal = nodes.filter(|&&node| model.callee(node).is_none()).filter_map(|&node| {
        let opset = model.opset(model.nodes[node].graph, model.nodes[node].domain())?;
        let opset = u16::try_from(opset).ok()?;
        Some((node, opset, illegal_as_written(model, None, node, opset)?))
    });
    illegal.map(|(node, opset, why)| of_node(model, &places, i64::from(opset), node, &why)).collect()
}

/// Returns the reason why a node is illegal at an opset; `None` if it is legal or unknown.
/// Operand types are only checked if `facts` are given.
pub fn illegal_as_written(model: &Model, facts: Option<&Facts>, id: NodeId, opset: u16) -> Option<Illegal> {
    let node = &model.nodes[id];
    schema::lookup(node.domain(), &node.op_type, u16::MAX)?;
    let ty = |value: ValueId| facts.and_then(|facts| facts[value].value_type());
    schema::with_use(node, ty, |op| schema::legal(op, opset).err())
}

/// Returns a finding if the requested opset is unknown; `None` if no opset is requested.
pub fn by_version(options: &Options) -> Option<Finding> {
    let wanted = options.opset?;
    let latest = schema::latest("").map_or(0, i64::from);
    let message = format!("opset {wanted} is unknown: the newest is {latest}");
    let is_known = (1..=latest).contains(&wanted);
    (!is_known).then(|| rule_ids::NOT_CONVERTIBLE.finding(message, Place::File))
}

/// First version of `If` whose branches may have outputs of different shapes.
const FREE_BRANCHES_SINCE: u16 = 11;

/// Returns the shapes of an `If` output in both branches, if a runtime can infer that they differ.
fn unlike(model: &Model, facts: &Facts, id: NodeId) -> Option<(Shape, Shape)> {
    let branches: Vec<GraphId> = model.nodes[id].graphs().collect();
    let &[then, other] = &branches[..] else { return None };
    let outputs = model.graphs[then].outputs.iter().zip(&model.graphs[other].outputs);
    let mut shapes = outputs.filter_map(|(a, b)| Some((facts[a.value].shape()?, facts[b.value].shape()?)));
    let (a, b) = shapes.find(|(a, b)| !are_alike(a, b))?;
    Some((a.clone(), b.clone()))
}

/// Returns true if a runtime may assume either shape for both branches.
/// Static dimensions must be equal, and dynamic dimensions must be dynamic in both shapes.
fn are_alike(a: &Shape, b: &Shape) -> bool {
    let (Some(a), Some(b)) = (a.dims(), b.dims()) else { return a.rank() == b.rank() };
    let number = |size: &Option<Dim>| size.as_ref().and_then(Dim::as_const);
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| number(a) == number(b))
}

/// Returns true if a graph is within a branch of an `If` with different output shapes, before opset 11.
/// Runtimes accept different output shapes only if they cannot infer the difference, so the branches must not
/// be simplified.
pub fn hides_shapes(model: &Model, facts: &Facts, opset: Option<i64>, graph: GraphId) -> bool {
    opset.is_some_and(|opset| opset < i64::from(FREE_BRANCHES_SINCE))
        && model.holders(graph).any(|node| model.nodes[node].is("If") && unlike(model, facts, node).is_some())
}

/// Returns findings about `If` nodes with different output shapes, if the target opset is below 11.
/// Returns no findings if the source opset `from` is unknown or also below 11.
pub fn unlike_branches(editor: &mut Editor, from: Option<i64>) -> Vec<Finding> {
    let model = editor.model();
    let opset = model.opset(model.main, "").unwrap_or_default();
    let since = i64::from(FREE_BRANCHES_SINCE);
    let was_free = from.is_some_and(|from| from >= since);
    if !was_free || opset >= since || !model.nodes.iter().any(|(_, node)| node.is("If")) {
        return Vec::new();
    }
    let AnalysisView { model, facts, uses } = editor.analyses();
    let sources = SourceFiles::default();
    let places = Locator::new(model, uses, &sources);
    let live = scopes::live(model);
    let nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes).copied();
    let nodes = nodes.filter(|&node| model.nodes[node].is("If"));
    let unlike = nodes.filter_map(|node| Some((node, unlike(model, facts, node)?)));
    unlike
        .map(|(node, (a, b))| {
            let why = format!("its branches may have different output shapes: {a} and {b}");
            finding(model, &places, opset, node, &why, Some(FREE_BRANCHES_SINCE))
        })
        .collect()
}

/// Returns findings about inputs and nodes of a converted model that a target runtime does not support.
/// No finding is returned, unless the source model has unsupported inputs or nodes that no rule rewrote.
pub fn by_targets(known: AnalysisView, options: &Options) -> Vec<Finding> {
    let AnalysisView { model, facts, uses } = known;
    let sources = SourceFiles::default();
    let places = Locator::new(model, uses, &sources);
    let mut found = Vec::new();
    for profile in &options.targets {
        for input in free_inputs(model, facts, profile) {
            let name = &model.values[input].name;
            let message = format!("{profile} requires static sizes where input `{name}` has dynamic ones");
            let finding = rule_ids::NOT_CONVERTIBLE.finding(message, places.declaration(input));
            found.push(finding.help(format!("set its shape with --fix-shape {name}=…")));
        }
        for (node, Refusal { why, .. }) in judge(model, facts, uses, profile).refused {
            let illegal = Illegal { obstacle: Obstacle::Refused { by: profile.label(), why }, since: None };
            found.push(of_node(model, &places, 0, node, &illegal));
        }
    }
    found
}

/// Returns a finding about an illegal node.
fn of_node(model: &Model, places: &Locator, opset: i64, id: NodeId, illegal: &Illegal) -> Finding {
    if let Obstacle::Refused { by, .. } = &illegal.obstacle {
        let message = format!("{} cannot be converted for {by}: it {illegal}", called(&model.nodes[id]));
        let mut finding = rule_ids::NOT_CONVERTIBLE.finding(message, places.node(id, Part::Whole));
        finding.source = places.source(id);
        return finding;
    }
    finding(model, places, opset, id, &format!("it {illegal}"), illegal.since)
}

/// Returns a finding about a node that cannot be converted to `opset`.
/// `since` is the first opset that supports the node.
fn finding(
    model: &Model,
    places: &Locator,
    opset: i64,
    id: NodeId,
    why: &str,
    since: Option<u16>,
) -> Finding {
    let node = &model.nodes[id];
    let message = format!("{} cannot be converted to opset {opset}: {why}", called(node));
    let mut finding = rule_ids::NOT_CONVERTIBLE.finding(message, places.node(id, Part::Whole));
    finding.source = places.source(id);
    match since {
        Some(since) => finding.help(format!("convert to opset {since} or later")),
        None => finding,
    }
}

/// Returns the operator and the name of a node: `Pad` (`/pad/Pad`).
fn called(node: &Node) -> String {
    let name = node.name.as_deref().filter(|name| !name.is_empty());
    format!("`{}`{}", node.op_name(), name.map(|name| format!(" (`{name}`)")).unwrap_or_default())
}
