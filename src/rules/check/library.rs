//! Functions and patterns of rule files, which are inlined at each call.

use super::Faults;
use crate::diag::Finding;
use crate::diag::counted;
use crate::graph::syntax::ast::Name;
use crate::rules::built_in;
use crate::rules::syntax::ast::{CallAst, ExprAst, ExprAstKind, FnAst, ValueAst, ValueAstKind};

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

/// Functions and patterns that a file can use: its own and those of `rules/lib`.
#[derive(Clone, Copy)]
pub struct Library<'a> {
    pub(super) own: &'a [FnAst],
    pub(super) patterns: &'a [FnAst],
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

    /// Finds a function, and whether the file itself defines it.
    pub(super) fn find_function(self, name: &str) -> Option<(&'a FnAst, bool)> {
        let is_own = self.own.iter().any(|function| &*function.name.text == name);
        self.find(name).map(|function| (function, is_own))
    }

    /// Finds a function.
    pub(super) fn find(self, name: &str) -> Option<&'a FnAst> {
        let own = self.own.iter().find(|function| &*function.name.text == name);
        let mut shared = built_in::library().iter().flat_map(|file| &file.functions);
        own.or_else(|| shared.find(|function| &*function.name.text == name))
    }

    /// Iterates over the names of the visible functions.
    pub(super) fn names(self) -> impl Iterator<Item = &'a str> {
        let shared = built_in::library().iter().flat_map(|file| &file.functions);
        self.own.iter().chain(shared).map(|function| &*function.name.text)
    }
}

/// Reads an argument of a pattern as the pattern of an attribute.
pub(super) fn as_pattern(value: &ValueAst) -> Option<ExprAst> {
    match &value.kind {
        ValueAstKind::Name(operand) if &*operand.name.text == "_" => {
            Some(ExprAst { kind: ExprAstKind::Any, span: value.span })
        }
        _ => value.as_expression(),
    }
}
