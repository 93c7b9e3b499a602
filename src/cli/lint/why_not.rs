//! `--why-not RULE NODE`: explains where the match of a rule fails.

use std::path::Path;

use super::args::Args;
use crate::cli::catalog::Catalog;
use crate::cli::{Failure, Status, output, paths, selectors};
use crate::diag::{Finding, Level, render};
use crate::graph::syntax::Span;
use crate::graph::uses::Uses;
use crate::graph::{Model, NodeId};
use crate::infer;
use crate::read::sniff::sniff;
use crate::read::{any, file};
use crate::rules::datum::Datum;
use crate::rules::matcher;
use crate::rules::message::text;
use crate::rules::plain::PlainHost;
use crate::rules::rule::{Body, Rule};

/// Prints why no direction of the rule matches at the node, or that a direction matches.
pub fn why_not(args: &Args, rule: &str, node: &str, catalog: &Catalog) -> Result<Status, Failure> {
    let [path] = &args.paths[..] else {
        return Err(Failure::new("--why-not: name one model"));
    };
    let codes = selectors::named(rule, catalog, "--why-not")?;
    let mut rules = codes.iter().filter_map(|code| catalog.rules().get(code));
    let Some(rule) = rules.find(|rule| matches!(rule.body, Body::Pattern { .. })) else {
        let code = codes.first().copied().unwrap_or(rule);
        return Err(Failure::new(format!("--why-not: {code} is a built-in analysis, which has no pattern")));
    };
    let model = read(paths::local(path)?)?;
    let node = find(&model, node)
        .ok_or_else(|| Failure::new(format!("--why-not: {} has no node `{node}`", path.display())))?;
    let findings = reasons(&model, rule, node);
    let text = match findings.is_empty() {
        true => format!("{} {} matches at this node.\n", rule.code, rule.name),
        false => render::findings(&findings, output::look(&std::io::stdout(), args.color.when)),
    };
    output::print(&text).map(|()| Status::Clean)
}

fn read(path: &Path) -> Result<Model, Failure> {
    let bytes = file::read(path).map_err(|error| Failure::unreadable(path, &error))?;
    let (model, findings) = any::model(sniff(&path.to_string_lossy(), &bytes), bytes);
    let why = findings.first().map_or("this is no model", |finding| finding.message.as_str());
    model.ok_or_else(|| Failure::at(path, why))
}

/// Returns the node with this name, or with an output of this name.
fn find(model: &Model, name: &str) -> Option<NodeId> {
    let is_output = |value| &*model.values[value].name == name;
    let named = model.nodes.iter().find(|(_, node)| node.name.as_deref() == Some(name));
    let made =
        || model.nodes.iter().find(|(_, node)| node.outputs.iter().flatten().any(|&value| is_output(value)));
    named.or_else(made).map(|(id, _)| id)
}

/// Returns the reason for which each direction fails; empty if one matches.
/// If a pattern has alternatives, only the failure of the alternative that matches furthest is returned.
fn reasons(model: &Model, rule: &Rule, node: NodeId) -> Vec<Finding> {
    let (facts, uses) = (infer::infer(model, infer::Options::default()), Uses::new(model));
    let host = PlainHost::new(model, model.nodes[node].graph, &facts, &uses);
    let failures = rule.directions().map(|direction| matcher::explain(&host, direction, node));
    let mut failures: Vec<_> = failures.collect::<Option<_>>().unwrap_or_default();
    if rule.has_alternatives() {
        // If several alternatives match equally far, the first of them is the simplest.
        failures = failures.into_iter().rev().max_by_key(|(progress, _)| *progress).into_iter().collect();
    }
    let failures: Vec<_> = failures.into_iter().map(|(_, failure)| failure).collect();
    // If a rule lists several operators, the failure for the operator of this node is the informative one.
    let is_operator = |failure: &matcher::Failure| matches!(failure, matcher::Failure::Operator(_));
    let all = failures.iter().all(is_operator);
    let told = failures.into_iter().filter(|failure| all || !is_operator(failure));
    told.map(|failure| match failure {
        matcher::Failure::Operator(span) => other_operator(model, rule, node, span),
        failure => reason(rule, failure),
    })
    .collect()
}

/// Reports that the pattern has another operator than the node, or another version of it.
fn other_operator(model: &Model, rule: &Rule, node: NodeId, span: Span) -> Finding {
    let finding = reason(rule, matcher::Failure::Operator(span));
    let node = &model.nodes[node];
    let wanted = rule.source.source.slice(span);
    let is_named = wanted.split('@').next().is_some_and(|name| name.ends_with(&*node.op_type));
    let opset = model.opset(node.graph, node.domain()).filter(|_| is_named);
    let Some(opset) = opset else { return finding };
    let message =
        format!("{} does not match: the pattern has another version of `{}`", rule.name, node.op_type);
    Finding { message, ..finding }.note(format!("the model imports opset {opset}"))
}

fn reason(rule: &Rule, failure: matcher::Failure) -> Finding {
    use matcher::Failure::{Condition, Node, Operator, Producer, Undefined};
    let because = match &failure {
        Condition { because, .. } => because.clone(),
        _ => None,
    };
    let (span, why, saw): (Span, &str, _) = match failure {
        Operator(span) => (span, "the node has another operator", Vec::new()),
        Node(span) => (span, "the attributes, inputs or outputs of the node do not match", Vec::new()),
        Producer(span) => (span, "no producer of the value matches this node", Vec::new()),
        Condition { span, undefined: false, saw, .. } => (span, "this does not hold", saw),
        Condition { span, undefined: true, saw, .. } => {
            (span, "this cannot be decided: too little is known about the values", saw)
        }
        Undefined(span) => (span, "this expression has no value here", Vec::new()),
    };
    let source = &rule.source.source;
    let place = source.place(span);
    let message = format!("{} does not match: {why}", rule.name);
    let finding = Finding::new(&rule.code, &rule.name, Level::Info, message, place);
    let heard = |datum: Option<Datum>| datum.map_or("unknown".to_owned(), |datum| text(&datum));
    let answers =
        saw.into_iter().map(|(span, datum)| format!("`{}` is {}", source.slice(span), heard(datum)));
    let finding = answers.fold(finding, Finding::note);
    let finding = because.iter().fold(finding, |finding, reason| finding.note(&**reason));
    Finding { file: rule.source.source.file.clone(), ..finding }
}
