//! Grammar of a whole model in ONNX text.

use crate::diag::rule_ids;
use crate::graph::{AttrKind, OpsetImport};

use super::ast::{AttrSyntax, Declared, Function, Graph, Header, Model};
use super::cursor::{Cursor, Language, Name, Parsed};
use super::lexer::Strings;
use super::node::{self, Dialect};
use super::number;
use super::types;

/// Language settings of ONNX text.
pub const TEXT: Language = Language { rule: rule_ids::BAD_ONNX_TEXT, strings: Strings::AnyLines };

/// Dialect of ONNX text, as onnx's parser accepts it.
pub struct Text;

impl Dialect for Text {
    type Value = AttrSyntax;

    const RULES: bool = false;

    fn value(cursor: &mut Cursor, kind: Option<AttrKind>) -> Parsed<AttrSyntax> {
        let start = cursor.peek().span;
        if !cursor.eat("[") {
            return cursor.nested(single);
        }
        let items = cursor.nested(|cursor| cursor.list("]", single))?;
        if items.is_empty() && kind.is_none() {
            let span = cursor.since(start);
            return Err(cursor.fault(span, "an empty list needs its kind: `axes: ints = []`"));
        }
        Ok(AttrSyntax::List(items))
    }
}

/// Parses one value: a number, string, tensor, type, graph, or `@name`.
fn single(cursor: &mut Cursor) -> Parsed<AttrSyntax> {
    if cursor.eat("@") {
        return Ok(AttrSyntax::Ref(cursor.name("the name of an attribute of the function")?));
    }
    if number::at_number(cursor) {
        return number(cursor);
    }
    if types::at_type(cursor) {
        return typed(cursor);
    }
    if cursor.at_ident() {
        return Ok(AttrSyntax::Graph(Box::new(graph(cursor)?)));
    }
    Ok(AttrSyntax::String(cursor.string("the value of an attribute")?.text))
}

fn number(cursor: &mut Cursor) -> Parsed<AttrSyntax> {
    let at_int = number::at_int(cursor);
    if at_int {
        number::int(cursor).map(AttrSyntax::Int)
    } else {
        number::float32(cursor).map(AttrSyntax::Float)
    }
}

/// Parses a type or a tensor: `float[2]`, `float[2] {1,2}`, `float[2] name = {1,2}`.
fn typed(cursor: &mut Cursor) -> Parsed<AttrSyntax> {
    let ty = types::ty(cursor)?;
    if !(cursor.at("{") || cursor.at("=") || cursor.at_ident() || cursor.at_quoted() || cursor.at("[")) {
        return Ok(AttrSyntax::Type(Box::new(ty)));
    }
    let name = match cursor.at_ident() || cursor.at_quoted() {
        true => Some(cursor.name("the name of the tensor")?.text),
        false => None,
    };
    cursor.eat("=");
    Ok(AttrSyntax::Tensor(Box::new(types::tensor_data(cursor, &ty, name)?)))
}

/// Parses a model: header, main graph, local functions.
pub fn model(cursor: &mut Cursor) -> Parsed<Model> {
    model_before(cursor, |cursor| cursor.is_end())
}

/// Parses a model up to a `}`, which is not consumed.
pub fn model_in_braces(cursor: &mut Cursor) -> Parsed<Model> {
    model_before(cursor, |cursor| cursor.is_end() || cursor.at("}"))
}

fn model_before(cursor: &mut Cursor, is_over: fn(&Cursor) -> bool) -> Parsed<Model> {
    let header = header(cursor)?;
    let graph = graph(cursor)?;
    let mut functions = Vec::new();
    while !is_over(cursor) {
        functions.push(function(cursor)?);
    }
    Ok(Model { header, graph, functions })
}

/// Parses `name (inputs) => (outputs) <values> { nodes }`.
pub fn graph(cursor: &mut Cursor) -> Parsed<Graph> {
    let name = cursor.name("the name of a graph")?;
    cursor.nested(|cursor| {
        let (inputs, outputs) = interface(cursor)?;
        let values = if cursor.eat("<") { cursor.list(">", declared)? } else { Vec::new() };
        let nodes = node::nodes::<Text>(cursor)?;
        let span = cursor.since(name.span);
        Ok(Graph { name, inputs, outputs, values, nodes, span })
    })
}

