//! Target opsets and IR version of the result.

use std::collections::BTreeSet;
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

/// Returns the target with the opset imports of the result.
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
            // Lower the version to the one released with the opset; it never has to increase.
            "ai.onnx.ml" => import.version = import.version.zip(ml).map(|(have, ml)| have.min(ml)).or(ml),
            _ => {}
        }
    }
    target
}

/// Returns the IR version to write.
/// By default, this is the version of the ONNX release with the target opset, or that of the model if the opset does
/// not change. It is at least 4 if an input has a default, and limited to versions that the target runtimes support.
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

/// Returns the options with an opset that all target runtimes support.
/// If no opset is requested, it is that of the model, or else the closest supported one.
///
/// # Errors
/// No such opset exists, or the requested opset is not supported.
pub fn resolved(model: &Model, options: &Options) -> Result<Options, Vec<Finding>> {
    let refused = |message: String| rule_ids::NOT_CONVERTIBLE.finding(message, Place::File);
    let loaded = options.targets.iter().fold(Range::ALL, |all, profile| all.meet(profile.opset));
    if loaded.is_empty() {
        let names: Vec<String> = options.targets.iter().map(|profile| profile.label()).collect();
        return Err(vec![refused(format!("no opset is supported by all of {}", names.join(", ")))]);
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
                refused(format!("{name} does not support opset {wanted}"))
                    .help(format!("use --opset {closest}")),
            ])
        }
        Some(_) => Ok(options.clone()),
        None => Ok(Options { opset: (closest != wanted).then_some(closest), ..options.clone() }),
    }
}

/// First IR version in which an initializer of an input is a default that a caller may override.
const DEFAULTS_SINCE: i64 = 4;

/// Returns true if an input of the model has a default.
fn has_defaults(model: &Model) -> bool {
    let has_initial = |port: &Port| model.values[port.value].initial.is_some();
    model.ir_version.is_some_and(|version| version >= DEFAULTS_SINCE)
        && model.graphs[model.main].inputs.iter().any(has_initial)
}

/// Returns true if the local functions of a model can be kept.
/// An unchanged IR version supports those of the source model.
pub fn has_functions(model: &Model, target: &Target, options: &Options) -> bool {
    /// First IR version with local functions, released with opset 15.
    const SINCE: i64 = 8;
    let version = ir_version(model, target, options);
    model.functions.is_empty()
        || version == model.ir_version
        || version.is_none_or(|version| version >= SINCE)
}

/// Drops attributes that do not exist at the target opset, if they have their default value.
pub fn drop_defaults(editor: &mut Editor, graph: GraphId, target: &Target) {
    for id in editor.model().graphs[graph].nodes.clone() {
        let dropped = dropped(editor.model(), id, target);
        if !dropped.is_empty() {
            let what =
                format!("attributes of `{}` with default values removed", editor.model().nodes[id].op_name());
            editor.drop_attributes(id, &dropped, Change::new(ADAPTED_FORM, Site::Node(id), what));
        }
    }
}

/// Returns the attributes of a node that can be dropped at the target.
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

/// Removes unused opset imports: a target runtime may not support their domains.
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
    let change = Change::new(RELABELLED_VERSION, Site::Model, "unused opset imports removed");
    editor.change(change, |model, _| {
        model.opsets.retain(is_needed);
        true
    });
}

/// Returns the domains of the nodes of the model, except for those of functions.
pub fn used_domains(model: &Model) -> BTreeSet<String> {
    let graphs = scopes::live(model).into_iter().filter(|&graph| model.function_of(graph).is_none());
    let nodes = graphs.flat_map(|graph| &model.graphs[graph].nodes);
    let used: BTreeSet<&str> = nodes.map(|&node| model.nodes[node].domain()).collect();
    used.into_iter().map(str::to_owned).collect()
}

/// Imports the domains of new nodes, those that are not among `before`, in their newest version.
/// A custom domain has no schema, and is imported in version 1.
pub fn import_domains(editor: &mut Editor, before: &BTreeSet<String>, target: &mut Target) {
    let is_new = |domain: &String| {
        let is_imported = |import: &OpsetImport| normal_domain(import.domain.as_deref()) == *domain;
        !domain.is_empty() && !before.contains(domain) && !target.imports.iter().any(is_imported)
    };
    let mut new = used_domains(editor.model());
    new.retain(is_new);
    for domain in new {
        let version = schema::latest(&domain).map_or(1, i64::from);
        let import = OpsetImport { domain: Some(domain.as_str().into()), version: Some(version) };
        target.imports.push(import.clone());
        let change = Change::new(RELABELLED_VERSION, Site::Model, format!("`{domain}` imported"));
        editor.change(change, |model, _| {
            model.opsets.push(import);
            true
        });
    }
}

/// Imports ai.onnx if the result has a node of it but no import: an `Identity` that renames an output.
/// The version is the newest one for the IR version of the model.
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
    let change = Change::new(RELABELLED_VERSION, Site::Model, "ai.onnx imported for an `Identity`");
    editor.change(change, |model, _| {
        model.opsets.push(OpsetImport { domain: Some(Arc::from("")), version: Some(opset.into()) });
        true
    });
}
