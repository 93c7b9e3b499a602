//! `match`: checks the nodes of a pattern.

use crate::diag::Finding;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Attr, Name, Operand};
use crate::rules::datum::Datum;
use crate::rules::expr::{CompareOp, Expr, ExprKind};
use crate::rules::func::Func;
use crate::rules::rule::{AttrPat, AttrPatKind, Count, OperandPat, PatNode, Rest, Step, VarId};
use crate::rules::syntax::ast::{CallAst, ExprAst, ExprAstKind, Statement, ValueAst, ValueAstKind};

use super::Faults;
use super::call::{check_call, is_function};
use super::op::{self, Versions};
use super::scope::{self, Scope};

fn empty(faults: &Faults, span: Span) -> Finding {
    faults.at(span, "the pattern has no nodes").help("add at least one node: `y = Relu (x)`")
}

fn root_without_node(faults: &Faults, span: Span) -> Finding {
    faults
        .at(span, "this alternative has no node of its own, so the pattern would have no root")
        .help("name a value that the statement before it defines, or write an operator")
}

fn defined_twice(faults: &Faults, name: &Name, first: Span) -> Finding {
    faults
        .at(name.span, format!("`{}` is defined twice", name.text))
        .related(faults.place(first), "it is first defined here")
}

fn made_below(faults: &Faults, name: &Name, used: Span) -> Finding {
    faults
        .at(name.span, format!("`{}` is defined after the node that uses it", name.text))
        .related(faults.place(used), "it is used here")
        .help("write producers before their users; the last node is the root")
}

fn unconnected(faults: &Faults, node: &PatNode, root: &PatNode) -> Finding {
    faults
        .at(node.span, "the root of the pattern does not depend on this node")
        .related(faults.place(root.span), "the last node is the root")
        .help("connect the node: the root must use every other node, directly or indirectly")
}

fn not_in_pattern(faults: &Faults, span: Span, what: &str) -> Finding {
    faults.at(span, format!("{what} in a pattern")).help("use operators, names and literals only")
}

fn not_constant(faults: &Faults, value: &ExprAst) -> Finding {
    faults
        .at(value.span, "an attribute in a pattern must be `@a`, `_` or a literal")
        .help("bind it with `@a` and compare it with `where { @a == … }`")
}

/// Nodes of a pattern, and the conditions on constants that it contains.
#[derive(Default)]
pub struct Nodes {
    pub nodes: Vec<PatNode>,
    pub conditions: Vec<Step>,
}

/// Checks the nodes and binds their names.
pub fn nodes(statements: &[Statement], span: Span, scope: &mut Scope, faults: &mut Faults) -> Nodes {
    let errors_before = faults.errors();
    let mut found = Nodes::default();
    for statement in statements {
        match statement {
            Statement::Make { targets, source, span } => match &source.kind {
                ValueAstKind::Call(call) => found.node(call, targets, *span, scope, faults),
                ValueAstKind::Name(operand) => alias(targets, operand, source.span, scope, faults),
                _ => faults.push(not_in_pattern(faults, source.span, "this is not allowed")),
            },
            Statement::Let { span, .. } => {
                faults.push(not_in_pattern(faults, *span, "`let` is not allowed"));
            }
        }
    }
    if statements.is_empty() {
        faults.push_if_whole(empty(faults, span));
    }
    if let Some(Statement::Make { targets, source, .. }) = statements.last()
        && faults.errors() == errors_before
    {
        let made =
            targets.first().and_then(|target| scope.find(&target.name.text)).and_then(|id| scope.var(id).def);
        match (&source.kind, made) {
            (ValueAstKind::Name(_), made)
                if made.is_none_or(|(node, _)| usize::from(node) + 1 != found.nodes.len()) =>
            {
                faults.push(root_without_node(faults, source.span));
            }
            _ => check_connected(&found.nodes, faults),
        }
    }
    found
}

/// Gives a value a second name, for an alternative that is only a name.
fn alias(targets: &[Operand], operand: &Operand, span: Span, scope: &mut Scope, faults: &mut Faults) {
    let [target] = targets else { return faults.push(not_in_pattern(faults, span, "this is not allowed")) };
    if let Some(first) = scope.find(&target.name.text).map(|id| scope.var(id).span) {
        return faults.push(defined_twice(faults, &target.name, first));
    }
    match input(operand, scope, faults).var() {
        Some(id) => scope.alias(&target.name.text, id),
        None => faults.push(not_in_pattern(faults, span, "an absent value is not allowed")),
    }
}

