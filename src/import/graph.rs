//! A program as a graph: tensors and computed numbers are values, every operator is a node.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::complex::{Part, part_of};
use super::functional::Writes;
use super::place::{SourceKeys, metadata};
use super::{OPSET, argument, blocked, promote};
use crate::diag::Finding;
use crate::edit::initialize;
use crate::graph::{
    Attribute, DeclaredDim, Def, Dimension, ElemType, GraphId, Metadata, Model, Node, NodeId, OpsetImport,
    Port, Tensor, Type, TypeKind, Value, ValueId, ValueInfo,
};
use crate::read::pt2::Exported;
use crate::schema::aten;
use crate::torch::{self, Size, Trace};

/// Where PyTorch's own exporter keeps the ranges of symbols.
const RANGES: &str = "pkg.torch.export.ExportedProgram.range_constraints";

/// The IR version that belongs to [`OPSET`].
const IR_VERSION: i64 = 8;

/// A model in the making, with the node of the trace behind each of its nodes.
pub struct Imported {
    pub model: Model,
    pub origins: FxHashMap<NodeId, torch::NodeId>,
    /// What is said of a program that is converted.
    pub remarks: Vec<Finding>,
}

/// The program as a graph of nodes of the domain `aten`.
pub fn build(exported: &Exported) -> Result<Imported, Vec<Finding>> {
    let mut builder = Builder::new(&exported.trace);
    builder.inputs(exported)?;
    builder.nodes(exported.trace.body);
    if builder.blockers.is_empty()
        && let Err((of, why)) = builder.outputs(exported)
    {
        let maker = of.and_then(|value| builder.trace.producer(value));
        builder.blockers.push(match maker {
            Some(node) => blocked::at(builder.trace, node, &why),
            None => blocked::program(&why),
        });
    }
    if builder.blockers.is_empty() { Ok(builder.finish()) } else { Err(builder.blockers) }
}

/// Makes the nodes of one graph.
pub struct Builder<'t> {
    pub trace: &'t Trace,
    pub model: Model,
    /// The graph that nodes are added to.
    pub graph: GraphId,
    origins: FxHashMap<NodeId, torch::NodeId>,
    /// What has no form, and what is lost.
    pub blockers: Vec<Finding>,
    pub remarks: Vec<Finding>,
    values: FxHashMap<torch::ValueId, ValueId>,
    /// The imaginary parts of those of `values` that are complex.
    pub imaginary: FxHashMap<torch::ValueId, ValueId>,
    /// Which part of complex arguments is meant.
    pub part: Part,
    /// The element types and ranks of values, as far as they are known.
    types: FxHashMap<ValueId, (Option<ElemType>, Option<usize>)>,
    /// Numbers that stand where a tensor may: they do not widen the type of one.
    pub numbers: FxHashSet<ValueId>,
    pub writes: Writes,
    /// What the model is given for an input or a weight.
    pub given: FxHashMap<torch::ValueId, ValueId>,
    keys: SourceKeys,
    /// The node of the trace that is being said.
    at: Option<torch::NodeId>,
    names: FxHashMap<Arc<str>, usize>,
}

