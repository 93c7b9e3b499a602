//! Repairs of subgraphs: outputs from an outer graph, mixed types, and wrong declarations.
//!
//! The type of an output is mixed if it differs between the branches of an `If` or the iterations of a loop.

use super::Casts;
use super::lossless::is_numeric;
use crate::analyses::LintContext;
use crate::graph::{AttrValue, ElemType, GraphId, Model, NodeId, Owner, scopes};
use crate::infer::{Conflict, Fact, Facts, Fault, declared_numbers};
use crate::torch::promotion::promoted;

/// Change of an output of a subgraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputRepair {
    /// Subgraph that has the output.
    pub graph: GraphId,
    /// Position among the outputs of the subgraph.
    pub output: usize,
    /// Element type to cast the output to; `None` inserts an Identity instead of a Cast.
    pub to: Option<ElemType>,
}

/// Returns the outputs of subgraphs that are values of an outer graph, with the owning nodes.
///
/// ONNX Runtime requires that a subgraph itself defines its outputs.
pub fn outer_outputs(model: &Model) -> Vec<(NodeId, OutputRepair)> {
    let mut found = Vec::new();
    for graph in scopes::live(model) {
        let scope = &model.graphs[graph];
        let Owner::Node(holder) = scope.owner else { continue };
        for (output, port) in scope.outputs.iter().enumerate() {
            if model.values[port.value].graph != graph {
                found.push((holder, OutputRepair { graph, output, to: None }));
            }
        }
    }
    found
}

/// Subgraph input that does not receive its declared type.
pub struct MisdeclaredInput {
    /// Subgraph that has the input.
    pub graph: GraphId,
    /// Position among the inputs of the subgraph.
    pub input: usize,
    /// Declared type of the input.
    pub declared: Fact,
    /// Inferred type of the value that the input receives.
    pub received: Fact,
}

/// Returns the inputs of subgraphs whose declared type contradicts the inferred one.
///
/// Shapes are compared for `Scan` and `SequenceMap` only: ONNX Runtime ignores declared shapes in other
/// subgraphs.
pub fn misdeclared_inputs(model: &Model, facts: &Facts) -> Vec<MisdeclaredInput> {
    let mut found = Vec::new();
    for graph in scopes::live(model) {
        let scope = &model.graphs[graph];
        let Owner::Node(holder) = scope.owner else { continue };
        let has_shapes = model.nodes[holder].is("Scan") || model.nodes[holder].is("SequenceMap");
        for (input, port) in scope.inputs.iter().enumerate() {
            let Some(ty) = &port.info.ty else { continue };
            let (mut declared, received) = (declared_numbers(ty), &facts[port.value]);
            if !has_shapes {
                declared = declared.without_shapes();
            }
            if received.meet(&declared, &facts.bounds).is_err() {
                let received = received.clone().without_values();
                found.push(MisdeclaredInput { graph, input, declared, received });
            }
        }
    }
    found
}

/// Returns the casts by which both branches of an `If` return the same type for an output.
///
/// The types of both branches are promoted to one type, as PyTorch promotes the types of two tensors.
pub fn branch_casts(cx: &LintContext, id: NodeId, output: usize) -> Option<Vec<OutputRepair>> {
    let node = &cx.model.nodes[id];
    let body = |name: &str| match node.attr(name)? {
        AttrValue::Graph(graph) => Some(*graph),
        _ => None,
    };
    let bodies = [body("then_branch")?, body("else_branch")?];
    let mut elems = Vec::new();
    for graph in bodies {
        let value = cx.model.graphs[graph].outputs.get(output)?.value;
        elems.push((graph, cx.facts[value].as_tensor()?.elem.filter(|&elem| is_numeric(elem))?));
    }
    let to = promoted(elems[0].1, elems[1].1);
    let narrow = elems.into_iter().filter(|(_, elem)| *elem != to);
    Some(narrow.map(|(graph, _)| OutputRepair { graph, output, to: Some(to) }).collect())
}

/// Cast that gives the state of a loop one type.
pub enum StateCast {
    /// Cast before the loop, if the body returns a wider type than that of the initial state.
    Input(Casts),
    /// Cast at the end of the body, if the body returns a narrower type than that of the initial state.
    Output(OutputRepair),
}

/// Returns the cast that gives the state of a loop one type, for a [`Fault::Carried`].
pub fn state_cast(
    cx: &LintContext,
    id: NodeId,
    input: usize,
    (x, y): (ElemType, ElemType),
) -> Option<StateCast> {
    let node = &cx.model.nodes[id];
    if !is_numeric(x) || !is_numeric(y) {
        return None;
    }
    // The outputs of a Loop body start with the condition, the inputs of a Loop with the trip count and the condition.
    let output = match &*node.op_type {
        "Loop" => input.checked_sub(1)?,
        "Scan" => input,
        _ => return None,
    };
    let AttrValue::Graph(graph) = *node.attr("body")? else { return None };
    cx.model.graphs[graph].outputs.get(output)?;
    let to = promoted(x, y);
    Some(match to == x {
        true => StateCast::Output(OutputRepair { graph, output, to: Some(to) }),
        false => StateCast::Input(Casts { inputs: vec![(input, to)], outputs: Vec::new() }),
    })
}

/// Returns the casts in subgraphs by which branches return, and loop states keep, a single type.
pub fn type_repairs(cx: &LintContext) -> Vec<OutputRepair> {
    let mut repairs: Vec<OutputRepair> = Vec::new();
    for (node, fault) in &cx.facts.faults {
        match fault {
            Fault::Branches { output, what: Conflict::Elem(..) } => {
                repairs.extend(branch_casts(cx, *node, *output).into_iter().flatten());
            }
            Fault::Carried { input, what: Conflict::Elem(x, y) } => {
                if let Some(StateCast::Output(repair)) = state_cast(cx, *node, *input, (*x, *y)) {
                    repairs.push(repair);
                }
            }
            _ => {}
        }
    }
    let mut unique: Vec<OutputRepair> = Vec::new();
    for repair in repairs {
        if !unique.iter().any(|known| (known.graph, known.output) == (repair.graph, repair.output)) {
            unique.push(repair);
        }
    }
    unique
}
