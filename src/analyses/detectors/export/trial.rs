//! Inference of a model at another size of a dynamic dimension.

use std::sync::Arc;

use crate::graph::{DeclaredDim, Model, TypeKind};
use crate::infer::{self, Facts};

/// Infers the facts of a model whose input dimensions named `name` have this size.
pub fn infer_at(model: &Model, name: &str, size: i64) -> Facts {
    let mut model = model.clone();
    let main = model.main;
    let wanted = DeclaredDim::Param(Arc::from(name));
    for port in &mut model.graphs[main].inputs {
        let kind = port.info.ty.as_mut().map(|ty| &mut ty.kind);
        if let Some(TypeKind::Tensor { shape: Some(dims), .. }) = kind {
            let named = dims.iter_mut().filter(|dim| dim.dim == wanted);
            named.for_each(|dim| dim.dim = DeclaredDim::Value(size));
        }
    }
    for (_, graph) in model.graphs.iter_mut() {
        graph.value_info.clear();
    }
    infer::infer(&model, infer::Options::default())
}
