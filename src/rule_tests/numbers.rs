//! Compares two models numerically, on random inputs of several sizes.

use std::sync::Arc;

use super::inputs::{self, Inputs, Numbers};
use super::run::{Failure, Runtime, Unrunnable, intermediate, run};
use crate::graph::syntax::dims;
use crate::graph::{ElemType, Model};
use crate::infer::{
    self,
    eval::{Array, Val},
};
use crate::rules::rule::{Assumed, Assumption, Phase, Safety};

/// Result of a comparison.
#[derive(Debug)]
pub enum Outcome {
    /// No difference was found on the inputs that the original model accepts.
    Equal,
    Skipped(Unrunnable),
    /// The original model accepts none of the inputs.
    NeverRan(String),
    Differs(String),
}

/// Guarantee of a rewrite, which determines the tolerance.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'r> {
    pub phase: Phase,
    pub safety: Safety,
    /// Assumptions about values, by name.
    pub assumptions: &'r [Assumed],
}

impl Claim<'_> {
    /// Returns whether inputs satisfy all assumptions; `None` if unknown.
    fn admits(&self, model: &Model, inputs: &Inputs) -> Option<bool> {
        let computed = |name: &str| {
            let (value, _) = model.values.iter().find(|(_, value)| *value.name == *name)?;
            match model.constant(value) {
                Some(constant) => infer::array(constant),
                None => intermediate(model, inputs, value),
            }
        };
        let known = |name: &Arc<str>| inputs.get(name).cloned().or_else(|| computed(name));
        // An assumption about a value holds if the model has no value of this name.
        let is_there = |name: &Arc<str>| model.values.iter().any(|(_, value)| *value.name == **name);
        let holds = |assumed: &Assumed| match is_there(&assumed.value) {
            true => holds(assumed.what, &known(&assumed.value)?),
            false => Some(true),
        };
        let answers: Vec<Option<bool>> = self.assumptions.iter().map(holds).collect();
        match answers.contains(&Some(false)) {
            true => Some(false),
            false => (!answers.contains(&None)).then_some(true),
        }
    }
}

/// Returns whether an array satisfies an assumption; `None` if the elements alone do not decide.
fn holds(what: Assumption, array: &Array) -> Option<bool> {
    let all = |wanted: &dyn Fn(f64) -> bool| array.f64s().ok().map(|all| all.into_iter().all(wanted));
    match what {
        Assumption::Finite => all(&f64::is_finite),
        Assumption::NotNan => all(&|x| !x.is_nan()),
        Assumption::Positive => all(&|x| x > 0.0),
        Assumption::Bounded => all(&|x| x.abs() < 1e3),
        Assumption::Nonempty => Some(!array.is_empty()),
        Assumption::WholeElsewhere => array.f64s().ok().map(|region| is_whole_elsewhere(&region)),
        Assumption::InRange | Assumption::Untied => None,
    }
}

/// Returns true if a region covers the whole of every axis except the last two.
/// A region contains the start of each axis, then the end of each axis; the whole axis is 0 to 1.
fn is_whole_elsewhere(region: &[f64]) -> bool {
    let (starts, ends) = region.split_at(region.len() / 2);
    let leading = starts.iter().zip(ends).take(starts.len().saturating_sub(2));
    leading.into_iter().all(|(start, end)| (*start, *end) == (0.0, 1.0))
}

/// Function that runs one of the models.
type Run<'r> = &'r mut dyn FnMut(&Inputs) -> Result<Vec<Val>, Failure>;

/// Compares two models with the built-in evaluator, on inputs that the original model accepts.
pub fn compare(before: &Model, after: &Model, claim: &Claim) -> Outcome {
    let (mut first, mut second) =
        (|inputs: &Inputs| run(before, inputs), |inputs: &Inputs| run(after, inputs));
    compare_runs(before, claim, &mut first, &mut second)
}

/// Like [`compare`], in a runtime.
pub fn compare_in(runtime: Runtime, before: &Model, after: &Model, claim: &Claim) -> Outcome {
    let mut first = match runtime(before) {
        Ok(loaded) => loaded,
        Err(why) => return Outcome::NeverRan(why),
    };
    let mut second = match runtime(after) {
        Ok(loaded) => loaded,
        Err(why) => return Outcome::Differs(format!("the runtime does not load the result: {why}")),
    };
    let mut first = |inputs: &Inputs| first(inputs).map_err(Failure::BadInput);
    let mut second = |inputs: &Inputs| second(inputs).map_err(Failure::BadInput);
    compare_runs(before, claim, &mut first, &mut second)
}

