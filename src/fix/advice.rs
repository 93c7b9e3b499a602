//! Advice about a failed conversion: the lowest target opset at which each obstacle disappears.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Outcome;
use super::options::Options;
use crate::diag::rule_ids::NOT_CONVERTIBLE;
use crate::diag::{Finding, Place, SourcePlace};
use crate::graph::Model;

/// Location of an obstacle: a node or another place in the file, and a Python line.
type Spot = (Option<(Arc<str>, Arc<str>)>, Option<SourcePlace>);

/// Sets the help of findings about a failed conversion to the lowest opset without the finding.
/// If no opset below that of the model is without the finding, it gets no help. `attempt` runs the pipeline
/// with other options.
pub fn advise(outcome: &mut Outcome, options: &Options, attempt: &dyn Fn(Model, &Options) -> Outcome) {
    let from = outcome.model.opset(outcome.model.main, "");
    let (Some(wanted), Some(from)) = (options.opset, from) else { return };
    if wanted >= from || !outcome.findings.iter().any(is_refused) {
        return;
    }
    let model = outcome.model.clone();
    let mut obstacles: BTreeMap<i64, Vec<Spot>> = BTreeMap::new();
    for finding in outcome.findings.iter_mut().filter(|finding| is_refused(finding)) {
        let spot = spot(finding);
        let least = least(wanted, from, &mut |opset| {
            let found = obstacles.entry(opset).or_insert_with(|| {
                let options = Options { opset: Some(opset), ..options.clone() };
                attempt(model.clone(), &options).findings.iter().map(self::spot).collect()
            });
            !found.contains(&spot) && !found.contains(&(None, None))
        });
        finding.help = least.map(|opset| format!("convert to opset {opset} or later"));
    }
}

/// Returns true if a finding is an obstacle of a conversion.
fn is_refused(finding: &Finding) -> bool {
    *finding.code == *NOT_CONVERTIBLE.code
}

/// Returns the location of a finding, which does not depend on the target opset.
fn spot(finding: &Finding) -> Spot {
    let node = match &finding.place {
        Place::Graph(place) => Some((place.graph.clone(), place.node.clone())),
        _ => None,
    };
    (node, finding.source.clone())
}

/// Returns the lowest opset above `wanted` and below `from` that succeeds.
/// The binary search assumes that if an opset succeeds, all higher ones succeed, too.
fn least(wanted: i64, from: i64, succeeds: &mut dyn FnMut(i64) -> bool) -> Option<i64> {
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
            assert_eq!(least(7, 17, &mut |opset| opset >= first), expected, "{first}");
        }
        assert_eq!(least(7, 8, &mut |_| true), None);
    }
}
