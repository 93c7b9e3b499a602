//! Bytes of a node or constant in the file, without the elements of weights.
//!
//! They are names, attributes, documentation and metadata. The name of a value is written where it is defined, and for
//! each use, so that a node takes hundreds of bytes in a model with long names. Lengths of fields are those of protobuf
//! messages below 128 bytes.

use egg::Id;

use crate::egraph::{Call, EGraph, ENode};
use crate::graph::{AttrValue, Attribute, Def, Metadata, NodeId, TensorData, ValueId};

/// Tag and length of a field.
const FIELD: usize = 2;

/// Length of a number that takes one byte, with its tag.
const NUMBER: usize = 2;

/// Length that the editor adds to a name to make it unique, such as `__opt101_1`.
const SUFFIX: usize = 10;

/// Length of the metadata entry that names the rule of a new node.
const RULE_ENTRY: usize = 28;

/// Length of a tensor without its name and elements: two sizes, its type, and the enclosing fields.
const TENSOR: usize = 12;

/// Returns the bytes of a call: of `original`, if the call is that node, or of a new node.
pub fn of_call(egraph: &EGraph, class: Id, call: &Call, original: Option<NodeId>) -> usize {
    let tables = &egraph.analysis.tables;
    let key = tables.op(call.op);
    let inputs = call.children[..usize::from(call.inputs)].iter();
    let inputs: usize = inputs.map(|&input| FIELD + name_of_class(egraph, input)).sum();
    let outputs: usize = match tables.is_single(call) {
        true => FIELD + name_of_class(egraph, class),
        false => (0..call.outputs).map(|index| FIELD + name_of_output(egraph, class, index)).sum(),
    };
    let attrs: usize = tables.attrs(call.attrs).iter().map(|attr| of_attribute(egraph, attr)).sum();
    let domain = if key.domain.is_empty() { 0 } else { FIELD + key.domain.len() };
    2 * FIELD + key.name.len() + domain + attrs + inputs + outputs + origin(egraph, class, original)
}

/// Returns the bytes of a constant without its elements.
pub fn of_constant(egraph: &EGraph, class: Id) -> usize {
    TENSOR + FIELD + name_of_class(egraph, class)
}

/// Returns the bytes of the name, documentation and metadata of a node.
/// A new node inherits the metadata of the nodes that it replaces.
fn origin(egraph: &EGraph, class: Id, original: Option<NodeId>) -> usize {
    let model = egraph.analysis.tables.model;
    let text = |text: &Option<std::sync::Arc<str>>| text.as_ref().map_or(0, |text| FIELD + text.len());
    if let Some(node) = original {
        let node = &model.nodes[node];
        return text(&node.name) + text(&node.doc) + of_metadata(&node.metadata);
    }
    let nodes = &egraph[class].data.origin;
    let Some(last) = nodes.last().map(|&node| &model.nodes[node]) else { return RULE_ENTRY };
    let name = last.name.as_ref().filter(|name| !name.is_empty());
    let doc = nodes.iter().find_map(|&node| model.nodes[node].doc.as_ref());
    name.map_or(0, |name| FIELD + derived(name))
        + doc.map_or(0, |doc| FIELD + doc.len())
        + of_metadata(&last.metadata)
        + RULE_ENTRY
}

fn of_metadata(metadata: &Metadata) -> usize {
    metadata.iter().map(|(key, value)| 3 * FIELD + key.len() + value.len()).sum()
}

/// Returns the bytes of an attribute.
/// Subgraphs do not count: every candidate of a node has the same ones.
fn of_attribute(egraph: &EGraph, attr: &Attribute) -> usize {
    let tensor = |id| match &egraph.analysis.tables.tensor(id).data {
        TensorData::Raw(raw) => TENSOR + raw.len(),
        _ => TENSOR,
    };
    let value = match &attr.value {
        AttrValue::Float(_) => 5,
        AttrValue::Int(_) => NUMBER,
        AttrValue::String(text) => FIELD + text.len(),
        AttrValue::Floats(all) => 5 * all.len(),
        AttrValue::Ints(all) => NUMBER * all.len(),
        AttrValue::Strings(all) => all.iter().map(|text| FIELD + text.len()).sum(),
        AttrValue::Tensor(id) => FIELD + tensor(*id),
        AttrValue::Tensors(all) => all.iter().map(|&id| FIELD + tensor(id)).sum(),
        _ => 0,
    };
    // The field around the attribute, its name, and its kind.
    FIELD + FIELD + attr.name.len() + 3 + value
}

/// Returns the length of the name of an output of a multi-output call.
fn name_of_output(egraph: &EGraph, class: Id, index: u16) -> usize {
    let projection = egraph.lookup(ENode::Output { index, call: [class] });
    projection.map_or_else(|| name_of_class(egraph, class), |output| name_of_class(egraph, output))
}

/// Returns the length of the name that the value of a class will have.
/// It is the name of a stored constant or input, of a value that a node produces, or a derived one.
fn name_of_class(egraph: &EGraph, class: Id) -> usize {
    let scope = &egraph.analysis;
    let model = scope.tables.model;
    let class = &egraph[class];
    let name = |value: ValueId| &model.values[value].name;
    let leaf = class.nodes.iter().find_map(|node| match node {
        ENode::Leaf(value) => Some(name(*value).len()),
        ENode::Absent => Some(0),
        _ => None,
    });
    let is_made_here = |value: &ValueId| {
        model.values[*value].graph == scope.graph && matches!(model.values[*value].def, Def::Node { .. })
    };
    let values = &class.data.values;
    let own = || values.iter().copied().find(is_made_here).map(|value| name(value).len());
    let first = || values.first().map(|&value| derived(name(value)));
    let of_node = || {
        let outputs = class.data.origin.iter().rev();
        let output = outputs.filter_map(|&node| model.nodes[node].outputs.iter().flatten().next()).next();
        output.map(|&output| derived(name(output)))
    };
    leaf.or_else(own).or_else(first).or_else(of_node).unwrap_or(SUFFIX)
}

/// Returns the length of a name that is derived from another one.
fn derived(name: &str) -> usize {
    name.split_once("__").map_or(name, |(base, _)| base).len() + SUFFIX
}