impl Nodes {
    fn node(
        &mut self,
        call: &CallAst,
        targets: &[Operand],
        span: Span,
        scope: &mut Scope,
        faults: &mut Faults,
    ) {
        let counts: Vec<Count> = targets.iter().map(|target| scope::count(target.many)).collect();
        let Some(mut node) = self.taken(call, &counts, span, scope, faults) else { return };
        let index = self.nodes.len() as u16;
        let targets = targets.iter().enumerate();
        node.outputs =
            targets.map(|(at, target)| output(target, (index, at as u16), scope, faults)).collect();
        self.nodes.push(node);
    }

    /// Adds a nested call, whose only output has no name.
    fn inner(&mut self, call: &CallAst, span: Span, scope: &mut Scope, faults: &mut Faults) -> OperandPat {
        let Some(node) = self.taken(call, &[Count::One], span, scope, faults) else {
            return OperandPat::Absent;
        };
        let made = scope.add(&"".into(), Count::One, Some((self.nodes.len() as u16, 0)), span);
        self.nodes.push(PatNode { outputs: vec![OperandPat::Value(made)], ..node });
        OperandPat::Value(made)
    }

    /// Checks a node except for its outputs.
    fn taken(
        &mut self,
        call: &CallAst,
        outputs: &[Count],
        span: Span,
        scope: &mut Scope,
        faults: &mut Faults,
    ) -> Option<PatNode> {
        if is_function(call) {
            let what = format!("the function `{}` is not allowed", call.op.name.text);
            faults.push(not_in_pattern(faults, call.op.span, &what));
            return None;
        }
        let versions = op::versions(&call.op, faults);
        if let Some(versions) = &versions {
            let inputs: Vec<Count> = call.inputs.iter().map(written_count).collect();
            check_call(versions, call, &inputs, outputs, faults);
        }
        let inputs = call.inputs.iter().map(|value| self.input(value, scope, faults)).collect();
        let attrs =
            call.attrs.iter().filter_map(|attr| attribute(attr, versions.as_ref(), scope, faults)).collect();
        let rest = match &call.rest {
            None => Rest::None,
            Some(rest) => rest.keep.as_ref().map_or(Rest::Ignore, |name| Rest::Keep(scope.bind(name))),
        };
        Some(PatNode { op: versions?.op, inputs, outputs: Vec::new(), attrs, rest, span })
    }

    fn input(&mut self, value: &ValueAst, scope: &mut Scope, faults: &mut Faults) -> OperandPat {
        match &value.kind {
            ValueAstKind::Name(operand) => input(operand, scope, faults),
            ValueAstKind::Call(call) => self.inner(call, value.span, scope, faults),
            ValueAstKind::Literal(ast) => match literal(ast) {
                Some(_) => self.constant(ast, scope, faults),
                None => {
                    faults.push(not_constant(faults, ast));
                    OperandPat::Absent
                }
            },
            ValueAstKind::Case(_)
            | ValueAstKind::Each(_)
            | ValueAstKind::Fold(_)
            | ValueAstKind::Alternatives(_) => {
                faults.push(not_in_pattern(faults, value.span, "`case` and `for` are not allowed"));
                OperandPat::Absent
            }
        }
    }

    /// Adds a variable and the condition that it equals a literal.
    /// A number must equal the only element of a constant, and a list must equal all its elements.
    fn constant(&mut self, ast: &ExprAst, scope: &mut Scope, faults: &mut Faults) -> OperandPat {
        let var = scope.add(&"".into(), Count::One, None, ast.span);
        let func = if matches!(ast.kind, ExprAstKind::List(_)) { Func::Const } else { Func::Scalar };
        let here = |kind: ExprKind| Box::new(Expr { kind, span: ast.span });
        let value = Expr { kind: ExprKind::Value(var), span: ast.span };
        let left = here(ExprKind::Call { func, args: vec![value] });
        if let Some(right) = super::expr::expr(ast, scope, faults) {
            let kind = ExprKind::Compare { op: CompareOp::Eq, left, right: Box::new(right) };
            let condition = Expr { kind, span: ast.span };
            self.conditions.push(Step::Where { condition, because: None });
        }
        OperandPat::Value(var)
    }
}

/// Returns how many values an input binds.
fn written_count(value: &ValueAst) -> Count {
    match &value.kind {
        ValueAstKind::Name(operand) => scope::count(operand.many),
        ValueAstKind::Each(_) => Count::Many,
        _ => Count::One,
    }
}

