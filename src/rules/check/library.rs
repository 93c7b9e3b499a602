//! Functions of rule files, which are inlined at each call.

use super::rewrite::Checker;
use super::scope::Scope;
use super::{Faults, alternatives, expr, pattern};
use crate::diag::Finding;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Many, Name, Operand};
use crate::graph::syntax::suggest::{counted, with_suggestion};
use crate::rules::built_in;
use crate::rules::expr::{Expr, ExprKind};
use crate::rules::func::Func;
use crate::rules::rule::{Count, Term};
use crate::rules::syntax::ast::{CallAst, ExprAst, ExprAstKind, FnAst, ParamAst, ValueAst, ValueAstKind};
use crate::rules::syntax::begins_operator;

fn unknown_function(faults: &Faults, name: &Name, library: Library) -> Finding {
    let message = format!("unknown function `{}`", name.text);
    let functions = Func::ALL.iter().map(|func| func.name());
    let message = with_suggestion(message, &name.text, library.names().chain(functions));
    faults
        .at(name.span, message)
        .help("operator names begin with a capital letter; define a function with `fn`")
}

/// Returns the finding for a call with a wrong number of arguments.
pub(super) fn other_number(faults: &Faults, call: &CallAst, function: &FnAst) -> Finding {
    let takes = counted(function.params.len(), "argument");
    faults.at(call.span, format!("`{}` takes {takes}, not {}", function.name.text, call.inputs.len()))
}

/// Returns the finding for a definition that calls itself.
pub(super) fn calls_itself(faults: &Faults, call: &CallAst) -> Finding {
    faults.at(call.span, format!("`{}` calls itself, so its expansion would not end", call.op.name.text))
}

/// Returns the finding for attributes at a call of a function or pattern.
pub(super) fn no_attributes(faults: &Faults, call: &CallAst) -> Finding {
    faults
        .at(
            call.span,
            format!("`{}` is no operator: its arguments are written in parentheses", call.op.name.text),
        )
        .help("pass attributes as arguments: `f (x, @axis)`")
}

/// Returns the finding for a value as argument of an `@attribute` parameter.
pub(super) fn not_an_attribute(faults: &Faults, value: &ValueAst, param: &Name) -> Finding {
    faults.at(value.span, format!("`@{}` expects an attribute, but this is a value", param.text))
}

fn wrong_count(faults: &Faults, value: &ValueAst, param: &Operand) -> Finding {
    let text = match param.many {
        Many::One => "one value, but this may be none or several",
        Many::Optional => "at most one value, but this may be several",
        Many::Any => "a list of values",
    };
    faults.at(value.span, format!("`{}` expects {text}", param.name.text))
}

fn bad_function_name(faults: &Faults, name: &Name) -> Finding {
    let finding = faults.at(name.span, format!("`{}` cannot name a function or pattern", name.text));
    if begins_operator(&name.text) {
        return finding.help("start the name with a lowercase letter; operators begin with a capital letter");
    }
    finding.help("choose another name: the expression language has a function with this name")
}

fn function_twice(faults: &Faults, name: &Name, first: Span) -> Finding {
    faults
        .at(name.span, format!("`{}` is defined twice", name.text))
        .related(faults.place(first), "the first one is here")
}

/// Functions and patterns that a file can use: its own and those of `rules/lib`.
#[derive(Clone, Copy)]
pub struct Library<'a> {
    own: &'a [FnAst],
    patterns: &'a [FnAst],
}

impl<'a> Library<'a> {
    /// Creates a library of the functions and patterns of a file.
    pub fn new(own: &'a [FnAst], patterns: &'a [FnAst]) -> Self {
        Library { own, patterns }
    }

    /// Finds a pattern, and whether the file itself defines it.
    pub(super) fn find_pattern(self, name: &str) -> Option<(&'a FnAst, bool)> {
        let is_meant = |pattern: &&FnAst| &*pattern.name.text == name;
        let own = self.patterns.iter().find(is_meant).map(|pattern| (pattern, true));
        let shared = || built_in::library().iter().flat_map(|file| &file.patterns).find(is_meant);
        own.or_else(|| shared().map(|pattern| (pattern, false)))
    }

    /// Iterates over the names of the visible patterns.
    pub(super) fn pattern_names(self) -> impl Iterator<Item = &'a str> {
        let shared = built_in::library().iter().flat_map(|file| &file.patterns);
        self.patterns.iter().chain(shared).map(|pattern| &*pattern.name.text)
    }

    fn find(self, name: &str) -> Option<&'a FnAst> {
        let own = self.own.iter().find(|function| &*function.name.text == name);
        let mut shared = built_in::library().iter().flat_map(|file| &file.functions);
        own.or_else(|| shared.find(|function| &*function.name.text == name))
    }

    fn names(self) -> impl Iterator<Item = &'a str> {
        let shared = built_in::library().iter().flat_map(|file| &file.functions);
        self.own.iter().chain(shared).map(|function| &*function.name.text)
    }

    /// Checks the definitions of the functions and patterns, without assumptions about their arguments.
    pub fn check(self, faults: &mut Faults) {
        let all: Vec<&FnAst> = self.own.iter().chain(self.patterns).collect();
        for (index, definition) in all.iter().enumerate() {
            let name = &definition.name;
            if begins_operator(&name.text) || Func::by_name(&name.text).is_some() {
                faults.push(bad_function_name(faults, name));
            }
            if let Some(first) = all[..index].iter().find(|other| other.name.text == name.text) {
                faults.push(function_twice(faults, name, first.name.span));
            }
        }
        for pattern in self.patterns {
            self.check_pattern(pattern, faults);
        }
        for function in self.own {
            let name = &function.name;
            let mut scope = Scope::new(&[]);
            for param in &function.params {
                match param {
                    ParamAst::Value(operand) => {
                        scope.add(&operand.name.text, super::scope::count(operand.many), None, operand.span);
                    }
                    ParamAst::Attr(name) => drop(scope.bind_unused(name)),
                }
            }
            let bound = scope.values().len();
            let statements = &function.statements;
            let mut checker = Checker::new(bound, statements, &mut scope, self, function.at, faults);
            checker.calls.push(name.text.clone());
            statements.iter().for_each(|statement| checker.statement(statement));
            checker.value(&function.result);
            scope.report_unused(faults);
        }
    }
}

