//! EXP011: the model returns a dict, but ONNX outputs are a list.

use std::sync::Arc;

use crate::diag::Finding;
use crate::diag::rule_ids::DICT_OUTPUT;
use crate::torch::argument::Argument;
use crate::torch::context::Context;
use crate::torch::trace::{NodeId, Trace};

/// Reports dicts among the outputs.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    if !trace.output_keys.is_empty() {
        out.push(explain(
            context.interface_finding(DICT_OUTPUT, message(&trace.output_keys)),
            &trace.output_keys,
        ));
    }
    let mut dicts = Vec::new();
    for output in &trace.block(trace.body).outputs {
        dicts_within(trace, output, &mut dicts);
    }
    for dict in dicts {
        let keys = keys(trace, dict);
        let finding = context.finding(DICT_OUTPUT, dict, message(&keys));
        // PyTorch itself creates the dict; its members are computed on the user's lines.
        let members = trace.node(dict).inputs.iter().skip(1).step_by(2);
        let mut members = members.filter_map(|input| trace.producer(trace.as_value(&input.argument)?));
        let source = members.find_map(|id| context.user_source(trace.node(id)));
        out.push(explain(finding.source(source), &keys));
    }
}

/// Collects the dicts in an output: the output itself, or members of a tuple or list.
fn dicts_within(trace: &Trace, output: &Argument, into: &mut Vec<NodeId>) {
    if let Argument::List(members) = trace.see(output) {
        members.iter().for_each(|member| dicts_within(trace, member, into));
    } else if let Some(id) = trace.as_value(output).and_then(|value| trace.producer(value))
        && trace.node(id).op.is("prim", "DictConstruct")
    {
        into.push(id);
    }
}

fn message(keys: &[Arc<str>]) -> String {
    format!("the model returns a dict; its keys ({}) are lost in the export", listed(keys))
}

fn explain(finding: Finding, keys: &[Arc<str>]) -> Finding {
    let names: Vec<String> = keys.iter().map(|key| format!("\"{key}\"")).collect();
    finding
        .label("a dict")
        .note("the outputs keep the order of the dict, but the exporter chooses their names")
        .help(format!(
            "name them: `torch.onnx.export(…, output_names=[{}])`, or return a tuple",
            names.join(", ")
        ))
}

fn listed(keys: &[Arc<str>]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the keys of a `prim::DictConstruct`, whose inputs alternate between keys and values.
fn keys(trace: &Trace, dict: NodeId) -> Vec<Arc<str>> {
    let inputs = trace.node(dict).inputs.iter().step_by(2);
    inputs
        .map(|input| match trace.see(&input.argument) {
            Argument::Str(key) => key.clone(),
            Argument::Int(key) => Arc::from(key.to_string()),
            _ => Arc::from("?"),
        })
        .collect()
}
