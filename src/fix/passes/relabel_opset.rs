//! Sets the opset imports and the IR version of the target.

use crate::diag::rule_ids::RELABELLED_VERSION;
use crate::edit::{Change, Editor, Site};
use crate::fix::context::Context;
use crate::fix::pass::{Need, Pass};
use crate::fix::target;

/// The pass.
pub const PASS: Pass = Pass {
    id: "relabel-opset",
    summary: "Sets the opset imports and the IR version of the target.",
    codes: &[RELABELLED_VERSION],
    phases: &[],
    need: Need::Required,
    is_enabled: |_| true,
    run: |editor, cx| Ok(relabel(editor, cx)),
};

/// Updates the opset imports and the IR version; returns true if any of them changed.
pub fn relabel(editor: &mut Editor, cx: &Context) -> bool {
    let before = editor.done().changes.len();
    let ir_version = target::ir_version(editor.model(), &cx.target, &cx.options);
    let relabelled = |what| Change::new(RELABELLED_VERSION, Site::Model, what);
    editor.declare(relabelled("opset imports of the model updated"), |model| {
        std::mem::replace(&mut model.opsets, cx.target.imports.clone()) != cx.target.imports
    });
    editor.change(relabelled("IR version of the model updated"), |model, _| {
        std::mem::replace(&mut model.ir_version, ir_version) != ir_version
    });
    editor.change(relabelled("opset imports of functions updated"), |model, _| {
        let mut is_changed = false;
        for function in &mut model.functions {
            let imports = target::target(&function.opsets, cx.options.opset).imports;
            is_changed |= function.opsets != imports;
            function.opsets = imports;
        }
        is_changed
    });
    editor.constants = cx.constants_of(editor.model());
    editor.done().changes.len() > before
}
