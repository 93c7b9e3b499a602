//! What a graph declares, as one line for people: `float[batch,4] x`.

use crate::graph::{Model, Port, Tensor};

use super::{push_name, types};

/// A value with its declared type; the bare name where none is declared.
pub fn declaration(model: &Model, port: &Port) -> String {
    let mut out = String::new();
    if let Some(ty) = &port.info.ty {
        types::push_type(&mut out, ty);
    }
    named(out, &model.values[port.value].name)
}

/// A tensor without its elements, under the name that it goes by.
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
