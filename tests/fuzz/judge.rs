//! ONNX Runtime as judge: of our evaluator, and of what becomes of a model.

use half::f16;
use onnx_lint::fix::Report;
use onnx_lint::graph::{ElemType, Model, NodeId, ValueId};
use onnx_lint::infer::eval::{self, Array, Val};
use onnx_lint::infer::execute::Executor;
use onnx_lint::rules::registry::RuleSet;
use rustc_hash::FxHashMap;

use crate::case::{LIMITS, Ran};
use crate::check::{Before, Fault, Kind, claim, fault};
use crate::differences;
use crate::runtime;
use crate::same::{Claim, difference};
use crate::worker::{self, Doing};

/// As close as two ways to compute the same come: of infinities and NaN, sums in another order make other things.
const ROUNDED: Claim = Claim { is_exact: false, is_open_at_infinity: true, is_at_any_size: false };
const EXACT: Claim = Claim { is_exact: true, is_open_at_infinity: false, is_at_any_size: false };

/// Notes of each run what ONNX Runtime makes of it, where it takes it and comes to what we come to.
pub fn ask(model: &Model, runs: &mut [Before]) {
    worker::doing(Doing::Drawn);
    let Ok(mut loaded) = runtime::load(model) else { return };
    for before in runs {
        let mut found = || -> Option<Vec<Val>> { loaded.run(&before.feeds).ok()?.into_iter().collect() };
        // What it leaves unset is another number every time.
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

fn differs(ours: &Val, its: &Val) -> Option<String> {
    // Of a quantised number, a tie may be broken by the last digit of a scale.
    let is_whole =
        matches!(ours, Val::Tensor(array) if array.elem().is_integer() && array.elem().bits() > Some(8));
    difference(ours, its, if is_whole { EXACT } else { ROUNDED })
}

/// Where our evaluator and ONNX Runtime part first; nothing where one of them does not take the model at all.
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
        // Only the first place counts: from there on, both go on with different numbers.
        let (id, output, what) = values.iter().zip(&found).find_map(|(value, its)| {
            let what = differs(before.ran.values.get(value)?, its.as_ref()?)?;
            let (node, _) = model.producer(*value)?;
            Some((node, *value, what))
        })?;
        // What is a last digit before it may be all there is behind it: near 0, or near a pole.
        let its: FxHashMap<ValueId, Val> =
            values.iter().copied().zip(found).filter_map(|(value, its)| Some((value, its?))).collect();
        let on_its = alone(model, id, output, &before.ran, |id, ours| its.get(&id).unwrap_or(ours).clone());
        let on_next = alone(model, id, output, &before.ran, |_, ours| nudged(ours));
        let part = |a: &Option<Val>, b: Option<&Val>| Some(differs(a.as_ref()?, b?).is_some());
        if part(&on_its, its.get(&output)) == Some(false)
            || part(&on_next, before.ran.values.get(&output)) == Some(true)
        {
            return None;
        }
        let node = &model.nodes[id];
        let inputs = node.inputs.iter().flatten().filter_map(|input| before.ran.values.get(input));
        let is_open = eval::is_open(node.domain(), &node.op_type, inputs);
        (!is_open).then(|| fault(Kind::Differs, format!("{}: {what}", differences::about(model, node))))
    })
}

/// An output of a node on the values of a run, each as `given` makes it.
fn alone(
    model: &Model,
    node: NodeId,
    output: ValueId,
    run: &Ran,
    given: impl Fn(ValueId, &Val) -> Val,
) -> Option<Val> {
    let mut executor = Executor::new(model, LIMITS);
    for (value, val) in run.values.iter().filter(|(value, _)| **value != output) {
        executor.give(*value, given(*value, val));
    }
    executor.run(node).ok()?;
    executor.value(output)
}

/// The next number of each half. What ONNX Runtime has no kernel for, it computes in floats, and rounds once at the
/// end: where a last digit of a half makes another result, it is not judged.
fn nudged(val: &Val) -> Val {
    let Val::Tensor(array) = val else { return val.clone() };
    let next = |x: f64| {
        let half = f16::from_f64(x);
        f64::from(if half.is_finite() { f16::from_bits(half.to_bits() + 1) } else { half })
    };
    let next = |all: Vec<f64>| all.into_iter().map(next).collect();
    let halves = (array.elem() == ElemType::Float16).then(|| array.f64s().ok()).flatten();
    let moved = halves.and_then(|all| Array::from_f64s(array.elem(), array.shape().to_vec(), next(all)).ok());
    moved.map_or_else(|| val.clone(), Val::from)
}

/// What ONNX Runtime says of the model that came of another.
///
/// # Errors
/// What it loaded or ran before, and does not any more, or with other results.
pub fn verdict(after: &Model, runs: &[Before], report: &Report, rules: &RuleSet) -> Result<(), Fault> {
    if runs.iter().all(|before| before.judged.is_none()) {
        return Ok(());
    }
    worker::doing(Doing::Made);
    let mut loaded = match runtime::load(after) {
        Ok(loaded) => loaded,
        Err(refusal) if runtime::is_missing(&refusal) => return Ok(()),
        Err(refusal) => {
            return Err(fault(Kind::Invalid, format!("ONNX Runtime does not load it: {refusal}")));
        }
    };
    for before in runs {
        let (Some(wanted), Some(claim)) = (&before.judged, claim(report, rules, before)) else {
            continue;
        };
        let found = match loaded.run(&before.feeds) {
            Ok(found) => found,
            Err(refusal) if runtime::is_missing(&refusal) => return Ok(()),
            Err(refusal) => return Err(fault(Kind::Fails, format!("in ONNX Runtime: {refusal}"))),
        };
        // It computes the same in other ways, by where things lie in memory, and by the opset.
        let is_other = report.opset.from != report.opset.to;
        let claim =
            Claim { is_exact: false, is_open_at_infinity: claim.is_open_at_infinity || is_other, ..claim };
        for (wanted, found) in wanted.iter().zip(found) {
            if let Some(what) = found.and_then(|found| difference(wanted, &found, claim)) {
                return Err(fault(Kind::Wrong, format!("in ONNX Runtime, {what}")));
            }
        }
    }
    Ok(())
}
