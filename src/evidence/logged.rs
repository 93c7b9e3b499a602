//! `--export-log`: attributes findings of an exporter log to nodes, by source line.

use crate::analyses::exporter;
use crate::analyses::locate::{Locator, Part};
use crate::diag::finding::Related;
use crate::diag::{Finding, Level, Place, rule_ids};
use crate::export_log;
use crate::graph::syntax::TextSpans;
use crate::graph::uses::Uses;
use crate::graph::{Model, NodeId};
use crate::source::SourceFiles;

/// Findings of a log that apply to one model.
#[derive(Debug, Default)]
pub struct Matched {
    /// Findings to report for the model.
    pub findings: Vec<Finding>,
    /// Indices of the log findings that are reported for the model, or that its graph makes obsolete.
    pub indices: Vec<usize>,
}

/// Attributes log findings to `model`.
///
/// `spans` has the positions of the nodes in the ONNX text that the model was read from, if any; `said`
/// contains the findings that were already made about the model.
pub fn matched(
    log: &[Finding],
    (model, spans): (&Model, Option<&TextSpans>),
    sources: &SourceFiles,
    said: &[Finding],
) -> Matched {
    let mut matched = Matched::default();
    if log.is_empty() {
        return matched;
    }
    let uses = Uses::new(model);
    let locator = Locator::new(model, &uses, sources).within(spans);
    for (index, finding) in log.iter().enumerate() {
        // The graph shows which layers are in training mode, unless `torch.export` decomposed them.
        let is_training = |finding: &Finding| *finding.code == *rule_ids::TRAINING_MODE.code;
        let is_known = || said.iter().any(is_training) || !exporter::is_torch_export(model);
        if is_training(finding) && is_known() {
            matched.indices.push(index);
            continue;
        }
        let Some(node) = node_from(model, &locator, finding) else {
            // A Python number or branch may have no node in the graph.
            if finding.source.is_some() && is_of_trace(finding) {
                matched.indices.push(index);
                if !said.iter().any(|said| is_same(said, finding)) {
                    matched.findings.push(proved_or_remark(finding.clone()));
                }
            }
            continue;
        };
        matched.indices.push(index);
        if !said.iter().any(|said| is_same(said, finding)) {
            matched.findings.push(proved_or_remark(at_node(finding, &locator, node)));
        }
    }
    matched
}

/// Lowers the level of findings about traced constants, except for branches on elements.
/// The log does not show whether a traced constant is a fault: a size may be constant, or all inputs may
/// take the same branch.
fn proved_or_remark(finding: Finding) -> Finding {
    let code = finding.source.as_ref().and_then(|source| source.code.as_deref()).unwrap_or("");
    let is_branch = *finding.code == *rule_ids::TRACED_BRANCH.code;
    if is_of_trace(&finding) && !(is_branch && export_log::branches_on_elements(code)) {
        return Finding { level: finding.level.min(Level::Info), ..finding };
    }
    finding
}

fn is_of_trace(finding: &Finding) -> bool {
    let rules =
        [rule_ids::TRACED_BRANCH, rule_ids::ITEM_BAKED, rule_ids::BAKED_SHAPE, rule_ids::NUMPY_CONSTANT];
    rules.iter().any(|rule| *rule.code == *finding.code)
}

/// Returns true if both findings report the same rule at the same line.
pub fn is_same(one: &Finding, other: &Finding) -> bool {
    let line = |finding: &Finding| finding.source.as_ref().map(|source| (source.file.clone(), source.line));
    one.rule == other.rule && line(one).is_some() && line(one) == line(other)
}

/// Returns the first node that came from the line of a finding.
fn node_from(model: &Model, locator: &Locator, finding: &Finding) -> Option<NodeId> {
    let line = finding.source.as_ref()?;
    let from_line = |node: &NodeId| {
        locator.own_source(*node).is_some_and(|own| own.file == line.file && own.line == line.line)
    };
    model.nodes.ids().find(from_line)
}

/// Returns a copy of a finding at a node; related locations in the log become notes.
fn at_node(finding: &Finding, locator: &Locator, node: NodeId) -> Finding {
    let mut moved = Finding {
        file: "".into(),
        place: locator.node(node, Part::Whole),
        label: "this node comes from the reported source line".to_owned(),
        anchor: locator.anchor(node),
        related: Vec::new(),
        ..finding.clone()
    };
    for Related { place, message } in &finding.related {
        match place {
            Place::Text(text) => {
                let said = format!("{}, at {}:{}: {}", message, finding.file, text.line, text.text.trim());
                moved.notes.push(said);
            }
            place => moved.related.push(Related { place: place.clone(), message: message.clone() }),
        }
    }
    moved
}
