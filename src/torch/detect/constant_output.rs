//! EXP009: an output that no input has any part in.

use crate::diag::Finding;
use crate::diag::known::CONSTANT_OUTPUT;
use crate::torch::argument::Argument;
use crate::torch::context::{Context, holds_tensor};
use crate::torch::trace::{Trace, ValueId};

pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    // A model without inputs is constant by design; of an incomplete graph nothing can be said.
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
        let message = format!("output {position}, {}, depends on no input", context.describe(value));
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
                .label("the same whatever the input is")
                .note("if it was computed from an input, that went through Python or NumPy, where tracing cannot follow")
                .help("compute it from the inputs with torch operators, or leave it out of the outputs"),
        );
    }
}

/// The single values of an output that is a tuple, a list or a dict.
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

/// Whether a random operator takes part, so that the value is no constant.
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
