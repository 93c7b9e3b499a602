//! Dynamic dimensions other than the batch.
//!
//! A dynamic dimension is propagated through the model, which is then tested at multiples of the traced size.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::context::LintContext;
use super::rule_fixes::raw;
use super::whole_flow::baked_only;
use crate::batching::request::Group;
use crate::batching::{Kind, Obstacle, size};
use crate::diag::rule_ids::{BAKED_SHAPE, REQUESTED_SHAPE};
use crate::edit::{AnalysisView, Change, Editor, Patch, Site};
use crate::graph::dim::Symbol;
use crate::graph::{DeclaredDim, Model, NodeId, TypeKind, order};
use crate::infer::eval::{Array, Refusal, Val};
use crate::infer::execute::{Executor, Limits};
use crate::infer::{self, Facts};
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Phase, Rule, Safety};

/// Maximum number of rounds of fixes; a fix can expose further nodes that hard-code the size.
const ROUNDS: usize = 32;

/// Limits of a trial run at another size.
const LIMITS: Limits = Limits { bytes: 1 << 26, work: 1 << 26 };

/// Multiples of the traced size at which the model must run.
///
/// Strides and windows often require a multiple of the traced size.
const MULTIPLES: [i64; 2] = [2, 3];

/// Declares the axes of a group with the name of their dimension.
pub fn free(editor: &mut Editor, group: &Group) {
    for axis in &group.axes {
        let what = format!("axis {} is dynamic: `{}`", axis.axis, group.name);
        editor.change(Change::new(REQUESTED_SHAPE, Site::Value(axis.value), what), |model, _| {
            declare(model, group, axis.at, &DeclaredDim::Param(Arc::from(group.name.as_str())))
        });
    }
}

fn declare(model: &mut Model, group: &Group, at: usize, wanted: &DeclaredDim) -> bool {
    let main = model.main;
    let kind = model.graphs[main].inputs[at].info.ty.as_mut().map(|ty| &mut ty.kind);
    let Some(TypeKind::Tensor { shape: Some(dims), .. }) = kind else { return false };
    let mut is_changed = false;
    for axis in group.axes.iter().filter(|axis| axis.at == at) {
        is_changed |= dims[axis.axis].dim != *wanted;
        dims[axis.axis].dim = wanted.clone();
    }
    is_changed
}

/// Makes the dimension of a group dynamic, and fixes the nodes that hard-code it.
///
/// # Errors
/// Returns the nodes that still hard-code the dimension.
pub fn carry(editor: &mut Editor, group: &Group, rules: &RuleSet) -> Result<(), Vec<Obstacle>> {
    let Ok(Some(traced)) = group.traced() else {
        free(editor, group);
        return Ok(());
    };
    let known: FxHashSet<NodeId> = editor.analyses().facts.faults.iter().map(|(node, _)| *node).collect();
    free(editor, group);
    let what = Change::new(REQUESTED_SHAPE, Site::Model, "declared shapes inferred again");
    editor.change(what, |model, _| undeclare(model));
    let operators = editor.model().nodes.iter().map(|(_, node)| node.op_type.clone()).collect();
    let is_wanted =
        |rule: &&Rule| rule.fixes.as_deref() == Some(BAKED_SHAPE.code) && rule.safety != Safety::Unsafe;
    let rules: Vec<&Rule> =
        rules.within_reach(operators, &[Phase::Fix], None).into_iter().filter(is_wanted).collect();
    let symbol = Symbol::size(&group.name);
    for _ in 0..ROUNDS {
        let AnalysisView { model, facts, .. } = editor.analyses();
        let mut patches = size::reshapes(model, facts, &symbol, traced);
        if patches.is_empty() {
            patches = mends(editor.analyses(), &rules);
        }
        if editor.apply(patches) == 0 {
            break;
        }
    }
    let found = standing(editor.analyses(), group, traced, &known);
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Drops the declared sizes of computed values and of subgraph inputs.
fn undeclare(model: &mut Model) -> bool {
    let main = model.main;
    for (id, graph) in model.graphs.iter_mut() {
        graph.value_info.clear();
        let inputs = if id == main { &mut [][..] } else { &mut graph.inputs[..] };
        for port in graph.outputs.iter_mut().chain(inputs) {
            let kind = port.info.ty.as_mut().map(|ty| &mut ty.kind);
            if let Some(TypeKind::Tensor { shape: Some(dims), .. }) = kind {
                dims.iter_mut().for_each(|dim| dim.dim = DeclaredDim::Absent);
            }
        }
    }
    true
}

fn mends(known: AnalysisView, rules: &[&Rule]) -> Vec<Patch> {
    let options = baked_only();
    let cx = LintContext::new(known.model, known.facts, known.uses, &options);
    let findings = super::detected(&cx);
    raw(&cx, rules, &findings).into_iter().map(|mend| mend.patch).collect()
}

/// Returns the nodes that still hard-code the size of the group.
///
/// The nodes are found by the detectors of EXP001, and by inference and runs at multiples of the traced size.
fn standing(known: AnalysisView, group: &Group, traced: i64, before: &FxHashSet<NodeId>) -> Vec<Obstacle> {
    let options = baked_only();
    let cx = LintContext::new(known.model, known.facts, known.uses, &options);
    let mut found: Vec<Obstacle> = Vec::new();
    let mut add = |node: NodeId, kind: Kind, why: String| {
        if !found.iter().any(|one| one.node == Some(node)) {
            found.push(Obstacle { node: Some(node), value: None, kind, why });
        }
    };
    for finding in super::detected(&cx) {
        let nodes = cx.nodes().filter(|(node, _)| finding.nodes.contains(&super::context::number(*node)));
        nodes.for_each(|(node, _)| add(node, Kind::Fixes, finding.message.clone()));
    }
    for multiple in MULTIPLES {
        let size = traced * multiple;
        let mut model = known.model.clone();
        for axis in &group.axes {
            declare(&mut model, group, axis.at, &DeclaredDim::Value(size));
        }
        let facts = infer::infer(&model, infer::Options::default());
        for (node, fault) in facts.faults.iter().filter(|(node, _)| !before.contains(node)) {
            add(*node, Kind::Fixes, format!("it cannot run at {} = {size}: {fault}", group.name));
        }
        if let Some((node, why)) = failing(&model, &facts) {
            add(node, Kind::Fixes, format!("it cannot run at {} = {size}: {why}", group.name));
        }
    }
    found
}

/// Returns the first node that fails in a run on zeros.
///
/// Returns `None` if no node fails, if an input has no static shape, or if the run stops for another reason, such as
/// [`LIMITS`].
fn failing(model: &Model, facts: &Facts) -> Option<(NodeId, String)> {
    let mut executor = Executor::new(model, LIMITS);
    for port in &model.graphs[model.main].inputs {
        if model.values[port.value].initial.is_some() {
            continue;
        }
        let fact = &facts[port.value];
        let array = Array::zeros(fact.elem()?, fact.shape()?.to_static()?).ok()?;
        executor.give(port.value, Val::from(array));
    }
    for node in order::sorted_or_file(model, model.main) {
        match executor.run(node) {
            Ok(()) => {}
            Err(Refusal::BadInput(why)) => return Some((node, why.to_owned())),
            Err(_) => return None,
        }
    }
    None
}
