//! Removes attributes that only other versions of an operator have, if they have their default value.

use std::sync::Arc;

use crate::diag::rule_ids::ADAPTED_FORM;
use crate::edit::{Change, Editor, Site};
use crate::fix::pass::{Need, Pass};
use crate::graph::{AttrValue, GraphId, Model, Node, scopes};
use crate::schema::{self, AttrView};

/// The pass.
pub const PASS: Pass = Pass {
    id: "default-attributes",
    summary: "Removes attributes that the operator lacks at the model's opset, if their values are defaults.",
    codes: &[ADAPTED_FORM],
    phases: &[],
    need: Need::Required,
    is_enabled: |_| true,
    run: |editor, _| Ok(drop_foreign(editor)),
};

/// Runs [`drop_defaults`] on all graphs; returns true if an attribute was removed.
fn drop_foreign(editor: &mut Editor) -> bool {
    let mut is_changed = false;
    for graph in scopes::live(editor.model()) {
        is_changed |= drop_defaults(editor, graph, |model, domain| model.opset(graph, domain));
    }
    is_changed
}

/// Removes default-valued attributes that operators lack at `opset`; returns true if any was removed.
pub fn drop_defaults(
    editor: &mut Editor,
    graph: GraphId,
    opset: impl Fn(&Model, &str) -> Option<i64>,
) -> bool {
    let model = editor.model();
    let nodes = model.graphs[graph].nodes.iter();
    let found = nodes.map(|&id| (id, dropped(&model.nodes[id], |domain| opset(model, domain))));
    let found: Vec<_> = found.filter(|(_, dropped)| !dropped.is_empty()).collect();
    for (id, dropped) in &found {
        let what =
            format!("attributes of `{}` with default values removed", editor.model().nodes[*id].op_name());
        editor.drop_attributes(*id, dropped, Change::new(ADAPTED_FORM, Site::Node(*id), what));
    }
    !found.is_empty()
}

/// Returns the attributes of a node that can be dropped.
fn dropped(node: &Node, opset: impl Fn(&str) -> Option<i64>) -> Vec<Arc<str>> {
    let in_force = opset(node.domain()).and_then(|opset| u16::try_from(opset).ok());
    let Some(in_force) = in_force.and_then(|opset| schema::lookup(node.domain(), &node.op_type, opset))
    else {
        return Vec::new();
    };
    let versions = schema::versions(node.domain(), &node.op_type);
    let is_default = |name: &str, value: &AttrValue| {
        let mut known = versions.iter().filter_map(|schema| schema.attr(name));
        known.any(|spec| spec.is_default(AttrView::from(value)))
    };
    let gone = node.attrs.iter().filter(|attr| in_force.attr(&attr.name).is_none());
    gone.filter(|attr| is_default(&attr.name, &attr.value)).map(|attr| attr.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::passes::testing::model;

    #[test]
    fn attributes_of_newer_opsets_are_removed() {
        // At opset 17, ReduceMax has no `noop_with_empty_axes`.
        let graph =
            "g (float[N] x) => (float[] y) { y = ReduceMax <keepdims = 0, noop_with_empty_axes = 0> (x) }";
        let mut editor = Editor::new(model(graph));
        assert!(drop_foreign(&mut editor));
        let model = editor.model();
        let attrs = &model.nodes[model.graphs[model.main].nodes[0]].attrs;
        assert_eq!(attrs.iter().map(|attr| &*attr.name).collect::<Vec<_>>(), ["keepdims"]);
        assert!(!drop_foreign(&mut editor));
    }
}