/// Like [`compare_in`], but skips inputs on which runtime and evaluator run the original differently.
/// If runtime and evaluator disagree, the runtime's results are unreliable, and the runtime may even crash.
///
/// # Errors
/// The reason why the runtime does not load the result.
pub fn judge(runtime: Runtime, before: &Model, after: &Model, claim: &Claim) -> Result<Outcome, String> {
    let mut first = match runtime(before) {
        Ok(loaded) => loaded,
        Err(why) => return Ok(Outcome::NeverRan(why)),
    };
    let mut second = runtime(after)?;
    // Kernels may round differently, which is not the fault of a rule.
    let claim = Claim { safety: claim.safety.max(Safety::Rounding), ..*claim };
    let mut first = |inputs: &Inputs| {
        let ours = run(before, inputs)?;
        let theirs = first(inputs).map_err(Failure::BadInput)?;
        let differs = |a, b| difference(a, b, &claim, Numbers::Small).is_some();
        // Compare in both directions: an infinity in the first operand may excuse any number in the second.
        let differs = |(ours, theirs)| differs(ours, theirs) || differs(theirs, ours);
        match ours.iter().zip(&theirs).any(differs) {
            true => Err(Failure::BadInput(
                "the runtime disagrees with the evaluator on the original model".to_owned(),
            )),
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
        // Rounding can turn a large number into an infinity, and an infinity into NaN.
        if numbers == Numbers::Special && claim.safety != Safety::Exact {
            continue;
        }
        let wanted = match first(inputs) {
            Ok(wanted) if set.are_as_declared(before, &wanted) => wanted,
            Ok(_) => {
                last = "the outputs do not have their declared shapes".to_owned();
                continue;
            }
            // The evaluator does not support some operators on some inputs: sorting of NaN, windows of length 0.
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
                return Outcome::Differs(format!("the result fails: {why}, on {}", inputs::text(inputs)));
            }
        };
        if admits.is_some()
            && let Some(why) = wanted
                .iter()
                .zip(&found)
                .find_map(|(wanted, found)| difference(wanted, found, claim, numbers))
        {
            return Outcome::Differs(format!("{why}, on {numbers} inputs: {}", inputs::text(inputs)));
        }
        runs += 1;
    }
    match skipped {
        _ if runs > 0 => Outcome::Equal,
        Some(why) => Outcome::Skipped(why),
        None => Outcome::NeverRan(last),
    }
}

/// Describes a difference of two values that exceeds the guarantee of the rule.
fn difference(wanted: &Val, found: &Val, claim: &Claim, numbers: Numbers) -> Option<String> {
    match (wanted, found) {
        (Val::Tensor(wanted), Val::Tensor(found)) => tensors_differ(wanted, found, claim, numbers),
        _ => (wanted != found).then(|| format!("expected {wanted}, found {found}")),
    }
}

fn tensors_differ(wanted: &Array, found: &Array, claim: &Claim, numbers: Numbers) -> Option<String> {
    let describe = |array: &Array| format!("{}{}", array.elem(), dims(array.shape()));
    if (wanted.elem(), wanted.shape()) != (found.elem(), found.shape()) {
        return Some(format!("expected {}, found {}", describe(wanted), describe(found)));
    }
    let (Ok(a), Ok(b)) = (wanted.f64s(), found.f64s()) else {
        return (wanted != found).then(|| format!("expected {wanted}, found {found}"));
    };
    let tolerance = if claim.safety == Safety::Exact { 0.0 } else { tolerance(wanted.elem()) };
    // The specification leaves NaN and infinities undefined for some operators (MaxPool, Clip, Sign), so a conversion
    // may change them. With finite inputs, finite results must stay finite.
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

/// Returns the tolerance for rounding in a different order.
/// The tolerance allows errors of a few units in the last place of intermediate results, which can be larger
/// than the final results.
fn tolerance(elem: ElemType) -> f64 {
    match elem {
        ElemType::Double => 1e-9,
        ElemType::Float => 1e-4,
        ElemType::Float16 => 1e-2,
        ElemType::Bfloat16 => 6e-2,
        // Quantization may round a slightly different number to the adjacent integer.
        elem if elem.is_integer() && elem.bits().is_some_and(|bits| bits <= 8) => 1.0,
        elem if elem.is_integer() => 0.0,
        _ => 0.25,
    }
}
