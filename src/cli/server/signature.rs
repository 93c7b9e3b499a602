//! Signatures of operators, as hovers and completions show them.

use std::fmt::Write;

use crate::graph::syntax::quoted;
use crate::schema::{Arity, AttrDefault, AttrSpec, Formal, Schema, Ty};

/// Returns the signature of an operator in Markdown: inputs, outputs, attributes and types.
pub fn page(schema: &Schema) -> String {
    let domain = if schema.domain.is_empty() { "ai.onnx" } else { schema.domain };
    let deprecated = if schema.deprecated { " (deprecated)" } else { "" };
    let mut text =
        format!("**{}** of {domain}, since opset {}{deprecated}\n\n```\n", schema.name, schema.since);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{} {}", schema.name, line(schema));
    for attr in schema.attrs {
        let _ = writeln!(text, "  <{}: {}>", attr.name, attribute(attr));
    }
    for param in schema.type_params {
        let _ = writeln!(text, "  {}: {}", param.name, param.allowed);
    }
    text.push_str("```");
    text
}

/// Returns the inputs and outputs of an operator in one line: `(X: T, W: T, B?: T) => (Y: T)`.
pub fn line(schema: &Schema) -> String {
    format!("({}) => ({})", formals(schema, schema.inputs), formals(schema, schema.outputs))
}

fn formals(schema: &Schema, formals: &[Formal]) -> String {
    let formal = |formal: &Formal| {
        let many = match formal.option {
            Arity::Single => "",
            Arity::Optional => "?",
            Arity::Variadic { .. } => "...",
        };
        let ty = match formal.ty {
            Ty::Param(at) => schema.type_params[usize::from(at)].name.to_owned(),
            Ty::Exactly(types) => types.to_string(),
        };
        format!("{}{many}: {ty}", formal.name)
    };
    formals.iter().map(formal).collect::<Vec<_>>().join(", ")
}

/// Returns the kind and the default of an attribute: `int = 1`.
pub fn attribute(attr: &AttrSpec) -> String {
    let default = attr.default.map_or_else(String::new, |default| format!(" = {}", written(default)));
    let need = if attr.required { " (required)" } else { "" };
    format!("{}{default}{need}", attr.kind.name())
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
