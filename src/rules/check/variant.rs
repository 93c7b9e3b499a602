//! Rules with several codes, as by `also OPT202 layernorm-without-bias if not is_present(b)`.
//!
//! Each code keeps only those directions of the rule in which the condition of the code can be true.

use crate::rules::arith;
use crate::rules::datum::Datum;
use crate::rules::expr::{Expr, ExprKind};
use crate::rules::func::Func;
use crate::rules::rule::{Body, Count, Direction, Step};
use crate::rules::syntax::ast::{ExprAst, ExprAstKind};

/// Returns the negation of a condition.
pub fn negated(condition: &ExprAst) -> ExprAst {
    ExprAst { kind: ExprAstKind::Not(Box::new(condition.clone())), span: condition.span }
}

/// Removes each direction in which one of the last `count` conditions is always false.
/// In a direction that stays, removes each of these conditions that is always true.
pub fn drop_undecided(body: &mut Body, count: usize) {
    let Body::Pattern { forward, .. } = body else { return };
    forward.retain_mut(|direction| {
        let own = direction.steps.len().saturating_sub(count);
        let conditions = direction.steps.split_off(own);
        let answer = |step: &Step| match step {
            Step::Where { condition, .. } => truth(condition, direction),
            Step::Let { .. } => None,
        };
        let answers: Vec<Option<bool>> = conditions.iter().map(answer).collect();
        let open = conditions.into_iter().zip(&answers).filter(|(_, answer)| answer.is_none());
        let open: Vec<Step> = open.map(|(step, _)| step).collect();
        direction.steps.extend(open);
        !answers.contains(&Some(false))
    });
}

/// Evaluates a condition that depends only on the alternative or the operator of a direction.
fn truth(condition: &Expr, direction: &Direction) -> Option<bool> {
    match &condition.kind {
        ExprKind::Not(inner) => Some(!truth(inner, direction)?),
        ExprKind::And(parts) => decided(parts, false, direction),
        ExprKind::Or(parts) => decided(parts, true, direction),
        ExprKind::Call { func: Func::IsPresent, args } => match &args.first()?.kind {
            ExprKind::Value(var) if direction.absent.values.contains(var) => Some(false),
            ExprKind::Attr(var) if direction.absent.attrs.contains(var) => Some(false),
            ExprKind::Value(var) => {
                let value = direction.pattern.values.get(usize::from(var.0))?;
                (value.count == Count::One).then_some(true)
            }
            _ => None,
        },
        ExprKind::Call { func: Func::IsOp, args } => {
            let args = args.iter().map(|arg| constant(arg, direction)).collect::<Option<Vec<_>>>()?;
            Some(arith::call(Func::IsOp, &args)? == Datum::Bool(true))
        }
        ExprKind::Compare { op, left, right } => {
            arith::compare(*op, &constant(left, direction)?, &constant(right, direction)?)
        }
        ExprKind::In { item, list } => {
            let (item, list) = (constant(item, direction)?, constant(list, direction)?);
            let Datum::List(items) = list else { return None };
            Some(items.contains(&item))
        }
        _ => None,
    }
}

fn decided(parts: &[Expr], deciding: bool, direction: &Direction) -> Option<bool> {
    let parts: Vec<_> = parts.iter().map(|part| truth(part, direction)).collect();
    if parts.contains(&Some(deciding)) {
        return Some(deciding);
    }
    (!parts.contains(&None)).then_some(!deciding)
}

/// Evaluates a literal or the name of an operator.
fn constant(expr: &Expr, direction: &Direction) -> Option<Datum> {
    match &expr.kind {
        ExprKind::Str(text) => Some(Datum::Str(text.clone())),
        ExprKind::Int(int) => Some(Datum::Int(*int)),
        ExprKind::List(items) => {
            items.iter().map(|item| constant(item, direction)).collect::<Option<_>>().map(Datum::List)
        }
        ExprKind::Attr(var) => direction.steps.iter().find_map(|step| match step {
            Step::Let { var: own, expr: Expr { kind: ExprKind::Str(text), .. } } if own == var => {
                Some(Datum::Str(text.clone()))
            }
            _ => None,
        }),
        _ => None,
    }
}
