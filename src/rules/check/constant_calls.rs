//! Calls of functions in expressions.
//!
//! An example is `fn spread(@k, @n) = if(len(@k) == @n, @k, repeat(@k[0], @n))`. A function that an
//! expression calls must return a constant. Each call is replaced by the expression of the function before
//! the enclosing expression is checked.

use std::sync::Arc;

use super::Faults;
use super::scope::Scope;
use crate::diag::Finding;
use crate::diag::counted;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Many, Name};
use crate::rules::func::Func;
use crate::rules::syntax::ast::{
    EachAst, EachOver, ExprAst, ExprAstKind, FnAst, ParamAst, Statement, ValueAst, ValueAstKind,
};

fn wrong_number(faults: &Faults, ast: &ExprAst, function: &FnAst, written: usize) -> Finding {
    let takes = counted(function.params.len(), "argument");
    faults.at(ast.span, format!("`{}` takes {takes}, not {written}", function.name.text))
}

fn calls_itself(faults: &Faults, ast: &ExprAst, name: &Name) -> Finding {
    faults.at(ast.span, format!("`{}` calls itself, so its expansion would not end", name.text))
}

fn not_a_constant(faults: &Faults, ast: &ExprAst, name: &Name) -> Finding {
    faults.at(ast.span, format!("the result of `{}` is a value of the graph, not a constant", name.text))
}

fn not_the_name(faults: &Faults, ast: &ExprAst, param: &Name) -> Finding {
    faults.at(ast.span, format!("`{}` expects the name of a value", param.text))
}

/// Replaces the call of a function by the expression of the function.
/// Returns `Some(None)` if no function has this name.
/// Reports a fault and returns `None` if the call is invalid.
pub fn expanded(
    ast: &ExprAst,
    (name, args): (&Name, &[ExprAst]),
    scope: &mut Scope,
    faults: &mut Faults,
) -> Option<Option<ExprAst>> {
    let Some((function, is_own)) = scope.library.and_then(|library| library.find_function(&name.text)) else {
        return Some(None);
    };
    if scope.calls.contains(&name.text) {
        faults.push(calls_itself(faults, ast, name));
        return None;
    }
    if args.len() != function.params.len() {
        faults.push(wrong_number(faults, ast, function, args.len()));
        return None;
    }
    scope.serial += 1;
    let span = (!is_own).then_some(ast.span);
    let mut names = Names { serial: scope.serial, span, values: Vec::new(), attrs: Vec::new() };
    for (arg, param) in args.iter().zip(&function.params) {
        match (param, &arg.kind) {
            (ParamAst::Attr(name), _) => names.attrs.push((name.text.clone(), arg.kind.clone())),
            (ParamAst::Value(operand), ExprAstKind::Word(_)) => {
                names.values.push((operand.name.text.clone(), arg.kind.clone()));
            }
            (ParamAst::Value(operand), _) => {
                faults.push(not_the_name(faults, arg, &operand.name));
                return None;
            }
        }
    }
    let Some(result) = names.result(function) else {
        faults.push(not_a_constant(faults, ast, name));
        return None;
    };
    Some(Some(result))
}

/// Names in the body of a function, and the expressions that replace them.
struct Names {
    serial: usize,
    /// Span of the call, which replaces all spans of a function from another file.
    span: Option<Span>,
    values: Vec<(Arc<str>, ExprAstKind)>,
    attrs: Vec<(Arc<str>, ExprAstKind)>,
}

impl Names {
    fn result(&mut self, function: &FnAst) -> Option<ExprAst> {
        for statement in &function.statements {
            let Statement::Let { var, expr, .. } = statement else { return None };
            let bound = self.expr(expr).kind;
            self.attrs.push((var.text.clone(), bound));
        }
        self.value(&function.result)
    }

