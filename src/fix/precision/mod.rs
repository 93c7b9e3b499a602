//! Precision conversion: converts float32 computation to float16 or bfloat16.
//!
//! Each node is either narrowed, or kept in float32 for a reason (`keep_reason`). Reasons come from schemas
//! (`operand_roles`), and from the ranges and origins of values (`range_analysis`, `transfer`). Values that subgraphs,
//! calls and sequences connect share one dtype (`ports`, `dtype_classes`). A node is also kept if that
//! reduces the number of casts (`select`). A value with uses in a dtype other than its own gets one cast,
//! or a copy in that dtype if it is a weight (`write`).

mod attributes;
mod dtype_classes;
mod keep_reason;
mod measure;
mod numbers;
mod operand_roles;
mod ports;
mod range_analysis;
mod select;
mod transfer;
mod value_range;
mod widen;
mod write;

use self::dtype_classes::{DtypeClasses, Maker, cell_of};
pub use self::keep_reason::KeepReason;
pub use self::measure::Measure;
use self::numbers::Narrow;
use self::operand_roles::{AllSlots, is_float};
use self::ports::Calls;
use self::select::PrecisionAnalysis;
use crate::diag::rule_ids::{BAD_REQUEST, NARROWED_NUMBERS};
use crate::diag::{Finding, Place};
use crate::edit::{Change, Editor, Item, Patch, Site};
use crate::graph::{AttrValue, ElemType, Model, NodeId, scopes};
use crate::infer::Facts;

/// Options of the precision conversion.
#[derive(Clone, Debug)]
pub struct Precision {
    /// Target type: `float16` or `bfloat16`.
    pub to: ElemType,
    /// Whether to keep the inputs and outputs of the model in float32.
    pub keep_io: bool,
    /// Measurement of value ranges on calibration data, if there is any.
    pub measure: Option<Measure>,
}

/// Result of the precision conversion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Narrowed {
    /// Nodes kept in float32, with the reason.
    pub kept: Vec<(NodeId, KeepReason)>,
}

/// Converts float32 computation to a 16-bit type where values fit. Returns the nodes kept in float32.
///
/// # Errors
/// The reason why the conversion is not possible.
pub fn narrow(editor: &mut Editor, precision: &Precision) -> Result<Narrowed, Vec<Finding>> {
    let to = precision.to;
    let refused = |message: String| vec![BAD_REQUEST.finding(message, Place::File)];
    let narrow =
        Narrow::of(to).ok_or_else(|| refused(format!("conversion of float32 to {to} is not supported")))?;
    if let Some(finding) = too_old(editor.model(), to) {
        return Err(vec![finding]);
    }
    if to == ElemType::Float16 && holds(editor, ElemType::Bfloat16) {
        if precision.keep_io {
            let message =
                "the inputs or outputs of the model may be bfloat16, and --keep-io keeps their types";
            return Err(refused(message.to_owned()));
        }
        if !widen::widen(editor) {
            return Err(refused("the elements of a bfloat16 tensor are not available".to_owned()));
        }
    }
    let is_done = holds(editor, to);
    let known = editor.analyses();
    let (model, facts) = (known.model, known.facts);
    let calls = ports::calls(model);
    let slots = all_slots(model, facts, &calls, narrow);
    if !model.values.ids().any(|value| is_float(&facts[value])) {
        let holds = |elem| model.values.ids().any(|value| facts[value].inner_elem() == Some(elem));
        let held =
            [ElemType::Float16, ElemType::Bfloat16, ElemType::Double].into_iter().find(|&elem| holds(elem));
        let what = held.map_or("there is nothing to convert".to_owned(), |elem| format!("it is in {elem}"));
        return match is_done {
            true => Ok(Narrowed::default()),
            false => Err(refused(format!("the model has no float32 values: {what}"))),
        };
    }
    let links = ports::links(model, facts, &calls);
    let measured = precision.measure.as_ref().map(|measure| measure.measured(model, facts)).transpose();
    let measured =
        measured.map_err(|why| refused(format!("the model does not run on the calibration data: {why}")))?;
    let reaches =
        range_analysis::reaches(model, facts, &slots, &links, &measured.unwrap_or_default(), narrow);
    let mut cells = DtypeClasses::of(model, facts, &slots, &links, precision.keep_io);
    let known = PrecisionAnalysis { model, facts, reaches: &reaches, narrow };
    known.keep(&mut cells, &slots);
    known.keep_links(&mut cells, &links);
    known.grow(&mut cells, &slots);
    let kept = kept(model, &slots, &cells);
    if !cells.makers.keys().any(|&value| cells.is_narrow(value)) {
        return match is_done {
            true => Ok(Narrowed { kept }),
            false => Err(refused(format!("no node of the model can be converted to {to}"))),
        };
    }
    editor.rework(|model, names| write::write(model, names, &cells, &calls, narrow));
    drop_casts(editor, to);
    Ok(Narrowed { kept })
}

