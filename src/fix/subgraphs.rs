//! Repairs of subgraphs: copies of outer values, casts of results, and declared types of inputs.

use std::sync::Arc;

use super::options::Options;
use crate::analyses::repairs::{
    MisdeclaredInput, OutputRepair, is_wanted, misdeclared_inputs, outer_outputs, type_repairs,
};
use crate::analyses::{LintContext, LintOptions};
use crate::diag::rule_ids::{BODY_SIGNATURE, DECLARED_SHAPE_WRONG, DTYPE_MISMATCH, INSERTED_CAST};
use crate::edit::{AnalysisView, By, Change, Editor, Names, Safety, Site};
use crate::graph::{AttrValue, Attribute, Def, Id as _, Model, Node, NodeId, TypeKind, Value};
use crate::infer;

/// Repairs the selected faults of subgraphs; returns true if a fault was repaired.
pub fn mend(editor: &mut Editor, options: &Options) -> bool {
    let may = |code: &str| options.selection.contains(code);
    let mut is_changed = false;
    if may(BODY_SIGNATURE.code) {
        let copies = outer_outputs(editor.model());
        is_changed |= add(editor, copies.into_iter().map(|(_, repair)| repair).collect());
    }
    if is_wanted(&options.selection, DTYPE_MISMATCH.code, INSERTED_CAST.code) {
        let linting = LintOptions::default();
        let AnalysisView { model, facts, uses } = editor.analyses();
        let casts = type_repairs(&LintContext::new(model, facts, uses, &linting));
        is_changed |= add(editor, casts);
    }
    if may(DECLARED_SHAPE_WRONG.code) {
        is_changed |= declare_inputs(editor);
    }
    is_changed
}

/// Adds the nodes of the given repairs.
fn add(editor: &mut Editor, repairs: Vec<OutputRepair>) -> bool {
    editor.rework(|model, names| {
        let mut changes = Vec::new();
        for repair in repairs {
            changes.push(append(model, names, repair));
        }
        changes
    })
}

/// Appends an `Identity` or a `Cast` to a subgraph; the result of this node becomes the output.
fn append(model: &mut Model, names: &mut Names, repair: OutputRepair) -> Change {
    let OutputRepair { graph, output, to } = repair;
    let value = model.graphs[graph].outputs[output].value;
    let name = model.values[value].name.clone();
    let (by, op, attrs, what) = match to {
        None => (By::from(BODY_SIGNATURE), "Identity", Vec::new(), format!("outer value `{name}` copied")),
        Some(to) => (
            By { safety: Safety::Rounding, ..By::from(INSERTED_CAST) },
            "Cast",
            vec![Attribute::new("to", AttrValue::Int(i64::from(to.number())))],
            format!("`{name}` converted to {to}"),
        ),
    };
    let id = NodeId::from_index(model.nodes.len());
    let fresh: Arc<str> = names.fresh(&name, Some(&by.code));
    let new = Value { name: fresh, graph, def: Def::Node { node: id, output: 0 }, initial: None };
    let new = model.values.push(new);
    let node = Node { inputs: vec![Some(value)], outputs: vec![Some(new)], attrs, ..Node::new(graph, op) };
    model.nodes.push(node);
    model.graphs[graph].nodes.push(id);
    let port = &mut model.graphs[graph].outputs[output];
    port.value = new;
    if let (Some(to), Some(TypeKind::Tensor { elem, .. })) =
        (to, port.info.ty.as_mut().map(|ty| &mut ty.kind))
    {
        *elem = Some(to.number());
    }
    Change::new(by, Site::Node(id), what)
}

/// Corrects the declared types of subgraph inputs to those of the values passed to them.
fn declare_inputs(editor: &mut Editor) -> bool {
    let AnalysisView { model, facts, .. } = editor.analyses();
    let mut corrected = Vec::new();
    for MisdeclaredInput { graph, input, .. } in misdeclared_inputs(model, facts) {
        let mut port = model.graphs[graph].inputs[input].clone();
        infer::Declarer::of(model, graph, facts).declare(&mut port);
        corrected.push((graph, input, port));
    }
    editor.rework(|model, _| {
        let mut changes = Vec::new();
        for (graph, input, port) in corrected {
            changes.push(Change::new(
                DECLARED_SHAPE_WRONG,
                Site::Value(port.value),
                "declared type corrected",
            ));
            model.graphs[graph].inputs[input] = port;
        }
        changes
    })
}
