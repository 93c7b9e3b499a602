//! The model: arenas of graphs, nodes, values and tensors, and the remaining `ModelProto` fields.
//!
//! Value ids are unique in the model, so a subgraph refers to captured values of outer graphs in the same
//! way as to its own values.

use std::sync::Arc;

use bytes::Bytes;

use super::arena::{Arena, GraphId, NodeId, TensorId, ValueId};
use super::attribute::{AttrValue, Attribute};
use super::metadata::Metadata;
use super::tensor::{SparseTensor, Tensor};
use super::types::ValueInfo;

/// An `opset_import` entry. The domains "" and "ai.onnx" are synonyms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpsetImport {
    /// Domain as written; [`normal_domain`] resolves synonyms.
    pub domain: Option<Arc<str>>,
    /// Version; `None` if the file omits it, which is invalid.
    pub version: Option<i64>,
}

/// Definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Def {
    /// The graph input at this index (it may have an initializer as its default).
    Input(u32),
    /// An initializer that is not a graph input.
    Initializer,
    /// An output of a node.
    Node {
        /// The producing node.
        node: NodeId,
        /// 0-based output index.
        output: u32,
    },
    /// No definition: the name is used or declared but never defined.
    Missing,
}

/// Initial tensor of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// Dense tensor in the model's arena.
    Dense(TensorId),
    /// Sparse tensor in coordinate format (`sparse_initializer`).
    Sparse(Box<SparseTensor>),
}

/// A named value in the scope of a graph.
#[derive(Clone, Debug)]
pub struct Value {
    /// Name; other graphs may define a different value with this name.
    pub name: Arc<str>,
    /// The graph whose scope contains the value.
    pub graph: GraphId,
    /// Definition of the value.
    pub def: Def,
    /// Initializer of this name: the constant, or the default of a graph input.
    pub initial: Option<Initial>,
}

/// A call of an operator or a local function (`NodeProto`).
#[derive(Clone, Debug)]
pub struct Node {
    /// The graph that contains the node.
    pub graph: GraphId,
    /// Domain as written; [`Node::domain`] resolves synonyms.
    pub domain: Option<Arc<str>>,
    /// Name of the operator or function.
    pub op_type: Arc<str>,
    /// Overload of a function (IR 10 and later).
    pub overload: Option<Arc<str>>,
    /// Optional name; need not be unique.
    pub name: Option<Arc<str>>,
    /// Inputs; `None` is an omitted optional input.
    pub inputs: Vec<Option<ValueId>>,
    /// Outputs; `None` is an unused optional output.
    pub outputs: Vec<Option<ValueId>>,
    /// Attributes in file order; attributes with defaults may be omitted.
    pub attrs: Vec<Attribute>,
    /// `doc_string`.
    pub doc: Option<Arc<str>>,
    /// Metadata recorded by the exporter, such as the Python stack trace and the module path.
    pub metadata: Metadata,
    /// `device_configurations`, kept encoded because no code interprets them.
    pub device_configurations: Vec<Bytes>,
}

impl Node {
    /// Creates a node of the default domain, without inputs, outputs or attributes.
    pub fn new(graph: GraphId, op_type: impl Into<Arc<str>>) -> Self {
        Node {
            graph,
            domain: None,
            op_type: op_type.into(),
            overload: None,
            name: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            attrs: Vec::new(),
            doc: None,
            metadata: Metadata::new(),
            device_configurations: Vec::new(),
        }
    }

    /// Returns the domain with synonyms resolved: "" is the default domain.
    pub fn domain(&self) -> &str {
        normal_domain(self.domain.as_deref())
    }

    /// Returns the qualified operator name: `Conv` or `com.microsoft.FusedConv`.
    pub fn op_name(&self) -> String {
        match self.domain() {
            "" => self.op_type.to_string(),
            domain => format!("{domain}.{}", self.op_type),
        }
    }

    /// Returns true if the node calls this operator of the default domain.
    pub fn is(&self, op: &str) -> bool {
        self.domain().is_empty() && &*self.op_type == op
    }

    /// Returns the attribute `name`; `None` if the node does not set it, even if it has a default.
    pub fn attr(&self, name: &str) -> Option<&AttrValue> {
        self.attrs.iter().find(|attr| &*attr.name == name).map(|attr| &attr.value)
    }

    /// Returns the input at `index`; `None` if omitted or out of range.
    pub fn input(&self, index: usize) -> Option<ValueId> {
        self.inputs.get(index).copied().flatten()
    }

