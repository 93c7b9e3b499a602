//! OPS005: parts of a model that a target runtime or device does not support.

mod pieces;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::counted;
use crate::diag::rule_ids::TARGET_UNSUPPORTED;
use crate::diag::{Finding, Level, Place};
use crate::graph::{NodeId, ValueId};
use crate::targets::{EvidenceKind, Judged, Profile, Range, Refusal, free_inputs, judge};
use pieces::Pieces;

/// Returns the findings of all targets in the options.
pub fn findings(cx: &LintContext) -> Vec<Finding> {
    cx.options.targets.iter().flat_map(|profile| of_target(cx, profile)).collect()
}

fn of_target(cx: &LintContext, profile: &Arc<Profile>) -> Vec<Finding> {
    let mut findings = versions(cx, profile);
    findings
        .extend(free_inputs(cx.model, cx.facts, profile).into_iter().map(|input| free(cx, profile, input)));
    if !profile.knows_nodes() {
        findings.push(remark(format!(
            "operator support of {profile} is unknown; only its opset and IR versions are known"
        )));
        return findings;
    }
    let judged = judge(cx.model, cx.facts, cx.uses, profile);
    findings.extend(judged.refused.iter().map(|(node, refusal)| refused(cx, profile, *node, refusal)));
    if !judged.refused.is_empty() {
        findings.push(in_pieces(profile, &Pieces::new(cx, &judged)));
    }
    findings.extend(unknown(cx, profile, &judged));
    findings
}

fn remark(message: String) -> Finding {
    Finding { level: Level::Info, ..TARGET_UNSUPPORTED.finding(message, Place::File) }
}

/// Reports opset and IR versions outside of the supported range.
fn versions(cx: &LintContext, profile: &Profile) -> Vec<Finding> {
    let outside = |what: &str, is: Option<i64>, range: Range, option: &str| {
        let is = is?;
        let (bound, limit) = match is {
            is if is > range.to => ("up to", range.to),
            is if is < range.from => ("from", range.from),
            _ => return None,
        };
        let upwards = if bound == "from" { " on" } else { "" };
        let message = format!("{profile} supports {what} {bound} {limit}{upwards}, but the model has {is}");
        let help = format!("convert the model: `onnx-fix {option} {limit}`");
        Some(TARGET_UNSUPPORTED.finding(message, Place::File).help(help))
    };
    let opset = cx.model.opset(cx.model.main, "");
    let opset = outside("opsets", opset, profile.opset, "--opset");
    let ir = outside("IR versions", cx.model.ir_version, profile.ir, "--ir-version");
    opset.into_iter().chain(ir).collect()
}

fn free(cx: &LintContext, profile: &Profile, input: ValueId) -> Finding {
    let name = cx.name(input);
    let message = format!("{profile} requires static sizes where input `{name}` has dynamic ones");
    let mut finding = TARGET_UNSUPPORTED.finding(message, cx.places.declaration(input));
    finding.anchor.module = cx.model.values[input].name.clone();
    finding.help(format!("set a static shape: `onnx-fix --fix-shape {name}=…`"))
}

fn refused(cx: &LintContext, profile: &Profile, node: NodeId, refusal: &Refusal) -> Finding {
    let op = cx.model.nodes[node].op_name();
    let message = format!("{profile} does not support this `{op}`: it {}", refusal.why);
    let mut finding = cx.at_node(TARGET_UNSUPPORTED, node, Part::Op, message);
    if refusal.evidence.kind == EvidenceKind::Inferred {
        finding.level = Level::Warning;
    }
    finding.note(refusal.evidence.to_string())
}

fn in_pieces(profile: &Profile, pieces: &Pieces) -> Finding {
    let message = match pieces.count {
        0 => format!("{profile} supports no node of this graph"),
        count => format!("{profile} runs this graph in {}", counted(count, "partition")),
    };
    let mut finding = remark(message);
    if let Some(crossing) = &pieces.crossing {
        finding = finding.note(crossing.to_string());
    }
    finding
}

/// Reports all nodes of unknown support in one finding.
fn unknown(cx: &LintContext, profile: &Profile, judged: &Judged) -> Option<Finding> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for &node in &judged.unknown {
        *counts.entry(cx.model.nodes[node].op_name()).or_default() += 1;
    }
    if counts.is_empty() {
        return None;
    }
    let ops: Vec<String> = counts.iter().map(|(op, count)| format!("{count} {op}")).collect();
    let nodes = counted(judged.unknown.len(), "node");
    Some(remark(format!("it is unknown whether {profile} supports {nodes}")).note(ops.join(", ")))
}
