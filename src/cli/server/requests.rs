//! Requests of the editor.

use lsp_server::{ErrorCode, Request, Response};
use lsp_types::request::{
    CodeActionRequest, Formatting, GotoDefinition, HoverRequest, References, Rename, Request as _,
};
use lsp_types::{
    CodeActionOrCommand, CodeActionParams, Diagnostic, GotoDefinitionResponse, Hover, HoverContents,
    Location, MarkupContent, MarkupKind, NumberOrString, Position, Range, TextDocumentPositionParams, Uri,
};
use serde_json::Value;

use super::document::Document;
use super::edits;
use super::hover;
use super::names::Names;
use super::workspace::Workspace;
use crate::cli::lint::rules::page;
use crate::diag::Finding;
use crate::graph::syntax::Source;

/// Answers a request.
pub fn answer(workspace: &Workspace, request: Request) -> Response {
    let (id, params) = (request.id, request.params);
    let asked = match &*request.method {
        HoverRequest::METHOD => ask::<HoverRequest>(params, |params| {
            Ok(hovered(workspace, &params.text_document_position_params))
        }),
        GotoDefinition::METHOD => ask::<GotoDefinition>(params, |params| {
            let at = &params.text_document_position_params;
            Ok(places(workspace, at, true).pop().map(GotoDefinitionResponse::Scalar))
        }),
        References::METHOD => ask::<References>(params, |params| {
            Ok(Some(places(workspace, &params.text_document_position, false)))
        }),
        Rename::METHOD => ask::<Rename>(params, |params| {
            let at = &params.text_document_position;
            let Some((document, source, offset)) = model_at(workspace, at) else {
                return Err("only values in ONNX text can be renamed".to_owned());
            };
            let edits = edits::rename(&source, document, offset, &params.new_name)?;
            Ok(Some(edits::of_document(&at.text_document.uri, edits)))
        }),
        Formatting::METHOD => ask::<Formatting>(params, |params| {
            let uri = &params.text_document.uri;
            let found = text_of(workspace, uri);
            Ok(found.and_then(|(document, source)| edits::format(&source, document)))
        }),
        CodeActionRequest::METHOD => {
            ask::<CodeActionRequest>(params, |params| Ok(Some(actions(workspace, &params))))
        }
        method => {
            let message = format!("`{method}` is not supported");
            return Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
        }
    };
    match asked {
        Ok(result) => Response::new_ok(id, result),
        Err(why) => Response::new_err(id, ErrorCode::InvalidParams as i32, why),
    }
}

fn ask<R: lsp_types::request::Request>(
    params: Value,
    answer: impl FnOnce(R::Params) -> Result<R::Result, String>,
) -> Result<Value, String> {
    let params = serde_json::from_value(params).map_err(|error| error.to_string())?;
    serde_json::to_value(answer(params)?).map_err(|error| error.to_string())
}

/// Returns an open ONNX text.
fn text_of<'w>(workspace: &'w Workspace, uri: &Uri) -> Option<(&'w Document, Source)> {
    let document = workspace.documents.get(uri).filter(|_| uri.as_str().ends_with(".onnxtxt"))?;
    Some((document, Source::new("", &document.text)))
}

fn model_at<'w>(
    workspace: &'w Workspace,
    at: &TextDocumentPositionParams,
) -> Option<(&'w Document, Source, usize)> {
    let (document, source) = text_of(workspace, &at.text_document.uri)?;
    Some((document, source, document.offset(at.position)))
}

/// Returns the hover text: the signature of an operator, the type of a value, or the page of a rule.
///
/// Signatures and types are shown in ONNX text. Elsewhere, the page is that of the rule with the first finding at the
/// position.
fn hovered(workspace: &Workspace, at: &TextDocumentPositionParams) -> Option<Hover> {
    let shown = |text: String, range| Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text }),
        range,
    };
    if let Some((document, source, offset)) = model_at(workspace, at)
        && let Some((text, span)) = hover::in_model(&source, offset)
    {
        return Some(shown(text, Some(document.range(span.range()))));
    }
    let diagnostics = workspace.diagnostics(&at.text_document.uri).ok()?;
    let found = diagnostics.into_iter().find(|found| contains(found.range, at.position))?;
    let Some(NumberOrString::String(code)) = &found.code else { return None };
    Some(shown(page(code, &workspace.catalog)?, Some(found.range)))
}

fn contains(range: Range, position: Position) -> bool {
    range.start <= position && position <= range.end
}

/// Returns the definition of the value at a position or, unless `only_definition`, all its places.
fn places(workspace: &Workspace, at: &TextDocumentPositionParams, only_definition: bool) -> Vec<Location> {
    let Some((document, source, offset)) = model_at(workspace, at) else { return Vec::new() };
    let names = Names::of(&source);
    let Some((value, _)) = names.value_at(offset) else { return Vec::new() };
    let spans = if only_definition { std::slice::from_ref(&value.definition) } else { &value.places };
    let uri = &at.text_document.uri;
    spans.iter().map(|span| Location { uri: uri.clone(), range: document.range(span.range()) }).collect()
}

/// Returns code actions for the diagnostics at a position.
///
/// They are fixes for ONNX text, rewrites for Python, and suppressions for both.
fn actions(workspace: &Workspace, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let uri = &params.text_document.uri;
    let Some(document) = workspace.documents.get(uri) else { return Vec::new() };
    let text = text_of(workspace, uri);
    let is_python = uri.as_str().ends_with(".py");
    let in_python = if is_python { workspace.of_python(uri) } else { Vec::new() };
    let mut offered = Vec::new();
    for found in &params.context.diagnostics {
        let Some(NumberOrString::String(code)) = &found.code else { continue };
        let shown = shown(found, code, &in_python).into_iter();
        let mut changes: Vec<_> = shown.filter_map(|finding| edits::rewrite(document, finding)).collect();
        let rules = workspace.catalog.rules();
        changes.extend(text.as_ref().and_then(|(_, source)| edits::mend(source, document, code, rules)));
        if text.is_some() || is_python {
            changes.extend(edits::accept(document, code, found));
        }
        offered.extend(changes.into_iter().map(|change| edits::action(uri, found, change)));
    }
    offered
}

/// Returns the findings with the code and range of a diagnostic, else those with its code on its line.
///
/// A diagnostic from a model may know only the line.
fn shown<'f>(diagnostic: &Diagnostic, code: &str, among: &'f [(Finding, Range)]) -> Vec<&'f Finding> {
    let at = diagnostic.range;
    let on_line = among.iter().filter(|(one, range)| *one.code == *code && range.start.line == at.start.line);
    let (there, near): (Vec<_>, Vec<_>) = on_line.partition(|(_, range)| *range == at);
    let chosen = if there.is_empty() { near } else { there };
    chosen.into_iter().map(|(finding, _)| finding).collect()
}
