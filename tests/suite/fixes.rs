//! `onnx-fix` reports every change, and fixes exactly the findings that `onnx-lint` marks as fixable.
//! Both properties are tested on all `.onnx` files of the tests, and on the examples of rules that simplify or fix.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use onnx_lint::analyses::locate::node_name;
use onnx_lint::diag::{Applicability, Finding};
use onnx_lint::edit::RULE_KEY;
use onnx_lint::fix::{Options, Outcome, Report, fix};
use onnx_lint::graph::{Model, Node, NodeId, Owner, Port, ValueInfo, scopes};
use onnx_lint::lint::{LintOptions, lint_model};
use onnx_lint::read;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::Phase;
use onnx_lint::write::text::write;
use rayon::prelude::*;

use crate::models;

/// Returns all models with their names: files, and examples of rules that simplify or fix.
fn all() -> Vec<(String, Model)> {
    let files = models::all().into_iter().filter_map(|path| {
        let (model, _) = read::onnx::read(models::bytes(&path));
        Some((path.file_name()?.to_string_lossy().into_owned(), model?))
    });
    let (rules, _) = RuleSet::embedded();
    let applicable = rules.iter().filter(|rule| matches!(rule.phase, Phase::Simplify | Phase::Fix));
    let examples = applicable.flat_map(|rule| {
        rule.examples
            .iter()
            .map(|example| (format!("{} {:?}", rule.code, example.name), example.model.clone()))
            .collect::<Vec<_>>()
    });
    files.chain(examples).collect()
}

/// Asserts that `wrong` finds no fault in any model; prints some of the faults.
#[track_caller]
fn check(wrong: impl Fn(&Model, &RuleSet) -> Vec<String> + Sync) {
    let rules = RuleSet::patterns();
    let wrong: Vec<String> = all()
        .par_iter()
        .flat_map_iter(|(name, model)| {
            wrong(model, &rules).into_iter().map(move |what| format!("{name}: {what}"))
        })
        .collect();
    let shown = &wrong[..wrong.len().min(40)];
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), shown.join("\n"));
}

fn nodes(model: &Model) -> Vec<NodeId> {
    scopes::live(model).into_iter().flat_map(|graph| model.graphs[graph].nodes.clone()).collect()
}

/// Returns the names and declared types of the inputs and outputs of a model.
fn declared(model: &Model) -> BTreeSet<String> {
    let declaration = |port: &Port| {
        let ValueInfo { ty, .. } = &port.info;
        format!("{} {ty:?}", model.values[port.value].name)
    };
    let main = &model.graphs[model.main];
    main.inputs.iter().chain(&main.outputs).map(declaration).collect()
}

/// Returns the changes that are not in the report.
fn unreported(before: &Model, after: &Model, report: &Report) -> Vec<String> {
    let reported: HashSet<&str> = report
        .changes
        .iter()
        .flat_map(|entry| entry.with.iter().chain([&entry.node]))
        .map(|name| &**name)
        .collect();
    let (old, new) = (nodes(before), nodes(after));
    let (was, is): (HashSet<NodeId>, HashSet<NodeId>) =
        (old.iter().copied().collect(), new.iter().copied().collect());
    let mut unreported = Vec::new();
    for node in old.iter().filter(|node| !is.contains(node)) {
        let name = node_name(before, &before.nodes[*node]);
        // A reported node stands for the nodes in its subgraphs, too.
        let mut around =
            std::iter::successors(Some(before.nodes[*node].graph), |&graph| before.parent(graph)).filter_map(
                |graph| match before.graphs[graph].owner {
                    Owner::Node(owner) => Some(node_name(before, &before.nodes[owner])),
                    _ => None,
                },
            );
        // A function is removed with its last call, or because no node calls it.
        let is_of_function = before.function_of(before.nodes[*node].graph).is_some();
        let is_removed =
            is_of_function && ["CVT002", "OPT026"].iter().any(|code| report.rules.contains_key(*code));
        let is_reported =
            is_removed || reported.contains(&*name) || around.any(|owner| reported.contains(&*owner));
        if !is_reported {
            unreported.push(format!("`{}` {name} was removed", before.nodes[*node].op_type));
        }
    }
    for node in new.iter().filter(|node| !was.contains(node)) {
        let node = &after.nodes[*node];
        if let Some(rule) = node.metadata(RULE_KEY).filter(|rule| !report.rules.contains_key(*rule)) {
            unreported.push(format!("`{}` was added by {rule}", node.op_type));
        }
    }
    for node in new.iter().filter(|node| was.contains(node)) {
        let (was, is) = (&before.nodes[*node], &after.nodes[*node]);
        let name = node_name(before, was);
        let outputs = |node: &Node| node.outputs.iter().flatten().count();
        if (was.attrs.len() != is.attrs.len() || outputs(was) != outputs(is)) && !reported.contains(&*name) {
            unreported.push(format!("`{}` {name} has other attributes or outputs", was.op_type));
        }
    }
    let about = |codes: &[&str]| codes.iter().any(|code| report.rules.contains_key(*code));
    if before.opsets != after.opsets && !about(&["CVT002", "CVT004"]) {
        unreported.push("opset imports changed".to_owned());
    }
    if declared(before) != declared(after)
        && !about(&["FIX003", "FIX004", "EXP014", "EXP015", "SHP002", "CVT005"])
    {
        unreported.push("declared types changed".to_owned());
    }
    unreported
}

