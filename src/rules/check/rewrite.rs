//! `rewrite`: checks the replacement of a match.

use crate::diag::Finding;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Many, Name, Operand};
use crate::rules::rule::{
    Arm, AttrVarId, Count, Fresh, NewAttr, NewNode, NewOutput, PatNode, Pattern, Rewrite, Term, VarId,
};
use crate::rules::syntax::ast::{CallAst, Statement, ValueAst, ValueAstKind};

use super::call::{check_call, constant, is_constant, is_function};
use super::library::Library;
use super::scope::{self, Scope};
use super::{Faults, cycles, expr, op};

fn defines_no_output(faults: &Faults, span: Span, root: &PatNode, names: &str) -> Finding {
    faults
        .at(span, format!("the rewrite does not define {names}"))
        .related(faults.place(root.span), "the last node of the pattern defines it")
        .help("define an output of the root by the same name in the rewrite")
}

fn from_outside(faults: &Faults, name: &Name, first: Span) -> Finding {
    faults
        .at(name.span, format!("`{}` is an input of the pattern and cannot be redefined", name.text))
        .related(faults.place(first), "the pattern uses it here")
}

fn made_twice(faults: &Faults, name: &Name) -> Finding {
    faults.at(name.span, format!("the rewrite defines `{}` twice", name.text))
}

fn made_later(faults: &Faults, name: &Name, below: Span) -> Finding {
    faults
        .at(name.span, format!("`{}` is not defined yet", name.text))
        .related(faults.place(below), "it is defined here, below")
}

fn ignored_rest(faults: &Faults, span: Span) -> Finding {
    faults
        .at(span, "`..` is not allowed in a rewrite: attributes that are not written have their defaults")
        .help("to copy the attributes of a matched node, bind them with `..@rest` and write `..@rest` here")
}

fn other_count(faults: &Faults, target: &Operand, made: Count) -> Finding {
    let (is, sign) = match made {
        Count::One => ("one value", ""),
        Count::Optional => ("at most one value", "?"),
        Count::Many => ("a list of values", "..."),
    };
    faults.at(target.span, format!("`{}` binds {is}: write `{}{sign}`", target.name.text, target.name.text))
}

fn unknown_count(faults: &Faults, target: &Operand) -> Finding {
    faults
        .at(target.span, format!("the number of values in `{}...` is unknown", target.name.text))
        .help("name the outputs one by one, or use a variadic output of the pattern")
}

fn not_a_call(faults: &Faults, span: Span) -> Finding {
    faults.at(span, "only an operator call can have several outputs")
}

/// Checks the statements against the pattern bound in `scope`.
/// An operator written without a version (`Relu`, not `Relu@14`) has the version in force at opset `at`.
pub fn rewrite(
    statements: &[Statement],
    pattern: &Pattern,
    scope: &mut Scope,
    library: Library,
    (at, span): (Option<i64>, Span),
    faults: &mut Faults,
) -> Option<Rewrite> {
    let errors_before = faults.errors();
    let mut checker = Checker::new(pattern.values.len(), statements, scope, library, at, faults);
    for statement in statements {
        checker.statement(statement);
    }
    let rewrite = checker.finish(span);
    if faults.errors() > errors_before {
        return None;
    }
    check_root(&rewrite, pattern, span, faults)?;
    cycles::check(&rewrite, pattern, statements, faults);
    Some(rewrite)
}

/// Turns statements into nodes and terms.
pub(super) struct Checker<'r, 'a, 'f, 's> {
    /// Number of values in the pattern.
    pub(super) bound: usize,
    statements: &'r [Statement],
    pub(super) scope: &'r mut Scope<'a>,
    pub(super) library: Library<'r>,
    /// Opset that determines the versions of operators that are written without a version.
    pub(super) at: Option<i64>,
    pub(super) faults: &'f mut Faults<'s>,
    pub(super) nodes: Vec<NewNode>,
    /// Variable and term of each defined value, in order of definition.
    terms: Vec<(VarId, Term)>,
    pub(super) lets: Vec<(AttrVarId, crate::rules::expr::Expr)>,
    /// Functions being inlined, innermost last.
    pub(super) calls: Vec<std::sync::Arc<str>>,
}

impl<'r, 'a, 'f, 's> Checker<'r, 'a, 'f, 's> {
    /// Returns a checker of `statements`; the first `bound` values of `scope` are those of the pattern.
    pub(super) fn new(
        bound: usize,
        statements: &'r [Statement],
        scope: &'r mut Scope<'a>,
        library: Library<'r>,
        at: Option<i64>,
        faults: &'f mut Faults<'s>,
    ) -> Self {
        let (nodes, terms, lets, calls) = Default::default();
        Checker { bound, statements, scope, library, at, faults, nodes, terms, lets, calls }
    }

