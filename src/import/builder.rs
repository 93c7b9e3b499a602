//! Builder of a model: values, nodes and types.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::OPSET;
use super::part::{Part, part_of};
use super::place::{SourceKeys, metadata};
use super::writes::Writes;
use crate::diag::Finding;
use crate::edit::initialize;
use crate::graph::{
    Attribute, DeclaredDim, Def, Dimension, ElemType, GraphId, Metadata, Model, Node, NodeId, OpsetImport,
    Port, Tensor, Type, TypeKind, Value, ValueId, ValueInfo,
};
use crate::schema::aten;
use crate::torch::{self, Size, Trace};

/// Metadata key under which PyTorch's own exporter stores the ranges of symbolic dimensions.
const RANGES: &str = "pkg.torch.export.ExportedProgram.range_constraints";

/// IR version that matches [`OPSET`].
const IR_VERSION: i64 = 8;

/// Builder of a model from a trace.
pub struct Builder<'t> {
    pub trace: &'t Trace,
    pub model: Model,
    /// Graph to which nodes are added.
    pub graph: GraphId,
    pub(super) origins: FxHashMap<NodeId, torch::NodeId>,
    /// Findings about constructs that cannot be converted.
    pub blockers: Vec<Finding>,
    pub remarks: Vec<Finding>,
    pub(super) values: FxHashMap<torch::ValueId, ValueId>,
    /// Imaginary parts of complex values; their real parts are in `values`.
    pub imaginary: FxHashMap<torch::ValueId, ValueId>,
    /// Part of complex arguments that the call being converted reads.
    pub part: Part,
    /// Element types and ranks of values, as far as they are known.
    pub(super) types: FxHashMap<ValueId, (Option<ElemType>, Option<usize>)>,
    /// Whether 16-bit results of the node being lowered are declared as float32, and cast later.
    pub(super) computes_in_float: bool,
    /// Constants made from Python numbers, which have the lowest precedence in type promotion.
    pub numbers: FxHashSet<ValueId>,
    pub writes: Writes,
    /// The model's input or initializer for each input and weight of the trace.
    pub given: FxHashMap<torch::ValueId, ValueId>,
    pub(super) keys: SourceKeys,
    /// Trace node being lowered.
    pub(super) at: Option<torch::NodeId>,
    pub(super) names: FxHashMap<Arc<str>, usize>,
}

impl<'t> Builder<'t> {
    /// Returns a builder of an empty model.
    pub(super) fn new(trace: &'t Trace) -> Self {
        let mut model = Model::new();
        model.ir_version = Some(IR_VERSION);
        let import = |domain: Option<&str>, version| OpsetImport {
            domain: domain.map(Arc::from),
            version: Some(version),
        };
        model.opsets = vec![import(Some(""), OPSET)];
        model.producer_name = Some(Arc::from("onnx-fix"));
        model.graphs[model.main].name = Some(trace.class.clone().unwrap_or_else(|| Arc::from("main")));
        let ranges = trace.ranges.iter().map(|range| {
            let bound =
                |bound: Option<i64>, otherwise: &str| bound.map_or(otherwise.to_owned(), |n| n.to_string());
            format!("{}: VR[{}, {}]", range.symbol, bound(range.min, "-int_oo"), bound(range.max, "int_oo"))
        });
        let ranges: Vec<String> = ranges.collect();
        if !ranges.is_empty() {
            model.metadata.push((Arc::from(RANGES), Arc::from(format!("{{{}}}", ranges.join(", ")))));
        }
        Builder {
            trace,
            graph: model.main,
            model,
            origins: FxHashMap::default(),
            blockers: Vec::new(),
            remarks: Vec::new(),
            values: FxHashMap::default(),
            imaginary: FxHashMap::default(),
            part: Part::Real,
            types: FxHashMap::default(),
            computes_in_float: false,
            numbers: FxHashSet::default(),
            writes: Writes::default(),
            given: FxHashMap::default(),
            keys: SourceKeys::default(),
            at: None,
            names: FxHashMap::default(),
        }
    }

