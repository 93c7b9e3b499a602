//! Conversion of `ScatterElements` and `ScatterND` with a reduction to opsets that lack the reduction.
//!
//! Rules decompose the reductions along short static axes. For all other nodes, this pass writes a `Loop`. Each
//! step takes one position along the axis of the indices, gathers the current elements at these indices,
//! combines them with the updates, and scatters the results without a reduction. Within a step, no element is
//! selected twice, so elements that several updates select are reduced one update after the other.

use std::sync::Arc;

use super::repair;
use crate::diag::Finding;
use crate::diag::rule_ids::ADAPTED_FORM;
use crate::edit::{AnalysisView, Change, Editor, Names, Site};
use crate::extract::{Done, Target};
use crate::fix::context::Context;
use crate::fix::pass::{Need, Pass};
use crate::fix::scatter::{Form, Scatter};
use crate::fix::search::Search;
use crate::fix::writer::Writer;
use crate::graph::{
    AttrValue, Attribute, ElemType, Graph, GraphId, Model, NodeId, Owner, Port, Type, TypeKind, ValueId,
    ValueInfo, scopes,
};

/// First opset with all operators of a step.
const FIRST: i64 = 11;

/// The pass.
pub const PASS: Pass = Pass {
    id: "looped-reduction",
    summary: "Decomposes scatter nodes with a reduction that no rule converts into a `Loop`.",
    codes: &[ADAPTED_FORM],
    phases: &[],
    need: Need::Required,
    is_enabled: |cx| {
        let takes_loops = cx.options.targets.iter().all(|profile| profile.may_take("", "Loop"));
        cx.options.opset.is_some_and(|opset| opset >= FIRST) && takes_loops
    },
    run,
};

/// Decomposes the blocked reductions of every graph; returns true if there were any.
fn run(editor: &mut Editor, cx: &mut Context) -> Result<bool, Vec<Finding>> {
    let mut is_changed = false;
    for graph in scopes::live(editor.model()) {
        // A node whose input is blocked counts as blocked only after the input is converted.
        loop {
            let blocked = blocked(editor, cx, graph);
            if blocked.is_empty() {
                break;
            }
            is_changed |= editor.rework(|model, names| {
                blocked.into_iter().map(|scatter| decompose(model, names, scatter)).collect()
            });
        }
    }
    Ok(is_changed)
}

/// Returns the reductions of a graph that prevent its conversion.
fn blocked(editor: &mut Editor, cx: &Context, graph: GraphId) -> Vec<Scatter> {
    let view = editor.analyses();
    let AnalysisView { model, facts, .. } = view;
    let of = |&node: &NodeId| Scatter::of(model, graph, facts, node);
    let scatters: Vec<Scatter> = model.graphs[graph].nodes.iter().filter_map(of).collect();
    if scatters.is_empty() {
        return scatters;
    }
    let search = Search::new(model, repair::operators(model), &cx.options, cx.rules);
    let Some(search) = search else { return Vec::new() };
    let target = search.target(model, graph, &cx.options);
    if !lacks_reductions(&target) {
        return Vec::new();
    }
    match search.run(view, graph, &target, &cx.options) {
        Done::Blocked(blockers) => {
            let is_blocked = |scatter: &Scatter| blockers.iter().any(|blocker| blocker.node == scatter.node);
            let scatters = scatters.into_iter().filter(is_blocked);
            scatters.filter(|scatter| can_loop(scatter, &target)).collect()
        }
        Done::Unchanged | Done::Planned { .. } => Vec::new(),
    }
}

/// Returns true if the target opset lacks a reduction, but has all operators of a step.
fn lacks_reductions(target: &Target) -> bool {
    /// First opset with all reductions.
    const COMPLETE: i64 = 18;
    !target.is_source && target.opset("").is_some_and(|opset| (FIRST..COMPLETE).contains(&opset))
}

