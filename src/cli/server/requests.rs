//! Requests of the editor.

use lsp_server::{ErrorCode, Request, Response};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentSymbolRequest, Formatting, GotoDefinition, HoverRequest,
    References, Rename, Request as _,
};
use lsp_types::{
    CodeActionKind, CodeActionOrCommand, CodeActionParams, CompletionItem, CompletionResponse, Diagnostic,
    DocumentSymbol, DocumentSymbolResponse, GotoDefinitionResponse, Hover, HoverContents, Location,
    MarkupContent, MarkupKind, NumberOrString, Position, Range, TextDocumentPositionParams, Uri,
};
use serde_json::Value;

use super::complete;
use super::document::Document;
use super::edits;
use super::hover;
use super::names::Names;
use super::rule_names;
use super::symbols;
use super::tokens::Tokens;
use super::uri;
use super::workspace::Workspace;
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
        Completion::METHOD => ask::<Completion>(params, |params| {
            let at = &params.text_document_position;
            Ok(Some(CompletionResponse::Array(completions(workspace, at))))
        }),
        DocumentSymbolRequest::METHOD => ask::<DocumentSymbolRequest>(params, |params| {
            Ok(Some(DocumentSymbolResponse::Nested(symbols(workspace, &params.text_document.uri))))
        }),
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

/// Returns an open document whose name ends with `ending`, with its text.
fn open<'w>(workspace: &'w Workspace, uri: &Uri, ending: &str) -> Option<(&'w Document, Source)> {
    let document = workspace.documents.get(uri).filter(|_| uri.as_str().ends_with(ending))?;
    Some((document, Source::new("", &document.text)))
}

/// Returns an open ONNX text.
fn text_of<'w>(workspace: &'w Workspace, uri: &Uri) -> Option<(&'w Document, Source)> {
    open(workspace, uri, ".onnxtxt")
}

/// Returns an open rule file.
fn rules_of<'w>(workspace: &'w Workspace, uri: &Uri) -> Option<(&'w Document, Source)> {
    open(workspace, uri, ".rule")
}

fn model_at<'w>(
    workspace: &'w Workspace,
    at: &TextDocumentPositionParams,
) -> Option<(&'w Document, Source, usize)> {
    let (document, source) = text_of(workspace, &at.text_document.uri)?;
    Some((document, source, document.offset(at.position)))
}

fn completions(workspace: &Workspace, at: &TextDocumentPositionParams) -> Vec<CompletionItem> {
    let uri = &at.text_document.uri;
    if let Some((_, source, offset)) = model_at(workspace, at) {
        return complete::in_model(&source, offset);
    }
    let Some((document, source)) = rules_of(workspace, uri) else { return Vec::new() };
    let codes = workspace.catalog.iter().map(|(code, _)| code);
    complete::in_rules(&source, document.offset(at.position), codes)
}

fn symbols(workspace: &Workspace, uri: &Uri) -> Vec<DocumentSymbol> {
    let model = text_of(workspace, uri).map(|(document, source)| symbols::in_model(&source, document));
    let rules = || rules_of(workspace, uri).map(|(document, source)| symbols::in_rules(&source, document));
    model.or_else(rules).unwrap_or_default()
}

/// Returns the hover text: the signature of an operator, the type of a value, or the summary of a rule.
///
/// In ONNX text and rule files, the hover text describes the name at the position. In other files, and for
/// names without a description, the hover text describes the rule of the first finding at the position.
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
    if let Some((document, source)) = rules_of(workspace, &at.text_document.uri)
        && let Some((text, span)) = hover::in_rules(&source, document.offset(at.position), &workspace.catalog)
    {
        return Some(shown(text, Some(document.range(span.range()))));
    }
    let diagnostics = workspace.diagnostics(&at.text_document.uri).ok()?;
    let found = diagnostics.into_iter().find(|found| contains(found.range, at.position))?;
    let Some(NumberOrString::String(code)) = &found.code else { return None };
    Some(shown(hover::rule(code, &workspace.catalog)?, Some(found.range)))
}

fn contains(range: Range, position: Position) -> bool {
    range.start <= position && position <= range.end
}

/// Returns the definition or, without `only_definition`, all occurrences of the value at a position.
/// In rule files, only definitions are found.
fn places(workspace: &Workspace, at: &TextDocumentPositionParams, only_definition: bool) -> Vec<Location> {
    if let Some((document, source)) = rules_of(workspace, &at.text_document.uri) {
        let found = only_definition.then(|| rule_definition(workspace, at, document, &source)).flatten();
        return found.into_iter().collect();
    }
    let Some((document, source, offset)) = model_at(workspace, at) else { return Vec::new() };
    let names = Names::of(&source);
    let Some((value, _)) = names.value_at(offset) else { return Vec::new() };
    let spans = if only_definition { std::slice::from_ref(&value.definition) } else { &value.places };
    let uri = &at.text_document.uri;
    spans.iter().map(|span| Location { uri: uri.clone(), range: document.range(span.range()) }).collect()
}