    /// Returns the current model value of a trace value, which is recomputed if it is stale.
    pub fn value_of(&mut self, value: torch::ValueId) -> Result<ValueId, String> {
        let value = self.writes.of(value);
        self.refresh(value)?;
        let found = self.part(value, Part::Real);
        found.ok_or_else(|| format!("`{}` is not defined", self.trace.value(value).name))
    }

    /// Returns a part of a trace value, if it is defined.
    pub fn part(&self, value: torch::ValueId, part: Part) -> Option<ValueId> {
        let parts = if part == Part::Imaginary { &self.imaginary } else { &self.values };
        parts.get(&self.writes.of(value)).copied()
    }

    /// Returns false if a trace value is defined in a graph other than the current one.
    pub fn is_of_this_graph(&self, value: torch::ValueId) -> bool {
        self.part(value, Part::Real).is_none_or(|value| self.model.values[value].graph == self.graph)
    }

    /// Sets a part of a trace value.
    pub fn define(&mut self, of: torch::ValueId, part: Part, value: ValueId) {
        match part {
            Part::Imaginary => self.imaginary.insert(of, value),
            Part::Real | Part::Both => self.values.insert(of, value),
        };
    }

    /// Creates an output value with the type that the trace records.
    pub fn output(&mut self, of: torch::ValueId, part: Part) -> ValueId {
        let said = self.trace.value(of);
        let name =
            if part == Part::Imaginary { format!("{}_imag", said.name) } else { said.name.to_string() };
        let value = self.value(&name, Def::Missing);
        let mut ty = declared(&said.ty);
        if let TypeKind::Tensor { elem, .. } = &mut ty.kind
            && self.computes_in_float
            && elem.and_then(ElemType::from_number).is_some_and(ElemType::is_half)
        {
            *elem = Some(ElemType::Float.number());
        }
        self.declare(value, ty);
        value
    }

    /// Declares the type of a value in the current graph.
    pub fn declare(&mut self, value: ValueId, ty: Type) {
        self.learn(value, &ty);
        let info = ValueInfo { ty: Some(ty), ..ValueInfo::default() };
        self.model.graphs[self.graph].value_info.push(Port { value, info });
    }

    /// Creates a value in the current graph, under a unique name.
    pub fn value(&mut self, name: &str, def: Def) -> ValueId {
        let (name, graph) = (self.fresh(name), self.graph);
        self.model.values.push(Value { name, graph, def, initial: None })
    }

    /// Returns a unique name based on `name`.
    pub fn fresh(&mut self, name: &str) -> Arc<str> {
        let taken = self.names.entry(Arc::from(name)).or_insert(0);
        *taken += 1;
        if *taken == 1 { Arc::from(name) } else { Arc::from(format!("{name}__{taken}")) }
    }

    /// Adds an initializer to the main graph, where all subgraphs see it.
    pub fn initializer(&mut self, name: &str, tensor: Tensor) -> ValueId {
        let main = self.model.main;
        let graph = std::mem::replace(&mut self.graph, main);
        let value = self.value(name, Def::Missing);
        self.graph = graph;
        initialize(&mut self.model, main, value, tensor);
        value
    }

    /// Adds an initializer with a generic name.
    pub fn constant(&mut self, tensor: Tensor) -> ValueId {
        self.initializer("constant", tensor)
    }

    /// Adds an `aten` node with one output of the given type, and returns the output.
    pub fn aten(
        &mut self,
        op: &str,
        inputs: Vec<Option<ValueId>>,
        attrs: Vec<Attribute>,
        ty: Type,
    ) -> ValueId {
        let output = self.value(op, Def::Missing);
        self.declare(output, ty);
        self.add((aten::DOMAIN, op), inputs, vec![Some(output)], attrs);
        output
    }

