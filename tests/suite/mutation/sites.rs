//! Faults that mutation testing introduces in a rule, one at a time.

use std::sync::Arc;

use onnx_lint::graph::ElemType;
use onnx_lint::graph::syntax::Span;
use onnx_lint::rules::expr::{Expr, ExprKind, Over};
use onnx_lint::rules::rule::{Alternative, Body, Direction, NewAttr, OpPat, Rewrite, Rule, Step, Term};
use onnx_lint::schema::{self, AttrDefault, AttrSpec};

/// A possible fault, by its position in the source text.
/// Text that is expanded several times (a function called twice, a rule for several operators) is one fault.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fault {
    pub kind: FaultKind,
    pub span: Span,
}

/// Kind of a fault.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// A condition is removed; each operand of an `and` is a condition.
    Condition,
    /// A number, Boolean or element type is replaced.
    Constant(String),
    /// An attribute of a new node is removed.
    Attribute(String),
    /// An alternative is removed, from this `pattern` or, if `None`, from `match`.
    Alternative(Option<Arc<str>>),
}

/// Returns all faults of a rule.
/// Conditions, alternatives and attributes of new nodes are removed; constants of the rewrite change.
pub fn faults(rule: &Rule) -> Vec<Fault> {
    let mut found = Vec::new();
    let mut add = |kind, span| {
        let fault = Fault { kind, span };
        if !found.contains(&fault) {
            found.push(fault);
        }
    };
    let mut rule = rule.clone();
    for direction in directions(&mut rule) {
        for Alternative { within, span } in &direction.alternatives {
            add(FaultKind::Alternative(within.clone()), *span);
        }
        keep_conditions(direction, &mut |condition| {
            add(FaultKind::Condition, condition.span);
            true
        });
        keep_attributes(direction, &mut |op, attr| {
            if !is_at_default(op, attr) && !is_required(op, attr) {
                add(FaultKind::Attribute(attr.name.to_string()), attr.span);
            }
            true
        });
        each_constant(direction, &mut |expr| {
            if other(&expr.kind).is_some() {
                add(FaultKind::Constant(written(&expr.kind)), expr.span);
            }
        });
    }
    found
}

/// Returns the rule with a fault.
pub fn with_fault(rule: &Rule, fault: &Fault) -> Rule {
    let mut rule = rule.clone();
    if let (FaultKind::Alternative(within), Body::Pattern { forward, .. }) = (&fault.kind, &mut rule.body) {
        let removed = Alternative { within: within.clone(), span: fault.span };
        forward.retain(|direction| !direction.alternatives.contains(&removed));
    }
    for direction in directions(&mut rule) {
        match &fault.kind {
            FaultKind::Alternative(_) => {}
            FaultKind::Condition => {
                keep_conditions(direction, &mut |condition| condition.span != fault.span);
            }
            FaultKind::Attribute(name) => {
                keep_attributes(direction, &mut |_, attr| attr.span != fault.span || *attr.name != **name);
            }
            FaultKind::Constant(text) => each_constant(direction, &mut |expr| {
                if expr.span == fault.span && written(&expr.kind) == *text {
                    expr.kind = other(&expr.kind).unwrap_or_else(|| expr.kind.clone());
                }
            }),
        }
    }
    rule
}

fn directions(rule: &mut Rule) -> &mut [Direction] {
    match &mut rule.body {
        Body::Pattern { forward, .. } => forward,
        Body::Builtin(_) => &mut [],
    }
}

fn keep_conditions(direction: &mut Direction, is_kept: &mut dyn FnMut(&Expr) -> bool) {
    direction.steps.retain_mut(|step| match step {
        Step::Where { condition: Expr { kind: ExprKind::And(parts), .. }, .. } => {
            parts.retain(&mut *is_kept);
            true
        }
        Step::Where { condition, .. } => is_kept(condition),
        Step::Let { .. } => true,
    });
}

