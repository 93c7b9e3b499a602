//! ONNX Runtime as judge: of our evaluator, and of what becomes of a model.

use onnx_lint::fix::Report;
use onnx_lint::graph::{ElemType, Model};
use onnx_lint::infer::eval::{self, Val};
use onnx_lint::rules::registry::RuleSet;

use crate::check::{Before, Fault, Kind, claim, fault};
use crate::runtime;
use crate::same::{Claim, difference};
use crate::worker::{self, Doing};

/// As close as two ways to compute the same come: of infinities and NaN, sums in another order make other things.
const ROUNDED: Claim = Claim { is_exact: false, is_open_at_infinity: true };
const EXACT: Claim = Claim { is_exact: true, is_open_at_infinity: false };

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
        let (node, what) = values.iter().zip(found).find_map(|(value, its)| {
            let what = differs(before.ran.values.get(value)?, &its?)?;
            let (node, _) = model.producer(*value)?;
            Some((&model.nodes[node], what))
        })?;
        let inputs = node.inputs.iter().flatten().filter_map(|input| before.ran.values.get(input));
        let is_open =
            eval::is_open(node.domain(), &node.op_type, inputs.clone()) || inputs.clone().any(is_tiny);
        (!is_open).then(|| fault(Kind::Differs, format!("{}: {what}", node.op_name())))
    })
}

/// Whether there are halves so near to 0 that one rounding doubles them: what ONNX Runtime has no kernels for, it
/// computes in floats, and rounds once at the end.
fn is_tiny(val: &Val) -> bool {
    let Val::Tensor(array) = val else { return false };
    let least = f64::from(half::f16::MIN_POSITIVE.to_f32());
    array.elem() == ElemType::Float16
        && array.f64s().is_ok_and(|all| all.iter().any(|x| *x != 0.0 && x.abs() < least))
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
        let (Some(wanted), Some(claim)) = (&before.judged, claim(report, rules, &before.ran)) else {
            continue;
        };
        let found = match loaded.run(&before.feeds) {
            Ok(found) => found,
            Err(refusal) if runtime::is_missing(&refusal) => return Ok(()),
            Err(refusal) => return Err(fault(Kind::Fails, format!("in ONNX Runtime: {refusal}"))),
        };
        // It computes the same in other ways, by where things lie in memory, and by the opset.
        let is_other = report.opset.from != report.opset.to;
        let claim = Claim { is_exact: false, is_open_at_infinity: claim.is_open_at_infinity || is_other };
        for (wanted, found) in wanted.iter().zip(found) {
            if let Some(what) = found.and_then(|found| difference(wanted, &found, claim)) {
                return Err(fault(Kind::Wrong, format!("in ONNX Runtime, {what}")));
            }
        }
    }
    Ok(())
}
