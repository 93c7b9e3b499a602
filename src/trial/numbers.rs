//! Whether two models compute the same: both run at several sizes, on random inputs.

use std::sync::Arc;

use super::inputs::{self, Inputs, Numbers};
use super::run::{Failure, Runtime, Unrunnable, run};
use crate::graph::{ElemType, Model};
use crate::infer::{
    self,
    eval::{Array, Val},
};
use crate::rules::rule::{Assumption, Given, Phase, Safety};

/// What came of comparing two models.
#[derive(Debug)]
pub enum Outcome {
    /// Equal in all runs that the model before takes.
    Equal,
    Skipped(Unrunnable),
    /// No inputs were found that the model before takes.
    NeverRan(String),
    Differs(String),
}

/// What a rewrite claims to keep: how close results must be.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'r> {
    pub phase: Phase,
    pub safety: Safety,
    /// What it takes for granted of the inputs, or constants, of this name.
    pub given: &'r [Given],
}

impl Claim<'_> {
    /// Whether these inputs are such as the rule takes for granted; `None` where nobody can tell.
    fn admits(&self, model: &Model, inputs: &Inputs) -> Option<bool> {
        let constant = |name: &str| {
            let (value, _) = model.values.iter().find(|(_, value)| *value.name == *name)?;
            infer::array(model.constant(value)?)
        };
        let known = |name: &Arc<str>| inputs.get(name).cloned().or_else(|| constant(name));
        // Of a value that is left out, all holds. One that has another name in the example is not spared.
        let is_there = |name: &Arc<str>| model.values.iter().any(|(_, value)| *value.name == **name);
        let holds = |given: &Given| match is_there(&given.value) {
            true => holds(given.what, &known(&given.value)?),
            false => Some(true),
        };
        let answers: Vec<Option<bool>> = self.given.iter().map(holds).collect();
        match answers.contains(&Some(false)) {
            true => Some(false),
            false => (!answers.contains(&None)).then_some(true),
        }
    }
}

/// Whether an array is as it is assumed to be; `None` where its elements alone do not tell.
fn holds(what: Assumption, array: &Array) -> Option<bool> {
    let all = |wanted: &dyn Fn(f64) -> bool| array.f64s().ok().map(|all| all.into_iter().all(wanted));
    match what {
        Assumption::Finite => all(&f64::is_finite),
        Assumption::NotNan => all(&|x| !x.is_nan()),
        Assumption::Positive => all(&|x| x > 0.0),
        Assumption::Moderate => all(&|x| x.abs() < 1e3),
        Assumption::Nonempty => Some(!array.is_empty()),
        Assumption::WholeElsewhere => array.f64s().ok().map(|region| is_whole_elsewhere(&region)),
        Assumption::InRange | Assumption::Untied => None,
    }
}

/// Whether a region, the starts and the ends of each axis from 0 to 1, is whole along all axes but the last two.
fn is_whole_elsewhere(region: &[f64]) -> bool {
    let (starts, ends) = region.split_at(region.len() / 2);
    let leading = starts.iter().zip(ends).take(starts.len().saturating_sub(2));
    leading.into_iter().all(|(start, end)| (*start, *end) == (0.0, 1.0))
}

/// How one of two models is run.
type Run<'r> = &'r mut dyn FnMut(&Inputs) -> Result<Vec<Val>, Failure>;

/// Runs both, on the inputs that the model before takes.
pub fn compare(before: &Model, after: &Model, claim: &Claim) -> Outcome {
    let (mut first, mut second) =
        (|inputs: &Inputs| run(before, inputs), |inputs: &Inputs| run(after, inputs));
    compare_runs(before, claim, &mut first, &mut second)
}

/// As [`compare`] does, in a runtime.
pub fn compare_in(runtime: Runtime, before: &Model, after: &Model, claim: &Claim) -> Outcome {
    let mut first = match runtime(before) {
        Ok(loaded) => loaded,
        Err(why) => return Outcome::NeverRan(why),
    };
    let mut second = match runtime(after) {
        Ok(loaded) => loaded,
        Err(why) => return Outcome::Differs(format!("is not loaded after it: {why}")),
    };
    let mut first = |inputs: &Inputs| first(inputs).map_err(Failure::BadInput);
    let mut second = |inputs: &Inputs| second(inputs).map_err(Failure::BadInput);
    compare_runs(before, claim, &mut first, &mut second)
}

/// As [`compare_in`] does, as far as the runtime is a judge: on inputs of which it makes what our evaluator makes of the
/// model before, up to rounding. Elsewhere it goes its own way, or ends the process on what no model should be given.
///
/// # Errors
/// Why it does not load the model after.
pub fn judge(runtime: Runtime, before: &Model, after: &Model, claim: &Claim) -> Result<Outcome, String> {
    let mut first = match runtime(before) {
        Ok(loaded) => loaded,
        Err(why) => return Ok(Outcome::NeverRan(why)),
    };
    let mut second = runtime(after)?;
    // Kernels round as they like, which says nothing of a rule.
    let claim = Claim { safety: claim.safety.max(Safety::Rounding), ..*claim };
    let mut first = |inputs: &Inputs| {
        let ours = run(before, inputs)?;
        let theirs = first(inputs).map_err(Failure::BadInput)?;
        let differs = |a, b| difference(a, b, &claim, Numbers::Small).is_some();
        // Either way: what is infinite in the first of two is not held against the second.
        let differs = |(ours, theirs)| differs(ours, theirs) || differs(theirs, ours);
        match ours.iter().zip(&theirs).any(differs) {
            true => Err(Failure::BadInput("it comes to something else of the model before".to_owned())),
            false => Ok(theirs),
        }
    };
    let mut second = |inputs: &Inputs| second(inputs).map_err(Failure::BadInput);
    Ok(compare_runs(before, &claim, &mut first, &mut second))
}

