//! Operator variables: `y = @op in [Add, Sub] (a, b)` expands to one direction for each operator.
//! In each direction, `@op` stands for the direction's operator in the pattern and the rewrite, and for the
//! operator's name in conditions and messages.

use std::borrow::Cow;

use crate::diag::Finding;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Name, Op, OpVar};
use crate::graph::syntax::suggest::closest;
use crate::rules::expr::{Expr, ExprKind};
use crate::rules::rule::Step;
use crate::rules::syntax::ast::{ExprAstKind, Statement};
use crate::schema;

use super::Faults;
use super::combinations::Partial;
use super::entries::Entries;
use super::scope::Scope;

fn unbound(faults: &Faults, var: &Name, bound: &[&Name]) -> Finding {
    let message = format!("`@{}` is not an operator variable of the pattern", var.text);
    let close = closest(&var.text, bound.iter().map(|name| &*name.text));
    match bound.iter().find(|name| Some(&*name.text) == close) {
        Some(close) => faults
            .at(var.span, format!("{message}; did you mean `@{}`?", close.text))
            .related(faults.place(close.span), format!("`@{}` is bound here", close.text)),
        None => faults
            .at(var.span, message)
            .help("list its operators in the pattern: `y = @op in [Add, Sub] (a, b)`"),
    }
}

fn chosen_twice(faults: &Faults, var: &Name, first: Span) -> Finding {
    faults
        .at(var.span, format!("the operators for `@{}` are listed twice", var.text))
        .related(faults.place(first), "the first list is here")
        .help(format!("write `y = @{} (…)` for another node with the same operator", var.text))
}

fn listed_twice(faults: &Faults, op: &Op, first: Span) -> Finding {
    faults
        .at(op.span, format!("`{}` is in the list twice", op.name.text))
        .related(faults.place(first), "the first one is here")
}

fn nothing_to_choose(faults: &Faults, var: &Name) -> Finding {
    faults.at(var.span, format!("the list of operators for `@{}` is empty", var.text))
}

fn chosen_in_rewrite(faults: &Faults, var: &Name) -> Finding {
    faults
        .at(var.span, format!("the operators for `@{}` cannot be listed in a rewrite", var.text))
        .help(format!("write the list in the pattern, and `y = @{} (…)` here", var.text))
}

/// Assignment of operators to operator variables in one direction of a rule.
#[derive(Clone, Default)]
pub struct Choice<'a>(Vec<(&'a Name, &'a Op)>);

/// Returns every combination of operators, or one empty combination if there are no lists.
/// Reports faults in the lists.
pub fn choices<'a>(entries: &'a Entries, faults: &mut Faults) -> Vec<Choice<'a>> {
    let mut lists: Vec<&OpVar> = Vec::new();
    for var in variables(entries.pattern()).filter(|var| var.among.is_some()) {
        match lists.iter().find(|first| first.name.text == var.name.text) {
            Some(first) => faults.push(chosen_twice(faults, &var.name, first.name.span)),
            None => lists.push(var),
        }
    }
    let bound: Vec<&Name> = lists.iter().map(|var| &var.name).collect();
    let rewritten = entries.rewritten().unwrap_or_default();
    for var in variables(rewritten).filter(|var| var.among.is_some()) {
        faults.push(chosen_in_rewrite(faults, &var.name));
    }
    for var in variables(entries.pattern()).chain(variables(rewritten)) {
        if var.among.is_none() && !bound.iter().any(|name| name.text == var.name.text) {
            faults.push(unbound(faults, &var.name, &bound));
        }
    }
    let mut choices = vec![Choice::default()];
    for var in lists {
        let among = var.among.as_deref().unwrap_or_default();
        check_list(var, among, faults);
        let with = |choice: &Choice<'a>, op| Choice([choice.0.as_slice(), &[(&var.name, op)]].concat());
        choices = choices.iter().flat_map(|choice| among.iter().map(move |op| with(choice, op))).collect();
    }
    choices
}