#[test]
fn every_change_is_in_the_report() {
    check(|model, rules| {
        let mut wrong = Vec::new();
        for options in [
            Options::default(),
            Options { unsafe_fixes: true, ..Options::default() },
            Options { opset: Some(13), ..Options::default() },
        ] {
            let Outcome { model: after, report, findings, changed, .. } = fix(model.clone(), &options, rules);
            if !findings.is_empty() {
                continue;
            }
            wrong.extend(unreported(model, &after, &report));
            let differs = write(model) != write(&after);
            if differs && !changed {
                wrong.push("it changes, but `changed` is false".to_owned());
            }
            if changed == report.changes.is_empty() {
                wrong
                    .push(format!("changed: {changed}, but the report has {} changes", report.changes.len()));
            }
            for entry in &report.changes {
                let by = RuleSet::headers().iter().find(|brief| *brief.code == *entry.code);
                if by.is_none_or(|brief| brief.name != entry.rule) || entry.summary.is_empty() {
                    wrong.push(format!("unknown rule in {entry:?}"));
                }
            }
        }
        wrong
    });
}

/// Identity of a finding: its rule, location, and message.
type Key = (Arc<str>, Arc<str>, String, String);

fn key(finding: &Finding) -> Key {
    let (graph, node) = match finding.place.graph() {
        Some(place) => (
            place.graph.clone(),
            place.node.to_string() + if place.node.is_empty() { &place.text } else { "" },
        ),
        None => (Arc::from(""), String::new()),
    };
    (finding.code.clone(), graph, node, finding.message.clone())
}

#[test]
fn exactly_the_fixable_findings_are_fixed() {
    let linting = LintOptions { rules: Arc::new(RuleSet::for_linting()), ..LintOptions::default() };
    check(|model, rules| {
        let mut wrong = Vec::new();
        let findings = lint_model(model, &linting);
        for unsafe_fixes in [false, true] {
            let options = Options { unsafe_fixes, ..Options::default() };
            let is_due = |finding: &&Finding| {
                let fix = finding.fix.as_ref();
                fix.is_some_and(|fix| unsafe_fixes || fix.applicability == Applicability::Safe)
            };
            let Outcome { model: after, report, findings: refused, .. } = fix(model.clone(), &options, rules);
            if !refused.is_empty() {
                wrong.extend(
                    findings.iter().filter(is_due).map(|finding| format!("refused: {}", finding.message)),
                );
                continue;
            }
            let left: HashSet<Key> = lint_model(&after, &linting).iter().map(key).collect();
            let stays = findings.iter().filter(is_due).filter(|finding| left.contains(&key(finding)));
            wrong.extend(
                stays.map(|finding| format!("stays ({unsafe_fixes}): {} {}", finding.code, finding.message)),
            );
            // If an analysis reports a node, the node is only fixed if the finding is fixable.
            let mends = |code: &str| {
                let brief = RuleSet::headers().iter().find(|brief| *brief.code == *code);
                brief.and_then(|brief| brief.fixes)
            };
            let node = |finding: &Finding| finding.place.graph().map(|place| place.node.to_string());
            for entry in &report.changes {
                let Some(code) = mends(&entry.code) else { continue };
                let about: Vec<String> = entry.with.iter().chain([&entry.node]).cloned().collect();
                let there = findings.iter().filter(|finding| {
                    *finding.code == *code && node(finding).is_some_and(|node| about.contains(&node))
                });
                let there: Vec<&Finding> = there.collect();
                if !there.is_empty() && !there.iter().any(|finding| finding.fix.is_some()) {
                    wrong.push(format!("fixed, but not called fixable: {code} {}", there[0].message));
                }
            }
        }
        wrong
    });
}