fn input(operand: &Operand, scope: &mut Scope, faults: &mut Faults) -> OperandPat {
    if operand.name.text.is_empty() {
        return OperandPat::Absent;
    }
    let id = match scope.find(&operand.name.text) {
        // Each `_` is a new variable, so different `_` can match different values.
        _ if &*operand.name.text == "_" => {
            scope.add(&"".into(), scope::count(operand.many), None, operand.span)
        }
        Some(id) => {
            scope.same_count(operand, id, faults);
            id
        }
        None => scope.add(&operand.name.text, scope::count(operand.many), None, operand.span),
    };
    operand_pat(scope, id)
}

/// Returns the operand pattern for a variable, according to the number of values it binds.
fn operand_pat(scope: &Scope, id: VarId) -> OperandPat {
    match scope.var(id).count {
        Count::One => OperandPat::Value(id),
        Count::Optional => OperandPat::Optional(id),
        Count::Many => OperandPat::Variadic(id),
    }
}

fn output(operand: &Operand, def: (u16, u16), scope: &mut Scope, faults: &mut Faults) -> OperandPat {
    let name = &operand.name;
    if name.text.is_empty() {
        return OperandPat::Absent;
    }
    if let Some(first) = scope.find(&name.text).map(|id| scope.var(id)) {
        let finding = match first.def {
            Some(_) => defined_twice(faults, name, first.span),
            None => made_below(faults, name, first.span),
        };
        faults.push(finding);
        return OperandPat::Absent;
    }
    let id = scope.add(&name.text, scope::count(operand.many), Some(def), operand.span);
    operand_pat(scope, id)
}

fn attribute(
    attr: &Attr<ExprAst>,
    versions: Option<&Versions>,
    scope: &mut Scope,
    faults: &mut Faults,
) -> Option<AttrPat> {
    let pat = match &attr.value.kind {
        ExprAstKind::Any => AttrPatKind::Any,
        ExprAstKind::Attr { name, optional: false } => AttrPatKind::Bind(scope.bind(name)),
        ExprAstKind::Attr { name, optional: true } => AttrPatKind::BindOptional(scope.bind(name)),
        _ => match literal(&attr.value) {
            Some(datum) => AttrPatKind::Literal(as_kind(datum, versions, &attr.name.text)),
            None => {
                faults.push(not_constant(faults, &attr.value));
                return None;
            }
        },
    };
    Some(AttrPat { name: attr.name.text.clone(), pat, span: attr.span })
}

/// Evaluates a literal, or returns `None` for an expression that is not a literal.
fn literal(ast: &ExprAst) -> Option<Datum> {
    Some(match &ast.kind {
        ExprAstKind::Int(int) => Datum::Int(*int),
        ExprAstKind::Bool(truth) => Datum::Int(i64::from(*truth)),
        ExprAstKind::Float(float) => Datum::Float(*float),
        ExprAstKind::Str(text) => Datum::Str(text.clone()),
        ExprAstKind::Elem(elem) => Datum::Elem(*elem),
        ExprAstKind::Tensor(tensor) => Datum::Tensor(tensor.clone()),
        ExprAstKind::List(items) => Datum::List(items.iter().map(literal).collect::<Option<_>>()?),
        _ => return None,
    })
}

/// Converts integers to floats where the attribute holds floats.
fn as_kind(datum: Datum, versions: Option<&Versions>, name: &str) -> Datum {
    use crate::graph::AttrKind;
    let to_float = |datum: Datum| match datum {
        Datum::Int(int) => Datum::Float(int as f64),
        other => other,
    };
    match (versions.and_then(|versions| versions.kind(name)), datum) {
        (Some(AttrKind::Float), datum) => to_float(datum),
        (Some(AttrKind::Floats), Datum::List(items)) => {
            Datum::List(items.into_iter().map(to_float).collect())
        }
        (_, datum) => datum,
    }
}

/// Reports nodes from which the root cannot be reached.
fn check_connected(nodes: &[PatNode], faults: &mut Faults) {
    let Some((root, others)) = nodes.split_last() else { return };
    let mut wanted: Vec<VarId> = root.inputs.iter().filter_map(|input| input.var()).collect();
    for node in others.iter().rev() {
        if node.outputs.iter().filter_map(|output| output.var()).any(|output| wanted.contains(&output)) {
            wanted.extend(node.inputs.iter().filter_map(|input| input.var()));
        } else {
            faults.push_if_whole(unconnected(faults, node, root));
        }
    }
}
