//! Expressions: resolves names and functions, and checks the number and kind of arguments.

use std::sync::Arc;

use globset::GlobBuilder;

use crate::diag::Finding;
use crate::diag::counted;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::Name;
use crate::graph::syntax::suggest::closest;
use crate::rules::expr::{Each, Expr, ExprKind, Over};
use crate::rules::func::{Arg, Func};
use crate::rules::rule::Count;
use crate::rules::syntax::ast::{EachAst, EachOver, ExprAst, ExprAstKind};

use super::Faults;
use super::constant_calls;
use super::library::Library;
use super::scope::Scope;

fn unknown_function(faults: &Faults, name: &Name, scope: &Scope) -> Finding {
    let message = format!("unknown function `{}`", name.text);
    let own = scope.library.into_iter().flat_map(Library::names);
    match closest(&name.text, Func::ALL.iter().map(|func| func.name()).chain(own)) {
        Some(close) => faults.at(name.span, format!("{message}; did you mean `{close}`?")),
        None => faults.at(name.span, message),
    }
}

fn wrong_arguments(faults: &Faults, ast: &ExprAst, func: Func, written: usize) -> Finding {
    let (least, most) = func.arity();
    let takes = match (least, most) {
        (least, most) if least == most => counted(least, "argument"),
        (least, most) if least + 1 == most => format!("{least} or {}", counted(most, "argument")),
        (least, most) => format!("{least} to {}", counted(most, "argument")),
    };
    faults.at(ast.span, format!("`{}` takes {takes}, not {written}", func.name()))
}

fn bare_value(faults: &Faults, name: &Name) -> Finding {
    faults.at(name.span, format!("`{}` is a value of the graph, not a number", name.text)).help(format!(
        "query one of its facts: `const({0})`, `scalar({0})`, `dtype({0})`, `shape({0})`",
        name.text
    ))
}

fn not_a_value(faults: &Faults, ast: &ExprAst, func: Func) -> Finding {
    faults.at(
        ast.span,
        format!("`{}` requires a value of the pattern as its argument: `{}(x)`", func.name(), func.name()),
    )
}

fn origin_of_equal(faults: &Faults, ast: &ExprAst, func: Func) -> Finding {
    faults.at(ast.span, format!("`{}` is not allowed in a rule that asserts equality", func.name())).help(
        "equal values can have several producers: use it in rules without `rewrite`, or with `phase fix`",
    )
}

fn form_not_written(faults: &Faults, span: Span) -> Finding {
    faults.at(
        span,
        "the pattern of `is_like` must be a string literal: `is_like(module_path(y), \"/encoder/**\")`",
    )
}

fn many_values(faults: &Faults, name: &Name, func: Func) -> Finding {
    faults.at(name.span, format!("`{}...` binds several values, but `{}` takes one", name.text, func.name()))
}

fn only_in_patterns(faults: &Faults, ast: &ExprAst) -> Finding {
    faults.at(ast.span, "`_` and `@a?` are only allowed in `match`")
}

fn no_condition(faults: &Faults, ast: &ExprAst) -> Finding {
    faults
        .at(ast.span, "this is not a condition: its value is not true or false")
        .help("compare it with a value: `rank(x) == 4`")
}

/// Checks a condition: an expression that is true or false.
pub fn condition(ast: &ExprAst, scope: &mut Scope, faults: &mut Faults) -> Option<Expr> {
    let checked = expr(ast, scope, faults)?;
    let is_condition = match &checked.kind {
        ExprKind::Call { func, .. } => {
            func.is_predicate() || matches!(func, Func::If | Func::Default | Func::Scalar)
        }
        ExprKind::Compare { .. } | ExprKind::In { .. } | ExprKind::Like { .. } | ExprKind::Not(_) => true,
        ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Bool(_) | ExprKind::Attr(_) => true,
        _ => false,
    };
    if !is_condition {
        faults.push(no_condition(faults, ast));
    }
    is_condition.then_some(checked)
}

/// Checks any expression; continues after a fault where possible.
pub fn expr(ast: &ExprAst, scope: &mut Scope, faults: &mut Faults) -> Option<Expr> {
    let kind = match &ast.kind {
        ExprAstKind::Any | ExprAstKind::Attr { optional: true, .. } => {
            faults.push(only_in_patterns(faults, ast));
            return None;
        }
        ExprAstKind::Attr { name, .. } => ExprKind::Attr(scope.attr(name, faults)?),
        ExprAstKind::Word(name) => {
            scope.value(name, faults)?;
            faults.push(bare_value(faults, name));
            return None;
        }
        ExprAstKind::Int(int) => ExprKind::Int(*int),
        ExprAstKind::Float(float) => ExprKind::Float(*float),
        ExprAstKind::Str(text) => ExprKind::Str(text.clone()),
        ExprAstKind::Bool(truth) => ExprKind::Bool(*truth),
        ExprAstKind::Elem(elem) => ExprKind::Elem(*elem),
        ExprAstKind::Tensor(tensor) => ExprKind::Tensor(tensor.clone()),
        ExprAstKind::List(items) => ExprKind::List(all(items, scope, faults)?),
        ExprAstKind::Each(ast) => {
            let names = scope.names();
            let checked = each(ast, scope, faults);
            let body = expr(&ast.body, scope, faults);
            scope.restore(names);
            ExprKind::Each { body: Box::new(body?), each: checked? }
        }
        ExprAstKind::Call { name, args } => call(ast, name, args, scope, faults)?,
        ExprAstKind::Index { list, index } => {
            let (list, index) = two(list, index, scope, faults)?;
            ExprKind::Index { list, index }
        }
        ExprAstKind::Negate(inner) => ExprKind::Negate(Box::new(expr(inner, scope, faults)?)),
        ExprAstKind::Not(inner) => ExprKind::Not(Box::new(condition(inner, scope, faults)?)),
        ExprAstKind::Binary { op, left, right } => {
            let (left, right) = two(left, right, scope, faults)?;
            ExprKind::Binary { op: *op, left, right }
        }
        ExprAstKind::Compare { op, left, right } => {
            let (left, right) = two(left, right, scope, faults)?;
            ExprKind::Compare { op: *op, left, right }
        }
        ExprAstKind::In { item, list } => {
            let (item, list) = two(item, list, scope, faults)?;
            ExprKind::In { item, list }
        }
        ExprAstKind::And(parts) => ExprKind::And(conditions(parts, scope, faults)?),
        ExprAstKind::Or(parts) => ExprKind::Or(conditions(parts, scope, faults)?),
    };
    Some(Expr { kind, span: ast.span })
}

