//! Matches the nodes of a pattern, from the root to its inputs.

use std::sync::Arc;

use crate::rules::datum::Datum;
use crate::rules::host::Host;
use crate::rules::rule::{AttrPat, AttrPatKind, OperandPat, PatNode, Pattern, Rest, VarId};
use crate::schema::{Schema, operator};

use super::MATCHES_PER_ROOT;
use crate::rules::bindings::{Binding, State};

type Solution<H> = State<<H as Host>::Value, <H as Host>::Node>;

/// Maximum number of partial matches at one root.
const PARTIAL_MATCHES: usize = 16 * MATCHES_PER_ROOT;

/// Returns the ways to assign nodes to `pattern` with `root` as its last node, without conditions.
/// The search stops if the number of complete and partial matches exceeds [`PARTIAL_MATCHES`].
pub(super) fn solutions<H: Host>(
    host: &H,
    pattern: &Pattern,
    start: Solution<H>,
    root: H::Node,
) -> Vec<Solution<H>> {
    let Some(last) = pattern.nodes.len().checked_sub(1) else { return Vec::new() };
    let mut open = place(host, pattern, start, last, root);
    let mut complete = Vec::new();
    while let Some(state) = open.pop() {
        match next(pattern, &state) {
            None => complete.push(state),
            Some((index, output, value)) => {
                let mut forms = producers_at(host, &pattern.nodes[index], value, output);
                // The stack is last in, first out, but matches must be in the order of the host.
                forms.reverse();
                for node in forms {
                    let mut placed = place(host, pattern, state.clone(), index, node);
                    placed.reverse();
                    open.extend(placed);
                }
            }
        }
        if open.len() + complete.len() > PARTIAL_MATCHES {
            break;
        }
    }
    complete
}

/// Returns an unmatched node of the pattern, with one of its outputs whose value is bound.
fn next<V: Copy + Eq, N: Copy + Eq>(pattern: &Pattern, state: &State<V, N>) -> Option<(usize, usize, V)> {
    let missing = (0..pattern.nodes.len()).rev().filter(|&index| state.node(index).is_none());
    missing.into_iter().find_map(|index| {
        let outputs = pattern.nodes[index].outputs.iter().enumerate();
        outputs.into_iter().find_map(|(output, pat)| match state.value(pat.var()?) {
            Some(Binding::One(value)) => Some((index, output, *value)),
            _ => None,
        })
    })
}

/// Returns the producers of a value that a node of the pattern may match, at most [`MATCHES_PER_ROOT`].
///
/// The limit rarely loses a rewrite: an e-class that exceeds it usually contains equal e-nodes that were not
/// merged, and equal e-nodes lead to the same rewrite.
fn producers_at<H: Host>(host: &H, pattern: &PatNode, value: H::Value, output: usize) -> Vec<H::Node> {
    let producers = host.producers(value).into_iter();
    let matching = producers.filter(|&(node, at)| at == output && host.is(node, &pattern.op));
    matching.map(|(node, _)| node).take(MATCHES_PER_ROOT).collect()
}

/// Returns the ways in which `node` matches the node at `index` of the pattern.
fn place<H: Host>(
    host: &H,
    pattern: &Pattern,
    mut state: Solution<H>,
    index: usize,
    node: H::Node,
) -> Vec<Solution<H>> {
    let wanted = &pattern.nodes[index];
    if !host.is(node, &wanted.op) || !attributes(host, wanted, node, &mut state) {
        return Vec::new();
    }
    state.set_node(index, node);
    if !outputs(&wanted.outputs, &host.outputs(node), &mut state) {
        return Vec::new();
    }
    let inputs = host.inputs(node);
    let can_be = |var, value| can_be(host, pattern, var, value);
    let mut placed = Vec::new();
    operands(&wanted.inputs, &inputs, state.clone(), &can_be, &mut placed);
    if is_commutative(wanted, pattern.rounds) && inputs.len() == 2 && inputs[0] != inputs[1] {
        operands(&wanted.inputs, &[inputs[1], inputs[0]], state, &can_be, &mut placed);
    }
    placed
}

/// Binds the outputs that the pattern lists; false if an output cannot be bound.
/// Outputs of the node that the pattern does not list are ignored.
fn outputs<V: Copy + Eq, N: Copy + Eq>(
    wanted: &[OperandPat],
    outputs: &[Option<V>],
    state: &mut State<V, N>,
) -> bool {
    wanted.iter().enumerate().all(|(at, pat)| match (pat, outputs.get(at).copied().flatten()) {
        (OperandPat::Value(var) | OperandPat::Optional(var), Some(value)) => {
            state.bind(*var, Binding::One(value))
        }
        (OperandPat::Optional(var), None) => state.bind(*var, Binding::Absent),
        (OperandPat::Value(_), None) => false,
        (OperandPat::Absent, value) => value.is_none(),
        (OperandPat::Variadic(var), _) => {
            let rest: Option<Arc<[V]>> = outputs.get(at..).unwrap_or_default().iter().copied().collect();
            rest.is_some_and(|rest| state.bind(*var, Binding::Many(rest)))
        }
    })
}

/// Returns true if the node also matches with its two operands swapped.
fn is_commutative(pattern: &PatNode, rounds: bool) -> bool {
    let plain = matches!(pattern.inputs[..], [OperandPat::Value(_), OperandPat::Value(_)]);
    let operator = operator(&pattern.op.domain, &pattern.op.name);
    plain && operator.is_some_and(|operator| operator.commutes(rounds))
}

