//! Calls of functions, which are inlined.

use super::library::{Library, calls_itself, no_attributes, not_an_attribute, other_number};
use super::rewrite::Checker;
use super::{Faults, expr};
use crate::diag::Finding;
use crate::graph::syntax::ast::{Many, Name, Operand};
use crate::graph::syntax::suggest::with_suggestion;
use crate::rules::expr::Expr;
use crate::rules::func::Func;
use crate::rules::rule::{Count, Term};
use crate::rules::syntax::ast::{CallAst, ParamAst, ValueAst};

fn unknown_function(faults: &Faults, name: &Name, library: Library) -> Finding {
    let message = format!("unknown function `{}`", name.text);
    let functions = Func::ALL.iter().map(|func| func.name());
    let message = with_suggestion(message, &name.text, library.names().chain(functions));
    faults
        .at(name.span, message)
        .help("define the function with `fn`, or write an operator, whose name begins with a capital letter")
}

fn wrong_count(faults: &Faults, value: &ValueAst, param: &Operand) -> Finding {
    let text = match param.many {
        Many::One => "one value, but this is an optional value or a list",
        Many::Optional => "at most one value, but this is a list",
        Many::Any => "a list of values",
    };
    faults.at(value.span, format!("`{}` expects {text}", param.name.text))
}

enum Argument {
    Value(Term, Count),
    Attr(Expr),
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
                let Some(ast) = value.as_expression() else {
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
