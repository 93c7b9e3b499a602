//! Descriptions of the computation in a step of an unrolled loop, to compare steps.

use crate::torch::argument::Argument;
use crate::torch::trace::{Trace, User, ValueId};

/// Maximum number of operators that are compared.
const MAX_BODY: usize = 12;

/// Descriptions of the uses of each value in a chain; the next value is the output of the only user.
///
/// The chain ends at a value without exactly one user, at a user without exactly one output, or after
/// `MAX_BODY` values.
pub type Body = Vec<Vec<String>>;

/// Returns the computation that starts at a value.
pub fn body(trace: &Trace, mut value: ValueId) -> Body {
    let mut body = Body::new();
    while body.len() < MAX_BODY {
        let users = &trace.value(value).users;
        let mut step: Vec<String> =
            users.iter().filter_map(|user| describe_use(trace, value, user)).collect();
        step.sort();
        body.push(step);
        let [User::Node(only)] = users[..] else { break };
        let [next] = trace.node(only).outputs[..] else { break };
        value = next;
    }
    body
}

/// Describes a use by operator, operand positions, literal arguments, module and line.
///
/// Two steps that run the same Python code on the same weights and constants have equal descriptions.
fn describe_use(trace: &Trace, value: ValueId, user: &User) -> Option<String> {
    let User::Node(id) = user else { return None };
    let node = trace.node(*id);
    let line = node.source.as_ref().map_or(0, |source| source.line);
    let mut text = format!("{} {} {line}", node.op, node.scope);
    if matches!(&*node.op.name, "ListConstruct" | "TupleConstruct" | "Concat" | "cat" | "stack") {
        return Some(text);
    }
    for input in &node.inputs {
        let operand = match (&input.argument, trace.see(&input.argument)) {
            (Argument::Value(it), _) if *it == value => " self".to_owned(),
            (Argument::Value(it), Argument::Value(_)) => attribute_path(trace, *it),
            (_, literal) => written(trace, literal),
        };
        text.push_str(&operand);
    }
    Some(text)
}

/// Renders a literal. List members are resolved: the values that name them differ between steps.
fn written(trace: &Trace, literal: &Argument) -> String {
    match literal {
        Argument::List(members) => {
            let members: Vec<String> =
                members.iter().map(|member| format!("{:?}", trace.see(member))).collect();
            format!(" {members:?}")
        }
        literal => format!(" {literal:?}"),
    }
}

/// Returns true if two bodies begin with a computation and are equal.
/// Ignores the last entry of the shorter body: values of the last iteration of a loop have fewer users than
/// those of the others. A body with a single entry is compared whole.
pub fn is_alike(a: &Body, b: &Body) -> bool {
    let without_end = |body: &Body| body.len().saturating_sub(1).max(1);
    let compared = without_end(a).min(without_end(b));
    let computes = |step: &[String]| step.iter().any(|use_| !use_.contains("Construct"));
    computes(&a[0]) && a.iter().zip(b).take(compared).all(|(a, b)| a == b)
}

/// Returns the path of a module attribute, such as ` .cells.0.weight`; ` _` for a computed value.
fn attribute_path(trace: &Trace, mut value: ValueId) -> String {
    let mut names = Vec::new();
    while let Some(node) =
        trace.producer(value).map(|id| trace.node(id)).filter(|node| node.op.is("prim", "GetAttr"))
    {
        let name = node.attributes.iter().find(|(key, _)| &**key == "name").map(|(_, name)| name);
        names.push(match name {
            Some(Argument::Str(name)) => &**name,
            _ => "",
        });
        match trace.receiver(node).filter(|_| names.len() < MAX_BODY) {
            Some(owner) => value = owner,
            None => break,
        }
    }
    names.reverse();
    if names.is_empty() { " _".to_owned() } else { format!(" .{}", names.join(".")) }
}
