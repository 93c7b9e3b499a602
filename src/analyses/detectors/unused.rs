//! OPT001 to OPT003: dead nodes, and unused or duplicate initializers.

use bytes::Bytes;
use indexmap::IndexMap;

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::{DEAD_NODE, EQUAL_INITIALIZERS, UNUSED_INITIALIZER};
use crate::diag::{Applicability, Finding, Sink};
use crate::edit::{is_unused, unused_initializers};
use crate::graph::{ElemType, GraphId, NodeId, TensorData, ValueId};
use crate::read::onnx::sparse::LARGEST_READ;

/// Detector of OPT001, OPT002 and OPT003.
pub const DETECTORS: &[Detector] =
    &[Detector { rules: &[DEAD_NODE, UNUSED_INITIALIZER, EQUAL_INITIALIZERS], run }];

/// Maximum number of names in a message.
const SHOWN: usize = 3;
/// Maximum size of an initializer to compare, in bytes: large weights are not read.
const MAX_COMPARED: usize = LARGEST_READ as usize;
/// Minimum size of an initializer to compare, in bytes: smaller copies cost little.
const MIN_COMPARED: usize = 256;

/// Element type, dims and raw elements of an initializer.
type Content<'a> = (Option<ElemType>, &'a [i64], &'a Bytes);

fn dead(cx: &LintContext, node: NodeId) -> Finding {
    let message = format!("the outputs of `{}` are unused", cx.node_name(node));
    let finding = cx.at_node(DEAD_NODE, node, Part::Whole, message);
    match is_unused(cx.model, cx.uses, node) {
        true => finding.fix(Applicability::Safe, "removes it"),
        false => finding,
    }
}

fn unused(cx: &LintContext, graph: GraphId, values: &[ValueId]) -> Finding {
    let names: Vec<String> =
        values.iter().take(SHOWN).map(|&value| format!("`{}`", cx.name(value))).collect();
    let message = match values.len() {
        1 => format!("initializer {} is unused", names[0]),
        count if count <= SHOWN => format!("initializers {} are unused", names.join(", ")),
        count => format!("{count} initializers are unused: {}, …", names.join(", ")),
    };
    let mut finding = UNUSED_INITIALIZER.finding(message, cx.places.declaration(values[0]));
    finding.anchor.module = cx.places.graph_path(graph);
    finding.fix(Applicability::Safe, "removes unused initializers")
}

fn equal(cx: &LintContext, values: &[ValueId]) -> Finding {
    let names: Vec<String> =
        values.iter().take(SHOWN).map(|&value| format!("`{}`", cx.name(value))).collect();
    let more = if values.len() > SHOWN { ", …" } else { "" };
    let message = format!("{} initializers are equal: {}{more}", values.len(), names.join(", "));
    let mut finding = EQUAL_INITIALIZERS.finding(message, cx.places.declaration(values[0]));
    finding.anchor.module = cx.model.values[values[0]].name.clone();
    finding.help("tie the parameters in the module, so that they are exported only once")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes() {
        let is_used = |value: &ValueId| cx.uses.count(*value) > 0;
        if !node.outputs.iter().flatten().any(is_used) {
            sink.push(dead(cx, id));
        }
    }
    for id in cx.model.graphs.ids() {
        // Inputs with a default are not reported, because they are part of the interface.
        let own = unused_initializers(cx.model, cx.uses, id);
        sink.extend((!own.is_empty()).then(|| unused(cx, id, &own)));
        equals(cx, id, sink);
    }
}

fn equals(cx: &LintContext, graph: GraphId, sink: &mut Sink) {
    let mut by_content: IndexMap<Content, Vec<ValueId>> = IndexMap::new();
    for &value in &cx.model.graphs[graph].initializers {
        let Some(tensor) = cx.model.constant(value) else { continue };
        let TensorData::Raw(raw) = &tensor.data else { continue };
        if (MIN_COMPARED..=MAX_COMPARED).contains(&raw.len()) {
            by_content.entry((tensor.elem(), &tensor.dims, raw)).or_default().push(value);
        }
    }
    sink.extend(by_content.values().filter(|values| values.len() > 1).map(|values| equal(cx, values)));
}