fn keep_attributes(direction: &mut Direction, is_kept: &mut dyn FnMut(&OpPat, &NewAttr) -> bool) {
    for node in direction.rewrite.iter_mut().flat_map(|rewrite| &mut rewrite.nodes) {
        node.attrs.retain(|attr| is_kept(&node.op, attr));
    }
}

/// Returns true if an attribute has a property in all possible versions of the operator.
fn always(op: &OpPat, attr: &NewAttr, is_so: impl Fn(&AttrSpec) -> bool) -> bool {
    let versions = schema::versions(&op.domain, &op.name).iter();
    let mut meant = versions.filter(|schema| op.epoch.is_none_or(|epoch| schema.epoch == epoch)).peekable();
    meant.peek().is_some() && meant.all(|schema| schema.attr(&attr.name).is_some_and(&is_so))
}

/// Returns true if an attribute is required: a rule without it is rejected when it is read.
fn is_required(op: &OpPat, attr: &NewAttr) -> bool {
    always(op, attr, |spec| spec.required)
}

/// Returns true if an attribute has its default value.
fn is_at_default(op: &OpPat, attr: &NewAttr) -> bool {
    let is_int = |expr: &Expr, int: i64| matches!(expr.kind, ExprKind::Int(written) if written == int);
    let says = |default: AttrDefault| match (&attr.value.kind, default) {
        (ExprKind::Int(int), AttrDefault::Int(default)) => *int == default,
        (ExprKind::Float(float), AttrDefault::Float(default)) => *float as f32 == default,
        (ExprKind::Str(text), AttrDefault::String(default)) => **text == *default,
        (ExprKind::List(items), AttrDefault::Ints(ints)) => {
            items.len() == ints.len() && items.iter().zip(ints).all(|(item, &int)| is_int(item, int))
        }
        (ExprKind::List(items), AttrDefault::Every(int)) => items.iter().all(|item| is_int(item, int)),
        _ => false,
    };
    always(op, attr, |spec| spec.default.is_some_and(says))
}

fn each_constant(direction: &mut Direction, visit: &mut dyn FnMut(&mut Expr)) {
    if let Some(rewrite) = &mut direction.rewrite {
        each_expr(rewrite, &mut |expr| in_expr(expr, visit));
    }
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
        Term::Fold(fold) => {
            in_term(&mut fold.initial, visit);
            in_term(&mut fold.each.term, visit);
        }
        Term::Absent | Term::Var(_) | Term::Output { .. } | Term::Outputs { .. } => {}
    }
}

fn in_expr(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    visit(expr);
    parts(expr).into_iter().for_each(|part| in_expr(part, visit));
}

/// Returns the replacement of a constant; `None` for other expressions.
fn other(kind: &ExprKind) -> Option<ExprKind> {
    Some(match kind {
        // Do not replace -1 by 0, nor 0 by -1: in a shape, both may mean the same size.
        ExprKind::Int(int) if *int < 0 => ExprKind::Int(int.wrapping_sub(1)),
        ExprKind::Int(int) => ExprKind::Int(int.wrapping_add(1)),
        // Adding 1 changes neither the largest floats nor, in float16, numbers from 65504 on.
        ExprKind::Float(float) if float + 1.0 == *float => ExprKind::Float(0.0),
        ExprKind::Float(float) if float.abs() >= 65504.0 => ExprKind::Float(float / 2.0),
        ExprKind::Float(float) => ExprKind::Float(float + 1.0),
        ExprKind::Bool(truth) => ExprKind::Bool(!truth),
        ExprKind::Elem(ElemType::Int64) => ExprKind::Elem(ElemType::Float),
        ExprKind::Elem(_) => ExprKind::Elem(ElemType::Int64),
        _ => return None,
    })
}

fn written(kind: &ExprKind) -> String {
    match kind {
        ExprKind::Int(int) => int.to_string(),
        ExprKind::Float(float) => format!("{float:?}"),
        ExprKind::Bool(truth) => truth.to_string(),
        ExprKind::Elem(elem) => elem.to_string(),
        _ => String::new(),
    }
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
