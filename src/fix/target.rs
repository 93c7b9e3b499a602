//! The opsets and the IR version that a model is to be written for.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::options::Options;
use crate::diag::rule_ids::{self, ADAPTED_FORM, RELABELLED_VERSION};
use crate::diag::{Finding, Place};
use crate::edit::{Change, Editor, Site};
use crate::extract::Target;
use crate::graph::{AttrValue, GraphId, Model, NodeId, OpsetImport, Port, normal_domain, scopes};
use crate::schema::{self, AttrView};
use crate::targets::{Profile, Range};

/// The imports that the result is to have.
pub fn target(imports: &[OpsetImport], opset: Option<i64>) -> Target {
    let mut target = Target { is_source: true, imports: imports.to_vec(), profiles: Vec::new() };
    let Some(wanted) = opset else { return target };
    let own = target.opset("");
    if own == Some(wanted) || own.is_none() {
        return target;
    }
    target.is_source = false;
    let ml = u16::try_from(wanted).ok().and_then(schema::release).map(|release| i64::from(release.ml));
    for import in &mut target.imports {
        match normal_domain(import.domain.as_deref()) {
            "" => import.version = Some(wanted),
            // The version that was released with the opset; a newer one is not needed to go up.
            "ai.onnx.ml" => import.version = import.version.zip(ml).map(|(have, ml)| have.min(ml)).or(ml),
            _ => {}
        }
    }
    target
}

/// The IR version to write: the one asked for, or the one of the release that brought the opset where
/// that changes.
pub fn ir_version(model: &Model, target: &Target, options: &Options) -> Option<i64> {
    if options.ir_version.is_some() {
        return options.ir_version;
    }
    let loaded = options.targets.iter().fold(Range::ALL, |all, profile| all.meet(profile.ir));
    let version = match target.is_source {
        true => model.ir_version,
        false => {
            let opset = target.opset("").and_then(|opset| u16::try_from(opset).ok())?;
            let least = if has_defaults(model) { DEFAULTS_SINCE } else { 0 };
            schema::release(opset).map(|release| release.ir_version.max(least))
        }
    };
    version.map(|version| version.max(loaded.from).min(loaded.to))
}

/// The options with the opset that the targets load, where none is asked for: the model's own where they do, else the
/// one closest to it.
///
/// # Errors
/// There is none, or another is asked for.
pub fn resolved(model: &Model, options: &Options) -> Result<Options, Vec<Finding>> {
    let refused = |message: String| rule_ids::NOT_CONVERTIBLE.finding(message, Place::File);
    let loaded = options.targets.iter().fold(Range::ALL, |all, profile| all.meet(profile.opset));
    if loaded.is_empty() {
        let names: Vec<String> = options.targets.iter().map(|profile| profile.label()).collect();
        return Err(vec![refused(format!("there is no opset that all of {} load", names.join(", ")))]);
    }
    let own = model.opset(model.main, "");
    let Some(wanted) = options.opset.or(own) else { return Ok(options.clone()) };
    let closest = wanted.max(loaded.from).min(loaded.to);
    match options.opset {
        Some(wanted) if wanted != closest => {
            let outside =
                |profile: &&Arc<Profile>| profile.opset.meet(Range { from: wanted, to: wanted }).is_empty();
            let name = options.targets.iter().find(outside).map_or(String::new(), |profile| profile.label());
            Err(vec![
                refused(format!("{name} does not load opset {wanted}")).help(format!("--opset {closest}")),
            ])
        }
        Some(_) => Ok(options.clone()),
        None => Ok(Options { opset: (closest != wanted).then_some(closest), ..options.clone() }),
    }
}

/// The first IR version in which an initializer of an input is a default, which a caller may replace.
const DEFAULTS_SINCE: i64 = 4;

/// Whether the inputs of a model have defaults.
fn has_defaults(model: &Model) -> bool {
    let has_initial = |port: &Port| model.values[port.value].initial.is_some();
    model.ir_version.is_some_and(|version| version >= DEFAULTS_SINCE)
        && model.graphs[model.main].inputs.iter().any(has_initial)
}

