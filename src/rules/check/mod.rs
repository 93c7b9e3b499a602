//! Semantic checks: turns the syntax trees of rule files into rules.
//!
//! Names are resolved, and operators are checked against the schema. Every fault becomes a finding with
//! a place, and checking continues. Rules with errors are dropped.

mod alternatives;
mod call;
mod combinations;
mod constant_calls;
mod cycles;
mod definitions;
mod entries;
mod example;
mod expr;
mod faults;
mod functions;
mod iterate;
mod library;
mod op;
mod operators;
mod pattern;
mod rewrite;
mod scope;
mod single;
mod template;
mod variant;

use std::sync::Arc;

use combinations::{Combination, Partial};
use entries::Entries;
pub use faults::Faults;
use library::Library;
use operators::Choice;
use scope::Scope;
pub use single::{NodeTest, node_tests, pattern_tests};

use super::builtin;
use super::rule::{Body, Direction, OpPat, Phase, Rewrite, Rule, RuleSource, Safety, Step};
use super::syntax::ast::{ConditionAst, Entry, EntryKind, FileAst, RuleAst, Statement};
use crate::diag::Finding;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::Name;
use crate::graph::syntax::suggest::with_suggestion;
use crate::schema;

fn unknown_builtin(faults: &Faults, name: &Name) -> Finding {
    let message = format!("unknown built-in analysis `{}`", name.text);
    let known: Vec<String> = builtin::names().collect();
    faults.at(name.span, with_suggestion(message, &name.text, known.iter().map(String::as_str)))
}

fn let_in_both(faults: &Faults, var: &Name, both: Span) -> Finding {
    faults
        .at(var.span, format!("`let @{}` cannot be reversed", var.text))
        .related(faults.place(both), "`rewrite both` makes the rewrite a pattern, too")
        .help("write two rules, one for each direction")
}

fn directed_phase(faults: &Faults, both: Span, phase: &str) -> Finding {
    faults
        .at(both, format!("`rewrite both` is not allowed in `phase {phase}`, which has one direction"))
        .help("use `phase explore`, or write `rewrite` without `both`")
}

fn alternatives_in_both(faults: &Faults, both: Span) -> Finding {
    faults
        .at(both, "`rewrite both` is not allowed for a pattern with alternatives")
        .help("write `rewrite` without `both`, and another rule for the reverse direction")
}

/// Reports a lowering of an ONNX operator.
/// The lowering would never apply, since PyTorch programs contain no ONNX operators.
fn lowers_onnx(faults: &Faults, op: &OpPat) -> Finding {
    faults
        .at(
            op.span,
            format!("`phase lower` applies to PyTorch operators, but `{}` is an ONNX operator", op.name),
        )
        .help("match an operator of `aten` or of a custom domain, or choose another phase")
}

/// Checks a file; returns those of its rules that have no errors.
pub fn check_file(file: FileAst, faults: &mut Faults) -> Vec<Rule> {
    let FileAst { defaults, functions, patterns, rules, is_whole, .. } = file;
    let library = Library::new(&functions, &patterns);
    library.check(faults);
    let context = Context { defaults: &defaults, library, is_whole };
    rules.into_iter().flat_map(|rule| check(rule, context, faults)).collect()
}

/// Definitions shared by all rules of a file.
#[derive(Clone, Copy)]
struct Context<'a> {
    defaults: &'a [Entry],
    library: Library<'a>,
    /// Whether the whole file could be parsed.
    is_whole: bool,
}

