//! EXP008: an unused input of `forward`.

use super::item_baked::baked_inputs;
use crate::diag::Finding;
use crate::diag::rule_ids::DROPPED_INPUT;
use crate::torch::context::Context;
use crate::torch::trace::{Origin, Trace, ValueId};

/// Reports unused inputs, except for inputs whose values EXP002 reports as baked into the model.
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
        // `torch.export` keeps unused inputs.
        let is_kept = trace.origin == Origin::Export;
        let effect = if is_kept { "no output depends on it" } else { "the export drops it" };
        let finding = context
            .interface_finding(DROPPED_INPUT, format!("input {name} is unused: {effect}"))
            .label("the graph's inputs")
            .help(format!("remove {name} from `forward`, or use it as a tensor"));
        let single = value.ty.tensor().is_some_and(|ty| ty.is_scalar());
        out.push(match is_kept {
            true => finding.note("callers that pass it may wrongly assume that it has an effect"),
            false if single => finding.note(format!(
                "{name} is a single number: `int()`, `float()`, `.item()` or `if` on it leaves a constant in the trace"
            )),
            false => finding.note("callers that pass it will fail, or wrongly assume that it has an effect"),
        });
    }
}

/// Returns true for a parameter.
/// In the exporter's own graphs, parameters follow the inputs and are named by module path.
fn is_parameter(trace: &Trace, name: &str) -> bool {
    trace.origin == Origin::OnnxDialect && name.contains('.')
}
