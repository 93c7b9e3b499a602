//! What a rule rewrites computes the same as before: the examples of the rules, run at several sizes on random
//! inputs, before and after.

mod inputs;
mod run;

use std::collections::BTreeMap;

use onnx_lint::graph::{ElemType, Model};
use onnx_lint::infer::eval::{Array, Val};
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::{Example, Expect, Phase, Rule, Safety};

use inputs::Numbers;
use run::{Failure, Unrunnable, run};

/// What came of an example.
enum Outcome {
    /// Equal in all runs that the model before takes.
    Equal,
    Skipped(Unrunnable),
    /// No inputs were found that the model before takes.
    NeverRan(String),
    Differs(String),
}

/// Whether an example gives the same numbers before and after, in at least one run.
pub fn check(rule: &Rule, safety: Safety, example: &Example, after: &Model) -> Result<(), String> {
    if CONDITIONAL.iter().any(|(code, _)| *code == &*rule.code) {
        return Ok(());
    }
    match outcome(rule, safety, example, after) {
        Outcome::Equal => Ok(()),
        Outcome::Skipped(why) => Err(format!("it cannot be run: {why:?}")),
        Outcome::NeverRan(why) => Err(format!("no inputs were found that it takes: {why}")),
        Outcome::Differs(why) => Err(why),
    }
}

fn outcome(rule: &Rule, safety: Safety, example: &Example, after: &Model) -> Outcome {
    let before = &example.model;
    let sets = match inputs::sets(before) {
        Ok(sets) => sets,
        Err(why) => return Outcome::Skipped(why),
    };
    let (mut runs, mut last) = (0, String::new());
    for set in sets {
        let (inputs, numbers) = (&set.inputs, set.numbers);
        // Rounding may turn a large number into an infinity, and an infinity into NaN.
        if numbers == Numbers::Special && safety != Safety::Exact {
            continue;
        }
        let wanted = match run(before, inputs) {
            Ok(wanted) if set.are_as_declared(before, &wanted) => wanted,
            Ok(_) => {
                last = "its outputs are not as declared".to_owned();
                continue;
            }
            // Operators that sort have no order for NaN.
            Err(Failure::Unrunnable(why)) if numbers != Numbers::Special => return Outcome::Skipped(why),
            Err(Failure::Unrunnable(_)) => continue,
            Err(Failure::BadInput(why)) => {
                last = why;
                continue;
            }
        };
        let found = match run(after, inputs) {
            Ok(found) => found,
            Err(Failure::Unrunnable(why)) => return Outcome::Skipped(why),
            Err(Failure::BadInput(why)) => {
                return Outcome::Differs(format!("fails after it: {why}, on {inputs:?}"));
            }
        };
        if let Some(why) = wanted
            .iter()
            .zip(&found)
            .find_map(|(wanted, found)| difference(wanted, found, rule.phase, safety))
        {
            return Outcome::Differs(format!("{why}, on {numbers:?} numbers {inputs:?}"));
        }
        runs += 1;
    }
    if runs == 0 { Outcome::NeverRan(last) } else { Outcome::Equal }
}

/// How two values differ by more than the rule may change.
fn difference(wanted: &Val, found: &Val, phase: Phase, safety: Safety) -> Option<String> {
    match (wanted, found) {
        (Val::Tensor(wanted), Val::Tensor(found)) => tensors_differ(wanted, found, phase, safety),
        _ => (wanted != found).then(|| format!("wanted {wanted:?}, got {found:?}")),
    }
}

