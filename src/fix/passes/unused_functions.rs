//! OPT026: removal of local functions that no node calls.

use crate::diag::counted;
use crate::diag::rule_ids::UNUSED_FUNCTION;
use crate::edit::{Change, Editor, Site};
use crate::fix::pass::{Need, Pass};
use crate::graph::{Function, Graph, Model, Owner, scopes};

/// The pass.
pub const PASS: Pass = Pass {
    id: "unused-functions",
    summary: "Removes local functions that no node calls.",
    codes: &[UNUSED_FUNCTION],
    phases: &[],
    need: Need::Optional,
    is_enabled: |cx| cx.options.optimize,
    run: |editor, _| Ok(remove(editor)),
};

/// Removes functions that the main graph never calls; returns true if there were any.
fn remove(editor: &mut Editor) -> bool {
    let model = editor.model();
    // Training graphs are kept encoded, and can call functions.
    if model.functions.is_empty() || !model.training_info.is_empty() {
        return false;
    }
    let reached = scopes::reached(model, &scopes::callees(model));
    let is_unused = |function: &Function| !reached.contains(&function.body);
    let unused = model.functions.iter().filter(|function| is_unused(function)).count();
    if unused == 0 {
        return false;
    }
    let effect = format!("{} removed", counted(unused, "unused function"));
    editor.change(Change::new(UNUSED_FUNCTION, Site::Model, effect), |model, _| {
        let (unused, kept) = std::mem::take(&mut model.functions).into_iter().partition(is_unused);
        clear(model, unused);
        model.functions = kept;
        for index in 0..model.functions.len() {
            let body = model.functions[index].body;
            model.graphs[body].owner = Owner::Function(index);
        }
        true
    })
}

/// Clears the graphs of removed functions, which stay in the model, so that ids stay valid.
fn clear(model: &mut Model, functions: Vec<Function>) {
    for function in functions {
        for graph in scopes::nested(model, function.body) {
            model.graphs[graph] = Graph::new(Owner::Model);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::passes::testing::model;

    const FUNCTIONS: &str = r#"
        <domain: "local", opset_import: ["" : 17, "local" : 1]> spare (a) => (b) { b = local.inner (a) }
        <domain: "local", opset_import: ["" : 17, "local" : 1]> outer (a) => (b) { b = local.inner (a) }
        <domain: "local", opset_import: ["" : 17]> inner (a) => (b) { b = Abs (a) }"#;

    #[test]
    fn functions_that_only_unused_functions_call_are_removed() {
        let graph = format!("g (float[N] x) => (float[N] y) {{ y = Neg (x) }} {FUNCTIONS}");
        let mut editor = Editor::new(model(&graph));
        assert!(remove(&mut editor));
        assert!(editor.model().functions.is_empty());
        assert_eq!(editor.done().changes.len(), 1);
    }

    #[test]
    fn called_functions_stay_and_know_their_index() {
        let graph = format!("g (float[N] x) => (float[N] y) {{ y = local.outer (x) }} {FUNCTIONS}");
        let mut editor = Editor::new(model(&graph));
        assert!(remove(&mut editor));
        let model = editor.model();
        let names: Vec<_> = model.functions.iter().map(|function| function.name.as_deref()).collect();
        assert_eq!(names, [Some("outer"), Some("inner")]);
        for (index, function) in model.functions.iter().enumerate() {
            assert_eq!(model.function_of(function.body), Some(index));
        }
        assert!(!remove(&mut editor));
    }
}
