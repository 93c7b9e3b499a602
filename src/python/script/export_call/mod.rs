//! Calls of exporters in a script, and the checks on them.

mod adjust;
mod arguments;
mod axes;
mod check;
mod file_inputs;
mod inputs;
mod model;
mod names;
mod opset;
mod outputs;
mod path_uses;
mod program_shapes;
mod request;
mod shapes;
mod signature;
mod wrappers;
mod written_path;

use tree_sitter::Node;

use crate::diag::Finding;

use super::exporting::ExportCall;
use super::machine::Machine;
use super::model_file::ModelFile;
use super::value::Value;
pub use adjust::{Way, adjust};

use super::super::syntax::{bare, children, field, string, text, within};
use check::Check;
use request::Request;

/// Result of the checks.
#[derive(Debug, Default)]
pub struct Checked {
    pub findings: Vec<Finding>,
    /// The fault for which the call certainly raises.
    pub raised: Option<Finding>,
}

/// Result of the checks after the model ran.
#[derive(Debug)]
pub struct Written<'t> {
    pub findings: Vec<Finding>,
    /// Path of the file that the call writes.
    pub path: Option<Value<'t>>,
    /// The model in the file, if it is known.
    pub model: Option<ModelFile<'t>>,
}

/// Checks a call before the model runs.
pub fn before<'t>(machine: &mut Machine<'t>, call: &ExportCall<'t>) -> Checked {
    let request = Request::new(machine, call);
    let mut check = Check::new(machine, &request);
    // A call with wrong arguments raises, so that the other checks do not matter.
    check.removed();
    if check.raised.is_none() {
        check.types();
        check.other_exporter();
        check.model();
        check.opset();
        check.input_names();
        check.example();
        check.dynamic_axes();
        check.dynamic_shapes();
        check.context();
        check.file();
        check.is_static();
    }
    Checked { findings: check.findings, raised: check.raised }
}

/// Checks a call after the model ran on the example. `outputs` is the result of `forward`, or unknown.
pub fn after<'t>(machine: &mut Machine<'t>, call: &ExportCall<'t>, outputs: &Value<'t>) -> Written<'t> {
    let request = Request::new(machine, call);
    let mut check = Check::new(machine, &request);
    check.outputs(outputs);
    let model = check.model_file(outputs);
    Written { findings: check.findings, path: request.value("f").cloned(), model }
}

/// Returns true if a call certainly exports with `dynamo=True`.
pub fn is_dynamo<'t>(machine: &mut Machine<'t>, call: &ExportCall<'t>) -> bool {
    Request::new(machine, call).exporter == request::Exporter::Dynamo
}

/// Returns true if a call certainly exports with the tracing exporter of `torch.onnx.export`.
pub fn is_tracing<'t>(machine: &mut Machine<'t>, call: &ExportCall<'t>) -> bool {
    Request::new(machine, call).exporter == request::Exporter::Tracing
}

/// Returns the way in which a script exports its models, after it ran.
pub fn way(machine: &mut Machine) -> Option<Way> {
    adjust::way(machine)
}

/// Returns the value of a keyword argument, or the expression itself.
fn value_node(node: Node<'_>) -> Node<'_> {
    if node.kind() == "keyword_argument" { field(node, "value").unwrap_or(node) } else { node }
}

/// Returns the expression of a key in a dictionary literal.
fn dictionary_key<'t>(argument: Node<'t>, key: &str, source: &str) -> Option<Node<'t>> {
    let literal = bare(value_node(argument));
    if literal.kind() != "dictionary" {
        return None;
    }
    let pairs = children(literal).into_iter().filter(|pair| pair.kind() == "pair");
    pairs.filter_map(|pair| field(pair, "key")).find(|node| string(*node, source) == Some(key))
}

/// Returns the expression of an axis in the value of a dictionary entry.
fn inner_key<'t>(key: Node<'t>, axis: &str, source: &str) -> Option<Node<'t>> {
    let pair = key.parent().filter(|pair| pair.kind() == "pair")?;
    let axes = field(pair, "value")?;
    let keys = within(axes).into_iter().filter(|node| {
        let is_key = node.parent().is_some_and(|parent| {
            parent.kind() == "list" || parent.kind() == "pair" && field(parent, "key") == Some(*node)
        });
        is_key && (text(*node, source) == axis || string(*node, source) == Some(axis))
    });
    keys.into_iter().next()
}

/// Returns names in backticks, separated by commas.
fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns true if two different names differ by few edits, or if one contains the other.
pub fn is_near(a: &str, b: &str) -> bool {
    let most = if a.len() > 6 { 3 } else { 1 };
    a != b && (strsim::damerau_levenshtein(a, b) <= most || a.contains(b) || b.contains(a))
}