/// Returns the definition of the name at a position of a rule file.
///
/// Functions, patterns and rules are found in this file and in the rule files around it, values and
/// attributes in the same rule.
fn rule_definition(
    workspace: &Workspace,
    at: &TextDocumentPositionParams,
    document: &Document,
    source: &Source,
) -> Option<Location> {
    let uri = &at.text_document.uri;
    let tokens = Tokens::new(&source.text, true);
    let word = tokens.word_at(document.offset(at.position))?;
    let name = tokens.text(word);
    let is_call = tokens.text(word + 1) == "(";
    let defined = |text: &str| {
        let function = || rule_names::definitions(text).into_iter().find(|one| one.name == name);
        let found = if is_call { function().map(|one| one.span) } else { None };
        found.or_else(|| rule_names::rule_at(text, name))
    };
    let here = defined(&source.text).or_else(|| rule_names::binding(&tokens, word));
    if let Some(span) = here {
        return Some(Location { uri: uri.clone(), range: document.range(span.range()) });
    }
    if !is_call && workspace.catalog.codes(name).is_empty() {
        return None;
    }
    rule_names::around(&uri::path(uri)?).into_iter().find_map(|(path, text)| {
        let span = defined(&text)?;
        Some(Location { uri: uri::uri(&path)?, range: Document::new(text, 0).range(span.range()) })
    })
}

/// Returns code actions for the diagnostics at a position, and the action that applies all safe fixes.
///
/// The actions are fixes for ONNX text, rewrites for Python, upgrades of rule files, and suppressions.
fn actions(workspace: &Workspace, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let uri = &params.text_document.uri;
    let Some(document) = workspace.documents.get(uri) else { return Vec::new() };
    let text = text_of(workspace, uri);
    let is_python = uri.as_str().ends_with(".py");
    let in_python = if is_python { workspace.of_open(uri) } else { Vec::new() };
    let mut offered = Vec::new();
    for found in &params.context.diagnostics {
        let Some(NumberOrString::String(code)) = &found.code else { continue };
        let shown = shown(found, code, &in_python).into_iter();
        let mut changes: Vec<_> = shown.filter_map(|finding| edits::rewrite(document, finding)).collect();
        let rules = &workspace.rules;
        changes.extend(text.as_ref().and_then(|(_, source)| edits::fix_rule(source, document, code, rules)));
        if let Some((document, source)) = rules_of(workspace, uri) {
            changes.extend(edits::upgraded(&source, document));
        }
        if text.is_some() || is_python {
            changes.extend(edits::accept(document, code, found));
        }
        offered.extend(changes.into_iter().map(|change| edits::action(uri, found, change)));
    }
    // Fixing all findings costs a run, so where there is no finding, this action is offered only on request.
    let wants_all = match &params.context.only {
        Some(only) => is_wanted(Some(&edits::FIX_ALL), only),
        None => !params.context.diagnostics.is_empty(),
    };
    if wants_all && (text.is_some() || is_python) {
        let findings = workspace.of_open(uri);
        let source = text.as_ref().map(|(_, source)| source);
        let all = edits::fix_all(source, document, &findings, &workspace.rules);
        offered.extend(all.map(|change| edits::fix_all_action(uri, change)));
    }
    offered.retain(|action| match (action, &params.context.only) {
        (CodeActionOrCommand::CodeAction(action), Some(only)) => is_wanted(action.kind.as_ref(), only),
        _ => true,
    });
    offered
}

/// Returns true if the editor requests a kind of action, or a kind above it.
///
/// For example, `source` is above `source.fixAll`.
fn is_wanted(kind: Option<&CodeActionKind>, only: &[CodeActionKind]) -> bool {
    let Some(kind) = kind else { return false };
    only.iter().any(|wanted| {
        let rest = kind.as_str().strip_prefix(wanted.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Returns the findings with the code and range of a diagnostic, else with the same code and line.
///
/// A diagnostic of a model may have only a line, and no range within the line.
fn shown<'f>(diagnostic: &Diagnostic, code: &str, among: &'f [(Finding, Range)]) -> Vec<&'f Finding> {
    let at = diagnostic.range;
    let on_line = among.iter().filter(|(one, range)| *one.code == *code && range.start.line == at.start.line);
    let (there, near): (Vec<_>, Vec<_>) = on_line.partition(|(_, range)| *range == at);
    let chosen = if there.is_empty() { near } else { there };
    chosen.into_iter().map(|(finding, _)| finding).collect()
}
