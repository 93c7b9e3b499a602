//! EXP018: nodes and outputs that prevent an input axis from being dynamic.

use super::LintContext;
use super::locate::{Locator, Part, node_name};
use super::sized::carry;
use crate::batching::request::{Group, RequestError, resolve};
use crate::batching::{Kind, Obstacle, Samples, plan};
use crate::diag::rule_ids::{BAD_REQUEST, STATIC_AXIS};
use crate::diag::{Finding, Place};
use crate::edit::{AnalysisView, Editor, inline};
use crate::graph::uses::Uses;
use crate::graph::{Id as _, Model};
use crate::infer::Facts;
use crate::rules::registry::RuleSet;
use crate::source::SourceFiles;

/// Reports the obstacles that `onnx-fix --dynamic` would report.
///
/// Each requested dimension is examined separately.
pub fn detect(cx: &LintContext) -> Vec<Finding> {
    let asked = &cx.options.dynamic;
    if asked.is_empty() {
        return Vec::new();
    }
    let groups = match resolve(cx.model, asked) {
        Ok(groups) => groups,
        Err(misfits) => return misfits.into_iter().map(|misfit| unfit(cx.model, misfit)).collect(),
    };
    let with = (&*cx.options.sources, &*cx.options.rules);
    if cx.model.functions.is_empty() {
        return groups.iter().flat_map(|group| refused(cx.model, cx.facts, cx.uses, with, group)).collect();
    }
    // As in `onnx-fix`, function calls are inlined before the axes are examined.
    let mut editor = Editor::new(cx.model.clone());
    if let Err(hindrance) = inline::inline(&mut editor) {
        let message = format!("the model has local functions, and {hindrance}");
        return vec![STATIC_AXIS.finding(message, Place::File)];
    }
    let AnalysisView { model, facts, uses } = editor.analyses();
    let mut findings: Vec<Finding> =
        groups.iter().flat_map(|group| refused(model, facts, uses, with, group)).collect();
    // Node numbers of the inlined model do not apply to the original one.
    findings.iter_mut().for_each(|finding| finding.nodes.clear());
    findings
}

fn refused(
    model: &Model,
    facts: &Facts,
    uses: &Uses,
    (sources, rules): (&SourceFiles, &RuleSet),
    group: &Group,
) -> Vec<Finding> {
    match samples(model, group) {
        Ok(Some(samples)) => match plan(model, facts, &samples) {
            Ok(_) => Vec::new(),
            Err(obstacles) => blocked(model, uses, sources, group, &obstacles),
        },
        Ok(None) => {
            let mut editor = Editor::new(model.clone());
            let Err(obstacles) = carry(&mut editor, group, rules) else { return Vec::new() };
            let AnalysisView { model, uses, .. } = editor.analyses();
            blocked(model, uses, sources, group, &obstacles)
        }
        Err(finding) => vec![*finding],
    }
}

/// Returns the batch axes of a group; `None` if the group has no batch axes, or only dynamic axes.
///
/// # Errors
/// The axes were traced with different sizes.
pub fn samples(model: &Model, group: &Group) -> Result<Option<Samples>, Box<Finding>> {
    let traced = group.traced().map_err(|(a, b)| {
        let names: Vec<String> =
            group.axes.iter().map(|axis| format!("`{}`", model.values[axis.value].name)).collect();
        let message = format!(
            "axes of {} cannot share the dimension `{}`: their sizes are {a} and {b}",
            names.join(", "),
            group.name
        );
        Box::new(BAD_REQUEST.finding(message, Place::File).help("give each dimension its own name"))
    })?;
    let Some(traced) = traced.filter(|_| group.is_of_samples()) else { return Ok(None) };
    let inputs = group.axes.iter().map(|axis| (axis.value, axis.axis)).collect();
    Ok(Some(Samples::new(inputs, traced)))
}

/// Returns the finding for a request that does not match the model.
pub fn unfit(model: &Model, misfit: RequestError) -> Finding {
    match misfit {
        RequestError::Input(name) => {
            let inputs = model.graphs[model.main].inputs.iter();
            let names: Vec<String> =
                inputs.map(|port| format!("`{}`", model.values[port.value].name)).collect();
            let finding = BAD_REQUEST.finding(format!("the model has no input `{name}`"), Place::File);
            finding.help(format!("use one of its inputs: {}", names.join(", ")))
        }
        RequestError::Roles(name) => {
            let message = format!("the dimension `{name}` is requested as `samples` and as `size`");
            BAD_REQUEST.finding(message, Place::File).help("use one role, or two names")
        }
        RequestError::Axis(name, _, None) => {
            BAD_REQUEST.finding(format!("the shape of input `{name}` is not declared"), Place::File)
        }
        RequestError::Axis(name, axis, Some(rank)) => {
            let message = format!("axis {axis} is out of range for input `{name}` of rank {rank}");
            BAD_REQUEST.finding(message, Place::File)
        }
    }
}

/// Returns one finding for each [`Obstacle`] that prevents the axes of a group from being dynamic.
pub fn blocked(
    model: &Model,
    uses: &Uses,
    sources: &SourceFiles,
    group: &Group,
    obstacles: &[Obstacle],
) -> Vec<Finding> {
    let places = Locator::new(model, uses, sources);
    let axes: Vec<String> = group
        .axes
        .iter()
        .map(|axis| format!("axis {} of `{}`", axis.axis, model.values[axis.value].name))
        .collect();
    let axes = axes.join(" and ");
    let finding = |obstacle: &Obstacle| {
        let what = match obstacle.kind {
            Kind::Fixes => "hard-codes the size",
            Kind::Mixes => "mixes samples",
            Kind::Unsupported => "cannot be rewritten",
            Kind::Unknown => "not proved to work at sizes other than the traced one",
        };
        let why = &obstacle.why;
        match obstacle.node {
            Some(id) => {
                let node = &model.nodes[id];
                let message = format!(
                    "`{}` ({}) keeps {axes} from being dynamic: {why}",
                    node_name(model, node),
                    node.op_name()
                );
                let mut finding = STATIC_AXIS.finding(message, places.node(id, Part::Whole)).label(what);
                finding.source = places.source(id);
                finding.anchor = places.anchor(id);
                finding.nodes = vec![id.index() as u32];
                finding
            }
            None => STATIC_AXIS.finding(format!("{axes} cannot be dynamic: {why}"), Place::File),
        }
    };
    obstacles.iter().map(finding).collect()
}