/// Whether the functions of a model may stay: a version that is not changed has those that are there.
pub fn has_functions(model: &Model, target: &Target, options: &Options) -> bool {
    /// The first IR version with local functions; it came with opset 15.
    const SINCE: i64 = 8;
    let version = ir_version(model, target, options);
    model.functions.is_empty()
        || version == model.ir_version
        || version.is_none_or(|version| version >= SINCE)
}

/// Leaves out attributes that do not exist at the target, where they are at their default anyway.
pub fn drop_defaults(editor: &mut Editor, graph: GraphId, target: &Target) {
    for id in editor.model().graphs[graph].nodes.clone() {
        let dropped = dropped(editor.model(), id, target);
        if !dropped.is_empty() {
            let what =
                format!("`{}` without attributes that say the default", editor.model().nodes[id].op_name());
            editor.drop_attributes(id, &dropped, Change::new(ADAPTED_FORM, Site::Node(id), what));
        }
    }
}

fn dropped(model: &Model, id: NodeId, target: &Target) -> Vec<Arc<str>> {
    let node = &model.nodes[id];
    let find = |opset: Option<i64>| {
        let opset = opset.and_then(|opset| u16::try_from(opset).ok())?;
        schema::lookup(node.domain(), &node.op_type, opset)
    };
    let Some(at_target) = find(target.opset(node.domain())) else { return Vec::new() };
    let versions = schema::versions(node.domain(), &node.op_type);
    let is_default = |name: &str, value: &AttrValue| {
        let mut known = versions.iter().filter_map(|schema| schema.attr(name));
        known.any(|spec| spec.is_default(AttrView::from(value)))
    };
    let gone = node.attrs.iter().filter(|attr| at_target.attr(&attr.name).is_none());
    gone.filter(|attr| is_default(&attr.name, &attr.value)).map(|attr| attr.name.clone()).collect()
}

/// Leaves out what a model imports and no node of it is of: a target may not know the domain.
pub fn drop_imports(editor: &mut Editor) {
    let model = editor.model();
    let nodes = scopes::live(model).into_iter().flat_map(|graph| &model.graphs[graph].nodes);
    let used: FxHashSet<String> = nodes.map(|&node| model.nodes[node].domain().to_owned()).collect();
    let is_needed = |import: &OpsetImport| {
        let domain = normal_domain(import.domain.as_deref());
        domain.is_empty() || used.contains(domain)
    };
    if model.opsets.iter().all(is_needed) {
        return;
    }
    let change = Change::new(RELABELLED_VERSION, Site::Model, "without imports that no node needs");
    editor.change(change, |model, _| {
        model.opsets.retain(is_needed);
        true
    });
}

/// Imports ai.onnx where a model had no node of it and has one now: an `Identity` that gives an output its name. Its
/// version is the newest that came with the IR version of the model.
pub fn import_made(editor: &mut Editor) {
    let model = editor.model();
    let is_imported = model.opsets.iter().any(|import| normal_domain(import.domain.as_deref()).is_empty());
    let mut nodes = scopes::live(model).into_iter().flat_map(|graph| &model.graphs[graph].nodes);
    if is_imported || !nodes.any(|&node| model.nodes[node].domain().is_empty()) {
        return;
    }
    let ir_version = model.ir_version.unwrap_or(i64::MAX);
    let newest = schema::latest("").unwrap_or(1);
    let fits = |opset: &u16| schema::release(*opset).is_some_and(|release| release.ir_version <= ir_version);
    let opset = (1..=newest).rev().find(fits).unwrap_or(1);
    let change = Change::new(RELABELLED_VERSION, Site::Model, "imports ai.onnx for an `Identity`");
    editor.change(change, |model, _| {
        model.opsets.push(OpsetImport { domain: Some(Arc::from("")), version: Some(opset.into()) });
        true
    });
}
