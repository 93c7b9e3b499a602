//! Traversal of all calls in a statement, including nested ones.

use super::ast::{CallAst, Statement, ValueAst, ValueAstKind};
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::Operand;

impl Statement {
    /// Returns the span of the statement.
    pub fn span(&self) -> Span {
        match self {
            Statement::Make { span, .. } | Statement::Let { span, .. } => *span,
        }
    }

    /// Returns the values that the statement defines.
    pub fn targets(&self) -> &[Operand] {
        match self {
            Statement::Make { targets, .. } => targets,
            Statement::Let { .. } => &[],
        }
    }

    /// Returns the calls in the statement, each before the calls that are nested in it.
    pub fn calls(&self) -> Vec<&CallAst> {
        let mut calls = Vec::new();
        if let Statement::Make { source, .. } = self {
            source.collect_calls(&mut calls);
        }
        calls
    }

    /// Modifies every call in the statement.
    pub fn for_each_call(&mut self, change: &mut dyn FnMut(&mut CallAst)) {
        if let Statement::Make { source, .. } = self {
            source.for_each_call(change);
        }
    }
}

impl ValueAst {
    /// Returns the calls in the value, each before the calls that are nested in it.
    pub fn calls(&self) -> Vec<&CallAst> {
        let mut calls = Vec::new();
        self.collect_calls(&mut calls);
        calls
    }

    /// Visits the names in the value.
    pub fn for_each_name<'a>(&'a self, visit: &mut dyn FnMut(&'a Operand)) {
        match &self.kind {
            ValueAstKind::Name(operand) => visit(operand),
            ValueAstKind::Call(call) => call.inputs.iter().for_each(|input| input.for_each_name(visit)),
            ValueAstKind::Case(arms) => arms.iter().for_each(|arm| arm.value.for_each_name(visit)),
            ValueAstKind::Each(each) => each.body.for_each_name(visit),
            ValueAstKind::Fold(fold) => {
                fold.initial.for_each_name(visit);
                fold.each.body.for_each_name(visit);
            }
            ValueAstKind::Alternatives(all) => all.iter().for_each(|one| one.for_each_name(visit)),
            ValueAstKind::Literal(_) => {}
        }
    }

    /// Returns the first alternatives (`A | B`) in the value.
    pub fn alternatives(&self) -> Option<&ValueAst> {
        match &self.kind {
            ValueAstKind::Alternatives(_) => Some(self),
            ValueAstKind::Call(call) => call.inputs.iter().find_map(ValueAst::alternatives),
            ValueAstKind::Case(arms) => arms.iter().find_map(|arm| arm.value.alternatives()),
            ValueAstKind::Each(each) => each.body.alternatives(),
            ValueAstKind::Fold(fold) => fold.initial.alternatives().or_else(|| fold.each.body.alternatives()),
            ValueAstKind::Name(_) | ValueAstKind::Literal(_) => None,
        }
    }

    fn collect_calls<'a>(&'a self, calls: &mut Vec<&'a CallAst>) {
        match &self.kind {
            ValueAstKind::Name(_) | ValueAstKind::Literal(_) => {}
            ValueAstKind::Call(call) => {
                calls.push(call);
                call.inputs.iter().for_each(|input| input.collect_calls(calls));
            }
            ValueAstKind::Case(arms) => arms.iter().for_each(|arm| arm.value.collect_calls(calls)),
            ValueAstKind::Each(each) => each.body.collect_calls(calls),
            ValueAstKind::Fold(fold) => {
                fold.initial.collect_calls(calls);
                fold.each.body.collect_calls(calls);
            }
            ValueAstKind::Alternatives(all) => all.iter().for_each(|one| one.collect_calls(calls)),
        }
    }

    fn for_each_call(&mut self, change: &mut dyn FnMut(&mut CallAst)) {
        match &mut self.kind {
            ValueAstKind::Name(_) | ValueAstKind::Literal(_) => {}
            ValueAstKind::Call(call) => {
                change(call);
                call.inputs.iter_mut().for_each(|input| input.for_each_call(change));
            }
            ValueAstKind::Case(arms) => arms.iter_mut().for_each(|arm| arm.value.for_each_call(change)),
            ValueAstKind::Each(each) => each.body.for_each_call(change),
            ValueAstKind::Fold(fold) => {
                fold.initial.for_each_call(change);
                fold.each.body.for_each_call(change);
            }
            ValueAstKind::Alternatives(all) => all.iter_mut().for_each(|one| one.for_each_call(change)),
        }
    }
}