impl<'t> Builder<'t> {
    fn new(trace: &'t Trace) -> Self {
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
            numbers: FxHashSet::default(),
            writes: Writes::default(),
            given: FxHashMap::default(),
            keys: SourceKeys::default(),
            at: None,
            names: FxHashMap::default(),
        }
    }

    fn finish(self) -> Imported {
        Imported { model: self.model, origins: self.origins, remarks: self.remarks }
    }

    /// Says the nodes of a block in the graph at hand.
    pub fn nodes(&mut self, block: torch::BlockId) {
        for &id in &self.trace.block(block).nodes {
            if let Err(why) = self.node(id) {
                self.blockers.push(blocked::at(self.trace, id, &why));
                self.pretend(id);
            }
        }
    }

    fn node(&mut self, id: torch::NodeId) -> Result<(), String> {
        let node = self.trace.node(id);
        self.at = Some(id);
        if !node.blocks.is_empty() {
            return self.control(id);
        }
        if node.is_check() {
            return Ok(());
        }
        if let Some(why) = node.is_opaque() {
            return Err(why.to_owned());
        }
        self.make(node)?;
        self.write(id)
    }

    /// Says what a node computes.
    fn make(&mut self, node: &torch::Node) -> Result<(), String> {
        if self.computes_complex(node) {
            return self.complex_node(node);
        }
        if self.recurrent(node)? {
            return Ok(());
        }
        let said = argument::called(self, node)?;
        let outputs: Vec<ValueId> =
            node.outputs.iter().map(|&output| self.output(output, Part::Real)).collect();
        let inputs = promote::promoted(self, &said.op, said.inputs);
        let domain = if said.is_known { aten::DOMAIN.to_owned() } else { node.op.namespace.to_string() };
        self.add((&domain, &said.op), inputs, outputs.iter().copied().map(Some).collect(), said.attrs);
        for (&of, &value) in node.outputs.iter().zip(&outputs) {
            self.define(of, Part::Real, value);
        }
        Ok(())
    }

    /// Says once more what a node computes, of operands that have changed since.
    pub fn remake(&mut self, id: torch::NodeId) -> Result<(), String> {
        let (at, part) = (self.at, self.part);
        (self.at, self.part) = (Some(id), Part::Real);
        let made = self.make(self.trace.node(id));
        (self.at, self.part) = (at, part);
        made
    }

    /// Lets what a node makes be there, so that nothing more is said of what takes it.
    fn pretend(&mut self, id: torch::NodeId) {
        for &output in &self.trace.node(id).outputs {
            for part in [Part::Real, Part::Imaginary] {
                let value = self.output(output, part);
                self.define(output, part, value);
            }
        }
    }

    /// The value for one of the trace, as it is by now.
    pub fn value_of(&mut self, value: torch::ValueId) -> Result<ValueId, String> {
        let value = self.writes.of(value);
        self.refresh(value)?;
        let found = self.part(value, Part::Real);
        found.ok_or_else(|| format!("`{}` is made nowhere", self.trace.value(value).name))
    }

    /// A part of a value, if it is there.
    pub fn part(&self, value: torch::ValueId, part: Part) -> Option<ValueId> {
        let parts = if part == Part::Imaginary { &self.imaginary } else { &self.values };
        parts.get(&self.writes.of(value)).copied()
    }

    /// Whether a value is made in the graph at hand.
    pub fn is_of_this_graph(&self, value: torch::ValueId) -> bool {
        self.part(value, Part::Real).is_none_or(|value| self.model.values[value].graph == self.graph)
    }

    pub fn define(&mut self, of: torch::ValueId, part: Part, value: ValueId) {
        match part {
            Part::Imaginary => self.imaginary.insert(of, value),
            Part::Real | Part::Both => self.values.insert(of, value),
        };
    }

    /// A value with the type that the trace says.
    pub fn output(&mut self, of: torch::ValueId, part: Part) -> ValueId {
        let said = self.trace.value(of);
        let name =
            if part == Part::Imaginary { format!("{}_imag", said.name) } else { said.name.to_string() };
        let value = self.value(&name, Def::Missing);
        self.declare(value, declared(&said.ty));
        value
    }

    pub fn declare(&mut self, value: ValueId, ty: Type) {
        self.learn(value, &ty);
        let info = ValueInfo { ty: Some(ty), ..ValueInfo::default() };
        self.model.graphs[self.graph].value_info.push(Port { value, info });
    }

    pub fn value(&mut self, name: &str, def: Def) -> ValueId {
        let (name, graph) = (self.fresh(name), self.graph);
        self.model.values.push(Value { name, graph, def, initial: None })
    }

    /// A name that no value has, like this one.
    pub fn fresh(&mut self, name: &str) -> Arc<str> {
        let taken = self.names.entry(Arc::from(name)).or_insert(0);
        *taken += 1;
        if *taken == 1 { Arc::from(name) } else { Arc::from(format!("{name}__{taken}")) }
    }

    /// Constants are all of the main graph, where bodies see them.
    pub fn initializer(&mut self, name: &str, tensor: Tensor) -> ValueId {
        let main = self.model.main;
        let graph = std::mem::replace(&mut self.graph, main);
        let value = self.value(name, Def::Missing);
        self.graph = graph;
        initialize(&mut self.model, main, value, tensor);
        value
    }

    pub fn constant(&mut self, tensor: Tensor) -> ValueId {
        self.initializer("constant", tensor)
    }

    /// A node of PyTorch's with one output, of this type.
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

    /// A value for what an operator of ai.onnx gives, named after the node that is being said.
    pub fn unmade(&mut self, op: &str) -> ValueId {
        let name = self.at.and_then(|at| self.trace.node(at).outputs.first().copied());
        let name = name.map_or(Arc::from("value"), |value| self.trace.value(value).name.clone());
        self.value(&format!("{name}_{}", op.to_lowercase()), Def::Missing)
    }

    /// A node of ai.onnx with one output.
    pub fn onnx(&mut self, op: &str, inputs: Vec<Option<ValueId>>, attrs: Vec<Attribute>) -> ValueId {
        let output = self.unmade(op);
        self.add(("", op), inputs, vec![Some(output)], attrs);
        output
    }

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

    /// The element type and the rank that are known of a value.
    pub fn known(&self, value: ValueId) -> (Option<ElemType>, Option<usize>) {
        match self.model.constant(value) {
            Some(tensor) => (tensor.elem(), Some(tensor.dims.len())),
            None => self.types.get(&value).copied().unwrap_or_default(),
        }
    }

    /// Takes note of the type of a value.
    pub fn learn(&mut self, value: ValueId, ty: &Type) {
        if let TypeKind::Tensor { elem, shape } = &ty.kind {
            let elem = elem.and_then(ElemType::from_number);
            self.types.insert(value, (elem, shape.as_ref().map(Vec::len)));
        }
    }
}

/// A type of the trace, as a model declares it; that of complex numbers is that of their parts.
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