    /// Returns the output at `index`; `None` if omitted or out of range.
    pub fn output(&self, index: usize) -> Option<ValueId> {
        self.outputs.get(index).copied().flatten()
    }

    /// Returns the node's subgraphs in attribute order.
    pub fn graphs(&self) -> impl Iterator<Item = GraphId> + '_ {
        self.attrs.iter().flat_map(|attr| attr.value.graphs().iter().copied())
    }

    /// Returns the first metadata entry with this key.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(name, _)| &**name == key).map(|(_, value)| &**value)
    }
}

/// Resolves domain synonyms: "ai.onnx" and an absent domain become "".
pub fn normal_domain(domain: Option<&str>) -> &str {
    match domain {
        None | Some("ai.onnx") => "",
        Some(domain) => domain,
    }
}

/// Returns inputs or outputs without the omitted ones at the end, which have no meaning.
pub fn trimmed<T>(operands: &[Option<T>]) -> &[Option<T>] {
    let len = operands.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    &operands[..len]
}

/// A value and its declaration in a graph.
#[derive(Clone, Debug)]
pub struct Port {
    /// The declared value.
    pub value: ValueId,
    /// Declared type and documentation.
    pub info: ValueInfo,
}

/// Owner of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The main graph.
    Model,
    /// The node that has the graph as an attribute.
    Node(NodeId),
    /// The function with this index.
    Function(usize),
}

/// Names of the tensors that hold a value's quantization parameters (`TensorAnnotation`).
#[derive(Clone, Debug, PartialEq)]
pub struct QuantAnnotation {
    /// Name of the annotated value.
    pub tensor_name: Option<Arc<str>>,
    /// `quant_parameter_tensor_names`: pairs such as `SCALE_TENSOR` and a tensor name.
    pub parameters: Metadata,
}

/// A graph: the main graph, a subgraph, or the graph of a local function (`GraphProto`).
#[derive(Clone, Debug)]
pub struct Graph {
    /// Owner of the graph.
    pub owner: Owner,
    /// Optional name, as written.
    pub name: Option<Arc<str>>,
    /// Inputs in calling order; before IR 4 they include the initializers.
    pub inputs: Vec<Port>,
    /// Outputs in calling order.
    pub outputs: Vec<Port>,
    /// Nodes in file order, which is topological in a valid file.
    pub nodes: Vec<NodeId>,
    /// Values with a dense initializer, including inputs with defaults, in file order.
    pub initializers: Vec<ValueId>,
    /// Values with a sparse initializer.
    pub sparse_initializers: Vec<ValueId>,
    /// Declarations of intermediate values; may be incomplete.
    pub value_info: Vec<Port>,
    /// `quantization_annotation`.
    pub quantization: Vec<QuantAnnotation>,
    /// `doc_string`.
    pub doc: Option<Arc<str>>,
    /// Metadata recorded by the exporter, such as ranges of symbolic dimensions.
    pub metadata: Metadata,
}

impl Graph {
    /// Creates an empty graph.
    pub fn new(owner: Owner) -> Self {
        Graph {
            owner,
            name: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            nodes: Vec::new(),
            initializers: Vec::new(),
            sparse_initializers: Vec::new(),
            value_info: Vec::new(),
            quantization: Vec::new(),
            doc: None,
            metadata: Metadata::new(),
        }
    }
}

/// A local function (`FunctionProto`). Inputs, outputs, nodes and `doc_string` are those of `body`.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name: the `op_type` of calling nodes.
    pub name: Option<Arc<str>>,
    /// Domain of calling nodes.
    pub domain: Option<Arc<str>>,
    /// Overload that distinguishes functions of one name and domain (IR 10 and later).
    pub overload: Option<Arc<str>>,
    /// Graph of the function.
    pub body: GraphId,
    /// Names of the attributes without a default.
    pub attributes: Vec<Arc<str>>,
    /// Attributes with a default.
    pub attribute_defaults: Vec<Attribute>,
    /// Opset versions of the function; for a domain that is not listed, the version of the model applies.
    pub opsets: Vec<OpsetImport>,
}

