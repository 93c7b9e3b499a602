//! IR version and opset imports of a model.

use indexmap::IndexMap;

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::{DUPLICATE_OPSET_IMPORT, MISSING_IR_VERSION, MISSING_OPSET_IMPORT};
use crate::diag::{Finding, Level, Place, Sink};
use crate::graph::{NodeId, OpsetImport, normal_domain};
use crate::schema;

/// Detector of SPC027, SPC028 and SPC034.
pub const DETECTOR: Detector =
    Detector { rules: &[MISSING_OPSET_IMPORT, DUPLICATE_OPSET_IMPORT, MISSING_IR_VERSION], run };

fn missing_import(
    cx: &LintContext,
    function: Option<usize>,
    node: NodeId,
    domain: &str,
    count: usize,
) -> Finding {
    let shown = if domain.is_empty() { "ai.onnx" } else { domain };
    let of = function.map(|index| &cx.model.functions[index]);
    // ONNX Runtime imports its own domains implicitly, but not in functions.
    let is_vendor = of.is_none() && !domain.is_empty() && schema::domain(domain).is_some();
    let rule = if is_vendor { MISSING_OPSET_IMPORT.at(Level::Warning) } else { MISSING_OPSET_IMPORT };
    let (place, help) = match of.map(|function| function.name.as_deref().unwrap_or_default()) {
        Some(name) => (format!(" by function `{name}`"), format!(" to function `{name}`")),
        None => Default::default(),
    };
    let message = format!("domain `{shown}` is used, but not imported{place}");
    let kind = if cx.model.callee(node).is_some() { "a function" } else { "an operator" };
    let finding = cx.at_node(rule, node, Part::Op, message).label(format!("{kind} of this domain"));
    let finding = finding.help(format!("add an `opset_import` for `{shown}`{help}"));
    match count {
        1 => finding,
        _ => finding.note(format!("{count} nodes use this domain")),
    }
}

fn duplicate_import(domain: &str, versions: &[i64]) -> Finding {
    let shown = if domain.is_empty() { "ai.onnx" } else { domain };
    let listed: Vec<String> = versions.iter().map(i64::to_string).collect();
    let message = format!("domain `{shown}` is imported {} times: {}", versions.len(), listed.join(", "));
    // Duplicate imports of one version are harmless.
    let differs = versions.iter().any(|version| *version != versions[0]);
    if differs {
        let rule = DUPLICATE_OPSET_IMPORT.at(Level::Error);
        rule.finding(message, Place::File).note("runtimes differ in the version that they use")
    } else {
        DUPLICATE_OPSET_IMPORT.at(Level::Warning).finding(message, Place::File)
    }
}

fn missing_ir_version() -> Finding {
    let message = "the model has no IR version";
    MISSING_IR_VERSION.finding(message, Place::File).help("set `ir_version`")
}

fn run(cx: &LintContext, sink: &mut Sink) {
    if cx.model.ir_version.is_none_or(|version| version <= 0) {
        sink.push(missing_ir_version());
    }
    let functions = cx.model.functions.iter().map(|function| &function.opsets);
    for imports in std::iter::once(&cx.model.opsets).chain(functions) {
        sink.extend(duplicates(imports));
    }
    // First node of each domain without an import, and the number of these nodes, for the model and each function.
    let mut missing: IndexMap<(Option<usize>, &str), (NodeId, usize)> = IndexMap::new();
    for (id, node) in cx.nodes() {
        let scope = cx.model.function_of(node.graph);
        let imports = scope.map_or(&cx.model.opsets, |function| &cx.model.functions[function].opsets);
        let is_of_domain = |import: &&OpsetImport| normal_domain(import.domain.as_deref()) == node.domain();
        // Only operators need a version: local functions have none.
        let has_version = |import: &OpsetImport| import.version.is_some() || cx.model.callee(id).is_some();
        if !imports.iter().find(is_of_domain).is_some_and(has_version) {
            missing.entry((scope, node.domain())).or_insert((id, 0)).1 += 1;
        }
    }
    sink.extend(
        missing
            .iter()
            .map(|(&(function, domain), &(node, count))| missing_import(cx, function, node, domain, count)),
    );
}

fn duplicates(imports: &[OpsetImport]) -> Vec<Finding> {
    let mut versions: IndexMap<&str, Vec<i64>> = IndexMap::new();
    for import in imports {
        let domain = normal_domain(import.domain.as_deref());
        versions.entry(domain).or_default().push(import.version.unwrap_or(0));
    }
    let repeated = versions.iter().filter(|(_, versions)| versions.len() > 1);
    repeated.map(|(domain, versions)| duplicate_import(domain, versions)).collect()
}
