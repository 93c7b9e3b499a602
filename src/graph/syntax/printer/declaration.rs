//! Declarations as one line for display: `float[batch,4] x`.

use crate::graph::{Model, Port, Tensor};

use super::{push_name, types};

/// Formats a value with its declared type, or its bare name if it has none.
pub fn declaration(model: &Model, port: &Port) -> String {
    let mut out = String::new();
    if let Some(ty) = &port.info.ty {
        types::push_type(&mut out, ty);
    }
    named(out, &model.values[port.value].name)
}

/// Formats a tensor under the given name, without its elements.
pub fn tensor_declaration(tensor: &Tensor, name: &str) -> String {
    let mut out = String::new();
    types::push_dims(&mut out, tensor.data_type, &tensor.dims);
    named(out, name)
}

fn named(mut out: String, name: &str) -> String {
    if !out.is_empty() {
        out.push(' ');
    }
    push_name(&mut out, name);
    out
}