/// Returns true if a value of the model has this element type.
fn holds(editor: &mut Editor, elem: ElemType) -> bool {
    let known = editor.analyses();
    known.model.values.ids().any(|value| known.facts[value].inner_elem() == Some(elem))
}

/// Returns a finding if the opset does not support the type.
///
/// Most operators support bfloat16 since opset 13, control flow since opset 16.
fn too_old(model: &Model, to: ElemType) -> Option<Finding> {
    let opset = model.opset(model.main, "").filter(|_| to == ElemType::Bfloat16)?;
    let live = scopes::live(model);
    let mut nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes).map(|&id| &model.nodes[id]);
    let control = nodes.find(|node| node.domain().is_empty() && node.graphs().next().is_some());
    let (subject, since) = match control {
        Some(node) if opset < 16 => (format!("`{}` does not support {to} before", node.op_name()), 16),
        _ if opset < 13 => (format!("the conversion to {to} requires"), 13),
        _ => return None,
    };
    let message = format!("{subject} opset {since}, but the model imports opset {opset}");
    let finding = BAD_REQUEST.finding(message, Place::File);
    Some(finding.help(format!("add --opset {since}, or convert to float16")))
}

/// Returns the operand roles of nodes with float32 inputs or outputs.
/// Function calls and nodes with subgraphs are excluded.
fn all_slots(model: &Model, facts: &Facts, calls: &Calls, narrow: Narrow) -> AllSlots {
    let live = scopes::live(model);
    let nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes).copied();
    let is_call = |&id: &NodeId| model.nodes[id].graphs().next().is_none() && !calls.contains_key(&id);
    let touches = |&id: &NodeId| {
        let node = &model.nodes[id];
        node.inputs.iter().chain(&node.outputs).flatten().any(|&value| is_float(&facts[value]))
    };
    nodes
        .filter(is_call)
        .filter(touches)
        .map(|id| (id, operand_roles::slots(model, facts, id, narrow)))
        .collect()
}

/// Returns the nodes kept in float32, in file order.
/// Constants, and casts of integers or booleans, are left out.
fn kept(model: &Model, slots: &AllSlots, cells: &DtypeClasses) -> Vec<(NodeId, KeepReason)> {
    let live = scopes::live(model);
    let nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes).copied();
    let is_any = |id: NodeId| {
        let mut outputs = model.nodes[id].outputs.iter().flatten();
        outputs.any(|output| cells.makers.get(output) == Some(&Maker::Any))
    };
    let nodes = nodes.filter(|id| slots.contains_key(id)).filter(|&id| !is_any(id));
    nodes.filter_map(|id| Some((id, cells.why(cell_of(id))?))).collect()
}

/// Removes casts whose input already has the target type.
fn drop_casts(editor: &mut Editor, to: ElemType) {
    let known = editor.analyses();
    let (model, facts) = (known.model, known.facts);
    let mut patches = Vec::new();
    for graph in scopes::live(model) {
        let mut patch = Patch::new(graph);
        for &id in &model.graphs[graph].nodes {
            let node = &model.nodes[id];
            let is_to = node.attr("to") == Some(&AttrValue::Int(i64::from(to.number())));
            let (true, true, Some(from), Some(made)) =
                (node.is("Cast"), is_to, node.input(0), node.output(0))
            else {
                continue;
            };
            if facts[from].elem() == Some(to) {
                patch.redirects.push((made, Item::Old(from)));
                patch.replaced.push(id);
                patch.changes.push(Change::new(NARROWED_NUMBERS, Site::Node(id), "redundant cast removed"));
            }
        }
        patches.push(patch);
    }
    editor.apply(patches);
}
