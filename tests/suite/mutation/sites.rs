//! The places of a rule that can be made wrong, one at a time.

use onnx_lint::graph::ElemType;
use onnx_lint::rules::expr::{Expr, ExprKind, Over};
use onnx_lint::rules::rule::{Body, Direction, Rewrite, Rule, Step, Term};

/// A rule with one fault in it.
pub struct Mutant {
    /// Which fault, by its place in the rule's text.
    pub what: String,
    pub rule: Rule,
}

/// Every mutant of a rule: each condition left out, each constant and attribute of the rewrite changed.
pub fn mutants(rule: &Rule) -> Vec<Mutant> {
    let conditions = (0..).map_while(|site| mutant(rule, &mut |direction| drop_condition(direction, site)));
    let constants = (0..).map_while(|site| mutant(rule, &mut |direction| change_constant(direction, site)));
    let attributes = (0..).map_while(|site| mutant(rule, &mut |direction| drop_attribute(direction, site)));
    conditions.chain(constants).chain(attributes).collect()
}

/// The rule with the same change in each of its directions: they come from one text. `None` where there is no
/// such place.
fn mutant(rule: &Rule, change: &mut dyn FnMut(&mut Direction) -> Option<String>) -> Option<Mutant> {
    let mut rule = rule.clone();
    let Body::Pattern { forward, .. } = &mut rule.body else { return None };
    let mut what = None;
    for direction in forward {
        what = change(direction).or(what);
    }
    what.map(|what| Mutant { what, rule })
}

/// Leaves out the condition number `site`; the parts of an `and` are conditions of their own.
fn drop_condition(direction: &mut Direction, site: usize) -> Option<String> {
    let mut left = site;
    for at in 0..direction.steps.len() {
        let Step::Where(expr) = &mut direction.steps[at] else { continue };
        let parts = match &mut expr.kind {
            ExprKind::And(parts) => parts,
            _ if left == 0 => {
                let what = format!("without the condition at {}", place(expr));
                direction.steps.remove(at);
                return Some(what);
            }
            _ => {
                left -= 1;
                continue;
            }
        };
        if left < parts.len() {
            let dropped = parts.remove(left);
            return Some(format!("without the condition at {}", place(&dropped)));
        }
        left -= parts.len();
    }
    None
}

fn place(expr: &Expr) -> String {
    format!("{}..{}", expr.span.start, expr.span.end)
}

fn change_constant(direction: &mut Direction, site: usize) -> Option<String> {
    let mut left = site;
    let rewrite = direction.rewrite.as_mut()?;
    let mut what = None;
    each_expr(rewrite, &mut |expr| {
        if what.is_none() {
            what = change(expr, &mut left);
        }
    });
    what
}

fn drop_attribute(direction: &mut Direction, site: usize) -> Option<String> {
    let mut left = site;
    for node in &mut direction.rewrite.as_mut()?.nodes {
        if left < node.attrs.len() {
            let attr = node.attrs.remove(left);
            return Some(format!("without the attribute `{}` of `{}`", attr.name, node.op.name));
        }
        left -= node.attrs.len();
    }
    None
}

fn each_expr(rewrite: &mut Rewrite, visit: &mut dyn FnMut(&mut Expr)) {
    for node in &mut rewrite.nodes {
        node.attrs.iter_mut().for_each(|attr| visit(&mut attr.value));
        node.inputs.iter_mut().for_each(|term| in_term(term, visit));
    }
    rewrite.lets.iter_mut().for_each(|(_, expr)| visit(expr));
    rewrite.fresh.iter_mut().filter_map(|fresh| fresh.term.as_mut()).for_each(|term| in_term(term, visit));
    rewrite.outputs.iter_mut().for_each(|(_, term)| in_term(term, visit));
}

fn in_term(term: &mut Term, visit: &mut dyn FnMut(&mut Expr)) {
    match term {
        Term::Literal(expr) => visit(expr),
        Term::Case(arms) => {
            for arm in arms {
                arm.condition.iter_mut().for_each(&mut *visit);
                in_term(&mut arm.term, visit);
            }
        }
        Term::Each(each) => in_term(&mut each.term, visit),
        Term::Absent | Term::Var(_) | Term::Output { .. } | Term::Outputs { .. } => {}
    }
}

/// Changes the constant number `left` of an expression, counting down; says which.
fn change(expr: &mut Expr, left: &mut usize) -> Option<String> {
    let at = place(expr);
    let other = match &expr.kind {
        ExprKind::Int(int) => Some(ExprKind::Int(int.wrapping_add(1))),
        // Of the greatest numbers, one more is the same.
        ExprKind::Float(float) if float + 1.0 != *float => Some(ExprKind::Float(float + 1.0)),
        ExprKind::Float(_) => Some(ExprKind::Float(0.0)),
        ExprKind::Bool(truth) => Some(ExprKind::Bool(!truth)),
        ExprKind::Elem(ElemType::Int64) => Some(ExprKind::Elem(ElemType::Float)),
        ExprKind::Elem(_) => Some(ExprKind::Elem(ElemType::Int64)),
        _ => None,
    };
    if let Some(other) = other {
        if *left == 0 {
            expr.kind = other;
            return Some(format!("with another constant at {at}"));
        }
        *left -= 1;
        return None;
    }
    parts(expr).into_iter().find_map(|part| change(part, left))
}

fn parts(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut expr.kind {
        ExprKind::List(items) | ExprKind::And(items) | ExprKind::Or(items) => items.iter_mut().collect(),
        ExprKind::Call { args, .. } => args.iter_mut().collect(),
        ExprKind::Each { body, each } => match &mut each.over {
            Over::List(list) => vec![body, list],
            Over::Values { .. } => vec![body],
        },
        ExprKind::Index { list: a, index: b }
        | ExprKind::Binary { left: a, right: b, .. }
        | ExprKind::Compare { left: a, right: b, .. }
        | ExprKind::In { item: a, list: b } => vec![a, b],
        ExprKind::Negate(inner) | ExprKind::Not(inner) => vec![inner],
        _ => Vec::new(),
    }
}
