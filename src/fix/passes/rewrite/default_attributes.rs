//! Attributes that do not exist at the target opset.

use std::sync::Arc;

use crate::diag::rule_ids::ADAPTED_FORM;
use crate::edit::{Change, Editor, Site};
use crate::extract::Target;
use crate::graph::{AttrValue, GraphId, Model, NodeId};
use crate::schema::{self, AttrView};

/// Drops attributes that do not exist at the target opset, if they have their default value.
pub fn drop_defaults(editor: &mut Editor, graph: GraphId, target: &Target) {
    for id in editor.model().graphs[graph].nodes.clone() {
        let dropped = dropped(editor.model(), id, target);
        if !dropped.is_empty() {
            let what =
                format!("attributes of `{}` with default values removed", editor.model().nodes[id].op_name());
            editor.drop_attributes(id, &dropped, Change::new(ADAPTED_FORM, Site::Node(id), what));
        }
    }
}

/// Returns the attributes of a node that can be dropped at the target.
fn dropped(model: &Model, id: NodeId, target: &Target) -> Vec<Arc<str>> {
    let node = &model.nodes[id];
    let find = |opset: Option<i64>| {
        let opset = opset.and_then(|opset| u16::try_from(opset).ok())?;
        schema::lookup(node.domain(), &node.op_type, opset)
    };
    let Some(at_target) = find(target.opset(node.domain())) else { return Vec::new() };
    let versions = schema::versions(node.domain(), &node.op_type);
    let is_default = |name: &str, value: &AttrValue| {
        let mut known = versions.iter().filter_map(|schema| schema.attr(name));
        known.any(|spec| spec.is_default(AttrView::from(value)))
    };
    let gone = node.attrs.iter().filter(|attr| at_target.attr(&attr.name).is_none());
    gone.filter(|attr| is_default(&attr.name, &attr.value)).map(|attr| attr.name.clone()).collect()
}
