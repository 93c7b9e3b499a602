//! Changes of a derived example (`but`): replaced text, and typed edits of its graph.

use std::str::FromStr;

use super::RULES;
use super::ast::ExampleAst;
use crate::graph::syntax::ast::{Attr, AttrSyntax, Declared, Graph, Model, Name, Node};
use crate::graph::syntax::cursor::{Cursor, Parsed, Reported};
use crate::graph::syntax::lexer::TokenKind;
use crate::graph::syntax::node::Dialect;
use crate::graph::syntax::suggest::with_suggestion;
use crate::graph::syntax::text::{self, Text};
use crate::graph::syntax::types::no_type;
use crate::graph::syntax::{Source, Span};
use crate::graph::{ElemType, Type, TypeKind};

/// Changes of a derived example.
#[derive(Default)]
pub struct Changes {
    /// Text replacements: `with "old" as "new"`.
    texts: Vec<(Name, Name)>,
    edits: Vec<Edit>,
}

/// Typed edit.
enum Edit {
    /// `x: double`: the new element type of an input. Types that depend on it are inferred again.
    Type(Name, ElemType),
    /// `attr axis = 0 of y`.
    Attr(Box<Attr<AttrSyntax>>, Name),
    /// `without input bias of y`.
    WithoutInput(Name, Name),
}

/// Graph of a derived example.
pub struct Derived {
    pub model: Model,
    /// Whether the graph is a whole model, with a header.
    pub is_whole: bool,
    /// Changed text, to which the spans of the graph refer.
    pub text: Option<Source>,
    /// Whether declared element types of outputs and intermediate values must be inferred again.
    pub is_retyped: bool,
}

impl Changes {
    /// Parses changes separated by commas; none if no change comes next.
    pub fn parse(cursor: &mut Cursor) -> Parsed<Changes> {
        let mut changes = Changes::default();
        if !Changes::begins(cursor) {
            return Ok(changes);
        }
        loop {
            let is_text = cursor.eat_word("with") || cursor.at_quoted() && !changes.texts.is_empty();
            if is_text {
                let old = cursor.string("a part of the previous example in quotes")?;
                cursor.expect_word("as")?;
                changes.texts.push((old, cursor.string("its replacement in quotes")?));
            } else {
                changes.edits.push(edit(cursor)?);
            }
            if !cursor.eat(",") {
                return Ok(changes);
            }
        }
    }

    fn begins(cursor: &Cursor) -> bool {
        let is_type = cursor.nth(1).kind == TokenKind::Sign(b':');
        is_type || ["with", "attr", "without"].iter().any(|word| cursor.at_word(word))
    }

    /// Returns true if there is no change.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.edits.is_empty()
    }

    /// Applies the changes to an example.
    /// If the changed text is not a valid model, the fault is reported at `span`.
    pub fn apply(&self, base: &ExampleAst, span: Span, cursor: &mut Cursor) -> Parsed<Derived> {
        let mut derived = match self.texts.is_empty() {
            true => Derived {
                model: Model {
                    header: base.header.clone().unwrap_or_default(),
                    graph: base.graph.clone(),
                    functions: base.functions.clone(),
                },
                is_whole: base.header.is_some(),
                text: None,
                is_retyped: false,
            },
            false => self.replaced(base, span, cursor)?,
        };
        for edit in &self.edits {
            edit.apply(&mut derived.model.graph, cursor)?;
            derived.is_retyped |= matches!(edit, Edit::Type(..));
        }
        Ok(derived)
    }

    /// Replaces text, at all occurrences.
    fn replaced(&self, base: &ExampleAst, span: Span, cursor: &mut Cursor) -> Parsed<Derived> {
        let source = cursor.source;
        // Line breaks of the example do not matter.
        let mut text = collapsed(source.slice(base.inside));
        for (old, new) in &self.texts {
            let (from, to) = (collapsed(&old.text), collapsed(&new.text));
            if from.is_empty() || !text.contains(&from) {
                let message = format!("the previous example does not contain `{}`", old.text);
                let finding = cursor.finding(old.span, message);
                let finding = finding.related(source.place(base.span), "the previous example is here");
                return Err(cursor.report(finding));
            }
            text = text.replace(&from, &to);
        }
        let text = Source::new(&source.file, &text);
        let mut inner = Cursor::new(&text, RULES);
        let is_whole = inner.at("<");
        let model = text::model_in_braces(&mut inner);
        if !inner.is_end() {
            inner.expected("the end of the example");
        }
        let fault = inner.into_findings().into_iter().next();
        match (model, fault) {
            (Ok(model), None) => Ok(Derived { model, is_whole, text: Some(text), is_retyped: false }),
            (_, fault) => {
                let why = fault.map_or_else(String::new, |fault| format!(": {}", fault.message));
                let message = format!("with these changes, the previous example is not a valid model{why}");
                Err(cursor.fault(span, message))
            }
        }
    }
}

