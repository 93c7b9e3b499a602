//! IR version and opset imports of a model.

use indexmap::IndexMap;

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::{DUPLICATE_OPSET_IMPORT, MISSING_IR_VERSION, MISSING_OPSET_IMPORT};
use crate::diag::{Finding, Level, Place, Sink};
use crate::graph::{GraphId, NodeId, OpsetImport, normal_domain};
use crate::schema;

/// Detector of SPC027, SPC028 and SPC034.
pub const DETECTOR: Detector =
    Detector { rules: &[MISSING_OPSET_IMPORT, DUPLICATE_OPSET_IMPORT, MISSING_IR_VERSION], run };

fn missing_import(cx: &LintContext, node: NodeId, domain: &str, count: usize) -> Finding {
    let shown = if domain.is_empty() { "ai.onnx" } else { domain };
    // ONNX Runtime imports its own domains implicitly.
    let is_vendor = !domain.is_empty() && schema::domain(domain).is_some();
    let rule = if is_vendor { MISSING_OPSET_IMPORT.at(Level::Warning) } else { MISSING_OPSET_IMPORT };
    let message = format!("domain `{shown}` is used, but not imported");
    let finding = cx.at_node(rule, node, Part::Op, message).label("an operator of this domain");
    let finding = finding.help(format!("add an `opset_import` for `{shown}`"));
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
        let is_imported = |graph: GraphId| cx.model.opset(graph, node.domain()).is_some();
        if !is_imported(node.graph) && cx.model.callee(id).is_none() {
            let scope = cx.model.function_of(node.graph);
            missing.entry((scope, node.domain())).or_insert((id, 0)).1 += 1;
        }
    }
    sink.extend(missing.iter().map(|(&(_, domain), &(node, count))| missing_import(cx, node, domain, count)));
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