/// Checks a rule with one or several codes; reports errors. Returns no rules if there are errors.
fn check(ast: RuleAst, context: Context, faults: &mut Faults) -> Vec<Rule> {
    let (code, name) = (ast.code.clone(), ast.name.clone());
    let Some((whole, mut entries)) = check_whole(ast, context, faults) else { return Vec::new() };
    if entries.also.is_empty() {
        return vec![whole];
    }
    let also = std::mem::take(&mut entries.also);
    for other in &also {
        entries::check_code(&other.code, faults);
    }
    let whole = Arc::new(whole);
    let codes = std::iter::once((&code, &name)).chain(also.iter().map(|other| (&other.code, &other.name)));
    let steps = entries.steps.clone();
    let rules = codes.enumerate().map(|(at, (code, name))| {
        entries.steps.clone_from(&steps);
        // A match is reported under the first code of `also` whose condition holds, or under the main code if none
        // does.
        let before = if at == 0 { &also[..] } else { &also[..at - 1] };
        let others = before.iter().map(|other| variant::negated(&other.condition));
        let own = at.checked_sub(1).map(|at| also[at].condition.clone());
        let conditions: Vec<_> = others.chain(own).map(|expr| ConditionAst { expr, because: None }).collect();
        let count = conditions.len();
        entries.steps.push(EntryKind::Where(conditions));
        let mut apart = if at == 0 { faults.apart() } else { Faults::ignored(faults.source()) };
        let errors_before = faults.errors();
        let mut body = pattern_rule(&entries, context.library, &mut apart)?;
        if at == 0 && apart.errors() > 0 {
            apart.into_findings().into_iter().for_each(|finding| faults.push(finding));
        }
        variant::drop_undecided(&mut body, count);
        (faults.errors() == errors_before).then(|| Rule {
            code: code.text.clone(),
            name: name.text.clone(),
            body,
            whole: Some(whole.clone()),
            ..Rule::clone(&whole)
        })
    });
    rules.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Checks a rule without dividing its matches among its codes.
fn check_whole(ast: RuleAst, context: Context, faults: &mut Faults) -> Option<(Rule, Entries)> {
    let errors_before = faults.errors();
    entries::check_identity(&ast, faults);
    let RuleAst { docs, code, name, entries, span, is_whole } = ast;
    faults.set_whole(is_whole && context.is_whole);
    let header = code.span.to(name.span);
    let entries = Entries::collect(entries, context.defaults, header, faults);
    let examples = example::examples(&entries.examples, entries.detect.is_some(), faults);
    let body = match &entries.detect {
        Some(analysis) => {
            if !builtin::is_known(&analysis.text) {
                faults.push(unknown_builtin(faults, analysis));
            }
            Some(Body::Builtin(analysis.text.clone()))
        }
        None => pattern_rule(&entries, context.library, faults),
    };
    if !is_whole || faults.errors() > errors_before {
        return None;
    }
    let rule = Rule {
        is_built_in: false,
        code: code.text,
        name: name.text,
        docs,
        status: entries.status.clone(),
        severity: entries.severity?,
        phase: entries.phase.unwrap_or(Phase::Fix),
        safety: entries.safety.unwrap_or(Safety::Exact),
        since: entries.since,
        fixes: entries.fixes.as_ref().map(|code| code.text.clone()),
        body: body?,
        assumptions: entries.assumptions.iter().map(|(assumed, _)| assumed.clone()).collect(),
        examples,
        source: RuleSource { source: faults.source().clone(), span, header },
        whole: None,
    };
    Some((rule, entries))
}

fn pattern_rule(entries: &Entries, library: Library, faults: &mut Faults) -> Option<Body> {
    let errors_before = faults.errors();
    let choices = operators::choices(entries, faults);
    if faults.errors() > errors_before {
        return None;
    }
    let mut forward = Vec::with_capacity(choices.len());
    let mut expanded = Vec::with_capacity(choices.len());
    let mut seen = Vec::new();
    for choice in &choices {
        let mut matched = choice.apply(entries.pattern());
        let absent = choice.drop_absent_attributes(&mut matched, &choices);
        let rewritten = entries.rewritten().map(|statements| choice.apply(statements));
        let mut expansions = alternatives::expand(&matched, entries.match_span(), library, faults)?;
        expansions.partial.attrs.extend(absent);
        if expansions.all.len() > 1 {
            expansions.partial.attrs.extend(choice.names().cloned());
        }
        for Combination { statements: matched, alternatives } in &expansions.all {
            // An alternative without the operator variable is equal for all operators, so it is checked once.
            let key = combinations::parts(matched);
            if seen.contains(&key) {
                continue;
            }
            seen.push(key);
            let mut scope = Scope::new(&entries.steps).with_library(library);
            let parts = (matched.as_slice(), &expansions.partial, rewritten.as_deref());
            let direction = direction(&mut scope, entries, library, choice, parts, faults);
            let mut checked = |text: &_| template::checked(text, &mut scope, faults);
            let (message, help) =
                (entries.message.as_ref().map(&mut checked), entries.help.as_ref().map(&mut checked));
            forward.push(direction.map(|direction| Direction {
                alternatives: alternatives.clone(),
                message: message.unwrap_or_default(),
                help,
                ..direction
            }));
            if let (Some(Phase::Lower), Some(Some(direction))) = (entries.phase, forward.last())
                && let Some(root) = direction.pattern.nodes.last()
                && schema::domain(&root.op.domain).is_some()
            {
                faults.push(lowers_onnx(faults, &root.op));
            }
            // After an error, no name is reported as unused: statements that were not read could use it.
            if faults.errors() == errors_before {
                scope.report_unused(faults);
            }
        }
        expanded.push(expansions.all);
    }
    let backward: Option<Vec<Direction>> = match &entries.rewrite {
        Some((true, statements, span)) if faults.errors() == errors_before => choices
            .iter()
            .zip(&expanded)
            .map(|(choice, expanded)| match &expanded[..] {
                [Combination { statements: matched, .. }] => {
                    backward(entries, library, choice, (statements, matched), *span, faults)
                }
                _ => {
                    faults.push(alternatives_in_both(faults, *span));
                    None
                }
            })
            .collect(),
        _ => None,
    };
    let forward: Option<Vec<Direction>> = forward.into_iter().collect();
    forward.map(|forward| Body::Pattern { forward, backward: backward.unwrap_or_default() })
}

/// Checks `rewrite both` in the reverse direction.
fn backward(
    entries: &Entries,
    library: Library,
    choice: &Choice,
    (from, to): (&[Statement], &[Statement]),
    both: Span,
    faults: &mut Faults,
) -> Option<Direction> {
    match entries.phase {
        Some(Phase::Simplify) => faults.push(directed_phase(faults, both, "simplify")),
        Some(Phase::Lower) => faults.push(directed_phase(faults, both, "lower")),
        _ => {}
    }
    for step in &entries.steps {
        if let EntryKind::Let { var, .. } = step {
            faults.push(let_in_both(faults, var, both));
            return None;
        }
    }
    faults.set_note(Some("`rewrite both` makes the rewrite a pattern, too"));
    let mut scope = Scope::new(&entries.steps).with_library(library);
    let matched = choice.apply(from);
    let parts = (&*matched, &Partial::default(), Some(to));
    let direction = direction(&mut scope, entries, library, choice, parts, faults);
    faults.set_note(None);
    direction
}

/// Checks a pattern and its rewrite, with the operators of `choice`.
fn direction(
    scope: &mut Scope,
    entries: &Entries,
    library: Library,
    choice: &Choice,
    (matched, partial, rewritten): (&[Statement], &Partial, Option<&[Statement]>),
    faults: &mut Faults,
) -> Option<Direction> {
    let errors_before = faults.errors();
    scope.is_of_equalities =
        matches!(entries.phase, Some(Phase::Simplify | Phase::Explore | Phase::Convert | Phase::Prove));
    let mut steps = choice.bind(matched, partial, scope);
    let pattern::Nodes { nodes, conditions } = pattern::nodes(matched, entries.match_span(), scope, faults);
    steps.extend(conditions);
    let absent = scope.bind_absent(partial);
    if faults.errors() > errors_before {
        faults.set_whole(false);
    }
    for entry in &entries.steps {
        match entry {
            EntryKind::Where(conditions) => {
                steps.extend(conditions.iter().filter_map(|ast| {
                    let condition = expr::condition(&ast.expr, scope, faults)?;
                    Some(Step::Where {
                        condition,
                        because: ast.because.as_ref().map(|text| text.text.clone()),
                    })
                }));
            }
            EntryKind::Let { var, expr: ast } => {
                let expr = expr::expr(ast, scope, faults);
                let var = scope.bind_let(var, faults);
                if expr.is_none() || var.is_none() {
                    faults.set_whole(false);
                }
                if let (Some(expr), Some(var)) = (expr, var) {
                    steps.push(Step::Let { var, expr });
                }
            }
            _ => {}
        }
    }
    // A rule without a rewrite matches operands in any order.
    let rounds = rewritten.is_none() || entries.safety.is_some_and(|safety| safety != Safety::Exact);
    let pattern = super::rule::Pattern { nodes, values: scope.values().to_vec(), rounds };
    let rewrite: Option<Rewrite> = match rewritten {
        Some(statements) => {
            let meant = (entries.at, entries.rewrite_span());
            Some(rewrite::rewrite(statements, &pattern, scope, library, meant, faults)?)
        }
        None => None,
    };
    Some(Direction { pattern, absent, attr_vars: scope.attr_vars(), steps, rewrite, ..Direction::default() })
}

/// Converts a text to one that several rules can share.
fn arc(text: &str) -> Arc<str> {
    Arc::from(text)
}

#[cfg(test)]
mod tests;
