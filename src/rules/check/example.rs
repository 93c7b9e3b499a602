//! Examples: builds the models on which a rule is tested.

use std::sync::Arc;

use indexmap::IndexSet;

use crate::diag::Finding;
use crate::graph::syntax::cursor::Cursor;
use crate::graph::syntax::{Span, ast, lower};
use crate::graph::{Def, Model, OpsetImport, TypeKind, Value};
use crate::infer::{self, infer};
use crate::rules::rule::{Example, Expect};
use crate::rules::syntax::RULES;
use crate::rules::syntax::ast::{ExampleAst, ExpectAst, RewrittenAst};
use crate::schema;

use super::{Faults, arc};

/// Returns the finding for an opset that does not exist or is newer than the supported ones.
pub(super) fn unknown_opset(faults: &Faults, span: Span, opset: i64, newest: i64) -> Finding {
    faults.at(span, format!("ai.onnx has no opset {opset}; the newest supported is {newest}"))
}

fn undefined(faults: &Faults, span: Span, name: &str) -> Finding {
    faults.at(span, format!("`{name}` is undefined in this example"))
}

fn named_twice(faults: &Faults, example: &ExampleAst, first: &ExampleAst) -> Finding {
    faults
        .at(example.name.span, format!("the example name \"{}\" is used twice", example.name.text))
        .related(faults.place(first.name.span), "the first one is here")
}

/// Builds the models of the examples.
///
/// Examples of an analysis may use undefined values, which an analysis may detect; examples of a pattern may
/// not.
pub fn examples(asts: &[ExampleAst], of_analysis: bool, faults: &mut Faults) -> Vec<Example> {
    for (index, example) in asts.iter().enumerate() {
        if let Some(first) = asts[..index].iter().find(|other| other.name.text == example.name.text) {
            faults.push(named_twice(faults, example, first));
        }
    }
    let examples = asts.iter().map(|ast| {
        let within =
            ast.is_derived.then_some((ast.span, "with these changes, the previous example has a fault"));
        let outer = faults.set_within(within);
        let example = example(ast, of_analysis, faults);
        faults.set_within(outer);
        example
    });
    examples.collect()
}

fn example(ast: &ExampleAst, of_analysis: bool, faults: &mut Faults) -> Example {
    let newest = schema::latest("").map_or(0, i64::from);
    for (opset, span) in ast.opset.iter().chain(&ast.target) {
        if !(1..=newest).contains(opset) {
            faults.push(unknown_opset(faults, *span, *opset, newest));
        }
    }
    let opset = ast.opset.map_or(newest, |(opset, _)| opset);
    let target = ast.target.map(|(target, _)| target);
    let retyped = ast.is_retyped.then(|| retyped(ast, opset, of_analysis, faults));
    let ast = retyped.as_ref().unwrap_or(ast);
    let expect = match &ast.expect {
        ExpectAst::NoMatch => Expect::NoMatch,
        ExpectAst::Equivalent => Expect::Equivalent,
        ExpectAst::Reports(messages) => {
            Expect::Reports(messages.iter().map(|message| message.text.clone()).collect())
        }
        ExpectAst::RewritesTo(rewritten) => {
            let graph = after(&ast.graph, rewritten);
            let after = whole(ast, graph, target.unwrap_or(opset));
            Expect::RewritesTo(Box::new(model(after, ast, of_analysis, faults)))
        }
    };
    let model = model(whole(ast, ast.graph.clone(), opset), ast, of_analysis, faults);
    let profile = ast.profile.as_ref().map(|name| name.text.clone());
    Example { name: ast.name.text.clone(), model, target, profile, expect, span: ast.span }
}

/// Returns the example with the inferred element types of its outputs and value infos.
fn retyped(ast: &ExampleAst, opset: i64, of_analysis: bool, faults: &mut Faults) -> ExampleAst {
    let mut ast = ast.clone();
    let model = model(whole(&ast, ast.graph.clone(), opset), &ast, of_analysis, faults);
    let facts = infer(&model, infer::Options::default());
    let values = ast.graph.values.iter_mut().filter(|value| value.tensor.is_none());
    for declared in ast.graph.outputs.iter_mut().chain(values) {
        let ty = declared.ty.as_mut().map(|ty| &mut ty.kind);
        let value = model.values.iter().find(|(_, value)| value.name == declared.name.text);
        let elem = value.and_then(|(value, _)| facts[value].elem());
        if let (Some(TypeKind::Tensor { elem: own, .. }), Some(elem)) = (ty, elem) {
            *own = Some(elem.number());
        }
    }
    ast
}

