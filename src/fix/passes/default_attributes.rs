//! Removes attributes that only other versions of an operator have, if they have their default value.

use std::sync::Arc;

use crate::diag::rule_ids::ADAPTED_FORM;
use crate::edit::{Change, Editor, Site};
use crate::fix::pass::{Need, Pass};
use crate::graph::{AttrValue, GraphId, Model, NodeId, scopes};
use crate::schema::{self, AttrView};

/// The pass.
pub const PASS: Pass = Pass {
    id: "default-attributes",
    summary: "Removes attributes with default values that the opset of the input does not have.",
    codes: &[ADAPTED_FORM],
    phases: &[],
    need: Need::Required,
    is_enabled: |_| true,
    run: |editor, _| Ok(drop_foreign(editor)),
};

/// Removes the attributes in all graphs; returns true if there is one.
fn drop_foreign(editor: &mut Editor) -> bool {
    let mut is_changed = false;
    for graph in scopes::live(editor.model()) {
        let imports = domains(editor.model(), graph);
        let opset = |domain: &str| imports.iter().find(|(known, _)| **known == *domain)?.1;
        is_changed |= drop_defaults(editor, graph, opset);
    }
    is_changed
}

/// Returns the domains of the nodes of a graph, with the opsets in force.
fn domains(model: &Model, graph: GraphId) -> Vec<(Arc<str>, Option<i64>)> {
    let mut found: Vec<(Arc<str>, Option<i64>)> = Vec::new();
    for &id in &model.graphs[graph].nodes {
        let domain = model.nodes[id].domain();
        if !found.iter().any(|(known, _)| **known == *domain) {
            found.push((domain.into(), model.opset(graph, domain)));
        }
    }
    found
}

/// Removes attributes that do not exist at the opset of a domain; returns true if there is one.
pub fn drop_defaults(editor: &mut Editor, graph: GraphId, opset: impl Fn(&str) -> Option<i64>) -> bool {
    let mut is_changed = false;
    for id in editor.model().graphs[graph].nodes.clone() {
        let dropped = dropped(editor.model(), id, &opset);
        if !dropped.is_empty() {
            let what =
                format!("attributes of `{}` with default values removed", editor.model().nodes[id].op_name());
            editor.drop_attributes(id, &dropped, Change::new(ADAPTED_FORM, Site::Node(id), what));
            is_changed = true;
        }
    }
    is_changed
}

/// Returns the attributes of a node that can be dropped.
fn dropped(model: &Model, id: NodeId, opset: impl Fn(&str) -> Option<i64>) -> Vec<Arc<str>> {
    let node = &model.nodes[id];
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
