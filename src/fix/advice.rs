//! Advice about a failed conversion: the lowest target opset that works.

use super::Outcome;
use super::options::Options;
use crate::diag::Finding;
use crate::diag::rule_ids::NOT_CONVERTIBLE;
use crate::graph::Model;

/// Sets the help of findings about a failed downward conversion to the lowest opset that works.
/// If no opset below that of the model works, the findings get no help. `attempt` runs the pipeline with
/// other options.
pub fn advise(outcome: &mut Outcome, options: &Options, attempt: &dyn Fn(Model, &Options) -> Outcome) {
    let from = outcome.model.opset(outcome.model.main, "");
    let (Some(wanted), Some(from)) = (options.opset, from) else { return };
    let is_refused = |finding: &Finding| *finding.code == *NOT_CONVERTIBLE.code;
    if wanted >= from || !outcome.findings.iter().any(is_refused) {
        return;
    }
    let least = least(wanted, from, &|opset| {
        let options = Options { opset: Some(opset), ..options.clone() };
        attempt(outcome.model.clone(), &options).findings.is_empty()
    });
    for finding in outcome.findings.iter_mut().filter(|finding| is_refused(finding)) {
        finding.help = least.map(|opset| format!("convert to opset {opset} or later"));
    }
}

/// Returns the lowest opset above `wanted` and below `from` that succeeds.
/// The binary search assumes that if an opset succeeds, all higher ones succeed, too.
fn least(wanted: i64, from: i64, succeeds: &dyn Fn(i64) -> bool) -> Option<i64> {
    let (mut fails, mut least) = (wanted, from);
    while fails + 1 < least {
        let middle = fails + (least - fails) / 2;
        if succeeds(middle) {
            least = middle;
        } else {
            fails = middle;
        }
    }
    (least < from).then_some(least)
}

#[cfg(test)]
mod tests {
    use super::least;

    #[test]
    fn the_lowest_succeeding_opset_is_found() {
        for first in 8..=17 {
            let expected = (first < 17).then_some(first);
            assert_eq!(least(7, 17, &|opset| opset >= first), expected, "{first}");
        }
        assert_eq!(least(7, 8, &|_| true), None);
    }
}
