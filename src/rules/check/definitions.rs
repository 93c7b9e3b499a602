//! Checks of the definitions of functions and patterns.

use super::library::Library;
use super::rewrite::Checker;
use super::scope::Scope;
use super::{Faults, alternatives, pattern};
use crate::diag::Finding;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::Name;
use crate::rules::func::Func;
use crate::rules::syntax::ast::{FnAst, ParamAst};
use crate::rules::syntax::begins_operator;

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

impl Library<'_> {
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
            let mut scope = Scope::new(&[]).with_library(self);
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