/// Parses `(inputs) => (outputs)`.
pub fn interface(cursor: &mut Cursor) -> Parsed<(Vec<Declared>, Vec<Declared>)> {
    cursor.expect("(")?;
    let inputs = cursor.list(")", declared)?;
    cursor.expect("=>")?;
    cursor.expect("(")?;
    Ok((inputs, cursor.list(")", declared)?))
}

/// Parses `float[N] x`, `x` or `float[2] w = {1,2}`.
pub fn declared(cursor: &mut Cursor) -> Parsed<Declared> {
    let start = cursor.peek().span;
    let ty = if types::at_type(cursor) { Some(types::ty(cursor)?) } else { None };
    let name = cursor.name("the name of a value")?;
    let span = cursor.since(start);
    if ty.is_none() && (cursor.at_ident() || cursor.at_quoted() || cursor.at("[")) {
        return Err(types::no_type(cursor, &name));
    }
    if cursor.at("=>") || !cursor.eat("=") {
        return Ok(Declared { ty, name, tensor: None, span });
    }
    let Some(ty) = ty else {
        return Err(cursor.fault(name.span, format!("the initializer `{}` needs a type", name.text)));
    };
    let tensor = types::tensor_data(cursor, &ty, Some(name.text.clone()))?;
    Ok(Declared { ty: Some(ty), name, tensor: Some(tensor), span })
}

fn function(cursor: &mut Cursor) -> Parsed<Function> {
    let start = cursor.peek().span;
    let header = header(cursor)?;
    let name = cursor.name("the name of a function")?;
    let mut attributes = Vec::new();
    let mut defaults = Vec::new();
    if cursor.eat("<") {
        let listed = cursor.list(">", |cursor| {
            let name = cursor.name("the name of an attribute")?;
            if cursor.at(":") || cursor.at("=") {
                defaults.push(node::attribute_after_name::<Text>(cursor, name)?);
                return Ok(None);
            }
            Ok(Some(name))
        })?;
        attributes = listed.into_iter().flatten().collect::<Vec<Name>>();
    }
    let (inputs, outputs) = interface(cursor)?;
    let values = if cursor.eat("<") { cursor.list(">", declared)? } else { Vec::new() };
    let nodes = node::nodes::<Text>(cursor)?;
    let span = cursor.since(start);
    Ok(Function { header, name, attributes, defaults, inputs, outputs, values, nodes, span })
}

/// Parses an optional header: `<key: value, …>`.
fn header(cursor: &mut Cursor) -> Parsed<Header> {
    let mut header = Header::default();
    if cursor.eat("<") {
        cursor.list(">", |cursor| header_entry(cursor, &mut header))?;
    }
    Ok(header)
}

fn header_entry(cursor: &mut Cursor, header: &mut Header) -> Parsed<()> {
    let key = cursor.ident("a key such as `opset_import`")?;
    cursor.expect(":")?;
    let string = |cursor: &mut Cursor| cursor.string("a string in quotes").map(|name| Some(name.text));
    match &*key.text {
        "ir_version" => header.ir_version = Some(number::int(cursor)?),
        "model_version" => header.model_version = Some(number::int(cursor)?),
        "opset_import" => header.opsets = opsets(cursor)?,
        "producer_name" => header.producer_name = string(cursor)?,
        "producer_version" => header.producer_version = string(cursor)?,
        "domain" => header.domain = string(cursor)?,
        "overload" => header.overload = string(cursor)?,
        "doc_string" => header.doc = string(cursor)?,
        "metadata_props" => {
            cursor.expect("[")?;
            header.metadata = types::string_pairs(cursor)?;
        }
        _ => return Err(cursor.fault(key.span, format!("`{}` is not a header key", key.text))),
    }
    Ok(())
}

/// Parses `["" : 21, "com.microsoft" : 1]`.
fn opsets(cursor: &mut Cursor) -> Parsed<Vec<OpsetImport>> {
    cursor.expect("[")?;
    cursor.list("]", |cursor| {
        let domain = cursor.string("a domain in quotes")?.text;
        cursor.expect(":")?;
        Ok(OpsetImport { domain: Some(domain), version: Some(number::int(cursor)?) })
    })
}