    /// Creates an output value for an ONNX operator, named after the trace node being lowered.
    pub fn unmade(&mut self, op: &str) -> ValueId {
        let name = self.at.and_then(|at| self.trace.node(at).outputs.first().copied());
        let name = name.map_or(Arc::from("value"), |value| self.trace.value(value).name.clone());
        self.value(&format!("{name}_{}", op.to_lowercase()), Def::Missing)
    }

    /// Adds an ONNX node with one output, and returns the output.
    pub fn onnx(&mut self, op: &str, inputs: Vec<Option<ValueId>>, attrs: Vec<Attribute>) -> ValueId {
        let output = self.unmade(op);
        self.add(("", op), inputs, vec![Some(output)], attrs);
        output
    }

    /// Adds a node to the current graph, with the metadata of the trace node being lowered.
    pub fn add(
        &mut self,
        (domain, op): (&str, &str),
        inputs: Vec<Option<ValueId>>,
        outputs: Vec<Option<ValueId>>,
        attrs: Vec<Attribute>,
    ) -> NodeId {
        let graph = self.graph;
        let first = outputs.iter().flatten().next().copied();
        let origin = self.at.map(|at| self.trace.node(at));
        let metadata = origin.map_or_else(Metadata::new, |node| metadata(node, &mut self.keys));
        let node = self.model.nodes.push(Node {
            domain: (!domain.is_empty()).then(|| Arc::from(domain)),
            name: first.map(|value| self.model.values[value].name.clone()),
            inputs,
            outputs: outputs.clone(),
            attrs,
            metadata,
            ..Node::new(graph, op)
        });
        for (output, value) in outputs.into_iter().enumerate() {
            if let Some(value) = value {
                self.model.values[value].def = Def::Node { node, output: output as u32 };
            }
        }
        self.model.graphs[graph].nodes.push(node);
        self.origins.extend(self.at.map(|at| (node, at)));
        node
    }

    /// Returns the element type and rank of a value, as far as they are known.
    pub fn known(&self, value: ValueId) -> (Option<ElemType>, Option<usize>) {
        match self.model.constant(value) {
            Some(tensor) => (tensor.elem(), Some(tensor.dims.len())),
            None => self.types.get(&value).copied().unwrap_or_default(),
        }
    }

    /// Records the element type and rank of a value.
    pub fn learn(&mut self, value: ValueId, ty: &Type) {
        if let TypeKind::Tensor { elem, shape } = &ty.kind {
            let elem = elem.and_then(ElemType::from_number);
            self.types.insert(value, (elem, shape.as_ref().map(Vec::len)));
        }
    }
}

/// Converts a type of the trace to a declared type; a complex dtype becomes the dtype of its parts.
pub fn declared(ty: &torch::Type) -> Type {
    match ty {
        torch::Type::Tensor(tensor) => {
            let shape = tensor.shape.as_ref().map(|sizes| sizes.iter().map(dimension).collect());
            let elem = tensor.elem.map(|elem| part_of(elem).number());
            TypeKind::Tensor { elem, shape }.into()
        }
        torch::Type::Float => tensor_type(ElemType::Double, Vec::new()),
        torch::Type::Bool => tensor_type(ElemType::Bool, Vec::new()),
        torch::Type::Int => tensor_type(ElemType::Int64, Vec::new()),
        _ => TypeKind::Undefined.into(),
    }
}

/// Returns a tensor type with a known dtype and shape.
pub fn tensor_type(elem: ElemType, shape: Vec<Dimension>) -> Type {
    TypeKind::Tensor { elem: Some(elem.number()), shape: Some(shape) }.into()
}

fn dimension(size: &Size) -> Dimension {
    let dim = match size {
        Size::Fixed(size) => DeclaredDim::Value(*size),
        Size::Symbol { name, .. } => DeclaredDim::Param(name.clone()),
        Size::Unknown => DeclaredDim::Absent,
    };
    Dimension { dim, denotation: None }
}