    fn value(&mut self, value: &ValueAst) -> Option<ExprAst> {
        let ValueAstKind::Case(arms) = &value.kind else {
            let is_name = |text: &str| self.values.iter().any(|(name, _)| **name == *text);
            return match &value.kind {
                ValueAstKind::Name(operand) if operand.many != Many::One || is_name(&operand.name.text) => {
                    None
                }
                _ => Some(self.expr(&value.as_expression()?)),
            };
        };
        let (last, others) = arms.split_last()?;
        let mut result = self.value(&last.value)?;
        for arm in others.iter().rev() {
            let condition = self.expr(arm.condition.as_ref()?);
            let name = Name { text: Func::If.name().into(), span: value.span };
            let args = vec![condition, self.value(&arm.value)?, result];
            let span = self.span.unwrap_or(value.span);
            result = ExprAst { kind: ExprAstKind::Call { name, args }, span };
        }
        Some(result)
    }

    fn expr(&mut self, expr: &ExprAst) -> ExprAst {
        let kind = match &expr.kind {
            ExprAstKind::Attr { name, optional } => {
                let found = self.attrs.iter().rfind(|(param, _)| *param == name.text);
                match found {
                    Some((_, kind)) => kind.clone(),
                    None => ExprAstKind::Attr { name: name.clone(), optional: *optional },
                }
            }
            ExprAstKind::Word(name) => match self.values.iter().find(|(param, _)| *param == name.text) {
                Some((_, kind)) => kind.clone(),
                None => ExprAstKind::Word(name.clone()),
            },
            ExprAstKind::List(items) => ExprAstKind::List(self.all(items)),
            ExprAstKind::Each(each) => ExprAstKind::Each(Box::new(self.each(each))),
            ExprAstKind::Call { name, args } => {
                ExprAstKind::Call { name: name.clone(), args: self.all(args) }
            }
            ExprAstKind::Index { list, index } => {
                ExprAstKind::Index { list: self.boxed(list), index: self.boxed(index) }
            }
            ExprAstKind::Negate(inner) => ExprAstKind::Negate(self.boxed(inner)),
            ExprAstKind::Not(inner) => ExprAstKind::Not(self.boxed(inner)),
            ExprAstKind::Binary { op, left, right } => {
                ExprAstKind::Binary { op: *op, left: self.boxed(left), right: self.boxed(right) }
            }
            ExprAstKind::Compare { op, left, right } => {
                ExprAstKind::Compare { op: *op, left: self.boxed(left), right: self.boxed(right) }
            }
            ExprAstKind::In { item, list } => {
                ExprAstKind::In { item: self.boxed(item), list: self.boxed(list) }
            }
            ExprAstKind::And(parts) => ExprAstKind::And(self.all(parts)),
            ExprAstKind::Or(parts) => ExprAstKind::Or(self.all(parts)),
            other => other.clone(),
        };
        ExprAst { kind, span: self.span.unwrap_or(expr.span) }
    }

    fn boxed(&mut self, expr: &ExprAst) -> Box<ExprAst> {
        Box::new(self.expr(expr))
    }

    fn all(&mut self, exprs: &[ExprAst]) -> Vec<ExprAst> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    /// Renames the variables of a comprehension, which may have the names of variables in the arguments.
    fn each(&mut self, each: &EachAst<ExprAst>) -> EachAst<ExprAst> {
        let over = match &each.over {
            EachOver::List(list) => EachOver::List(self.boxed(list)),
            EachOver::Values { item, values } => {
                let values = match self.values.iter().find(|(param, _)| *param == values.text) {
                    Some((_, ExprAstKind::Word(name))) => name.clone(),
                    _ => values.clone(),
                };
                EachOver::Values { item: self.unique(item), values }
            }
        };
        let (attrs, values) = (self.attrs.len(), self.values.len());
        if let EachOver::Values { item, .. } = &each.over {
            self.values.insert(0, (item.text.clone(), ExprAstKind::Word(self.unique(item))));
        }
        let attr = each.attr.as_ref().map(|name| {
            let unique = self.unique(name);
            self.attrs.push((name.text.clone(), ExprAstKind::Attr { name: unique.clone(), optional: false }));
            unique
        });
        let body = self.expr(&each.body);
        self.attrs.truncate(attrs);
        if self.values.len() > values {
            self.values.remove(0);
        }
        EachAst { body, attr, over }
    }

    fn unique(&self, name: &Name) -> Name {
        Name { text: format!("{}#{}", name.text, self.serial).into(), span: name.span }
    }
}
