//! Prepares a model for comparison.

use crate::edit::Editor;
use crate::edit::inline;
use crate::graph::{Def, Model, TensorData};
use crate::read::external::{DataFolders, ExternalFiles};

/// First IR version in which initializers need not be inputs.
const INITIALIZERS_STAND_ALONE: i64 = 4;

/// Maps external data, inlines local functions, and removes initializers from the inputs.
///
/// Inputs are only changed below IR version 4, where an initializer must also be an input.
///
/// # Errors
/// The reason why the model cannot be prepared.
pub fn prepared(mut model: Model, folders: &DataFolders) -> Result<Model, String> {
    let mut files = ExternalFiles::new(folders);
    for (_, tensor) in model.tensors.iter_mut() {
        if let Some(bytes) = files.bytes(tensor) {
            let bytes = bytes
                .map_err(|fault| format!("tensor `{}` {fault}", tensor.name.as_deref().unwrap_or("")))?;
            tensor.data = TensorData::Raw(bytes);
        }
    }
    if model.ir_version.is_some_and(|version| version < INITIALIZERS_STAND_ALONE) {
        take_constants_out(&mut model);
    }
    if model.functions.is_empty() {
        return Ok(model);
    }
    let mut editor = Editor::new(model);
    inline::inline(&mut editor)
        .map_err(|hindrance| format!("its functions cannot be inlined: {hindrance}"))?;
    Ok(editor.into_parts().0)
}

/// Removes initializers from the inputs.
fn take_constants_out(model: &mut Model) {
    let main = &mut model.graphs[model.main];
    main.inputs.retain(|port| model.values[port.value].initial.is_none());
    for &value in main.initializers.iter().chain(&main.sparse_initializers) {
        model.values[value].def = Def::Initializer;
    }
    for (index, port) in (0u32..).zip(&main.inputs) {
        model.values[port.value].def = Def::Input(index);
    }
}
