//! SHP002 and EXP014: corrects declarations of outputs and `value_info`.

use std::sync::Arc;

use crate::analyses::detectors::{lost_sizes, pinned_sizes};
use crate::diag::RuleId;
use crate::diag::rule_ids::{DECLARED_SHAPE_WRONG, DECLARED_TYPE, LOST_SYMBOL};
use crate::edit::{AnalysisView, Change, Editor, Site};
use crate::fix::declarations::take_back;
use crate::fix::options::Options;
use crate::fix::pass::{Need, Pass};
use crate::graph::dim::Dim;
use crate::graph::{DeclaredDim, Model, Port, TypeKind};
use crate::infer::Facts;

/// The pass.
pub const PASS: Pass = Pass {
    id: "interface",
    summary: "Corrects declared shapes of outputs, and restores names of symbolic dimensions.",
    codes: &[DECLARED_SHAPE_WRONG, LOST_SYMBOL, DECLARED_TYPE],
    phases: &[],
    need: Need::Optional,
    is_enabled: |_| true,
    run: |editor, cx| Ok(mend(editor, &cx.options)),
};

/// Corrects declared shapes and restores symbolic dimension names, as selected by `options`.
fn mend(editor: &mut Editor, options: &Options) -> bool {
    let before = editor.done().changes.len();
    let may = |rule: RuleId| options.selection.contains(rule.code);
    if may(DECLARED_SHAPE_WRONG) && declares_more(editor.model()) {
        take_back(editor, DECLARED_SHAPE_WRONG);
        unpin_outputs(editor);
    }
    if may(LOST_SYMBOL) {
        name_sizes(editor);
    }
    editor.done().changes.len() > before
}

/// Declares output axes as dynamic if they depend on the inputs but are declared static.
fn unpin_outputs(editor: &mut Editor) {
    let main = editor.model().main;
    let AnalysisView { model, facts, .. } = editor.analyses();
    let mut found = Vec::new();
    for (at, port) in model.graphs[main].outputs.iter().enumerate() {
        let mut port = port.clone();
        let pinned = pinned_sizes(facts, &port);
        if let Some(TypeKind::Tensor { shape: Some(dims), .. }) = port.info.ty.as_mut().map(|ty| &mut ty.kind)
            && !pinned.is_empty()
        {
            for one in &pinned {
                let is_named = one.size.symbols().all(|symbol| !facts.has_made(symbol));
                dims[one.axis].dim = if is_named { declared(&one.size) } else { DeclaredDim::Absent };
            }
            found.push((at, port));
        }
    }
    for (at, port) in found {
        let change = Change::new(DECLARED_SHAPE_WRONG, Site::Value(port.value), "declared as dynamic");
        editor.declare(change, |model| {
            model.graphs[main].outputs[at] = port;
            true
        });
    }
}

/// Replaces exporter-generated dimension names with the inferred expressions.
fn name_sizes(editor: &mut Editor) {
    let model = editor.model();
    let main = model.main;
    let (outputs, inner) = (&model.graphs[main].outputs, &model.graphs[main].value_info);
    if !outputs.iter().chain(inner).any(has_names) {
        return;
    }
    let (outputs, mut all) = (outputs.len(), outputs.iter().chain(inner).cloned().collect::<Vec<Port>>());
    let facts = editor.analyses().facts;
    let is_named: Vec<bool> = all.iter_mut().map(|port| name_axes(port, facts)).collect();
    for (at, (port, is_named)) in all.into_iter().zip(is_named).enumerate() {
        if is_named {
            let change =
                Change::new(LOST_SYMBOL, Site::Value(port.value), "symbolic dimension name restored");
            editor.declare(change, |model| {
                let graph = &mut model.graphs[main];
                match at.checked_sub(outputs) {
                    Some(at) => graph.value_info[at] = port,
                    None => graph.outputs[at] = port,
                }
                true
            });
        }
    }
}

/// Returns true if the model has declarations that inference could contradict.
fn declares_more(model: &Model) -> bool {
    model.graphs.iter().any(|(_, graph)| !graph.outputs.is_empty() || !graph.value_info.is_empty())
}

/// Returns true if a declared shape has symbolic dimensions.
fn has_names(port: &Port) -> bool {
    let Some(TypeKind::Tensor { shape: Some(dims), .. }) = port.info.ty.as_ref().map(|ty| &ty.kind) else {
        return false;
    };
    dims.iter().any(|dim| matches!(dim.dim, DeclaredDim::Param(_)))
}

/// Replaces exporter-generated dimension names of one declaration; returns true if a name changed.
fn name_axes(port: &mut Port, facts: &Facts) -> bool {
    let lost = lost_sizes(facts, port);
    let Some(TypeKind::Tensor { shape: Some(dims), .. }) = port.info.ty.as_mut().map(|ty| &mut ty.kind)
    else {
        return false;
    };
    for lost in &lost {
        dims[lost.axis].dim = declared(&lost.size);
    }
    !lost.is_empty()
}

/// Returns the declaration of an inferred dimension.
fn declared(size: &Dim) -> DeclaredDim {
    match size.as_const() {
        Some(number) => DeclaredDim::Value(number),
        None => DeclaredDim::Param(Arc::from(size.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::passes::testing::model;
    use crate::write::text::write;

    #[track_caller]
    fn check(before: &str, after: &str) {
        let mut editor = Editor::new(model(before));
        mend(&mut editor, &Options::default());
        assert_eq!(!editor.done().changes.is_empty(), before != after);
        assert_eq!(write(editor.model()), write(&model(after)), "{before}");
    }

    #[test]
    fn generated_dimension_names_are_replaced_by_input_dimensions() {
        let reshape = "<int64[2] s = {-1, 12}> { y = Reshape (x, s) }";
        let with = |y: &str| format!("g (float[batch,3,4] x) => (float[{y}] y) {reshape}");
        check(&with("Reshape_3_dim_0,12"), &with("batch,12"));
        check(&with("Reshape_3_dim_0,Reshape_3_dim_1"), &with("batch,12"));
        check(&with("rows,12"), &with("rows,12"));
        let inner = |r: &str| {
            format!("g (float[N,4] x) => (float[N,4] y) <float[{r}] r> {{ r = Relu (x)  y = Neg (r) }}")
        };
        check(&inner("Relu_1_dim_0,4"), &inner("N,4"));
        let unknown = "g (float[N] x) => (int64[1,NonZero_4_dim_1] y) { y = NonZero (x) }";
        check(unknown, unknown);
    }
}
