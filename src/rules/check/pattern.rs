//! `match`: the nodes that must be there.

use crate::diag::Finding;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Attr, Call, Many, Name, Node, Operand};
use crate::rules::datum::Datum;
use crate::rules::rule::{AttrPat, AttrPatKind, Count, InPat, PatNode, Rest, VarId};
use crate::rules::syntax::ast::{ExprAst, ExprAstKind, Statement};

use super::Faults;
use super::op::{self, Versions};
use super::scope::{self, Scope};

fn empty(faults: &Faults, span: Span) -> Finding {
    faults.at(span, "the pattern has no node").help("write at least one: `y = Relu (x)`")
}

fn alias_in_match(faults: &Faults, span: Span) -> Finding {
    faults
        .at(span, "a pattern consists of nodes")
        .help("a value that stands in two places of a pattern is written with one name")
}

fn defined_twice(faults: &Faults, name: &Name, first: Span) -> Finding {
    faults.at(name.span, format!("`{}` is made twice", name.text)).related(faults.place(first), "first here")
}

fn made_below(faults: &Faults, name: &Name, used: Span) -> Finding {
    faults
        .at(name.span, format!("`{}` is made here, below the node that takes it", name.text))
        .related(faults.place(used), "it is taken here")
        .help("write nodes in the order in which they run; the last one is the root")
}

fn unconnected(faults: &Faults, node: &PatNode, root: &PatNode) -> Finding {
    faults
        .at(node.span, "this node does not lead to the last one of the pattern")
        .related(faults.place(root.span), "the last one is the root, where a match begins")
        .help("the root must take an output of every other node, directly or through others")
}

fn counted_output(faults: &Faults, operand: &Operand) -> Finding {
    faults.at(operand.span, "an output is one value; write `\"\"` for one that must not be there")
}

fn not_constant(faults: &Faults, value: &ExprAst) -> Finding {
    faults
        .at(value.span, "an attribute of a pattern is `@a`, `_` or written out")
        .help("what is computed is compared afterwards: bind it with `@a`, and write `where { @a == … }`")
}

/// Checks the nodes and binds their names.
pub fn nodes(statements: &[Statement], span: Span, scope: &mut Scope, faults: &mut Faults) -> Vec<PatNode> {
    let errors_before = faults.errors();
    let mut nodes = Vec::new();
    for statement in statements {
        match statement {
            Statement::Node(node) => nodes.extend(self::node(node, nodes.len(), scope, faults)),
            Statement::Alias { span, .. } => faults.push(alias_in_match(faults, *span)),
        }
    }
    if statements.is_empty() {
        faults.push_if_whole(empty(faults, span));
    }
    if faults.errors() == errors_before {
        check_connected(&nodes, faults);
    }
    nodes
}

fn node(node: &Node<ExprAst>, index: usize, scope: &mut Scope, faults: &mut Faults) -> Option<PatNode> {
    let call = &node.call;
    let versions = op::versions(&call.op, faults);
    if let Some(versions) = &versions {
        check_call(versions, call, node.outputs.len(), faults);
    }
    let inputs = call.inputs.iter().map(|operand| input(operand, scope, faults)).collect();
    let attrs =
        call.attrs.iter().filter_map(|attr| attribute(attr, versions.as_ref(), scope, faults)).collect();
    let outputs =
        node.outputs.iter().enumerate().map(|(at, operand)| output(operand, index, at, scope, faults));
    let outputs = outputs.collect();
    let rest = match &call.rest {
        None => Rest::None,
        Some(rest) => rest.keep.as_ref().map_or(Rest::Ignore, |name| Rest::Keep(scope.bind(name))),
    };
    Some(PatNode { op: versions?.op, inputs, outputs, attrs, rest, span: node.span })
}

/// Arity and attributes, of nodes of a pattern and of a rewrite.
pub fn check_call(versions: &Versions, call: &Call<ExprAst>, outputs: usize, faults: &mut Faults) {
    let open = call.inputs.iter().filter(|operand| operand.many != Many::One).count();
    let any = call.inputs.iter().any(|operand| operand.many == Many::Any);
    versions.check_counts(call, outputs, open, any, faults);
    versions.check_attrs(call, faults);
    for attr in &call.attrs {
        versions.check_kind(&attr.name, &attr.value, faults);
    }
}

fn input(operand: &Operand, scope: &mut Scope, faults: &mut Faults) -> InPat {
    if operand.name.text.is_empty() {
        return InPat::Absent;
    }
    let id = match scope.find(&operand.name.text) {
        Some(id) => {
            scope.same_count(operand, id, faults);
            id
        }
        None => scope.add(&operand.name.text, scope::count(operand.many), None, operand.span),
    };
    in_pat(scope, id)
}

/// How an input is matched: as often as its variable stands for values.
pub fn in_pat(scope: &Scope, id: VarId) -> InPat {
    match scope.var(id).count {
        Count::One => InPat::Value(id),
        Count::Optional => InPat::Optional(id),
        Count::Many => InPat::Variadic(id),
    }
}

fn output(
    operand: &Operand,
    node: usize,
    at: usize,
    scope: &mut Scope,
    faults: &mut Faults,
) -> Option<VarId> {
    if operand.name.text.is_empty() {
        return None;
    }
    if operand.many != Many::One {
        faults.push(counted_output(faults, operand));
        return None;
    }
    if let Some(first) = scope.find(&operand.name.text).map(|id| scope.var(id)) {
        let finding = match first.def {
            Some(_) => defined_twice(faults, &operand.name, first.span),
            None => made_below(faults, &operand.name, first.span),
        };
        faults.push(finding);
        return None;
    }
    let def = Some((node as u16, at as u16));
    Some(scope.add(&operand.name.text, Count::One, def, operand.span))
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

/// What is written out, without anything to compute.
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

/// Whole numbers become floats where the attribute is one.
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

/// Every node leads to the last one.
fn check_connected(nodes: &[PatNode], faults: &mut Faults) {
    let Some((root, others)) = nodes.split_last() else { return };
    let mut wanted: Vec<VarId> = root.inputs.iter().filter_map(|input| input.var()).collect();
    for node in others.iter().rev() {
        if node.outputs.iter().flatten().any(|output| wanted.contains(output)) {
            wanted.extend(node.inputs.iter().filter_map(|input| input.var()));
        } else {
            faults.push_if_whole(unconnected(faults, node, root));
        }
    }
}