fn check_list(var: &OpVar, among: &[Op], faults: &mut Faults) {
    if among.is_empty() {
        faults.push(nothing_to_choose(faults, &var.name));
    }
    let same = |a: &Op, b: &Op| {
        let epoch = |op: &Op| op.epoch.map(|(epoch, _)| epoch);
        (&a.domain, &a.name.text, epoch(a)) == (&b.domain, &b.name.text, epoch(b))
    };
    for (index, op) in among.iter().enumerate() {
        if let Some(first) = among[..index].iter().find(|first| same(first, op)) {
            faults.push(listed_twice(faults, op, first.span));
        }
    }
}

fn variables(statements: &[Statement]) -> impl Iterator<Item = &OpVar> {
    statements.iter().flat_map(Statement::calls).filter_map(|call| call.op.var.as_deref())
}

impl<'a> Choice<'a> {
    /// Substitutes the chosen operators in the statements.
    pub fn apply<'s>(&self, statements: &'s [Statement]) -> Cow<'s, [Statement]> {
        if self.0.is_empty() {
            return Cow::Borrowed(statements);
        }
        let mut statements = statements.to_vec();
        for statement in &mut statements {
            statement.for_each_call(&mut |call| self.name(&mut call.op));
        }
        Cow::Owned(statements)
    }

    /// Removes the optional attributes (`<dim = @d?>`) of listed operators that the chosen operator lacks.
    /// Returns the variables of the removed attributes, which have no value.
    /// `all` contains the choices of all operators.
    pub fn drop_absent_attributes(&self, statements: &mut Cow<[Statement]>, all: &[Choice]) -> Vec<Name> {
        let mut absent = Vec::new();
        if self.0.is_empty() {
            return absent;
        }
        for statement in statements.to_mut() {
            statement.for_each_call(&mut |call| {
                if !self.0.iter().any(|(_, op)| op.span == call.op.span) {
                    return;
                }
                let has = |op: &Op, attr: &str| {
                    let versions = schema::versions(&op.domain, &op.name.text);
                    versions.iter().any(|schema| schema.attr(attr).is_some())
                };
                let op = call.op.clone();
                let has_another =
                    |attr: &str| all.iter().flat_map(|choice| &choice.0).any(|(_, other)| has(other, attr));
                call.attrs.retain(|attr| {
                    let ExprAstKind::Attr { name, optional: true } = &attr.value.kind else { return true };
                    let is_absent = !has(&op, &attr.name.text) && has_another(&attr.name.text);
                    if is_absent {
                        absent.push(name.clone());
                    }
                    !is_absent
                });
            });
        }
        absent
    }

    /// Replaces `@op` by the operator as listed, and `@op@1` by version 1 of the operator.
    fn name(&self, op: &mut Op) {
        let Some(var) = &op.var else { return };
        if let Some((_, chosen)) = self.0.iter().find(|(name, _)| name.text == var.name.text) {
            let epoch = op.epoch.or(chosen.epoch);
            *op = Op { epoch, ..Op::clone(chosen) };
        }
    }

    /// Returns the operator variables.
    pub fn names(&self) -> impl Iterator<Item = &'a Name> {
        self.0.iter().map(|(name, _)| *name)
    }

    /// Binds the name of each chosen operator for use in conditions and messages.
    /// A variable in `partial` is bound only if the pattern has a node with its operator.
    pub fn bind(&self, matched: &[Statement], partial: &Partial, scope: &mut Scope) -> Vec<Step> {
        let is_in_pattern =
            |op: &Op| matched.iter().flat_map(Statement::calls).any(|call| call.op.span == op.span);
        let is_partial = |name: &Name| partial.attrs.iter().any(|other| other.text == name.text);
        let step = |(name, op): &(&Name, &Op)| {
            let expr = Expr { kind: ExprKind::Str(op.name.text.clone()), span: name.span };
            Step::Let { var: scope.bind_unused(name), expr }
        };
        let bound = self.0.iter().filter(|(name, op)| is_in_pattern(op) || !is_partial(name));
        bound.map(step).collect()
    }
}