/// Builds the graph after the rewrite.
/// If the example lists only nodes, inputs, outputs and used initializers are those before the rewrite.
fn after(before: &ast::Graph, rewritten: &RewrittenAst) -> ast::Graph {
    match rewritten {
        RewrittenAst::Graph(graph) => graph.clone(),
        RewrittenAst::Nodes { values: Some(values), nodes } => {
            ast::Graph { values: values.clone(), nodes: nodes.clone(), ..before.clone() }
        }
        RewrittenAst::Nodes { values: None, nodes } => {
            let used = |name: &str| nodes.iter().any(|node| node_uses(node, name));
            let values = before.values.iter().filter(|value| used(&value.name.text)).cloned().collect();
            ast::Graph { values, nodes: nodes.clone(), ..before.clone() }
        }
    }
}

fn node_uses(node: &ast::Node<ast::AttrSyntax>, name: &str) -> bool {
    let in_body = |attr: &ast::Attr<ast::AttrSyntax>| match &attr.value {
        ast::AttrSyntax::Graph(graph) => {
            graph.nodes.iter().any(|node| node_uses(node, name))
                || graph.outputs.iter().any(|output| &*output.name.text == name)
        }
        _ => false,
    };
    node.call.inputs.iter().any(|input| &*input.name.text == name) || node.call.attrs.iter().any(in_body)
}

/// Completes a graph with the header and the functions of its example.
/// If the example has no header, a header for `opset` is added.
fn whole(example: &ExampleAst, graph: ast::Graph, opset: i64) -> ast::Model {
    let header = example.header.clone().unwrap_or_else(|| header(&graph, opset));
    ast::Model { header, graph, functions: example.functions.clone() }
}

fn header(graph: &ast::Graph, opset: i64) -> ast::Header {
    let mut header = ast::Header { opsets: vec![import("", opset)], ..ast::Header::default() };
    let mut domains = IndexSet::new();
    collect_domains(graph, &mut domains);
    for domain in domains {
        let version = schema::latest(&domain).map_or(1, i64::from);
        header.opsets.push(import(&domain, version));
    }
    let release = u16::try_from(opset).ok().and_then(schema::release);
    header.ir_version = release.map(|release| release.ir_version);
    header
}

fn model(ast: ast::Model, example: &ExampleAst, of_analysis: bool, faults: &mut Faults) -> Model {
    let span = ast.graph.span;
    let mut uses = Vec::new();
    collect_uses(&ast.graph, &mut uses);
    // The cursor parses nothing here; it only collects findings.
    let mut cursor = Cursor::within(example.text.as_ref().unwrap_or(faults.source()), RULES, Span::default());
    let (model, _) = lower::model(&mut cursor, ast);
    faults.extend(cursor.into_findings());
    let is_fault = |value: &Value| value.def == Def::Missing && !of_analysis;
    for (_, value) in model.values.iter().filter(|(_, value)| is_fault(value)) {
        let used = uses.iter().find(|(name, _)| *name == value.name).map_or(span, |(_, used)| *used);
        let place = if example.is_derived { example.span } else { used };
        faults.push_if_whole(undefined(faults, place, &value.name));
    }
    model
}

/// Collects the names used by nodes and outputs, with their spans.
fn collect_uses(graph: &ast::Graph, uses: &mut Vec<(Arc<str>, Span)>) {
    for node in &graph.nodes {
        uses.extend(node.call.inputs.iter().map(|input| (input.name.text.clone(), input.span)));
        for attr in &node.call.attrs {
            if let ast::AttrSyntax::Graph(body) = &attr.value {
                collect_uses(body, uses);
            }
        }
    }
    uses.extend(graph.outputs.iter().map(|output| (output.name.text.clone(), output.name.span)));
}

fn import(domain: &str, version: i64) -> OpsetImport {
    OpsetImport { domain: Some(arc(domain)), version: Some(version) }
}

/// Collects the domains of the nodes, in order of first use.
fn collect_domains(graph: &ast::Graph, domains: &mut IndexSet<String>) {
    for node in &graph.nodes {
        let domain = &*node.call.op.domain;
        if !domain.is_empty() && domain != "ai.onnx" {
            domains.insert(domain.to_owned());
        }
        for attr in &node.call.attrs {
            if let ast::AttrSyntax::Graph(body) = &attr.value {
                collect_domains(body, domains);
            }
        }
    }
}