fn tensors_differ(wanted: &Array, found: &Array, phase: Phase, safety: Safety) -> Option<String> {
    let describe = |array: &Array| format!("{}{:?}", array.elem(), array.shape());
    if (wanted.elem(), wanted.shape()) != (found.elem(), found.shape()) {
        return Some(format!("wanted {}, got {}", describe(wanted), describe(found)));
    }
    let (Ok(a), Ok(b)) = (wanted.f64s(), found.f64s()) else {
        return (wanted != found).then(|| format!("wanted {wanted:?}, got {found:?}"));
    };
    let tolerance = if safety == Safety::Exact { 0.0 } else { tolerance(wanted.elem()) };
    // The specification does not say of every operator what it makes of NaN and infinities (MaxPool, Clip, Sign),
    // and so two ways to write one may differ there.
    let is_open = |a: f64, b: f64| phase == Phase::Convert && !(a.is_finite() && b.is_finite());
    let at = a.iter().zip(&b).position(|(a, b)| !is_close(*a, *b, tolerance) && !is_open(*a, *b))?;
    Some(format!("element {at} is {} before and {} after", a[at], b[at]))
}

fn is_close(a: f64, b: f64, tolerance: f64) -> bool {
    let is_same = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    is_same || tolerance > 0.0 && (a - b).abs() <= tolerance * a.abs().max(1.0)
}

/// What rounding in another order may come to: a few units in the last place, of numbers that were greater on
/// the way.
fn tolerance(elem: ElemType) -> f64 {
    match elem {
        ElemType::Double => 1e-9,
        ElemType::Float => 1e-4,
        ElemType::Float16 => 1e-2,
        ElemType::Bfloat16 => 6e-2,
        // The number that is rounded to an integer may lie on the other side of the middle.
        elem if elem.is_integer() => 1.0,
        _ => 0.25,
    }
}

/// Rules that state a condition on inputs which random ones do not meet.
const CONDITIONAL: [(&str, &str); 4] = [
    ("CVT810", "no sum is 0 or less, the logarithm of which is no integer"),
    ("DEC604", "the region of all axes but the last two is that of the whole tensor"),
    ("DEC621", "no point that is reflected lies in the middle between two pixels"),
    ("DEC829", "no edge of a band is, up to rounding, a whole number of bins, which are rounded down"),
];

/// Whether the model before is no valid one, so that there is nothing to compare with: only that the model after
/// runs is of interest.
fn mends_types(rule: &Rule) -> bool {
    rule.mends.as_deref() == Some("DTY001")
}

fn runs(model: &Model) -> bool {
    inputs::sets(model).is_ok_and(|sets| sets.iter().any(|set| run(model, &set.inputs).is_ok()))
}

#[test]
fn rewrites_keep_what_is_computed() {
    let (rules, _) = RuleSet::embedded();
    let (mut equal, mut failures, mut skipped) = (0, Vec::new(), BTreeMap::new());
    let is_tried = |rule: &&Rule| {
        rule.safety != Safety::Unsafe && !CONDITIONAL.iter().any(|(code, _)| *code == &*rule.code)
    };
    for rule in rules.iter().filter(is_tried) {
        for example in &rule.examples {
            let after = match &example.expect {
                Expect::Becomes(after) => after,
                // Those are run where the examples are.
                Expect::Computes => {
                    equal += 1;
                    continue;
                }
                Expect::Unchanged | Expect::Finds(_) => continue,
            };
            let name = format!("{} {:?}", rule.code, example.name);
            if mends_types(rule) {
                assert!(runs(after), "{name}: the model after does not run");
                continue;
            }
            match outcome(rule, rule.safety, example, after) {
                Outcome::Equal => equal += 1,
                Outcome::Skipped(why) => drop(skipped.insert(name, format!("{why:?}"))),
                Outcome::NeverRan(why) => {
                    drop(skipped.insert(name, format!("the model before does not run: {why}")))
                }
                Outcome::Differs(why) => failures.push(format!("{name}: {why}")),
            }
        }
    }
    assert!(failures.is_empty(), "{} examples differ:\n{}", failures.len(), failures.join("\n"));
    assert!(skipped.len() * 20 <= equal, "{equal} examples are equal, skipped are too many: {skipped:#?}");
}
