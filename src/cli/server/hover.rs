//! Hover texts in Markdown.

use std::fmt::Write;

use super::names::{Names, Operator};
use crate::graph::syntax::{ParsedModel, Source, Span, parse, quoted};
use crate::graph::{GraphId, Model, ValueId};
use crate::infer;
use crate::schema::{self, Arity, AttrDefault, Formal, Schema, Ty};

/// Returns the hover text for a byte offset of an ONNX text, and its span.
pub fn in_model(source: &Source, offset: usize) -> Option<(String, Span)> {
    let names = Names::of(source);
    let parsed = parse(source);
    let model = parsed.model.as_ref()?;
    if let Some(operator) = names.operator_at(offset) {
        return Some((signature(model, operator)?, operator.span));
    }
    let (value, place) = names.value_at(offset)?;
    let id = value_made_at(&parsed, model, &value.name, value.definition)?;
    let facts = infer::infer(model, infer::Options::default());
    Some((format!("```\n{}: {}\n```", value.name, facts[id]), place))
}

/// Returns the value that a node, an input or an initializer defines at a span of the text.
fn value_made_at(parsed: &ParsedModel, model: &Model, name: &str, at: Span) -> Option<ValueId> {
    let is_named = |value: &ValueId| &*model.values[*value].name == name;
    let around = parsed.spans.nodes().filter(|(_, span)| span.start <= at.start && at.end <= span.end);
    let nearest = around.min_by_key(|(_, span)| span.end - span.start);
    if let Some((node, _)) = nearest
        && let Some(made) = model.nodes[node].outputs.iter().flatten().copied().find(is_named)
    {
        return Some(made);
    }
    // A declaration. If several graphs declare the name, the value is ambiguous.
    let declared = |(id, _): (GraphId, _)| {
        let values = model.values.ids().filter(move |&value| model.values[value].graph == id);
        values.filter(is_named).filter(|&value| model.producer(value).is_none()).collect::<Vec<_>>()
    };
    let all: Vec<ValueId> = model.graphs.iter().flat_map(declared).collect();
    (all.len() == 1).then(|| all[0])
}

/// Returns the signature of an operator in the version that the model imports.
fn signature(model: &Model, operator: &Operator) -> Option<String> {
    let opset = u16::try_from(model.opset(model.main, &operator.domain)?).ok()?;
    let schema = schema::lookup(&operator.domain, &operator.name, opset)?;
    let domain = if schema.domain.is_empty() { "ai.onnx" } else { schema.domain };
    let mut text = format!("**{}** of {domain}, since opset {}", schema.name, schema.since);
    if schema.deprecated {
        text.push_str(" (deprecated)");
    }
    text.push_str("\n\n```\n");
    formals(&mut text, schema, "in ", schema.inputs);
    for attr in schema.attrs {
        let default = attr.default.map_or_else(String::new, |default| format!(" = {}", written(default)));
        let need = if attr.required { " (required)" } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "<>  {}: {}{default}{need}", attr.name, attr.kind.name());
    }
    formals(&mut text, schema, "out", schema.outputs);
    for param in schema.type_params {
        let _ = writeln!(text, "{}: {}", param.name, param.allowed);
    }
    text.push_str("```");
    Some(text)
}

fn formals(text: &mut String, schema: &Schema, kind: &str, formals: &[Formal]) {
    for formal in formals {
        let many = match formal.option {
            Arity::Single => "",
            Arity::Optional => "?",
            Arity::Variadic { .. } => "...",
        };
        let ty = match formal.ty {
            Ty::Param(at) => schema.type_params[usize::from(at)].name.to_owned(),
            Ty::Exactly(types) => types.to_string(),
        };
        let _ = writeln!(text, "{kind} {}{many}: {ty}", formal.name);
    }
}

fn written(default: AttrDefault) -> String {
    match default {
        AttrDefault::Int(int) => int.to_string(),
        AttrDefault::Float(float) => float.to_string(),
        AttrDefault::String(text) => quoted(text),
        AttrDefault::Ints(ints) => {
            format!("[{}]", ints.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
        }
        AttrDefault::Strings(texts) => {
            format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
        }
        AttrDefault::Every(int) => format!("{int} for each axis"),
    }
}
