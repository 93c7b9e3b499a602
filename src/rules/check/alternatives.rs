//! Alternatives (`A | B`) and calls of patterns, which are expanded before a pattern is checked.
//! Each combination of alternatives becomes one direction of the rule.

use std::sync::Arc;

use crate::diag::Finding;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Attr, Name, Operand};
use crate::graph::syntax::suggest::with_suggestion;
use crate::rules::rule::Alternative;
use crate::rules::syntax::ast::{
    CallAst, ExprAst, ExprAstKind, FnAst, ParamAst, Statement, ValueAst, ValueAstKind,
};

use super::Faults;
use super::call::is_function;
use super::combinations::{Combination, Partial, partial, remove_unused};
use super::library::{self, Library};

/// Maximum number of combinations of one pattern.
const MOST: usize = 64;

fn alias_in_match(faults: &Faults, span: Span) -> Finding {
    faults
        .at(span, "a pattern may only contain nodes")
        .help("use one name for a value that occurs several times")
}

fn too_many(faults: &Faults, span: Span) -> Finding {
    faults
        .at(span, format!("the alternatives of this pattern have more than {MOST} combinations"))
        .help("write several rules, or use `@op in […]` where only the operator differs")
}

fn unknown_pattern(faults: &Faults, name: &Name, message: String) -> Finding {
    faults.at(name.span, message).help(
        "define the pattern with `pattern`, or write an operator, whose name begins with a capital letter",
    )
}

fn operator_variable(faults: &Faults, call: &CallAst) -> Finding {
    faults
        .at(call.op.span, "an operator variable is not allowed in the definition of a pattern")
        .help("write alternatives: `Add (x, y) | Sub (x, y)`")
}

/// Combinations of the alternatives of a pattern.
///
pub struct Expansions {
    pub all: Vec<Combination>,
    pub partial: Partial,
}

/// Expands the statements of a pattern; reports faults and returns `None` if there are any.
pub fn expand(
    statements: &[Statement],
    span: Span,
    library: Library,
    faults: &mut Faults,
) -> Option<Expansions> {
    let errors_before = faults.errors();
    let mut expander = Expander {
        library,
        faults,
        chosen: Vec::new(),
        next: 0,
        serial: 0,
        calls: Vec::new(),
        made: Combination::default(),
    };
    let mut all = Vec::new();
    loop {
        (expander.next, expander.serial) = (0, 0);
        statements.iter().for_each(|statement| expander.written(statement));
        all.push(std::mem::take(&mut expander.made));
        if expander.faults.errors() > errors_before {
            return None;
        }
        if !expander.advance() {
            break;
        }
        if all.len() == MOST {
            expander.faults.push(too_many(expander.faults, span));
            return None;
        }
    }
    remove_unused(&mut all);
    let partial = partial(&all);
    Some(Expansions { all, partial })
}

/// Expands the definition of a pattern, to check it on its own.
///
/// The parameters of the pattern are not replaced by arguments.
pub(super) fn expand_definition(
    pattern: &FnAst,
    library: Library,
    faults: &mut Faults,
) -> Vec<Vec<Statement>> {
    let name = Name { text: Arc::from("#"), span: pattern.result.span };
    let result = Operand { name, many: crate::graph::syntax::ast::Many::One, span: pattern.result.span };
    let mut statements = pattern.statements.clone();
    for call in statements.iter().flat_map(Statement::calls).chain(pattern.result.calls()) {
        if call.op.var.is_some() {
            faults.push(operator_variable(faults, call));
        }
    }
    let (source, span) = (pattern.result.clone(), pattern.result.span);
    // If the result is only a name, such as that of a parameter, no node defines it.
    if !matches!(source.kind, ValueAstKind::Name(_)) {
        statements.push(Statement::Make { targets: vec![result], source, span });
    }
    let all =
        expand(&statements, pattern.span, library, faults).map_or(Vec::new(), |expansions| expansions.all);
    all.into_iter().map(|combination| combination.statements).collect()
}

struct Expander<'a, 'f, 's> {
    library: Library<'a>,
    faults: &'f mut Faults<'s>,
    /// Index of the chosen alternative and number of alternatives, for each set of alternatives in source
    /// order.
    chosen: Vec<(usize, usize)>,
    /// Number of sets of alternatives expanded so far in this combination.
    next: usize,
    /// Number of patterns expanded so far, which makes their names unique.
    serial: usize,
    /// Patterns being expanded, innermost last.
    calls: Vec<Arc<str>>,
    made: Combination,
}

