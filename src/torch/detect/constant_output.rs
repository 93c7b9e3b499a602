//! EXP009: an output that does not depend on any input.

use crate::diag::Finding;
use crate::diag::rule_ids::CONSTANT_OUTPUT;
use crate::torch::argument::Argument;
use crate::torch::context::{Context, holds_tensor};
use crate::torch::trace::{Trace, ValueId};

/// Reports constant outputs.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    // A model without inputs is constant by design; incomplete graphs cannot be judged.
    if !trace.complete || trace.inputs().next().is_none() {
        return;
    }
    let mut returned = Vec::new();
    for output in &trace.block(trace.body).outputs {
        flatten(trace, output, &mut returned);
    }
    for (position, value) in returned.into_iter().enumerate() {
        if context.varies(value) || !holds_tensor(&trace.value(value).ty) || is_random(trace, value) {
            continue;
        }
        let message = format!("output {position}, {}, does not depend on any input", context.describe(value));
        let finding = match trace.producer(value) {
            Some(producer) => {
                let finding = context.finding(CONSTANT_OUTPUT, producer, message);
                let source = finding.source.clone().or_else(|| context.forward_source());
                finding.source(source)
            }
            None => context.interface_finding(CONSTANT_OUTPUT, message),
        };
        out.push(
            finding
                .label("constant for all inputs")
                .note("if it should depend on an input, it was computed in Python or NumPy, which tracing cannot follow")
                .help("compute it from the inputs with torch operators, or remove it from the outputs"),
        );
    }
}

/// Collects the values of an output that is a tuple, a list or a dict.
fn flatten(trace: &Trace, output: &Argument, into: &mut Vec<ValueId>) {
    match (output, trace.see(output)) {
        (_, Argument::List(members)) => members.iter().for_each(|member| flatten(trace, member, into)),
        (Argument::Value(value), _) => match trace.producer(*value).map(|id| trace.node(id)) {
            Some(dict) if dict.op.is("prim", "DictConstruct") => {
                dict.inputs.iter().skip(1).step_by(2).for_each(|input| flatten(trace, &input.argument, into));
            }
            _ => into.push(*value),
        },
        _ => {}
    }
}

/// Returns true if a random operator contributes to a value, so that it is not constant.
fn is_random(trace: &Trace, value: ValueId) -> bool {
    let mut pending = vec![value];
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(value) = pending.pop() {
        let Some(node) = trace.producer(value).filter(|_| seen.insert(value)).map(|id| trace.node(id)) else {
            continue;
        };
        let name = node.op.name.to_ascii_lowercase();
        if name.contains("rand")
            || ["bernoulli", "normal", "multinomial", "dropout", "uniform"].iter().any(|it| name.contains(it))
        {
            return true;
        }
        pending.extend(trace.values_read(node));
    }
    false
}