/// Checks the range of a `for …` and binds its names.
pub fn each<B>(ast: &EachAst<B>, scope: &mut Scope, faults: &mut Faults) -> Option<Each> {
    let over = match &ast.over {
        EachOver::Values { item, values } => {
            let values = scope.value(values, faults);
            let item = scope.add(&item.text, Count::One, None, item.span);
            values.map(|values| Over::Values { item, values })
        }
        EachOver::List(list) => expr(list, scope, faults).map(|list| Over::List(Box::new(list))),
    };
    let attr = ast.attr.as_ref().map(|name| scope.bind_unused(name));
    Some(Each { attr, over: over? })
}

fn two(a: &ExprAst, b: &ExprAst, scope: &mut Scope, faults: &mut Faults) -> Option<(Box<Expr>, Box<Expr>)> {
    let (a, b) = (expr(a, scope, faults), expr(b, scope, faults));
    Some((Box::new(a?), Box::new(b?)))
}

fn all(items: &[ExprAst], scope: &mut Scope, faults: &mut Faults) -> Option<Vec<Expr>> {
    let checked: Vec<_> = items.iter().map(|item| expr(item, scope, faults)).collect();
    checked.into_iter().collect()
}

fn conditions(parts: &[ExprAst], scope: &mut Scope, faults: &mut Faults) -> Option<Vec<Expr>> {
    let checked: Vec<_> = parts.iter().map(|part| condition(part, scope, faults)).collect();
    checked.into_iter().collect()
}

fn call(
    ast: &ExprAst,
    name: &Name,
    args: &[ExprAst],
    scope: &mut Scope,
    faults: &mut Faults,
) -> Option<ExprKind> {
    let Some(func) = Func::by_name(&name.text) else {
        let Some(result) = constant_calls::expanded(ast, (name, args), scope, faults)? else {
            faults.push(unknown_function(faults, name, scope));
            return None;
        };
        scope.calls.push(name.text.clone());
        let checked = expr(&result, scope, faults);
        scope.calls.pop();
        return checked.map(|expr| expr.kind);
    };
    let (least, most) = func.arity();
    if !(least..=most).contains(&args.len()) {
        faults.push(wrong_arguments(faults, ast, func, args.len()));
        return None;
    }
    let checked: Vec<_> = args
        .iter()
        .zip(func.args())
        .map(|(ast, arg)| match (arg, &ast.kind) {
            (Arg::Value | Arg::Values, _) => value(ast, func, *arg == Arg::Values, scope, faults),
            (Arg::Expr, ExprAstKind::Word(_)) if func == Func::IsPresent => {
                value(ast, func, true, scope, faults)
            }
            (Arg::Expr, _) => expr(ast, scope, faults),
        })
        .collect();
    if func.asks_origin() && scope.is_of_equalities {
        faults.push(origin_of_equal(faults, ast, func));
        return None;
    }
    let args: Vec<Expr> = checked.into_iter().collect::<Option<_>>()?;
    match func {
        Func::IsLike => like(args, faults),
        _ => Some(ExprKind::Call { func, args }),
    }
}

/// Checks `is_like`, whose glob must be a literal, because the glob is compiled only once.
fn like(args: Vec<Expr>, faults: &mut Faults) -> Option<ExprKind> {
    let [text, form] = <[Expr; 2]>::try_from(args).ok()?;
    let glob = match &form.kind {
        ExprKind::Str(glob) => GlobBuilder::new(glob).literal_separator(true).build(),
        _ => {
            faults.push(form_not_written(faults, form.span));
            return None;
        }
    };
    match glob {
        Ok(glob) => Some(ExprKind::Like { text: Box::new(text), form: Arc::new(glob.compile_matcher()) }),
        Err(error) => {
            faults.push(faults.at(form.span, format!("invalid glob pattern: {}", error.kind())));
            None
        }
    }
}

/// Checks an argument that must be a value of the pattern.
fn value(ast: &ExprAst, func: Func, many: bool, scope: &mut Scope, faults: &mut Faults) -> Option<Expr> {
    let ExprAstKind::Word(name) = &ast.kind else {
        faults.push(not_a_value(faults, ast, func));
        return None;
    };
    let id = scope.value(name, faults)?;
    if !many && scope.var(id).count == Count::Many {
        faults.push(many_values(faults, name, func));
        return None;
    }
    Some(Expr { kind: ExprKind::Value(id), span: ast.span })
}
