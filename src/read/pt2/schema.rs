//! The JSON of a program, as far as it is read (`torch/_export/serde/schema.py`, major versions 5 to 8).
//!
//! Every field may be missing and unknown ones are passed over, so that other versions can be read too.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

#[derive(Deserialize)]
pub struct Program {
    #[serde(default)]
    pub schema_version: SchemaVersion,
    pub graph_module: GraphModule,
    #[serde(default)]
    pub range_constraints: BTreeMap<String, Range>,
}

/// The newest major version that is known: what a newer one says may mean something else.
pub const NEWEST_MAJOR: i64 = 8;

/// `{"major": 8, "minor": 20}`; 0 where nothing is said.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct SchemaVersion {
    pub major: i64,
}

/// Bounds of a symbol; infinite ones are null, or words in early versions.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Range {
    pub min_val: Json,
    pub max_val: Json,
}

#[derive(Deserialize)]
pub struct GraphModule {
    pub graph: Graph,
    #[serde(default)]
    pub signature: Signature,
    #[serde(default)]
    pub module_call_graph: Vec<ModuleCall>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Graph {
    pub inputs: Vec<Json>,
    pub outputs: Vec<Json>,
    pub nodes: Vec<Node>,
    pub tensor_values: BTreeMap<String, TensorMeta>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Node {
    pub target: String,
    pub inputs: Vec<NamedArgument>,
    pub outputs: Vec<Json>,
    pub metadata: BTreeMap<String, Json>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct NamedArgument {
    pub name: String,
    pub arg: Json,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct TensorMeta {
    pub dtype: u32,
    pub sizes: Vec<Json>,
    pub strides: Vec<Json>,
    pub storage_offset: Json,
}

/// `model_weights_config.json`, `model_constants_config.json`: which entry of the archive holds which tensor.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Payloads {
    pub config: BTreeMap<String, Payload>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Payload {
    pub path_name: String,
    pub use_pickle: bool,
    pub tensor_meta: Option<TensorMeta>,
}

/// Which inputs are the caller's and which outputs are returned: one object a place, with one key that
/// says its kind (`user_input`, `parameter`, `user_output`, `buffer_mutation`, …).
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Signature {
    pub input_specs: Vec<BTreeMap<String, Json>>,
    pub output_specs: Vec<BTreeMap<String, Json>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ModuleCall {
    pub fqn: String,
    pub signature: Option<CallSignature>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct CallSignature {
    /// A tree of the outputs, as JSON within a string.
    pub out_spec: String,
}