/// Names in the body of a pattern.
struct Names {
    serial: usize,
    values: Vec<(Arc<str>, ValueAst)>,
    attrs: Vec<(Arc<str>, ExprAst)>,
    /// Span of the call, which replaces all spans of a pattern from another file.
    span: Option<Span>,
}

impl Expander<'_, '_, '_> {
    /// Moves on to the next combination; returns false after the last combination.
    fn advance(&mut self) -> bool {
        while let Some((chosen, of)) = self.chosen.pop() {
            if chosen + 1 < of {
                self.chosen.push((chosen + 1, of));
                return true;
            }
        }
        false
    }

    fn choose(&mut self, of: usize) -> usize {
        if self.next == self.chosen.len() {
            self.chosen.push((0, of));
        }
        self.next += 1;
        self.chosen[self.next - 1].0
    }

    /// Expands a statement of `match`; reports a statement that only gives a value a second name.
    fn written(&mut self, statement: &Statement) {
        if let Statement::Make { source: ValueAst { kind: ValueAstKind::Name(_), .. }, span, .. } = statement
        {
            self.faults.push(alias_in_match(self.faults, *span));
        }
        self.statement(statement, None);
    }

    fn statement(&mut self, statement: &Statement, names: Option<&Names>) {
        let made = match statement {
            Statement::Make { targets, source, span } => {
                let source = self.value(source, names);
                let targets =
                    targets.iter().map(|target| names.map_or(target.clone(), |names| names.local(target)));
                Statement::Make { targets: targets.collect(), source, span: at(names, *span) }
            }
            Statement::Let { .. } => statement.clone(),
        };
        self.made.statements.push(made);
    }

    fn value(&mut self, value: &ValueAst, names: Option<&Names>) -> ValueAst {
        let span = at(names, value.span);
        let kind = match (&value.kind, names) {
            (ValueAstKind::Alternatives(all), _) => {
                let chosen = &all[self.choose(all.len())];
                let within = self.calls.last().cloned();
                self.made.alternatives.push(Alternative { within, span: chosen.span });
                return self.value(chosen, names);
            }
            (ValueAstKind::Call(call), _) if is_function(call) => return self.pattern(call, names, value),
            (ValueAstKind::Call(call), _) => ValueAstKind::Call(Box::new(self.call(call, names))),
            (ValueAstKind::Name(operand), Some(names)) => return names.value(operand, span),
            (ValueAstKind::Literal(expr), Some(names)) => ValueAstKind::Literal(names.expr(expr)),
            (kind, _) => kind.clone(),
        };
        ValueAst { kind, span }
    }

    fn call(&mut self, call: &CallAst, names: Option<&Names>) -> CallAst {
        let mut expanded = call.clone();
        expanded.inputs = call.inputs.iter().map(|input| self.value(input, names)).collect();
        if let Some(names) = names {
            let attr = |attr: &Attr<ExprAst>| Attr {
                value: names.expr(&attr.value),
                span: names.at(attr.span),
                ..attr.clone()
            };
            expanded.attrs = call.attrs.iter().map(attr).collect();
            for keep in expanded.rest.iter_mut().filter_map(|rest| rest.keep.as_mut()) {
                keep.text = names.unique(&keep.text);
            }
            (expanded.span, expanded.op.span) = (names.at(call.span), names.at(call.op.span));
        }
        expanded
    }

    /// Expands a call of a pattern.
    ///
    /// Arguments that are calls get a name, since a pattern may use them twice.
    fn pattern(&mut self, call: &CallAst, names: Option<&Names>, value: &ValueAst) -> ValueAst {
        let name = &call.op.name;
        let Some((pattern, is_own)) = self.library.find_pattern(&name.text) else {
            let message = format!("unknown pattern `{}`", name.text);
            let suggestion = with_suggestion(message.clone(), &name.text, self.library.pattern_names());
            if suggestion != message {
                self.faults.push(unknown_pattern(self.faults, name, suggestion));
            }
            return value.clone();
        };
        if self.calls.contains(&name.text) {
            self.faults.push(library::calls_itself(self.faults, call));
            return value.clone();
        }
        if !call.attrs.is_empty() || call.rest.is_some() || call.op.epoch.is_some() {
            self.faults.push(library::no_attributes(self.faults, call));
            return value.clone();
        }
        if call.inputs.len() != pattern.params.len() {
            self.faults.push(library::other_number(self.faults, call, pattern));
            return value.clone();
        }
        self.serial += 1;
        let span =
            (!is_own || names.is_some_and(|names| names.span.is_some())).then_some(at(names, call.span));
        let mut inner = Names { serial: self.serial, values: Vec::new(), attrs: Vec::new(), span };
        for (input, param) in call.inputs.iter().zip(&pattern.params) {
            match param {
                ParamAst::Value(operand) => {
                    let mut argument = self.value(input, names);
                    if matches!(argument.kind, ValueAstKind::Call(_)) {
                        argument = self.named(argument, inner.local(operand));
                    }
                    inner.values.push((operand.name.text.clone(), argument));
                }
                ParamAst::Attr(name) => match library::as_pattern(input) {
                    Some(expr) => {
                        let expr = names.map_or(expr.clone(), |names| names.expr(&expr));
                        inner.attrs.push((name.text.clone(), expr));
                    }
                    None => self.faults.push(library::not_an_attribute(self.faults, input, name)),
                },
            }
        }
        self.calls.push(name.text.clone());
        pattern.statements.iter().for_each(|statement| self.statement(statement, Some(&inner)));
        let result = self.value(&pattern.result, Some(&inner));
        self.calls.pop();
        result
    }

    /// Gives the result of a call a name.
    fn named(&mut self, value: ValueAst, operand: Operand) -> ValueAst {
        let span = value.span;
        self.made.statements.push(Statement::Make { targets: vec![operand.clone()], source: value, span });
        ValueAst { kind: ValueAstKind::Name(operand), span }
    }
}