/// A model, field by field as in `ModelProto`.
#[derive(Clone, Debug)]
pub struct Model {
    /// IR version of the file format.
    pub ir_version: Option<i64>,
    /// Opset versions, one per domain.
    pub opsets: Vec<OpsetImport>,
    /// Name of the producer, such as `pytorch`.
    pub producer_name: Option<Arc<str>>,
    /// Version of the producer.
    pub producer_version: Option<Arc<str>>,
    /// Namespace of the model, such as `com.example`.
    pub domain: Option<Arc<str>>,
    /// Version of the model, assigned by its author.
    pub model_version: Option<i64>,
    /// `doc_string`.
    pub doc: Option<Arc<str>>,
    /// Metadata recorded by exporters and authors.
    pub metadata: Metadata,
    /// The main graph.
    pub main: GraphId,
    /// Local functions in file order.
    pub functions: Vec<Function>,
    /// All graphs at any depth; may contain unreferenced ones.
    pub graphs: Arena<GraphId, Graph>,
    /// All nodes of all graphs; may contain nodes that no graph lists.
    pub nodes: Arena<NodeId, Node>,
    /// All values of all graphs.
    pub values: Arena<ValueId, Value>,
    /// All tensors of initializers and attributes.
    pub tensors: Arena<TensorId, Tensor>,
    /// `training_info` entries, kept encoded.
    pub training_info: Vec<Bytes>,
    /// `configuration` entries, kept encoded.
    pub configuration: Vec<Bytes>,
}

impl Model {
    /// Creates a model with an empty main graph.
    pub fn new() -> Self {
        let mut graphs = Arena::default();
        let main = graphs.push(Graph::new(Owner::Model));
        Model {
            ir_version: None,
            opsets: Vec::new(),
            producer_name: None,
            producer_version: None,
            domain: None,
            model_version: None,
            doc: None,
            metadata: Metadata::new(),
            main,
            functions: Vec::new(),
            graphs,
            nodes: Arena::default(),
            values: Arena::default(),
            tensors: Arena::default(),
            training_info: Vec::new(),
            configuration: Vec::new(),
        }
    }

    /// Returns the opset version of `domain` that applies in `graph` ("" is the default domain).
    /// In a local function, its own import of the domain takes precedence over the model's.
    pub fn opset(&self, graph: GraphId, domain: &str) -> Option<i64> {
        let own = self.function_of(graph).map(|function| &self.functions[function].opsets);
        let find = |imports: &[OpsetImport]| {
            let import = imports.iter().find(|import| normal_domain(import.domain.as_deref()) == domain)?;
            import.version
        };
        own.and_then(|imports| find(imports)).or_else(|| find(&self.opsets))
    }

    /// Returns the index of the local function that contains `graph`, at any depth.
    pub fn function_of(&self, graph: GraphId) -> Option<usize> {
        match self.graphs[graph].owner {
            Owner::Model => None,
            Owner::Function(function) => Some(function),
            Owner::Node(node) => self.function_of(self.nodes[node].graph),
        }
    }

    /// Returns the index of the local function that `node` calls.
    pub fn callee(&self, node: NodeId) -> Option<usize> {
        let node = &self.nodes[node];
        self.functions.iter().position(|function| {
            function.name.as_deref() == Some(&*node.op_type)
                && normal_domain(function.domain.as_deref()) == node.domain()
                && function.overload.as_deref().unwrap_or("") == node.overload.as_deref().unwrap_or("")
        })
    }

    /// Returns the parent graph: the graph of the node that owns `graph`.
    pub fn parent(&self, graph: GraphId) -> Option<GraphId> {
        self.holders(graph).next().map(|node| self.nodes[node].graph)
    }

    /// Returns the nodes that enclose `graph`, innermost first.
    pub fn holders(&self, graph: GraphId) -> impl Iterator<Item = NodeId> + '_ {
        let holder = |graph: GraphId| match self.graphs[graph].owner {
            Owner::Node(node) => Some(node),
            Owner::Model | Owner::Function(_) => None,
        };
        std::iter::successors(holder(graph), move |&node| holder(self.nodes[node].graph))
    }

    /// Returns the node that produces `value`, and the output index.
    pub fn producer(&self, value: ValueId) -> Option<(NodeId, u32)> {
        match self.values[value].def {
            Def::Node { node, output } => Some((node, output)),
            _ => None,
        }
    }

    /// Returns the dense tensor of `value` if it is a constant initializer.
    /// Returns `None` if the value is also a graph input, because the initializer is only a default.
    pub fn constant(&self, value: ValueId) -> Option<&Tensor> {
        let value = &self.values[value];
        match (&value.initial, value.def) {
            (Some(Initial::Dense(tensor)), Def::Initializer) => Some(&self.tensors[*tensor]),
            _ => None,
        }
    }
}

impl Default for Model {
    fn default() -> Self {
        Model::new()
    }
}