fn compare_runs(before: &Model, claim: &Claim, first: Run, second: Run) -> Outcome {
    let sets = match inputs::sets(before) {
        Ok(sets) => sets,
        Err(why) => return Outcome::Skipped(why),
    };
    let (mut runs, mut last, mut skipped) = (0, String::new(), None);
    for set in sets {
        let (inputs, numbers) = (&set.inputs, set.numbers);
        let admits = claim.admits(before, inputs);
        if admits == Some(false) {
            continue;
        }
        // Rounding may turn a large number into an infinity, and an infinity into NaN.
        if numbers == Numbers::Special && claim.safety != Safety::Exact {
            continue;
        }
        let wanted = match first(inputs) {
            Ok(wanted) if set.are_as_declared(before, &wanted) => wanted,
            Ok(_) => {
                last = "its outputs are not as declared".to_owned();
                continue;
            }
            // Operators that sort have no order for NaN, and a window of no length has no cosines.
            Err(Failure::Unrunnable(why)) => {
                skipped = Some(why);
                continue;
            }
            Err(Failure::BadInput(why)) => {
                last = why;
                continue;
            }
        };
        let found = match second(inputs) {
            Ok(found) => found,
            Err(Failure::Unrunnable(why)) => return Outcome::Skipped(why),
            Err(Failure::BadInput(why)) => {
                return Outcome::Differs(format!("fails after it: {why}, on {inputs:?}"));
            }
        };
        if admits.is_some()
            && let Some(why) = wanted
                .iter()
                .zip(&found)
                .find_map(|(wanted, found)| difference(wanted, found, claim, numbers))
        {
            return Outcome::Differs(format!("{why}, on {numbers:?} numbers {inputs:?}"));
        }
        runs += 1;
    }
    match skipped {
        _ if runs > 0 => Outcome::Equal,
        Some(why) => Outcome::Skipped(why),
        None => Outcome::NeverRan(last),
    }
}

/// How two values differ by more than the rule may change.
fn difference(wanted: &Val, found: &Val, claim: &Claim, numbers: Numbers) -> Option<String> {
    match (wanted, found) {
        (Val::Tensor(wanted), Val::Tensor(found)) => tensors_differ(wanted, found, claim, numbers),
        _ => (wanted != found).then(|| format!("wanted {wanted:?}, got {found:?}")),
    }
}

fn tensors_differ(wanted: &Array, found: &Array, claim: &Claim, numbers: Numbers) -> Option<String> {
    let describe = |array: &Array| format!("{}{:?}", array.elem(), array.shape());
    if (wanted.elem(), wanted.shape()) != (found.elem(), found.shape()) {
        return Some(format!("wanted {}, got {}", describe(wanted), describe(found)));
    }
    let (Ok(a), Ok(b)) = (wanted.f64s(), found.f64s()) else {
        return (wanted != found).then(|| format!("wanted {wanted:?}, got {found:?}"));
    };
    let tolerance = if claim.safety == Safety::Exact { 0.0 } else { tolerance(wanted.elem()) };
    // The specification does not say of every operator what it makes of NaN and infinities (MaxPool, Clip, Sign),
    // and so two ways to write one may differ there. Of finite numbers, what was finite stays so.
    let may_change = |b: f64| numbers == Numbers::Special && !b.is_finite();
    let is_open = |a: f64, b: f64| claim.phase == Phase::Convert && (!a.is_finite() || may_change(b));
    let scale = |a: f64| if wanted.elem().is_integer() { 1.0 } else { a.abs().max(1.0) };
    let is_wrong = |(a, b): (&f64, &f64)| !is_close(*a, *b, tolerance * scale(*a)) && !is_open(*a, *b);
    let at = a.iter().zip(&b).position(is_wrong)?;
    Some(format!("element {at} is {} before and {} after", a[at], b[at]))
}

fn is_close(a: f64, b: f64, tolerance: f64) -> bool {
    let is_same = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    is_same || tolerance > 0.0 && (a - b).abs() <= tolerance
}

/// What rounding in another order may come to: a few units in the last place, of numbers that were greater on
/// the way.
fn tolerance(elem: ElemType) -> f64 {
    match elem {
        ElemType::Double => 1e-9,
        ElemType::Float => 1e-4,
        ElemType::Float16 => 1e-2,
        ElemType::Bfloat16 => 6e-2,
        // The number that is rounded to a quantised one may lie on the other side of the middle.
        elem if elem.is_integer() && elem.bits().is_some_and(|bits| bits <= 8) => 1.0,
        elem if elem.is_integer() => 0.0,
        _ => 0.25,
    }
}
