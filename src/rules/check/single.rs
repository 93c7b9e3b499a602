//! Conditions of target files on a single node or a pattern that ends with it.
//! In conditions on a single node, operands and attributes have the names of the specification.

use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Name, Op};
use crate::rules::expr::Expr;
use crate::rules::rule::{
    AttrPat, AttrPatKind, Count, Direction, OpPat, OperandPat, PatNode, Pattern, Rest, VarId,
};
use crate::rules::syntax::ast::{ExprAst, Statement};
use crate::schema::{self, Arity, Formal, Schema};

use super::alternatives;
use super::combinations::Partial;
use super::library::Library;
use super::scope::Scope;
use super::{Faults, expr, op, pattern};

/// Test for a node of an operator, in one range of versions with equal semantics.
#[derive(Clone, Debug)]
pub struct NodeTest {
    /// First version of the range, or `None` for an operator without a schema.
    pub epoch: Option<u16>,
    /// Pattern to match, and the conditions that its literals state.
    pub direction: Direction,
    /// Conditions, evaluated one by one, because an undefined condition is not a failed one.
    pub conditions: Vec<Expr>,
}

/// Note for faults in conditions, where names are not declared.
const NAMES: &str =
    "use the names of the specification: `rank(X)` for an input or output, `@group` for an attribute";

/// Checks the conditions on a node of `op`.
/// Returns a test for each range of versions with equal semantics, or only for the range that `op` names.
/// Ranges in which the conditions have faults are skipped. If all ranges have faults, reports the faults in
/// one range and returns `None`.
pub fn node_tests(op: &Op, conditions: &[ExprAst], faults: &mut Faults) -> Option<Vec<NodeTest>> {
    let versions = op::versions(op, faults)?;
    let mut schemas: Vec<&'static Schema> = Vec::new();
    for schema in versions.schemas() {
        // Keep the newest of the versions with equal semantics.
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

/// Checks a pattern whose last node is the tested one, and the conditions on it.
/// Returns one test for each combination of alternatives and each range of versions of the last node. If the
/// last node names a version, only the range of that version is tested. Combinations with faults, which have
/// been reported, have no tests.
pub fn pattern_tests(
    statements: &[Statement],
    span: Span,
    conditions: &[ExprAst],
    faults: &mut Faults,
) -> Vec<NodeTest> {
    let library = Library::new(&[], &[]);
    let Some(expansions) = alternatives::expand(statements, span, library, faults) else { return Vec::new() };
    let tests = expansions.all.iter().map(|combination| {
        pattern_test(&combination.statements, &expansions.partial, span, conditions, faults)
    });
    tests.collect::<Vec<_>>().concat()
}

/// Returns the tests for one combination of alternatives.
fn pattern_test(
    statements: &[Statement],
    partial: &Partial,
    span: Span,
    conditions: &[ExprAst],
    faults: &mut Faults,
) -> Vec<NodeTest> {
    let errors_before = faults.errors();
    let mut scope = Scope::new(&[]);
    let pattern::Nodes { nodes, conditions: steps } = pattern::nodes(statements, span, &mut scope, faults);
    let absent = scope.bind_absent(partial);
    let conditions: Vec<Expr> =
        conditions.iter().filter_map(|ast| expr::condition(ast, &mut scope, faults)).collect();
    if faults.errors() > errors_before {
        return Vec::new();
    }
    scope.report_unused(faults);
    let Some(root) = nodes.last().map(|node| node.op.clone()) else { return Vec::new() };
    let epochs: Vec<Option<u16>> = match root.epoch {
        None if schema::domain(&root.domain).is_some() => {
            schema::epochs(&root.domain, &root.name).map(Some).collect()
        }
        epoch => vec![epoch],
    };
    let test = |epoch: Option<u16>| {
        let mut nodes = nodes.clone();
        nodes.iter_mut().last().into_iter().for_each(|node| node.op.epoch = epoch);
        let pattern = Pattern { nodes, values: scope.values().to_vec(), rounds: true };
        let (steps, absent) = (steps.clone(), absent.clone());
        let direction =
            Direction { pattern, absent, attr_vars: scope.attr_vars(), steps, ..Direction::default() };
        NodeTest { epoch, direction, conditions: conditions.clone() }
    };
    epochs.into_iter().map(test).collect()
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
        // An output with the name of an input is updated in place; the input keeps the name.
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
    let pattern = Pattern { nodes: vec![node], values: scope.values().to_vec(), rounds: true };
    let direction = Direction { pattern, attr_vars: scope.attr_vars(), ..Direction::default() };
    Some(NodeTest { epoch, direction, conditions })
}

/// Binds an input or output by its name in the schema.
/// Single inputs and outputs are bound as optional, because an invalid node may lack them.
fn named(formal: &Formal, def: Option<(u16, u16)>, op: &OpPat, scope: &mut Scope) -> OperandPat {
    let mut add = |count: Count| -> VarId { scope.add(&formal.name.into(), count, def, op.span) };
    match formal.option {
        Arity::Single => OperandPat::Optional(add(Count::One)),
        Arity::Optional => OperandPat::Optional(add(Count::Optional)),
        Arity::Variadic { .. } => OperandPat::Variadic(add(Count::Many)),
    }
}
