//! The model: arenas of graphs, nodes, values and tensors, and what the file says besides.
//!
//! Ids are unique in the whole model, so that a body refers to the values of the graphs around it
//! (its captures) as it does to its own.

use std::sync::Arc;

use bytes::Bytes;

use super::arena::{Arena, GraphId, NodeId, TensorId, ValueId};
use super::attribute::{AttrValue, Attribute};
use super::tensor::{SparseTensor, Tensor};
use super::types::ValueInfo;

/// `metadata_props` and its like: key and value, in the order of the file.
pub type Metadata = Vec<(Arc<str>, Arc<str>)>;

/// One `opset_import`. The domains "" and "ai.onnx" are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpsetImport {
    /// As written; [`normal_domain`] makes one of what is the same.
    pub domain: Option<Arc<str>>,
    /// `None` where the file states none, which is a fault.
    pub version: Option<i64>,
}

/// What defines a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Def {
    /// The graph's input at this index (it may have an initializer as its default).
    Input(u32),
    /// An initializer that is no input.
    Initializer,
    /// An output of a node.
    Node {
        /// The node that makes it.
        node: NodeId,
        /// Which of its outputs it is, from 0.
        output: u32,
    },
    /// Nothing: the name is used or declared but defined nowhere.
    Missing,
}

/// The tensor that a value starts out with.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// In the arena of the model.
    Dense(TensorId),
    /// In coordinate form (`sparse_initializer`).
    Sparse(Box<SparseTensor>),
}

/// A value: what a name stands for in a graph.
#[derive(Clone, Debug)]
pub struct Value {
    /// The same name may stand for another value in another graph.
    pub name: Arc<str>,
    /// The graph whose scope it belongs to.
    pub graph: GraphId,
    /// Where it comes from.
    pub def: Def,
    /// The initializer of its name: what it is, or, of an input, what it is unless the caller says otherwise.
    pub initial: Option<Initial>,
}

/// A call of an operator or of a local function (`NodeProto`).
#[derive(Clone, Debug)]
pub struct Node {
    /// The graph it stands in.
    pub graph: GraphId,
    /// As written; [`Node::domain`] is the one to compare.
    pub domain: Option<Arc<str>>,
    /// The name of the operator, or of the function.
    pub op_type: Arc<str>,
    /// Which of several functions of one name is meant (IR 10 and later).
    pub overload: Option<Arc<str>>,
    /// Need not be unique.
    pub name: Option<Arc<str>>,
    /// `None`: an optional input that is left out.
    pub inputs: Vec<Option<ValueId>>,
    /// `None`: an optional output that is not asked for.
    pub outputs: Vec<Option<ValueId>>,
    /// In the order of the file; those with defaults may be left out.
    pub attrs: Vec<Attribute>,
    /// `doc_string`.
    pub doc: Option<Arc<str>>,
    /// What exporters record of a node: the Python behind it, its module.
    pub metadata: Metadata,
    /// `device_configurations`, each still encoded: nothing here depends on them.
    pub device_configurations: Vec<Bytes>,
}

impl Node {
    /// A call in a graph without a domain, inputs, outputs and attributes.
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

    /// The domain with its synonym resolved: "" for the default one.
    pub fn domain(&self) -> &str {
        normal_domain(self.domain.as_deref())
    }

    /// `Conv`, or `com.microsoft.FusedConv`.
    pub fn op_name(&self) -> String {
        match self.domain() {
            "" => self.op_type.to_string(),
            domain => format!("{domain}.{}", self.op_type),
        }
    }

    /// Whether it calls this operator of the default domain.
    pub fn is(&self, op: &str) -> bool {
        self.domain().is_empty() && &*self.op_type == op
    }

    /// The value of the attribute `name`; `None` where the node does not state it, default or not.
    pub fn attr(&self, name: &str) -> Option<&AttrValue> {
        self.attrs.iter().find(|attr| &*attr.name == name).map(|attr| &attr.value)
    }

    /// The input at `index`; `None` where it is absent in either way.
    pub fn input(&self, index: usize) -> Option<ValueId> {
        self.inputs.get(index).copied().flatten()
    }

    /// The output at `index`; `None` where it is absent in either way.
    pub fn output(&self, index: usize) -> Option<ValueId> {
        self.outputs.get(index).copied().flatten()
    }

    /// The bodies it holds, in the order of its attributes.
    pub fn graphs(&self) -> impl Iterator<Item = GraphId> + '_ {
        self.attrs.iter().flat_map(|attr| attr.value.graphs().iter().copied())
    }

    /// The first entry of the metadata under `key`.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(name, _)| &**name == key).map(|(_, value)| &**value)
    }
}

/// The name by which a domain is known here: "" for "ai.onnx" too.
pub fn normal_domain(domain: Option<&str>) -> &str {
    match domain {
        None | Some("ai.onnx") => "",
        Some(domain) => domain,
    }
}

/// A value with what the graph declares of it.
#[derive(Clone, Debug)]
pub struct Port {
    /// The value that is declared.
    pub value: ValueId,
    /// Its type and documentation, as declared.
    pub info: ValueInfo,
}

/// What a graph belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The main graph.
    Model,
    /// The node whose attribute it is.
    Node(NodeId),
    /// The function of this index whose body it is.
    Function(usize),
}

/// `TensorAnnotation`: the tensors that hold the quantisation parameters of a value, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantAnnotation {
    /// The name of the value.
    pub tensor_name: Option<Arc<str>>,
    /// `quant_parameter_tensor_names`: `SCALE_TENSOR` and the like, each with the name of a tensor.
    pub parameters: Metadata,
}

