//! `--fix-shape`: makes the dimensions of inputs static.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::diag::rule_ids::{self, REQUESTED_SHAPE};
use crate::diag::{Finding, Place};
use crate::edit::{Change, Editor, Site};
use crate::fix::options::{FixedShape, Options};
use crate::fix::pass::{Need, Pass};
use crate::graph::syntax;
use crate::graph::{DeclaredDim, Dimension, Model, Port, TypeKind};

fn bad_request(message: String) -> Box<Finding> {
    Box::new(rule_ids::BAD_REQUEST.finding(message, Place::File))
}

fn no_such_input(model: &Model, name: &str) -> Box<Finding> {
    let inputs = model.graphs[model.main].inputs.iter();
    let names: Vec<String> = inputs.map(|port| format!("`{}`", model.values[port.value].name)).collect();
    let finding = bad_request(format!("the model has no input `{name}`"));
    Box::new(finding.help(format!("use one of its inputs: {}", names.join(", "))))
}

/// The pass.
pub const PASS: Pass = Pass {
    id: "input-shapes",
    summary: "Makes shapes of inputs static, as requested by `--fix-shape`.",
    codes: &[REQUESTED_SHAPE],
    phases: &[],
    need: Need::Required,
    is_enabled: |cx| !cx.options.fixed.is_empty(),
    run: |editor, cx| apply(editor, &cx.options),
};

/// Applies the `--fix-shape` requests.
///
/// # Errors
/// Findings about inputs that do not exist or have no declared shape, and shapes that do not fit the declared one.
fn apply(editor: &mut Editor, options: &Options) -> Result<bool, Vec<Finding>> {
    let mut faults = Vec::new();
    for fixed in &options.fixed {
        let what = format!("shape set to {}", syntax::dims(&fixed.dims));
        request(editor, &fixed.input, what, &mut faults, |model| pin(model, fixed));
    }
    if faults.is_empty() { Ok(true) } else { Err(faults) }
}

/// Applies the edit of one request to an input, and collects its finding if it fails.
fn request(
    editor: &mut Editor,
    input: &str,
    what: String,
    faults: &mut Vec<Finding>,
    edit: impl FnOnce(&mut Model) -> Result<bool, Box<Finding>>,
) {
    let model = editor.model();
    let mut inputs = model.graphs[model.main].inputs.iter().map(|port| port.value);
    let site = inputs.find(|&value| *model.values[value].name == *input).map_or(Site::Model, Site::Value);
    editor.change(Change::new(REQUESTED_SHAPE, site, what), |model, _| {
        edit(model).unwrap_or_else(|finding| {
            faults.push(*finding);
            false
        })
    });
}

/// Returns the declared dimensions of an input.
fn dims<'m>(model: &'m mut Model, name: &str) -> Result<&'m mut Vec<Dimension>, Box<Finding>> {
    let main = model.main;
    let at = model.graphs[main].inputs.iter().position(|port| *model.values[port.value].name == *name);
    let Some(at) = at else { return Err(no_such_input(model, name)) };
    match &mut model.graphs[main].inputs[at].info.ty {
        Some(ty) => match &mut ty.kind {
            TypeKind::Tensor { shape: Some(dims), .. } => Ok(dims),
            _ => Err(bad_request(format!("input `{name}` has no declared shape"))),
        },
        None => Err(bad_request(format!("input `{name}` has no declared type"))),
    }
}

/// Sets the shape of an input, and replaces its symbolic dimensions throughout the model.
fn pin(model: &mut Model, fixed: &FixedShape) -> Result<bool, Box<Finding>> {
    let dims = dims(model, &fixed.input)?;
    if dims.len() != fixed.dims.len() {
        let message = format!("input `{}` has rank {}, not {}", fixed.input, dims.len(), fixed.dims.len());
        return Err(bad_request(message));
    }
    let mut named: FxHashMap<Arc<str>, i64> = FxHashMap::default();
    let mut changed = false;
    for (dim, &size) in dims.iter_mut().zip(&fixed.dims) {
        match &dim.dim {
            DeclaredDim::Param(name) => match named.insert(name.clone(), size) {
                Some(known) if known != size => {
                    let message = format!("the dimension `{name}` cannot have two sizes: {known} and {size}");
                    return Err(bad_request(message));
                }
                _ => {}
            },
            DeclaredDim::Value(value) if *value != size && *value > 0 => {
                let message = format!("input `{}` has a static dimension {value}, not {size}", fixed.input);
                let finding =
                    bad_request(message).help("make the axis dynamic with --dynamic, or keep its size");
                return Err(Box::new(finding));
            }
            _ => {}
        }
        changed |= dim.dim != DeclaredDim::Value(size);
        dim.dim = DeclaredDim::Value(size);
    }
    for (_, graph) in model.graphs.iter_mut() {
        let ports = graph.inputs.iter_mut().chain(&mut graph.outputs).chain(&mut graph.value_info);
        ports.for_each(|port| rename(port, &named));
    }
    Ok(changed)
}

/// Replaces symbolic dimensions of a declaration with their static sizes.
fn rename(port: &mut Port, named: &FxHashMap<Arc<str>, i64>) {
    let Some(TypeKind::Tensor { shape: Some(dims), .. }) = port.info.ty.as_mut().map(|ty| &mut ty.kind)
    else {
        return;
    };
    for dim in dims {
        if let DeclaredDim::Param(name) = &dim.dim
            && let Some(&size) = named.get(name)
        {
            dim.dim = DeclaredDim::Value(size);
        }
    }
}
