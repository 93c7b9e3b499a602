//! A model in the form in which it can be compared.

use std::path::Path;

use crate::edit::Editor;
use crate::edit::inline;
use crate::graph::{Def, Model, TensorData};
use crate::read::external::ExternalFiles;

/// Before this version of the IR, initializers are inputs too, and no caller can replace them.
const INITIALIZERS_STAND_ALONE: i64 = 4;

/// The model with its external data, which are in `folder`, mapped; with its local functions written out; and with no
/// constants among its inputs.
///
/// # Errors
/// Why it cannot be, in a sentence.
pub fn prepared(mut model: Model, folder: &Path) -> Result<Model, String> {
    let mut files = ExternalFiles::new(folder);
    for (_, tensor) in model.tensors.iter_mut() {
        if let Some(bytes) = files.bytes(tensor) {
            let bytes = bytes
                .map_err(|fault| format!("the tensor `{}` {fault}", tensor.name.as_deref().unwrap_or("")))?;
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
        .map_err(|hindrance| format!("its functions cannot be written out: {hindrance}"))?;
    Ok(editor.into_parts().0)
}

/// What is an input only for the sake of an old format becomes an initializer alone.
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
