//! Traversal of all calls in a statement, including nested ones.

use super::ast::{CallAst, Statement, ValueAst, ValueAstKind};

impl Statement {
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
    fn collect_calls<'a>(&'a self, calls: &mut Vec<&'a CallAst>) {
        match &self.kind {
            ValueAstKind::Name(_) | ValueAstKind::Literal(_) => {}
            ValueAstKind::Call(call) => {
                calls.push(call);
                call.inputs.iter().for_each(|input| input.collect_calls(calls));
            }
            ValueAstKind::Case(arms) => arms.iter().for_each(|arm| arm.value.collect_calls(calls)),
            ValueAstKind::Each(each) => each.body.collect_calls(calls),
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
        }
    }
}