/// Replaces each run of white space by one space.
fn collapsed(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    for char in text.chars() {
        match char.is_whitespace() {
            true if collapsed.ends_with(' ') => {}
            true => collapsed.push(' '),
            false => collapsed.push(char),
        }
    }
    collapsed
}

/// Parses `x: double`, `attr axis = 0 of y` or `without input bias of y`.
fn edit(cursor: &mut Cursor) -> Parsed<Edit> {
    if cursor.eat_word("attr") {
        let name = cursor.ident("an attribute")?;
        cursor.expect("=")?;
        let value = Text::value(cursor, None)?;
        let span = cursor.since(name.span);
        cursor.expect_word("of")?;
        let node = cursor.name("a value that the node defines")?;
        return Ok(Edit::Attr(Box::new(Attr { name, kind: None, value, span }), node));
    }
    if cursor.eat_word("without") {
        cursor.expect_word("input")?;
        let input = cursor.name("an input of the node")?;
        cursor.expect_word("of")?;
        return Ok(Edit::WithoutInput(input, cursor.name("a value that the node defines")?));
    }
    let input = cursor
        .name("a change: `with \"…\" as \"…\"`, `x: double`, `attr a = 1 of y`, `without input b of y`")?;
    cursor.expect(":")?;
    let elem = cursor.ident("an element type")?;
    match ElemType::from_str(&elem.text) {
        Ok(elem) => Ok(Edit::Type(input, elem)),
        Err(_) => Err(no_type(cursor, &elem)),
    }
}

impl Edit {
    fn apply(&self, graph: &mut Graph, cursor: &mut Cursor) -> Parsed<()> {
        match self {
            Edit::Type(name, elem) => {
                let input = graph.inputs.iter_mut().find(|input| input.name.text == name.text);
                let ty = input.and_then(|input| input.ty.as_mut());
                match ty.and_then(tensor_elem) {
                    Some(own) => *own = Some(elem.number()),
                    None => return Err(unknown_input(cursor, name, &graph.inputs)),
                }
            }
            Edit::Attr(attr, name) => {
                let attrs = &mut node_of(graph, name, cursor)?.call.attrs;
                match attrs.iter_mut().find(|own| own.name.text == attr.name.text) {
                    Some(own) => *own = Attr { kind: own.kind, ..Attr::clone(attr) },
                    None => attrs.push(Attr::clone(attr)),
                }
            }
            Edit::WithoutInput(input, name) => {
                let inputs = &mut node_of(graph, name, cursor)?.call.inputs;
                let Some(at) = inputs.iter().position(|own| own.name.text == input.text) else {
                    let message =
                        format!("the node that defines `{}` has no input `{}`", name.text, input.text);
                    return Err(cursor.fault(input.span, message));
                };
                inputs[at].name.text = "".into();
                while inputs.last().is_some_and(|last| last.name.text.is_empty()) {
                    inputs.pop();
                }
            }
        }
        Ok(())
    }
}

fn tensor_elem(ty: &mut Type) -> Option<&mut Option<i32>> {
    match &mut ty.kind {
        TypeKind::Tensor { elem, .. } => Some(elem),
        _ => None,
    }
}

fn node_of<'g>(graph: &'g mut Graph, name: &Name, cursor: &mut Cursor) -> Parsed<&'g mut Node<AttrSyntax>> {
    let mut nodes = graph.nodes.iter_mut();
    let defines = |node: &&mut Node<AttrSyntax>| node.outputs.iter().any(|one| one.name.text == name.text);
    match nodes.find(defines) {
        Some(node) => Ok(node),
        None => {
            let message = format!("no node of the previous example defines `{}`", name.text);
            Err(cursor.fault(name.span, message))
        }
    }
}

fn unknown_input(cursor: &mut Cursor, name: &Name, inputs: &[Declared]) -> Reported {
    let message = format!("the previous example has no tensor input `{}`", name.text);
    let message = with_suggestion(message, &name.text, inputs.iter().map(|input| &*input.name.text));
    cursor.fault(name.span, message)
}
