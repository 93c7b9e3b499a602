//! Opsets and IR version to which a model is converted.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::options::Options;
use crate::diag::rule_ids;
use crate::diag::{Finding, Place};
use crate::extract::Target;
use crate::graph::{Model, OpsetImport, Port, normal_domain, scopes};
use crate::schema;
use crate::targets::{Profile, Range};

/// Returns the target of converting a graph with these imports to `opset`.
/// The imports are kept if `opset` is `None`, or if ai.onnx is not among them.
pub fn target(imports: &[OpsetImport], opset: Option<i64>) -> Target {
    let mut target =
        Target { is_source: true, imports: imports.to_vec(), profiles: Vec::new(), added: Vec::new() };
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

/// Returns true if a local function imports another opset than the requested one.
pub fn has_other_functions(model: &Model, opset: Option<i64>) -> bool {
    model.functions.iter().any(|function| !target(&function.opsets, opset).is_source)
}

/// Returns the IR version to write.
/// By default, the version is that of the ONNX release with the target opset (at least 4 if an input has a
/// default), or that of the model if the opset does not change. The default is limited to versions that the
/// target runtimes support.
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

/// Returns the opset to convert to, which all target runtimes support; `None` keeps the model's opset.
/// If no opset is requested, returns the supported opset that is closest to that of the model.
///
/// # Errors
/// No opset is supported by all target runtimes, or one of them does not support the requested opset or
/// IR version.
pub fn resolved(model: &Model, options: &Options) -> Result<Option<i64>, Vec<Finding>> {
    let refused = |message: String| rule_ids::NOT_CONVERTIBLE.finding(message, Place::File);
    let loaded = options.targets.iter().fold(Range::ALL, |all, profile| all.meet(profile.opset));
    if loaded.is_empty() {
        let names: Vec<String> = options.targets.iter().map(|profile| profile.label()).collect();
        return Err(vec![refused(format!("no opset is supported by all of {}", names.join(", ")))]);
    }
    let own = model.opset(model.main, "");
    check_ir_version(options)?;
    let Some(wanted) = options.opset.or(own) else { return Ok(None) };
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
        Some(wanted) => Ok(Some(wanted)),
        None => Ok((closest != wanted).then_some(closest)),
    }
}

/// Checks that all target runtimes support the requested IR version.
fn check_ir_version(options: &Options) -> Result<(), Vec<Finding>> {
    let Some(wanted) = options.ir_version else { return Ok(()) };
    let outside = |profile: &&Arc<Profile>| profile.ir.meet(Range { from: wanted, to: wanted }).is_empty();
    let Some(profile) = options.targets.iter().find(outside) else { return Ok(()) };
    let message = format!("{} does not support IR version {wanted}", profile.label());
    let closest = wanted.max(profile.ir.from).min(profile.ir.to);
    let finding = rule_ids::NOT_CONVERTIBLE.finding(message, Place::File);
    Err(vec![finding.help(format!("use --ir-version {closest}, or leave the option out"))])
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
/// If the IR version is unchanged, it supports the functions of the source model.
pub fn has_functions(model: &Model, target: &Target, options: &Options) -> bool {
    /// First IR version with local functions, released with opset 15.
    const SINCE: i64 = 8;
    let version = ir_version(model, target, options);
    model.functions.is_empty()
        || version == model.ir_version
        || version.is_none_or(|version| version >= SINCE)
}

/// Returns the domains of all nodes outside function bodies.
pub fn used_domains(model: &Model) -> BTreeSet<String> {
    let graphs = scopes::live(model).into_iter().filter(|&graph| model.function_of(graph).is_none());
    let nodes = graphs.flat_map(|graph| &model.graphs[graph].nodes);
    let used: BTreeSet<&str> = nodes.map(|&node| model.nodes[node].domain()).collect();
    used.into_iter().map(str::to_owned).collect()
}

/// Returns true if every initializer must also be an input: before IR version 4.
pub fn are_inputs(ir_version: Option<i64>) -> bool {
    ir_version.is_some_and(|version| version < 4)
}