    fn finish(mut self, span: Span) -> Rewrite {
        let (mut outputs, made): (Vec<_>, Vec<_>) =
            self.terms.drain(..).partition(|(var, _)| usize::from(var.0) < self.bound);
        outputs.sort_by_key(|(var, _)| *var);
        let values = self.scope.values()[self.bound..].iter();
        let mut fresh: Vec<Fresh> = values.map(|var| Fresh { var: var.clone(), term: None }).collect();
        for (var, term) in made {
            fresh[usize::from(var.0) - self.bound].term = Some(term);
        }
        Rewrite { nodes: self.nodes, fresh, lets: self.lets, outputs, span }
    }

    /// Checks a statement of a rewrite and adds what it defines.
    pub(super) fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Let { var, expr: ast, .. } => {
                let value = expr::expr(ast, self.scope, self.faults);
                let var = self.scope.bind_let(var, self.faults);
                self.lets.extend(var.zip(value));
            }
            Statement::Make { targets, source, span } => match (&targets[..], &source.kind) {
                ([target], kind) if !self.is_operator(kind) => {
                    let made = self.value(source);
                    if let Some((term, count)) = made
                        && let Some(var) = self.target(target, count)
                    {
                        self.terms.push((var, term));
                    }
                }
                (_, ValueAstKind::Call(call)) if self.is_operator(&source.kind) => {
                    self.outputs(call, targets, *span);
                }
                _ => self.faults.push(not_a_call(self.faults, *span)),
            },
        }
    }

    fn is_operator(&self, kind: &ValueAstKind) -> bool {
        match kind {
            ValueAstKind::Call(call) => !is_function(call) && !is_constant(call),
            _ => false,
        }
    }

    /// Adds a call whose outputs have names.
    fn outputs(&mut self, call: &CallAst, targets: &[Operand], span: Span) {
        let counts: Vec<Count> = targets.iter().map(|target| scope::count(target.many)).collect();
        let outputs = targets.iter().map(|target| self.output(target)).collect();
        let node = self.node(call, &counts, outputs, span);
        for (index, target) in targets.iter().enumerate().filter(|(_, target)| !target.name.text.is_empty()) {
            let index = index as u16;
            let var = self.target(target, Count::One);
            if let (Some(var), Some(node)) = (var, node) {
                let is_many = self.scope.var(var).count == Count::Many;
                let all = Term::Outputs { node, first: index };
                self.terms.push((var, if is_many { all } else { Term::Output { node, index } }));
            }
        }
    }

    /// Returns whether and how a node defines an output. A new `xs...` is an error: its length is unknown.
    fn output(&mut self, target: &Operand) -> NewOutput {
        let matched = self.scope.find(&target.name.text).filter(|var| usize::from(var.0) < self.bound);
        match matched {
            _ if target.name.text.is_empty() => NewOutput::No,
            Some(var) if self.scope.var(var).count != Count::One => NewOutput::AsMatched(var),
            None if target.many == Many::Any => {
                self.faults.push(unknown_count(self.faults, target));
                NewOutput::Yes
            }
            _ => NewOutput::Yes,
        }
    }

    /// Adds a node; reports a fault and returns `None` if the node is invalid.
    fn node(&mut self, call: &CallAst, counts: &[Count], outputs: Vec<NewOutput>, span: Span) -> Option<u16> {
        let versions = op::versions(&call.op, self.faults);
        let inputs: Vec<_> = call.inputs.iter().map(|input| self.value(input)).collect();
        let attrs: Vec<_> = call
            .attrs
            .iter()
            .map(|attr| {
                let value = expr::expr(&attr.value, self.scope, self.faults)?;
                Some(NewAttr { name: attr.name.text.clone(), value, span: attr.span })
            })
            .collect();
        let rest = match &call.rest {
            None => None,
            Some(rest) => match &rest.keep {
                Some(name) => self.scope.attr(name, self.faults),
                None => {
                    self.faults.push(ignored_rest(self.faults, rest.span));
                    None
                }
            },
        };
        let inputs = inputs.into_iter().collect::<Option<Vec<(Term, Count)>>>()?;
        let versions = versions?;
        let (inputs, input_counts): (Vec<_>, Vec<_>) = inputs.into_iter().unzip();
        check_call(&versions, call, &input_counts, counts, self.faults);
        let op = versions.at(self.at);
        let attrs = attrs.into_iter().collect::<Option<_>>()?;
        self.nodes.push(NewNode { op, inputs, outputs, attrs, rest, span });
        u16::try_from(self.nodes.len() - 1).ok()
    }

    /// Checks a value; returns its term and how many values it represents.
    pub(super) fn value(&mut self, value: &ValueAst) -> Option<(Term, Count)> {
        match &value.kind {
            ValueAstKind::Name(operand) => self.name(operand),
            ValueAstKind::Literal(ast) => {
                Some((Term::Literal(expr::expr(ast, self.scope, self.faults)?), Count::One))
            }
            ValueAstKind::Call(call) if is_function(call) => self.function(call),
            ValueAstKind::Call(call) if is_constant(call) => self.constant(call),
            ValueAstKind::Call(call) => {
                let node = self.node(call, &[Count::One], vec![NewOutput::Yes], value.span)?;
                Some((Term::Output { node, index: 0 }, Count::One))
            }
            ValueAstKind::Case(arms) => {
                let arms: Vec<_> = arms
                    .iter()
                    .map(|arm| {
                        let condition = arm.condition.as_ref();
                        let condition = condition.map(|ast| expr::condition(ast, self.scope, self.faults));
                        let (term, count) = self.value(&arm.value)?;
                        let condition = match condition {
                            Some(checked) => Some(checked?),
                            None => None,
                        };
                        Some((Arm { condition, term }, count))
                    })
                    .collect();
                let (arms, counts): (Vec<_>, Vec<_>) =
                    arms.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip();
                Some((Term::Case(arms), together(&counts)))
            }
            ValueAstKind::Each(each) => self.each(each),
            ValueAstKind::Fold(fold) => self.fold(fold),
            ValueAstKind::Alternatives(_) => None,
        }
    }

    fn name(&mut self, operand: &Operand) -> Option<(Term, Count)> {
        if operand.name.text.is_empty() {
            return Some((Term::Absent, Count::Optional));
        }
        let id = self.used(&operand.name)?;
        let is_same = self.scope.same_count(operand, id, self.faults);
        is_same.then(|| (Term::Var(id), self.scope.used_count(id)))
    }

    /// Treats `Constant <value = …> ()` as the literal in its attribute.
    fn constant(&mut self, call: &CallAst) -> Option<(Term, Count)> {
        let versions = op::versions(&call.op, self.faults)?;
        check_call(&versions, call, &[], &[Count::One], self.faults);
        let [attr] = &call.attrs[..] else { return None };
        let value = expr::expr(&attr.value, self.scope, self.faults)?;
        constant(&attr.name.text, value).map(|literal| (Term::Literal(literal), Count::One))
    }

    /// Resolves a value of the pattern or of the rewrite; reports an unknown value.
    fn used(&mut self, name: &Name) -> Option<VarId> {
        if self.scope.find(&name.text).is_none()
            && let Some(below) = self.made_below(name)
        {
            self.faults.push(made_later(self.faults, name, below));
            return None;
        }
        self.scope.value(name, self.faults)
    }

    fn made_below(&self, name: &Name) -> Option<Span> {
        let mut targets = self.statements.iter().flat_map(Statement::targets);
        targets.find(|target| target.name.text == name.text).map(|target| target.name.span)
    }

    /// Resolves the value that a statement defines, which is a value of the pattern or a new value.
    fn target(&mut self, target: &Operand, made: Count) -> Option<VarId> {
        let name = &target.name;
        let id = match self.scope.find(&name.text) {
            Some(id) => {
                let is_same = self.scope.same_count_as_made(target, id, self.faults);
                self.redefined(id, name).filter(|_| is_same)?
            }
            None => self.scope.add(&name.text, scope::count(target.many), None, name.span),
        };
        let fits = match self.scope.var(id).count {
            Count::One => made == Count::One,
            Count::Optional => made != Count::Many,
            Count::Many => true,
        };
        if !fits {
            self.faults.push(other_count(self.faults, target, made));
        }
        fits.then_some(id)
    }

    fn redefined(&mut self, id: VarId, name: &Name) -> Option<VarId> {
        if self.terms.iter().any(|(made, _)| *made == id) {
            self.faults.push(made_twice(self.faults, name));
            return None;
        }
        if self.scope.is_absent(id) {
            return None;
        }
        let var = self.scope.var(id);
        if var.def.is_none() || usize::from(id.0) >= self.bound {
            self.faults.push_if_whole(from_outside(self.faults, name, var.span));
            return None;
        }
        Some(id)
    }

    /// Binds a new value to a term, such as a parameter of a function.
    pub(super) fn bind(&mut self, operand: &Operand, count: Count, term: Term) {
        let var = self.scope.add(&operand.name.text, count, None, operand.span);
        self.terms.push((var, term));
    }

    /// Binds a new attribute variable, such as a parameter of a function.
    pub(super) fn bind_attr(&mut self, name: &Name, value: crate::rules::expr::Expr) {
        let var = self.scope.bind_unused(name);
        self.lets.push((var, value));
    }
}

/// Returns the count of a value that is one of several alternatives.
fn together(counts: &[Count]) -> Count {
    match counts {
        _ if counts.contains(&Count::Many) => Count::Many,
        _ if counts.contains(&Count::Optional) => Count::Optional,
        _ => Count::One,
    }
}

/// Reports a rewrite that defines no output of the root.
fn check_root(rewrite: &Rewrite, pattern: &Pattern, span: Span, faults: &mut Faults) -> Option<()> {
    let root = pattern.nodes.last()?;
    let outputs: Vec<VarId> = root.outputs.iter().filter_map(|output| output.var()).collect();
    if !outputs.iter().any(|output| rewrite.outputs.iter().any(|(made, _)| made == output)) {
        let names = outputs.iter().map(|id| format!("`{}`", pattern.values[usize::from(id.0)].name));
        let names = names.collect::<Vec<_>>().join(" or ");
        faults.push_if_whole(defines_no_output(faults, span, root, &names));
    }
    Some(())
}
