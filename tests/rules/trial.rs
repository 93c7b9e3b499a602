//! The set-up of a [`Trial`] that the rule tests and the mutation tests share.

use onnx_lint::cli::fix::verify::arrays;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::Rule;
use onnx_lint::trial::Trial;

/// A trial that also runs in ONNX Runtime if `ORT_DYLIB_PATH` names it, as `tests/environment.sh` sets it.
pub fn trial<'r>(rule: &'r Rule, rules: &'r RuleSet) -> Trial<'r> {
    let trial = Trial::new(rule, rules);
    match std::env::var_os("ORT_DYLIB_PATH") {
        Some(_) => trial.running_in(&arrays::load),
        None => trial,
    }
}