/// Returns false if the target has no `Loop` for the dtype of the data.
fn can_loop(scatter: &Scatter, target: &Target) -> bool {
    /// First opset whose `Loop` carries bfloat16.
    const BFLOAT16: i64 = 16;
    let carries_bfloat16 = target.opset("").is_some_and(|opset| opset >= BFLOAT16);
    scatter.steps == Some(1) || carries_bfloat16 || scatter.elem() != Some(ElemType::Bfloat16)
}

/// Replaces a node by a loop over its indices, or by a single step.
fn decompose(model: &mut Model, names: &mut Names, scatter: Scatter) -> Change {
    let Scatter { node, graph, .. } = scatter;
    let base = scatter.name(model);
    let mut outer = Writer { model, names, graph, base: base.clone(), nodes: Vec::new() };
    let (indices, updates) = scatter.rows(&mut outer);
    let what = match scatter.steps {
        Some(1) => {
            let changed = scatter.combined(&mut outer, scatter.data, indices, updates);
            let inputs = [scatter.data, indices, changed].map(Some).to_vec();
            let replaced = &mut outer.model.nodes[node];
            replaced.inputs = inputs;
            replaced.attrs.retain(|attr| &*attr.name != "reduction");
            format!("the reduction of `{}` decomposed", replaced.op_type)
        }
        _ => {
            let count = outer.size(indices, scatter.axis());
            let body = body(outer.model, outer.names, &scatter, base, (indices, updates));
            let replaced = &mut outer.model.nodes[node];
            let what = format!("`{}` with a reduction decomposed into a `Loop`", replaced.op_type);
            replaced.op_type = Arc::from("Loop");
            replaced.inputs = vec![Some(count), None, Some(scatter.data)];
            replaced.attrs = vec![Attribute::new("body", AttrValue::Graph(body))];
            what
        }
    };
    let new = outer.nodes;
    let nodes = &mut model.graphs[graph].nodes;
    let at = nodes.iter().position(|&other| other == node).unwrap_or(nodes.len());
    nodes.splice(at..at, new);
    Change::new(ADAPTED_FORM, Site::Node(node), what)
}

/// Creates the body of the loop: the step for one position of the indices.
fn body(
    model: &mut Model,
    names: &mut Names,
    scatter: &Scatter,
    base: Arc<str>,
    (indices, updates): (ValueId, ValueId),
) -> GraphId {
    let graph = model.graphs.push(Graph::new(Owner::Node(scatter.node)));
    let mut writer = Writer { model, names, graph, base, nodes: Vec::new() };
    let [iteration, truth] = [ElemType::Int64, ElemType::Bool].map(scalar);
    let [iteration, again, state] =
        [iteration, truth.clone(), scatter.info.clone()].map(|info| writer.input(info));
    let one = writer.ints(vec![1], &[1]);
    let place = writer.add("Reshape", &[iteration, one], Vec::new());
    let along = || vec![Attribute::new("axis", AttrValue::Int(scatter.axis()))];
    let [at, given] = [indices, updates].map(|all| writer.add("Gather", &[all, place], along()));
    let changed = scatter.combined(&mut writer, state, at, given);
    let attrs = match scatter.form {
        Form::Elements { .. } => along(),
        Form::Slices { .. } => Vec::new(),
    };
    let next = writer.add(scatter.form.scatter(), &[state, at, changed], attrs);
    let kept = writer.add("Identity", &[again], Vec::new());
    let nodes = writer.nodes;
    let body = &mut model.graphs[graph];
    body.name = Some(Arc::from("step"));
    body.nodes = nodes;
    body.outputs = vec![Port { value: kept, info: truth }, Port { value: next, info: scatter.info.clone() }];
    graph
}

/// Returns the declaration of a scalar.
fn scalar(elem: ElemType) -> ValueInfo {
    let ty: Type = TypeKind::Tensor { elem: Some(elem.number()), shape: Some(Vec::new()) }.into();
    ValueInfo { ty: Some(ty), ..ValueInfo::default() }
}