fn at(names: Option<&Names>, span: Span) -> Span {
    names.map_or(span, |names| names.at(span))
}

impl Names {
    fn at(&self, span: Span) -> Span {
        self.span.unwrap_or(span)
    }

    /// Returns a name that no rule can contain.
    fn unique(&self, name: &str) -> Arc<str> {
        format!("{name}#{}", self.serial).into()
    }

    fn local(&self, operand: &Operand) -> Operand {
        if operand.name.text.is_empty() {
            return operand.clone();
        }
        let span = self.at(operand.span);
        Operand { name: Name { text: self.unique(&operand.name.text), span }, span, ..operand.clone() }
    }

    fn value(&self, operand: &Operand, span: Span) -> ValueAst {
        let argument = self.values.iter().find(|(name, _)| *name == operand.name.text);
        argument.map_or_else(
            || ValueAst { kind: ValueAstKind::Name(self.local(operand)), span },
            |(_, argument)| argument.clone(),
        )
    }

    fn expr(&self, expr: &ExprAst) -> ExprAst {
        let boxed = |expr: &ExprAst| Box::new(self.expr(expr));
        let kind = match &expr.kind {
            ExprAstKind::Attr { name, optional } => {
                let argument =
                    self.attrs.iter().find(|(param, _)| *param == name.text).map(|(_, expr)| &expr.kind);
                match argument {
                    Some(ExprAstKind::Attr { name, optional: other }) => {
                        ExprAstKind::Attr { name: name.clone(), optional: *optional || *other }
                    }
                    Some(other) => other.clone(),
                    None => {
                        let name = Name { text: self.unique(&name.text), span: self.at(name.span) };
                        ExprAstKind::Attr { name, optional: *optional }
                    }
                }
            }
            ExprAstKind::List(items) => ExprAstKind::List(items.iter().map(|item| self.expr(item)).collect()),
            ExprAstKind::Call { name, args } => ExprAstKind::Call {
                name: name.clone(),
                args: args.iter().map(|arg| self.expr(arg)).collect(),
            },
            ExprAstKind::Binary { op, left, right } => {
                ExprAstKind::Binary { op: *op, left: boxed(left), right: boxed(right) }
            }
            ExprAstKind::Negate(inner) => ExprAstKind::Negate(boxed(inner)),
            other => other.clone(),
        };
        ExprAst { kind, span: self.at(expr.span) }
    }
}