impl Library<'_> {
    /// Checks each combination of alternatives of a pattern.
    fn check_pattern(self, pattern: &FnAst, faults: &mut Faults) {
        for statements in alternatives::expand_definition(pattern, self, faults) {
            let mut scope = Scope::new(&[]);
            for param in &pattern.params {
                if let ParamAst::Attr(name) = param {
                    scope.bind_unused(name);
                }
            }
            pattern::nodes(&statements, pattern.span, &mut scope, faults);
            scope.report_unused(faults);
        }
    }
}

impl Checker<'_, '_, '_, '_> {
    /// Inlines a function call.
    pub(super) fn function(&mut self, call: &CallAst) -> Option<(Term, Count)> {
        let name = &call.op.name;
        let Some(function) = self.library.find(&name.text) else {
            self.faults.push_if_whole(unknown_function(self.faults, name, self.library));
            return None;
        };
        if self.calls.contains(&name.text) {
            self.faults.push(calls_itself(self.faults, call));
            return None;
        }
        if !call.attrs.is_empty() || call.rest.is_some() || call.op.epoch.is_some() {
            self.faults.push(no_attributes(self.faults, call));
            return None;
        }
        if call.inputs.len() != function.params.len() {
            self.faults.push(other_number(self.faults, call, function));
            return None;
        }
        let arguments: Vec<_> = call
            .inputs
            .iter()
            .zip(&function.params)
            .map(|(value, param)| self.argument(value, param))
            .collect();
        let arguments = arguments.into_iter().collect::<Option<Vec<_>>>()?;
        let names = self.scope.enter();
        for (argument, param) in arguments.into_iter().zip(&function.params) {
            match (argument, param) {
                (Argument::Value(term, count), ParamAst::Value(operand)) => self.bind(operand, count, term),
                (Argument::Attr(value), ParamAst::Attr(name)) => self.bind_attr(name, value),
                _ => {}
            }
        }
        let at = std::mem::replace(&mut self.at, function.at);
        self.calls.push(name.text.clone());
        let outer = self.faults.set_within(Some((call.span, "this function cannot be used here")));
        function.statements.iter().for_each(|statement| self.statement(statement));
        let result = self.value(&function.result);
        self.faults.set_within(outer);
        self.calls.pop();
        self.at = at;
        self.scope.restore(names);
        result
    }

    fn argument(&mut self, value: &ValueAst, param: &ParamAst) -> Option<Argument> {
        match param {
            ParamAst::Attr(name) => {
                let Some(ast) = as_expression(value) else {
                    self.faults.push(not_an_attribute(self.faults, value, name));
                    return None;
                };
                expr::expr(&ast, self.scope, self.faults).map(Argument::Attr)
            }
            ParamAst::Value(operand) => {
                let (term, count) = self.value(value)?;
                let fits = match operand.many {
                    Many::One => count == Count::One,
                    Many::Optional => count != Count::Many,
                    Many::Any => count == Count::Many,
                };
                if !fits {
                    self.faults.push(wrong_count(self.faults, value, operand));
                    return None;
                }
                Some(Argument::Value(term, super::scope::count(operand.many)))
            }
        }
    }
}

/// Reads an argument of a pattern as the pattern of an attribute.
pub(super) fn as_pattern(value: &ValueAst) -> Option<ExprAst> {
    match &value.kind {
        ValueAstKind::Name(operand) if &*operand.name.text == "_" => {
            Some(ExprAst { kind: ExprAstKind::Any, span: value.span })
        }
        _ => as_expression(value),
    }
}

enum Argument {
    Value(Term, Count),
    Attr(Expr),
}

/// Reads a value as an attribute, if it is a constant, a string or an element type.
fn as_expression(value: &ValueAst) -> Option<ExprAst> {
    match &value.kind {
        ValueAstKind::Literal(ast) => Some(ast.clone()),
        ValueAstKind::Name(operand) if operand.many == Many::One => {
            let text = &operand.name.text;
            let is_quoted = operand.name.span.end - operand.name.span.start != text.len() as u32;
            let kind = match text.parse() {
                _ if is_quoted => ExprAstKind::Str(text.clone()),
                Ok(elem) => ExprAstKind::Elem(elem),
                Err(_) => return None,
            };
            Some(ExprAst { kind, span: value.span })
        }
        _ => None,
    }
}

/// Returns the constant of `Constant <name = value> ()` as an expression.
pub(super) fn constant(name: &str, value: Expr) -> Option<Expr> {
    use crate::graph::ElemType;
    let elem = match name {
        "value_int" | "value_ints" => ElemType::Int64,
        "value_float" | "value_floats" => ElemType::Float,
        "value" | "value_string" | "value_strings" => return Some(value),
        _ => return None,
    };
    let span = value.span;
    let elem = Expr { kind: ExprKind::Elem(elem), span };
    Some(Expr { kind: ExprKind::Call { func: Func::Tensor, args: vec![elem, value] }, span })
}