/// A graph: the main one, a body, or what a local function does (`GraphProto`).
#[derive(Clone, Debug)]
pub struct Graph {
    /// What it is a part of.
    pub owner: Owner,
    /// As written; graphs need no name of their own.
    pub name: Option<Arc<str>>,
    /// In the order in which a caller gives them; before IR 4, initializers are among them.
    pub inputs: Vec<Port>,
    /// In the order in which a caller gets them.
    pub outputs: Vec<Port>,
    /// In the order of the file, which a well-formed one sorts topologically.
    pub nodes: Vec<NodeId>,
    /// Values with a dense initializer, inputs with defaults included, in the order of the file.
    pub initializers: Vec<ValueId>,
    /// Values with an initializer in coordinate form.
    pub sparse_initializers: Vec<ValueId>,
    /// What is declared of values that are neither inputs nor outputs; need not be complete.
    pub value_info: Vec<Port>,
    /// `quantization_annotation`.
    pub quantization: Vec<QuantAnnotation>,
    /// `doc_string`.
    pub doc: Option<Arc<str>>,
    /// What exporters record of a graph, as the ranges of its symbols.
    pub metadata: Metadata,
}

impl Graph {
    /// One without anything in it.
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

/// A local function (`FunctionProto`). Its inputs, outputs, nodes and value_info are those of `body`.
#[derive(Clone, Debug)]
pub struct Function {
    /// What nodes call it by, as their `op_type`.
    pub name: Option<Arc<str>>,
    /// What nodes call it by, as their domain.
    pub domain: Option<Arc<str>>,
    /// What tells it from others of its name and domain (IR 10 and later).
    pub overload: Option<Arc<str>>,
    /// The graph that a call stands for.
    pub body: GraphId,
    /// Attributes without a default.
    pub attributes: Vec<Arc<str>>,
    /// Attributes with one.
    pub attribute_defaults: Vec<Attribute>,
    /// The versions that its body is written in; those of the model where it has none.
    pub opsets: Vec<OpsetImport>,
}

/// A model (`ModelProto`), field for field as the file has it.
#[derive(Clone, Debug)]
pub struct Model {
    /// Which edition of the file format it is written in.
    pub ir_version: Option<i64>,
    /// The versions of operators that it is written in, one for each domain.
    pub opsets: Vec<OpsetImport>,
    /// Who wrote it: `pytorch`.
    pub producer_name: Option<Arc<str>>,
    /// The release of who wrote it.
    pub producer_version: Option<Arc<str>>,
    /// A name space for the model, as `com.example`.
    pub domain: Option<Arc<str>>,
    /// The version of the model itself, as its author counts.
    pub model_version: Option<i64>,
    /// `doc_string`.
    pub doc: Option<Arc<str>>,
    /// What exporters and authors record of a model.
    pub metadata: Metadata,
    /// The graph that a run computes.
    pub main: GraphId,
    /// Local functions, in the order of the file.
    pub functions: Vec<Function>,
    /// Every graph, at whatever depth; some that nothing refers to any more may be left.
    pub graphs: Arena<GraphId, Graph>,
    /// Every node of every graph; those that count are listed by their graph.
    pub nodes: Arena<NodeId, Node>,
    /// Every value of every graph.
    pub values: Arena<ValueId, Value>,
    /// Every tensor, of initializers and of attributes.
    pub tensors: Arena<TensorId, Tensor>,
    /// `training_info`, each still encoded.
    pub training_info: Vec<Bytes>,
    /// `configuration`, each still encoded.
    pub configuration: Vec<Bytes>,
}

impl Model {
    /// A model with an empty main graph.
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

    /// The version imported for `domain` ("" for the default one) by what `graph` belongs to: the
    /// model, or a local function with imports of its own.
    pub fn opset(&self, graph: GraphId, domain: &str) -> Option<i64> {
        let own = self.function_of(graph).map(|function| &self.functions[function].opsets);
        let find = |imports: &[OpsetImport]| {
            let import = imports.iter().find(|import| normal_domain(import.domain.as_deref()) == domain)?;
            import.version
        };
        own.and_then(|imports| find(imports)).or_else(|| find(&self.opsets))
    }

    /// The local function that `graph` lies in, at whatever depth.
    pub fn function_of(&self, graph: GraphId) -> Option<usize> {
        match self.graphs[graph].owner {
            Owner::Model => None,
            Owner::Function(function) => Some(function),
            Owner::Node(node) => self.function_of(self.nodes[node].graph),
        }
    }

    /// The local function that `node` calls.
    pub fn callee(&self, node: NodeId) -> Option<usize> {
        let node = &self.nodes[node];
        self.functions.iter().position(|function| {
            function.name.as_deref() == Some(&*node.op_type)
                && normal_domain(function.domain.as_deref()) == node.domain()
                && function.overload.as_deref().unwrap_or("") == node.overload.as_deref().unwrap_or("")
        })
    }

    /// The graph around `graph`: that of the node whose body it is.
    pub fn parent(&self, graph: GraphId) -> Option<GraphId> {
        self.holders(graph).next().map(|node| self.nodes[node].graph)
    }

    /// The nodes that `graph` lies in: the one whose body it is, then those around that.
    pub fn holders(&self, graph: GraphId) -> impl Iterator<Item = NodeId> + '_ {
        let holder = |graph: GraphId| match self.graphs[graph].owner {
            Owner::Node(node) => Some(node),
            Owner::Model | Owner::Function(_) => None,
        };
        std::iter::successors(holder(graph), move |&node| holder(self.nodes[node].graph))
    }

    /// The node that makes `value`, and which of its outputs it is.
    pub fn producer(&self, value: ValueId) -> Option<(NodeId, u32)> {
        match self.values[value].def {
            Def::Node { node, output } => Some((node, output)),
            _ => None,
        }
    }

    /// The tensor of `value` where it is an initializer that no caller can replace: one that is also an
    /// input is only a default.
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
