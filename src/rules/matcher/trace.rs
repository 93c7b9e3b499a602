//! Why a rule does not match at a node: what `--why-not` says.

use super::bindings::State;
use super::node::solutions;
use crate::graph::syntax::Span;
use crate::rules::datum::Datum;
use crate::rules::eval::Env;
use crate::rules::expr::{Expr, ExprKind};
use crate::rules::host::Host;
use crate::rules::rule::{Direction, Pattern, Step};

/// The first thing of a rule that does not fit, by where it stands in the rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The node is not of the root's operator (or not of its epoch).
    Operator(Span),
    /// The operator is right, but attributes, inputs or outputs are not as this node of the pattern
    /// wants them.
    Node(Span),
    /// No producer is as this node of the pattern wants it.
    Producer(Span),
    /// A condition does not hold; `undefined` where it cannot be decided. `saw` has what it asks, by its place,
    /// with the answers.
    Condition { span: Span, undefined: bool, saw: Vec<(Span, Option<Datum>)> },
    /// A `let` has no value.
    Undefined(Span),
}

/// Why `direction` does not match with `root` as its last node; `None` where it does.
pub fn explain<H: Host>(host: &H, direction: &Direction, root: H::Node) -> Option<Failure> {
    let nodes = &direction.pattern.nodes;
    let last = nodes.last()?;
    if !host.is(root, &last.op) {
        return Some(Failure::Operator(last.op.span));
    }
    // The pattern is written in order, so that its last nodes alone are a pattern too.
    for count in 1..=nodes.len() {
        let wanted = &nodes[nodes.len() - count];
        let part = last_nodes(&direction.pattern, count);
        if solutions(host, &part, State::for_pattern(&part, direction), root).is_empty() {
            return Some(if count == 1 {
                Failure::Node(wanted.span)
            } else {
                Failure::Producer(wanted.span)
            });
        }
    }
    let complete = solutions(host, &direction.pattern, State::new(direction), root);
    let failures = complete.into_iter().map(|state| failed_step(host, direction, state));
    // Of several ways to match, the one that got furthest says most.
    failures
        .max_by_key(|failure| failure.as_ref().map_or(usize::MAX, |(at, _)| *at))
        .flatten()
        .map(|(_, failure)| failure)
}

/// The last nodes of a pattern: what those before them make comes from outside.
fn last_nodes(pattern: &Pattern, count: usize) -> Pattern {
    let left_out = pattern.nodes.len().saturating_sub(count);
    let mut values = pattern.values.clone();
    for value in &mut values {
        value.def = value.def.and_then(|(node, output)| {
            let node = usize::from(node).checked_sub(left_out)?;
            Some((u16::try_from(node).ok()?, output))
        });
    }
    Pattern { nodes: pattern.nodes.iter().skip(left_out).cloned().collect(), values }
}

/// The first `where` or `let` that fails, by its position.
fn failed_step<H: Host>(
    host: &H,
    direction: &Direction,
    state: State<H::Value, H::Node>,
) -> Option<(usize, Failure)> {
    let mut found = state.finish()?;
    for (at, step) in direction.steps.iter().enumerate() {
        match step {
            Step::Where(condition) => {
                let holds = Env::new(host, &found).truth(condition);
                if holds != Some(true) {
                    let mut saw = Vec::new();
                    asked(&mut Env::new(host, &found), condition, &mut saw);
                    let (span, undefined) = (condition.span, holds.is_none());
                    return Some((at, Failure::Condition { span, undefined, saw }));
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

/// What a condition asks of the match, and what it hears: attributes, and functions of values.
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
