//! JSON schema of a program: the fields in use, of major versions 5 to 8.
//!
//! PyTorch defines the schema in `torch/_export/serde/schema.py`. Fields may be missing and unknown fields are ignored, to
//! support several versions.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

/// Exported program.
#[derive(Deserialize)]
pub struct Program {
    #[serde(default)]
    pub schema_version: SchemaVersion,
    pub graph_module: GraphModule,
    /// Bounds of symbolic sizes, by symbol.
    #[serde(default)]
    pub range_constraints: BTreeMap<String, Range>,
}

/// Newest supported major version; fields may have another meaning in newer ones.
pub const NEWEST_MAJOR: i64 = 8;

/// Version such as `{"major": 8, "minor": 20}`; 0 if it is not stated.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct SchemaVersion {
    pub major: i64,
}

/// Bounds of a symbol; an infinite bound is null, or a word in early versions.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Range {
    pub min_val: Json,
    pub max_val: Json,
}

/// Graph with its signature and the calls of its modules.
#[derive(Deserialize)]
pub struct GraphModule {
    pub graph: Graph,
    #[serde(default)]
    pub signature: Signature,
    #[serde(default)]
    pub module_call_graph: Vec<ModuleCall>,
}

/// Graph of nodes, with the types of its tensors by name.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Graph {
    pub inputs: Vec<Json>,
    pub outputs: Vec<Json>,
    pub nodes: Vec<Node>,
    /// Types of the tensors, by value name.
    pub tensor_values: BTreeMap<String, TensorMeta>,
}

/// Call of the operator `target`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Operator, such as `torch.ops.aten.add.Tensor`.
    pub target: String,
    pub inputs: Vec<NamedArgument>,
    pub outputs: Vec<Json>,
    pub metadata: BTreeMap<String, Json>,
}

/// Argument of a call; the name is empty for a positional argument.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct NamedArgument {
    pub name: String,
    /// Object with one key, the kind of the argument (`as_tensor`, `as_int`, …).
    pub arg: Json,
}

/// Type and layout of a tensor; strides and offset are in elements.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct TensorMeta {
    /// Number of the `ScalarType`.
    pub dtype: u32,
    pub sizes: Vec<Json>,
    pub strides: Vec<Json>,
    pub storage_offset: Json,
}

/// Archive entries of tensors, from `model_weights_config.json` and `model_constants_config.json`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Payloads {
    pub config: BTreeMap<String, Payload>,
}

/// Archive entry of a tensor.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Payload {
    /// Path of the entry, relative to the directory of the list.
    pub path_name: String,
    /// Whether the entry is a pickle instead of raw elements.
    pub use_pickle: bool,
    pub tensor_meta: Option<TensorMeta>,
}

/// Roles of the inputs and outputs of a graph, by position.
///
/// Each role is an object with one key, which is its kind, such as `user_input` or `buffer_mutation`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Signature {
    pub input_specs: Vec<BTreeMap<String, Json>>,
    pub output_specs: Vec<BTreeMap<String, Json>>,
}

/// Call of a module; `fqn` is the path of the module, empty for the root.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ModuleCall {
    pub fqn: String,
    pub signature: Option<CallSignature>,
}

/// Signature of a module call.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct CallSignature {
    /// Tree of the outputs, as JSON in a string.
    pub out_spec: String,
}