/// Returns false if the pattern has a producer of `var`, but `value` has none with its operator.
/// This prunes the search: a Concat can have many inputs, but few with the required producer.
fn can_be<H: Host>(host: &H, pattern: &Pattern, var: VarId, value: H::Value) -> bool {
    match pattern.values[usize::from(var.0)].def {
        Some((node, output)) => {
            !producers_at(host, &pattern.nodes[usize::from(node)], value, usize::from(output)).is_empty()
        }
        None => true,
    }
}

/// Adds to `placed` the ways to assign `inputs` to the input patterns, up to [`PARTIAL_MATCHES`].
fn operands<V: Copy + Eq, N: Copy + Eq>(
    wanted: &[OperandPat],
    inputs: &[Option<V>],
    mut state: State<V, N>,
    can_be: &dyn Fn(VarId, V) -> bool,
    placed: &mut Vec<State<V, N>>,
) {
    if placed.len() >= PARTIAL_MATCHES {
        return;
    }
    let Some((first, wanted)) = wanted.split_first() else {
        if inputs.iter().all(Option::is_none) {
            placed.push(state);
        }
        return;
    };
    let (input, rest) = match inputs.split_first() {
        Some((input, rest)) => (*input, rest),
        None => (None, inputs),
    };
    let bound = match (first, input) {
        (OperandPat::Variadic(var), _) => return variadic(*var, wanted, inputs, &state, can_be, placed),
        (OperandPat::Value(var) | OperandPat::Optional(var), Some(value)) => {
            can_be(*var, value) && state.bind(*var, Binding::One(value))
        }
        (OperandPat::Optional(var), None) => state.bind(*var, Binding::Absent),
        (OperandPat::Absent, None) => true,
        (OperandPat::Value(_), None) | (OperandPat::Absent, Some(_)) => false,
    };
    if bound {
        operands(wanted, rest, state, can_be, placed);
    }
}

/// Tries the possible numbers of inputs for `xs...`.
fn variadic<V: Copy + Eq, N: Copy + Eq>(
    var: VarId,
    wanted: &[OperandPat],
    inputs: &[Option<V>],
    state: &State<V, N>,
    can_be: &dyn Fn(VarId, V) -> bool,
    placed: &mut Vec<State<V, N>>,
) {
    let present = inputs.iter().map_while(|input| *input).collect::<Vec<V>>();
    let open_ended =
        wanted.iter().any(|one| matches!(one, OperandPat::Variadic(_) | OperandPat::Optional(_)));
    let least = if open_ended { 0 } else { inputs.len().saturating_sub(wanted.len()) };
    for taken in least..=present.len() {
        // Check the next input first, because copying the inputs before it is expensive.
        let fits = match (wanted.first(), inputs.get(taken)) {
            (Some(OperandPat::Value(next)), Some(Some(value))) => can_be(*next, *value),
            (Some(OperandPat::Value(_)), _) => false,
            _ => true,
        };
        if !fits || placed.len() >= PARTIAL_MATCHES {
            continue;
        }
        let mut state = state.clone();
        if state.bind(var, Binding::Many(present[..taken].into())) {
            operands(wanted, &inputs[taken..], state, can_be, placed);
        }
    }
}

/// Returns true if the attributes of `node` match; binds those that the pattern names.
fn attributes<H: Host>(host: &H, wanted: &PatNode, node: H::Node, state: &mut Solution<H>) -> bool {
    let schema = host.schema(node);
    let named = |name: &str| wanted.attrs.iter().any(|attr| &*attr.name == name);
    if !wanted.attrs.iter().all(|attr| attribute(host, attr, node, schema, state)) {
        return false;
    }
    let others: Vec<&str> = host.attr_names(node).into_iter().filter(|name| !named(name)).collect();
    match wanted.rest {
        Rest::Ignore => true,
        Rest::Keep(var) => {
            let pair = |name: &str| Some((Arc::from(name), host.attr(node, name)?));
            let rest = others.into_iter().map(pair).collect::<Option<Vec<_>>>();
            rest.is_some_and(|rest| {
                state.keep(var, rest.into());
                true
            })
        }
        Rest::None => others.into_iter().all(|name| {
            let default = default_of(schema, name);
            default.is_some() && host.attr(node, name) == default
        }),
    }
}

fn attribute<H: Host>(
    host: &H,
    wanted: &AttrPat,
    node: H::Node,
    schema: Option<&'static Schema>,
    state: &mut Solution<H>,
) -> bool {
    let actual = host.attr(node, &wanted.name).or_else(|| default_of(schema, &wanted.name));
    match &wanted.pat {
        AttrPatKind::Any => true,
        AttrPatKind::Literal(literal) => actual.is_some_and(|actual| is_literal(&actual, literal)),
        AttrPatKind::Bind(var) => actual.is_some_and(|actual| state.bind_attr(*var, actual)),
        AttrPatKind::BindOptional(var) => state.bind_attr(*var, actual.unwrap_or(Datum::Absent)),
    }
}

/// Returns true if an attribute equals a literal; element types are integers in attributes.
fn is_literal(actual: &Datum, literal: &Datum) -> bool {
    match (actual, literal) {
        (Datum::Int(number), Datum::Elem(elem)) => *number == i64::from(elem.number()),
        _ => actual == literal,
    }
}

/// Returns the default of an attribute, from the schema.
fn default_of(schema: Option<&'static Schema>, name: &str) -> Option<Datum> {
    let spec = schema?.attrs.iter().find(|attr| attr.name == name)?;
    spec.default.and_then(Datum::from_default)
}
