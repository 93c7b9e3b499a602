//! Conditions on one node, whose operands and attributes have the names of the specification: of target files.

use crate::graph::syntax::ast::{Name, Op};
use crate::rules::expr::Expr;
use crate::rules::rule::{
    AttrPat, AttrPatKind, Count, Direction, OpPat, OperandPat, PatNode, Pattern, Rest, VarId,
};
use crate::rules::syntax::ast::ExprAst;
use crate::schema::{Arity, Formal, Schema};

use super::scope::Scope;
use super::{Faults, expr, op};

/// What is asked of a node of one epoch of an operator.
#[derive(Debug)]
pub struct NodeTest {
    /// The first version of the epoch; `None` for an operator without a schema.
    pub epoch: Option<u16>,
    /// One node, and no conditions: those are asked one by one, as one that is undefined is not one that fails.
    pub direction: Direction,
    pub conditions: Vec<Expr>,
}

/// What follows a fault, as the names are nowhere in sight.
const NAMES: &str =
    "the names are those of the specification: `rank(X)` of an input or output, `@group` of an attribute";

/// The conditions on a node of `op`: for the epoch that it names, or for each one that has the names that they speak
/// of. `None` where something is wrong, which has been reported.
pub fn node_tests(op: &Op, conditions: &[ExprAst], faults: &mut Faults) -> Option<Vec<NodeTest>> {
    let versions = op::versions(op, faults)?;
    let mut schemas: Vec<&'static Schema> = Vec::new();
    for schema in versions.schemas() {
        // The newest of each epoch.
        schemas.retain(|other| other.epoch != schema.epoch);
        schemas.push(schema);
    }
    if schemas.is_empty() {
        return node_test(&versions.op, None, conditions, faults).map(|test| vec![test]);
    }
    let mut tests = Vec::new();
    let mut wrong = None;
    for schema in schemas {
        let mut apart = faults.apart();
        match node_test(&versions.op, Some(schema), conditions, &mut apart) {
            Some(test) => tests.push(test),
            None => wrong = Some(apart),
        }
    }
    if let (true, Some(wrong)) = (tests.is_empty(), wrong) {
        faults.extend(wrong.into_findings());
        return None;
    }
    Some(tests)
}

fn node_test(
    op: &OpPat,
    schema: Option<&'static Schema>,
    conditions: &[ExprAst],
    faults: &mut Faults,
) -> Option<NodeTest> {
    let mut scope = Scope::new(&[]);
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for formal in schema.map_or(&[][..], |schema| schema.inputs) {
        inputs.push(named(formal, None, op, &mut scope));
    }
    for (index, formal) in schema.map_or(&[][..], |schema| schema.outputs).iter().enumerate() {
        // What is written over has the name of what is read.
        if scope.find(formal.name).is_some() {
            break;
        }
        outputs.push(named(formal, Some((0, u16::try_from(index).ok()?)), op, &mut scope));
    }
    let attrs = schema.map_or(&[][..], |schema| schema.attrs).iter().map(|spec| {
        let name = Name { text: spec.name.into(), span: op.span };
        let var = scope.bind_unused(&name);
        AttrPat { name: name.text, pat: AttrPatKind::BindOptional(var), span: op.span }
    });
    let attrs: Vec<AttrPat> = attrs.collect();
    faults.set_note(Some(NAMES));
    let checked: Vec<_> = conditions.iter().map(|ast| expr::condition(ast, &mut scope, faults)).collect();
    faults.set_note(None);
    let conditions = checked.into_iter().collect::<Option<_>>()?;
    let epoch = schema.map(|schema| schema.epoch);
    let op = OpPat { epoch, ..op.clone() };
    let node = PatNode { span: op.span, op, inputs, outputs, attrs, rest: Rest::Ignore };
    let pattern = Pattern { nodes: vec![node], values: scope.values().to_vec() };
    let direction = Direction { pattern, attr_vars: scope.attr_vars(), steps: Vec::new(), rewrite: None };
    Some(NodeTest { epoch, direction, conditions })
}

/// Any input may be missing in a faulty node, and a pattern of optional ones stays in its order.
fn named(formal: &Formal, def: Option<(u16, u16)>, op: &OpPat, scope: &mut Scope) -> OperandPat {
    let mut add = |count: Count| -> VarId { scope.add(&formal.name.into(), count, def, op.span) };
    match formal.option {
        Arity::Single => OperandPat::Optional(add(Count::One)),
        Arity::Optional => OperandPat::Optional(add(Count::Optional)),
        Arity::Variadic { .. } => OperandPat::Variadic(add(Count::Many)),
    }
}
