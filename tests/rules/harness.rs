//! Setup of a [`RuleTest`], shared by the rule tests and the mutation tests.

use onnx_lint::cli::fix::verify::arrays;
use onnx_lint::rule_tests::RuleTest;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::Rule;

/// Creates a test that also runs in ONNX Runtime if `ORT_DYLIB_PATH` is set.
///
/// `tests/environment.sh` sets `ORT_DYLIB_PATH`.
pub fn rule_test<'r>(rule: &'r Rule, rules: &'r RuleSet) -> RuleTest<'r> {
    let test = RuleTest::new(rule, rules);
    match std::env::var_os("ORT_DYLIB_PATH") {
        Some(_) => test.running_in(&arrays::load),
        None => test,
    }
}
