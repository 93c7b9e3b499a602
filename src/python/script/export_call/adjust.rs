//! Findings about `forward`, adjusted to the exporters that the script calls.

use crate::diag::{Finding, Level, RuleId, rule_ids};

use super::super::super::report::{is_rounded_size, is_size_branch, is_size_fraction};
use super::super::machine::Machine;
use super::request::{Exporter, Request};

/// Way in which a script exports its models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Tracing,
    /// Export through `torch.export`.
    Program,
    /// Compilation by `torch.jit.script`, which keeps control flow.
    Script,
}

/// Rules about code that `torch.export` either exports correctly or rejects.
const TRACED_ONLY: [RuleId; 9] = [
    rule_ids::BAKED_SHAPE,
    rule_ids::ITEM_BAKED,
    rule_ids::IN_PLACE_SHAPE_ALIAS,
    rule_ids::IN_PLACE_VIEW_LOST,
    rule_ids::UNROLLED_LOOP,
    rule_ids::NEGATIVE_INDEX,
    rule_ids::INDEX_PUT_RANK,
    rule_ids::INDEX_PUT_NON_CONSECUTIVE,
    rule_ids::INDEX_PUT_BROADCAST,
];

/// Returns the way in which a script exports its models.
///
/// Returns `None` if the script exports in several ways, in an unknown way, or not at all.
pub fn way(machine: &mut Machine) -> Option<Way> {
    let calls = machine.exports.clone();
    let mut ways = vec![];
    for call in &calls {
        if call.exporter == "torch.jit.script" {
            continue;
        }
        let request = Request::new(machine, call);
        let class = request.model().and_then(|model| machine.library_class(model)).unwrap_or_default();
        let way = match request.exporter {
            _ if class == "torch.jit.ScriptModule" => Way::Script,
            Exporter::Tracing | Exporter::Trace => Way::Tracing,
            Exporter::Dynamo | Exporter::Program => Way::Program,
            Exporter::Either | Exporter::Other => return None,
        };
        ways.push(way);
    }
    let first = *ways.first()?;
    ways.iter().all(|way| *way == first).then_some(first)
}

/// Adjusts the findings about `forward`, which assume the tracing exporter.
pub fn adjust(findings: &mut Vec<Finding>, way: Way) {
    let is = |finding: &Finding, rule: &RuleId| *finding.code == *rule.code;
    let is_traced_only =
        |finding: &Finding| TRACED_ONLY.iter().any(|rule| is(finding, rule)) && !is_size_fraction(finding);
    if way != Way::Tracing {
        findings.retain(|finding| !is_rounded_size(finding));
    }
    match way {
        Way::Tracing => {}
        Way::Script => {
            findings.retain(|finding| !is_traced_only(finding) && !is(finding, &rule_ids::TRACED_BRANCH));
        }
        Way::Program => {
            for finding in findings {
                if is_traced_only(finding) {
                    finding.level = finding.level.min(Level::Info);
                } else if is(finding, &rule_ids::TRACED_BRANCH)
                    && finding.level == Level::Warning
                    && !is_size_branch(finding)
                {
                    // `torch.export` fails at a branch on the elements of a tensor.
                    finding.level = Level::Error;
                    finding.notes.push("torch.export raises an error at this line".to_owned());
                }
            }
        }
    }
}
