//! EXP008: an input of `forward` that nothing reads.

use super::item_baked::baked_inputs;
use crate::diag::Finding;
use crate::diag::known::DROPPED_INPUT;
use crate::torch::context::Context;
use crate::torch::trace::{Origin, Trace, ValueId};

pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    if !trace.complete {
        return;
    }
    let said_elsewhere: Vec<ValueId> = baked_inputs(context).iter().map(|baked| baked.input).collect();
    for input in trace.inputs() {
        let value = trace.value(input);
        if !value.users.is_empty() || said_elsewhere.contains(&input) || is_parameter(trace, &value.name) {
            continue;
        }
        let name = context.describe(input);
        let finding = context
            .interface_finding(DROPPED_INPUT, format!("nothing reads the input {name}: the export drops it"))
            .label("the graph's inputs")
            .help(format!("leave {name} out of `forward`, or use its value as a tensor"));
        let single = value.ty.tensor().is_some_and(|ty| ty.is_scalar());
        out.push(if single && trace.origin != Origin::Export {
            finding.note(format!(
                "{name} holds a single number: `int()`, `float()`, `.item()` or `if` on it leave a constant in the trace"
            ))
        } else {
            finding.note("callers that pass it fail, or believe that it matters")
        });
    }
}

/// In the exporter's own graphs the parameters follow the inputs, under their paths in the module.
fn is_parameter(trace: &Trace, name: &str) -> bool {
    trace.origin == Origin::OnnxDialect && name.contains('.')
}
