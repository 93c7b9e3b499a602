//! Combinations of alternatives: which statements each one needs, and which names it lacks.

use std::sync::Arc;

use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Name, Operand};
use crate::rules::rule::Alternative;
use crate::rules::syntax::ast::{CallAst, ExprAst, ExprAstKind, Statement};

/// Combination of the alternatives of a pattern.
#[derive(Debug, Default)]
pub struct Combination {
    /// Statements without alternatives and without calls of patterns.
    /// The statement `y = x` makes `y` a second name of the value `x`.
    pub statements: Vec<Statement>,
    /// The chosen alternatives, in the order of expansion.
    pub alternatives: Vec<Alternative>,
}

/// Names that some combinations do not bind.
#[derive(Debug, Default)]
pub struct Partial {
    pub values: Vec<Operand>,
    pub attrs: Vec<Name>,
}

/// Call in a combination: its span, its operator with the version, and the number of its inputs.
type Part = (Span, Arc<str>, Option<i64>, usize);

/// Returns the calls of a combination; two combinations with the same calls are equal.
pub fn parts(statements: &[Statement]) -> Vec<Part> {
    let calls = statements.iter().flat_map(Statement::calls);
    let epoch = |call: &CallAst| call.op.epoch.map(|(epoch, _)| epoch);
    calls.map(|call| (call.span, call.op.name.text.clone(), epoch(call), call.inputs.len())).collect()
}

/// Removes the statements that a combination does not use, and then repeated combinations.
/// A statement that no combination uses stays, so that it is reported.
pub fn remove_unused(all: &mut Vec<Combination>) {
    if all.len() < 2 {
        return;
    }
    let used: Vec<Vec<bool>> = all.iter().map(|combination| used(&combination.statements)).collect();
    let mut spans: Vec<Span> = Vec::new();
    for (Combination { statements, .. }, used) in all.iter().zip(&used) {
        spans.extend(
            statements.iter().zip(used).filter(|(_, used)| **used).map(|(statement, _)| statement.span()),
        );
    }
    let mut seen: Vec<Vec<Part>> = Vec::new();
    let mut used = used.into_iter();
    all.retain_mut(|Combination { statements, .. }| {
        let mut used = used.next().unwrap_or_default().into_iter();
        statements.retain(|statement| used.next() == Some(true) || !spans.contains(&statement.span()));
        let parts = parts(statements);
        let is_new = !seen.contains(&parts);
        seen.push(parts);
        is_new
    });
}

/// Returns for each statement whether the last one depends on it.
fn used(statements: &[Statement]) -> Vec<bool> {
    let mut wanted: Vec<Arc<str>> = Vec::new();
    let last = statements.len().saturating_sub(1);
    let each = statements.iter().enumerate().rev().map(|(at, statement)| {
        let Statement::Make { targets, source, .. } = statement else { return true };
        let is_used = at == last || targets.iter().any(|target| wanted.contains(&target.name.text));
        if is_used {
            source.for_each_name(&mut |operand| wanted.push(operand.name.text.clone()));
        }
        is_used
    });
    let mut used: Vec<bool> = each.collect();
    used.reverse();
    used
}

/// Returns the names that some combinations contain and others do not.
pub fn partial(all: &[Combination]) -> Partial {
    let mut found = Partial::default();
    if all.len() < 2 {
        return found;
    }
    let each: Vec<Partial> = all.iter().map(|combination| names(&combination.statements)).collect();
    for one in &each {
        for operand in &one.values {
            let binds =
                |other: &Partial| other.values.iter().any(|other| other.name.text == operand.name.text);
            if !each.iter().all(binds) && !binds(&found) {
                found.values.push(operand.clone());
            }
        }
        for name in &one.attrs {
            let binds = |other: &Partial| other.attrs.iter().any(|other| other.text == name.text);
            if !each.iter().all(binds) && !binds(&found) {
                found.attrs.push(name.clone());
            }
        }
    }
    found
}

/// Collects the names in statements, except for those of expanded patterns.
fn names(statements: &[Statement]) -> Partial {
    let mut found = Partial::default();
    for statement in statements {
        let Statement::Make { targets, source, .. } = statement else { continue };
        found.values.extend(targets.iter().cloned());
        source.for_each_name(&mut |operand| found.values.push(operand.clone()));
        for call in statement.calls() {
            for attr in &call.attrs {
                found.attrs.extend(attr_name(&attr.value).cloned());
            }
            found.attrs.extend(call.rest.iter().filter_map(|rest| rest.keep.clone()));
        }
    }
    found.values.retain(|operand| !operand.name.text.is_empty() && !operand.name.text.contains('#'));
    found.attrs.retain(|name| !name.text.contains('#'));
    found
}

fn attr_name(value: &ExprAst) -> Option<&Name> {
    match &value.kind {
        ExprAstKind::Attr { name, .. } => Some(name),
        _ => None,
    }
}
