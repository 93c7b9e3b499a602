//! The set-up of a [`RuleTest`] that the rule tests and the mutation tests share.

use onnx_lint::cli::fix::verify::arrays;
use onnx_lint::rule_tests::RuleTest;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::Rule;

/// A trial that also runs in ONNX Runtime if `ORT_DYLIB_PATH` names it, as `tests/environment.sh` sets it.
pub fn rule_test<'r>(rule: &'r Rule, rules: &'r RuleSet) -> RuleTest<'r> {
    let trial = RuleTest::new(rule, rules);
    match std::env::var_os("ORT_DYLIB_PATH") {
        Some(_) => trial.running_in(&arrays::load),
        None => trial,
    }
}
