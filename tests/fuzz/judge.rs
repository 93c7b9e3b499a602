//! Uses ONNX Runtime as a reference for our evaluator and for the results of onnx-fix.

use onnx_lint::fix::Report;
use onnx_lint::graph::{Model, NodeId, ValueId};
use onnx_lint::infer::eval::{self, Refusal, Val};
use onnx_lint::infer::execute::Executor;
use onnx_lint::rules::registry::RuleSet;
use rustc_hash::FxHashMap;

use crate::alone;
use crate::case::{LIMITS, Ran, run};
use crate::check::{Before, Fault, Kind, Way, claim, fault};
use crate::differences;
use crate::runtime;
use crate::same::{Claim, EXACT, difference, differs};
use crate::worker::{self, Doing};

/// Records the outputs of ONNX Runtime for each run, if it agrees with our evaluator.
pub fn ask(model: &Model, runs: &mut [Before]) {
    worker::doing(Doing::Drawn);
    let Ok(mut loaded) = runtime::load(model) else { return };
    for before in runs {
        if is_open(model, &before.ran) {
            continue;
        }
        let mut found = || -> Option<Vec<Val>> { loaded.run(&before.feeds).ok()?.into_iter().collect() };
        // Two runs detect outputs that ONNX Runtime leaves uninitialized.
        let (found, again) = (found(), found());
        let is_same = |(a, b): (&Val, &Val)| difference(a, b, EXACT).is_none();
        let is_steady = found
            .as_ref()
            .zip(again.as_ref())
            .is_some_and(|(found, again)| found.iter().zip(again).all(is_same));
        if !is_steady {
            continue;
        }
        let agrees = |found: &Vec<Val>| {
            found.len() == before.ran.outputs.len()
                && before.ran.outputs.iter().zip(found).all(|(ours, its)| differs(ours, its).is_none())
        };
        before.judged = found.filter(agrees);
    }
}

/// Returns the first difference from ONNX Runtime, or a node that ONNX Runtime rejects.
/// Returns `None` if ONNX Runtime agrees with our evaluator, or does not load the model.
pub fn disagreement(model: &Model, runs: &[Before]) -> Option<Fault> {
    if runs.iter().all(|before| before.judged.is_some()) {
        return None;
    }
    worker::doing(Doing::Drawn);
    let (wide, values) = runtime::widened(model, &runs.first()?.ran);
    let mut loaded = runtime::load(&wide).ok()?;
    runs.iter().filter(|before| before.judged.is_none()).find_map(|before| {
        let found = match loaded.run(&before.feeds) {
            Ok(found) => found,
            Err(refusal) => {
                let node = refusal.split("while running ").nth(1).and_then(|rest| rest.split(' ').next());
                let is_missing = runtime::is_missing(&refusal);
                return node
                    .filter(|_| !is_missing)
                    .map(|node| fault(Kind::Refused, format!("{node}: {refusal}")));
            }
        };
        // Only the first difference counts: later nodes have different inputs.
        let (id, output, what) = values.iter().zip(&found).find_map(|(value, its)| {
            let what = differs(before.ran.values.get(value)?, its.as_ref()?)?;
            let (node, _) = model.producer(*value)?;
            Some((node, *value, what))
        })?;
        let its: FxHashMap<ValueId, Val> =
            values.iter().copied().zip(found).filter_map(|(value, its)| Some((value, its?))).collect();
        let open = || {
            let mut executor = strict(model, &before.ran);
            let nodes = &model.graphs[model.main].nodes;
            let behind = nodes.iter().position(|&node| node == id).unwrap_or_default();
            nodes[..=behind].iter().any(|&node| is_node_open(model, &mut executor, node))
        };
        (!alone::is_a_last_digit(model, id, output, &before.ran, &its) && !open())
            .then(|| fault(Kind::Differs, format!("{}: {what}", differences::about(model, id, &before.ran))))
    })
}

/// Returns true if the specification leaves the outputs of some node in a run undefined.
/// The undefined outputs of a transformed model may differ from those of the original model.
pub fn is_open(model: &Model, run: &Ran) -> bool {
    let mut executor = strict(model, run);
    model.graphs[model.main].nodes.iter().any(|&node| is_node_open(model, &mut executor, node))
}

/// Returns an executor that does not compute undefined results.
fn strict<'m>(model: &'m Model, run: &Ran) -> Executor<'m> {
    let mut executor = Executor::strict(model, LIMITS);
    run.values.iter().for_each(|(value, val)| executor.give(*value, val.clone()));
    executor
}

/// Returns true if the specification leaves the outputs of a node undefined.
///
/// Nodes in the subgraphs and in the called function count, too.
fn is_node_open(model: &Model, executor: &mut Executor, id: NodeId) -> bool {
    let node = &model.nodes[id];
    let inputs: Vec<Val> = node.inputs.iter().flatten().filter_map(|&input| executor.value(input)).collect();
    match node.graphs().next().is_some() || model.callee(id).is_some() {
        true => executor.run(id) == Err(Refusal::Unsupported),
        false => eval::is_open(node.domain(), &node.op_type, &inputs),
    }
}

/// Returns true if a known difference between ONNX Runtime and our evaluator affects a model.
fn is_known(model: &Model, before: &Before) -> bool {
    let Ok(ran) = run(model, &before.feeds) else { return false };
    if is_open(model, &ran) {
        return true;
    }
    let alone = Before { ran, judged: None, ..before.clone() };
    let found = disagreement(model, &[alone]);
    found.is_some_and(|fault| differences::is_known(fault.what.split(": ").next().unwrap_or_default()))
}

/// Compares a model with its transformation in ONNX Runtime.
///
/// # Errors
/// The transformed model does not load, does not run, or has different outputs.
pub fn verdict(
    (model, after): (&Model, &Model),
    runs: &[Before],
    report: &Report,
    way: &Way,
    rules: &RuleSet,
) -> Result<(), Fault> {
    if runs.iter().all(|before| before.judged.is_none()) {
        return Ok(());
    }
    worker::doing(Doing::Made);
    let mut loaded = match runtime::load(after) {
        Ok(loaded) => loaded,
        Err(refusal) if runtime::is_missing(&refusal) => return Ok(()),
        Err(refusal) => {
            return Err(fault(Kind::Invalid, format!("ONNX Runtime rejects it: {refusal}")));
        }
    };
    for before in runs {
        let (Some(wanted), Some(claim)) = (&before.judged, claim(report, way, rules, before)) else {
            continue;
        };
        let found = match loaded.run(&before.feeds) {
            Ok(found) => found,
            Err(refusal) if runtime::is_missing(&refusal) => return Ok(()),
            Err(refusal) => return Err(fault(Kind::Fails, format!("in ONNX Runtime: {refusal}"))),
        };
        // Results of ONNX Runtime are not bit-exact: it selects algorithms by memory alignment.
        let claim = Claim { is_exact: false, ..claim };
        for (wanted, found) in wanted.iter().zip(found) {
            if let Some(what) = found.and_then(|found| difference(wanted, &found, claim)) {
                return match is_known(after, before) || alone::is_unsteady(model, before, claim) {
                    true => Ok(()),
                    false => Err(fault(Kind::Wrong, format!("in ONNX Runtime, {what}"))),
                };
            }
        }
    }
    Ok(())
}
