//! Puts the branch that an `If` always takes in the place of the `If`.

use crate::edit::{Editor, Known, Patch, decided};
use crate::graph::{Model, scopes};

/// Decides every `If` whose condition is known, those in other bodies and those that only become known so
/// too.
pub fn decide(editor: &mut Editor) {
    while has_if(editor.model()) {
        let Known { model, facts, .. } = editor.know();
        let live = scopes::live(model);
        let nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes);
        let patches: Vec<Patch> = nodes.filter_map(|&node| decided(model, facts, node)).collect();
        if editor.apply(patches) == 0 {
            break;
        }
    }
}

fn has_if(model: &Model) -> bool {
    model.nodes.iter().any(|(_, node)| &*node.op_type == "If")
}
