//! `--dynamic`: makes axes of inputs dynamic throughout the model, or reports the obstacles.

use super::renew_types::renew;
use crate::analyses::dynamic::{blocked as obstacles, samples, unfit};
use crate::analyses::sized::{carry, free};
use crate::batching::request::resolve;
use crate::batching::{Batched, Layout, plan};
use crate::diag::Finding;
use crate::diag::Place;
use crate::diag::rule_ids::{DECLARED_TYPE, DYNAMIC_AXIS, INLINED_FUNCTION, INTERNAL_FAULT, REQUESTED_SHAPE};
use crate::edit::inline;
use crate::edit::{AnalysisView, Change, Editor, Site};
use crate::fix::errors;
use crate::fix::options::Options;
use crate::fix::pass::{Need, Pass};
use crate::graph::{DeclaredDim, Dimension, Model, TypeKind, ValueId};
use crate::rules::registry::RuleSet;
use crate::rules::rule::Phase;
use crate::source::SourceFiles;

/// The pass.
pub const PASS: Pass = Pass {
    id: "dynamic",
    summary: "Makes axes of inputs dynamic, as requested by `--dynamic`.",
    codes: &[DYNAMIC_AXIS, REQUESTED_SHAPE, DECLARED_TYPE, INLINED_FUNCTION],
    phases: &[Phase::Fix],
    need: Need::Required,
    is_enabled: |cx| !cx.options.dynamic.is_empty(),
    run: |editor, cx| apply(editor, &cx.options, cx.rules),
};

/// Applies the `--dynamic` requests, one symbolic dimension at a time.
///
/// # Errors
/// Requests that do not match the model, and nodes that prevent an axis from being dynamic.
fn apply(editor: &mut Editor, options: &Options, rules: &RuleSet) -> Result<bool, Vec<Finding>> {
    let groups = match resolve(editor.model(), &options.dynamic) {
        Ok(groups) => groups,
        Err(misfits) => {
            return Err(misfits.into_iter().map(|misfit| unfit(editor.model(), misfit)).collect());
        }
    };
    for group in groups {
        match samples(editor.model(), &group).map_err(|finding| vec![*finding])? {
            Some(samples) => {
                write_out(editor)?;
                let AnalysisView { model, facts, uses } = editor.analyses();
                let batched = plan(model, facts, &samples)
                    .map_err(|found| obstacles(model, uses, &SourceFiles::default(), &group, &found))?;
                free(editor, &group);
                rewrite(editor, batched)?;
            }
            None => {
                if let Err(found) = carry(editor, &group, rules) {
                    let AnalysisView { model, uses, .. } = editor.analyses();
                    return Err(obstacles(model, uses, &SourceFiles::default(), &group, &found));
                }
                renew(editor);
            }
        }
    }
    Ok(true)
}

/// Inlines calls of local functions, because calls with different layouts share one function body.
fn write_out(editor: &mut Editor) -> Result<(), Vec<Finding>> {
    if editor.model().functions.is_empty() {
        return Ok(());
    }
    inline::inline(editor).map_err(|hindrance| vec![errors::by_functions(editor.model(), hindrance)])
}

/// Applies the plan, infers the declared shapes again, and checks that the outputs are dynamic.
fn rewrite(editor: &mut Editor, batched: Batched) -> Result<(), Vec<Finding>> {
    let Batched { patches, outputs, carried } = batched;
    let count = patches.len();
    let refused = editor.done().refused.len();
    let applied = editor.apply(patches);
    let refusals = &editor.done().refused[refused..];
    if applied != count || !refusals.is_empty() {
        let why = refusals.first().map_or("a patch was not applied", String::as_str);
        return Err(vec![fault(why.to_owned())]);
    }
    forget(editor, &carried);
    let AnalysisView { model, facts, .. } = editor.analyses();
    for (value, layout) in outputs {
        let Layout::Axis { axis, .. } = layout else { continue };
        let dim = facts[value].shape().and_then(|shape| shape.dim(axis));
        if dim.is_some_and(|dim| dim.as_const().is_some()) {
            return Err(vec![fault(format!("output `{}` has a static dimension", model.values[value].name))]);
        }
    }
    Ok(())
}

/// Returns a finding about a bug in the batching pass.
fn fault(why: String) -> Finding {
    let message = format!("the rewritten graph is invalid: {why}");
    let finding = INTERNAL_FAULT.finding(message, Place::File);
    finding.note("this is a bug in onnx-fix; the model was left unchanged")
}

/// Drops the declared shapes of computed values and infers them again from the inputs.
fn forget(editor: &mut Editor, carried: &[(ValueId, Layout)]) {
    let change = Change::new(DECLARED_TYPE, Site::Model, "declared shapes inferred again");
    editor.change(change, |model, _| forget_bodies(model, carried));
    renew(editor);
}

/// Drops the sizes declared for subgraph inputs and outputs whose values differ between samples.
///
/// The new ranks are declared: ONNX Runtime rejects a Scan whose body declares no shape of an output.
fn forget_bodies(model: &mut Model, carried: &[(ValueId, Layout)]) -> bool {
    let main = model.main;
    let mut is_changed = false;
    for (_, graph) in model.graphs.iter_mut().filter(|(id, _)| *id != main) {
        let ports = graph.inputs.iter_mut().chain(&mut graph.outputs);
        for port in ports {
            let Ok(at) = carried.binary_search_by_key(&port.value, |(value, _)| *value) else { continue };
            if let Some(TypeKind::Tensor { shape: Some(dims), .. }) =
                port.info.ty.as_mut().map(|ty| &mut ty.kind)
            {
                let rank = dims.len() + usize::from(carried[at].1 == Layout::Stacked);
                *dims = vec![Dimension { dim: DeclaredDim::Absent, denotation: None }; rank];
                is_changed = true;
            }
        }
    }
    is_changed
}
