//! SPC032: gives the nodes of each graph different names.

use crate::diag::rule_ids::DUPLICATE_NODE_NAME;
use crate::edit::{Change, Editor, Site, repeated_node_names};
use crate::fix::pass::{Need, Pass};

/// The pass.
pub const PASS: Pass = Pass {
    id: "node-names",
    summary: "Renames nodes with the name of another node of their graph.",
    codes: &[DUPLICATE_NODE_NAME],
    phases: &[],
    need: Need::Optional,
    is_enabled: |_| true,
    run: |editor, _| Ok(rename(editor)),
};

/// Renames every node that has the name of an earlier node; returns true if any was renamed.
fn rename(editor: &mut Editor) -> bool {
    let renamed: Vec<_> =
        repeated_node_names(editor.model()).into_iter().map(|repeated| repeated.second).collect();
    if renamed.is_empty() {
        return false;
    }
    let change = |&node| Change::new(DUPLICATE_NODE_NAME, Site::Node(node), "renamed");
    editor.change_all(renamed.iter().map(change).collect(), |model, names| {
        for &node in &renamed {
            let name = model.nodes[node].name.as_deref().unwrap_or("").to_owned();
            model.nodes[node].name = Some(names.fresh(&name, None));
        }
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::passes::testing::model;

    #[test]
    fn later_nodes_get_names_that_no_node_has() {
        let graph = "g (float[N] x) => (float[N] y) { [n] a = Abs (x)  [n] b = Neg (a)  [n__1] c = Abs (b)  [n] y = Neg (c) }";
        let mut editor = Editor::new(model(graph));
        assert!(rename(&mut editor));
        let model = editor.model();
        let names: Vec<_> = model.graphs[model.main]
            .nodes
            .iter()
            .map(|&node| model.nodes[node].name.as_deref().unwrap_or(""))
            .collect();
        assert_eq!(names, ["n", "n__2", "n__1", "n__3"]);
        assert_eq!(editor.done().changes.len(), 2);
        assert!(!rename(&mut editor));
    }
}
