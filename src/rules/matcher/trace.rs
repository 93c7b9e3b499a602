//! Explains why a rule does not match at a node, for `--why-not` and for nodes without lowering.

use std::sync::Arc;

use super::node::solutions;
use crate::graph::syntax::Span;
use crate::rules::bindings::State;
use crate::rules::datum::Datum;
use crate::rules::eval::Env;
use crate::rules::expr::{Expr, ExprKind};
use crate::rules::host::Host;
use crate::rules::rule::{Direction, Pattern, Step};

/// First part of a rule that does not match, with its span in the rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The operator of the node, or its version, does not match the root of the pattern.
    Operator(Span),
    /// The operator matches, but attributes, inputs or outputs do not match this node of the pattern.
    Node(Span),
    /// No producer matches this node of the pattern.
    Producer(Span),
    /// A condition is false, or undecided if `undefined` is set.
    /// `saw` has the spans and the values of the attributes and facts that the condition uses.
    Condition { span: Span, undefined: bool, because: Option<Arc<str>>, saw: Vec<(Span, Option<Datum>)> },
    /// The expression of a `let` is undefined.
    Undefined(Span),
}

/// Progress of a failed match: number of matched nodes, and of `where` and `let` steps that succeeded.
pub type Progress = (usize, usize);

/// Explains why `direction` does not match with `root` as its last node; `None` on a match.
pub fn explain<H: Host>(host: &H, direction: &Direction, root: H::Node) -> Option<(Progress, Failure)> {
    let nodes = &direction.pattern.nodes;
    let last = nodes.last()?;
    if !host.is(root, &last.op) {
        return Some(((0, 0), Failure::Operator(last.op.span)));
    }
    // A pattern lists producers first, so its last nodes alone are a pattern, too.
    for count in 1..=nodes.len() {
        let wanted = &nodes[nodes.len() - count];
        let part = last_nodes(&direction.pattern, count);
        if solutions(host, &part, State::for_pattern(&part, direction), root).is_empty() {
            let failure = if count == 1 { Failure::Node } else { Failure::Producer };
            return Some(((count - 1, 0), failure(wanted.span)));
        }
    }
    let complete = solutions(host, &direction.pattern, State::new(direction), root);
    let failures = complete.into_iter().map(|state| failed_step(host, direction, state));
    // Report the attempt that got furthest.
    failures
        .max_by_key(|failure| failure.as_ref().map_or(usize::MAX, |(at, _)| *at))
        .flatten()
        .map(|(at, failure)| ((nodes.len(), at), failure))
}

/// Returns the last nodes of a pattern; outputs of the other nodes become inputs.
fn last_nodes(pattern: &Pattern, count: usize) -> Pattern {
    let left_out = pattern.nodes.len().saturating_sub(count);
    let mut values = pattern.values.clone();
    for value in &mut values {
        value.def = value.def.and_then(|(node, output)| {
            let node = usize::from(node).checked_sub(left_out)?;
            Some((u16::try_from(node).ok()?, output))
        });
    }
    Pattern { nodes: pattern.nodes.iter().skip(left_out).cloned().collect(), values, rounds: pattern.rounds }
}

/// Returns the first `where` or `let` that fails, with its index.
fn failed_step<H: Host>(
    host: &H,
    direction: &Direction,
    state: State<H::Value, H::Node>,
) -> Option<(usize, Failure)> {
    let mut found = state.finish()?;
    for (at, step) in direction.steps.iter().enumerate() {
        match step {
            Step::Where { condition, because } => {
                let holds = Env::new(host, &found).truth(condition);
                if holds != Some(true) {
                    let mut saw = Vec::new();
                    asked(&mut Env::new(host, &found), condition, &mut saw);
                    let (span, undefined) = (condition.span, holds.is_none());
                    let because = because.clone();
                    return Some((at, Failure::Condition { span, undefined, because, saw }));
                }
            }
            Step::Let { var, expr } => match Env::new(host, &found).eval(expr) {
                Some(datum) => found.set_attr(*var, datum),
                None => return Some((at, Failure::Undefined(expr.span))),
            },
        }
    }
    None
}

/// Collects the attributes and facts that a condition uses, with their values.
fn asked<H: Host>(env: &mut Env<H>, expr: &Expr, saw: &mut Vec<(Span, Option<Datum>)>) {
    let mut all = |env: &mut Env<H>, parts: &[&Expr]| parts.iter().for_each(|part| asked(env, part, saw));
    match &expr.kind {
        ExprKind::Attr(_) => {
            let answer = env.eval(expr);
            saw.push((expr.span, answer));
        }
        ExprKind::Call { func, .. } if func.asks_host() => {
            let answer = env.eval(expr);
            saw.push((expr.span, answer));
        }
        ExprKind::List(items) | ExprKind::And(items) | ExprKind::Or(items) => {
            all(env, &items.iter().collect::<Vec<_>>());
        }
        ExprKind::Call { args, .. } => all(env, &args.iter().collect::<Vec<_>>()),
        ExprKind::Index { list: a, index: b }
        | ExprKind::Binary { left: a, right: b, .. }
        | ExprKind::Compare { left: a, right: b, .. }
        | ExprKind::In { item: a, list: b } => all(env, &[a, b]),
        ExprKind::Negate(inner) | ExprKind::Not(inner) | ExprKind::Like { text: inner, .. } => {
            all(env, &[inner])
        }
        _ => {}
    }
}
