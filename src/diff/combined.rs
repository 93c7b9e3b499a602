//! Combines two models: adds the nodes of the second to the graph of the first, and shares inputs.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::interface::Pairs;
use super::table::uses;
use crate::graph::{
    AttrValue, Attribute, DeclaredDim, Def, Graph, GraphId, Id, Initial, Model, Node, NodeId, OpsetImport,
    Owner, Port, TensorId, TypeKind, Value, ValueId, ValueInfo, normal_domain,
};
use crate::infer::Content;

/// Combined model: the first, with the nodes, values and other objects of the second appended.
pub struct Combined {
    pub model: Model,
    /// Number of nodes of the first model.
    nodes: usize,
    /// Number of values of the first model.
    values: usize,
    /// Input of the first model for each shared input of the second.
    shared: FxHashMap<ValueId, ValueId>,
    /// Inputs of the first model that the second has, too.
    both: FxHashSet<ValueId>,
}

impl Combined {
    /// Combines two models, whose inputs in `pairs` are shared.
    /// In the main graph, outputs and intermediate values lose their declared types. A shared input gets
    /// the type on which both models agree.
    pub fn new(a: &Model, b: &Model, pairs: &Pairs) -> Self {
        let mut both = Combined {
            model: a.clone(),
            nodes: a.nodes.len(),
            values: a.values.len(),
            shared: pairs.inputs.iter().map(|pair| (pair.b, pair.a)).collect(),
            both: pairs.inputs.iter().map(|pair| pair.a).collect(),
        };
        both.model.metadata.clear();
        both.model.graphs[a.main].metadata.clear();
        both.import(&b.opsets);
        let (tensors, graphs) = (a.tensors.len(), a.graphs.len());
        let shift = Shift { tensors, graphs, from: b.main, to: a.main };
        for (_, tensor) in b.tensors.iter() {
            both.model.tensors.push(tensor.clone());
        }
        for (_, value) in b.values.iter() {
            both.model.values.push(both.value(value, &shift));
        }
        for (_, node) in b.nodes.iter() {
            both.model.nodes.push(both.node(node, &shift));
        }
        for (_, graph) in b.graphs.iter() {
            let mut copy = graph.clone();
            if let Owner::Node(node) = copy.owner {
                copy.owner = Owner::Node(both.of_second(node));
            }
            copy.nodes = graph.nodes.iter().map(|&node| both.of_second(node)).collect();
            let values = |all: &[ValueId]| all.iter().map(|&value| both.second_value(value)).collect();
            (copy.initializers, copy.sparse_initializers) =
                (values(&graph.initializers), values(&graph.sparse_initializers));
            (copy.inputs, copy.outputs) = (both.ports(&graph.inputs), both.ports(&graph.outputs));
            copy.value_info.clear();
            both.model.graphs.push(copy);
        }
        both.join(b, pairs, &shift);
        both.unify_tensors();
        both
    }

    /// Returns the id of a node of the second model in the combined model.
    fn of_second(&self, node: NodeId) -> NodeId {
        NodeId::from_index(self.nodes + node.index())
    }

    /// Returns the id of a value of the second model in the combined model.
    pub fn second_value(&self, value: ValueId) -> ValueId {
        let shifted = || ValueId::from_index(self.values + value.index());
        self.shared.get(&value).copied().unwrap_or_else(shifted)
    }

    /// Returns true if a value is an input of both models.
    pub fn is_shared(&self, value: ValueId) -> bool {
        self.both.contains(&value)
    }

    /// Returns true if a value belongs to the second model only.
    pub fn is_second_value(&self, value: ValueId) -> bool {
        value.index() >= self.values
    }

    /// Returns true if a node belongs to the second model.
    pub fn is_second(&self, node: NodeId) -> bool {
        node.index() >= self.nodes
    }

    /// Merges the imports; a domain that the first model does not use gets the version of the second.
    fn import(&mut self, others: &[OpsetImport]) {
        let domain = |import: &OpsetImport| normal_domain(import.domain.as_deref()).to_owned();
        for import in others {
            let is_used = uses(&self.model, &domain(import));
            match self.model.opsets.iter_mut().find(|own| domain(own) == domain(import)) {
                Some(own) if !is_used => *own = import.clone(),
                Some(_) => {}
                None => self.model.opsets.push(import.clone()),
            }
        }
    }

    fn value(&self, value: &Value, shift: &Shift) -> Value {
        let def = match value.def {
            Def::Node { node, output } => Def::Node { node: self.of_second(node), output },
            def => def,
        };
        let initial = match &value.initial {
            Some(Initial::Dense(tensor)) => Some(Initial::Dense(shift.tensor(*tensor))),
            other => other.clone(),
        };
        Value { graph: shift.scope(value.graph), def, initial, name: value.name.clone() }
    }

    fn node(&self, node: &Node, shift: &Shift) -> Node {
        let values = |all: &[Option<ValueId>]| {
            all.iter().map(|value| value.map(|value| self.second_value(value))).collect()
        };
        Node {
            graph: shift.scope(node.graph),
            inputs: values(&node.inputs),
            outputs: values(&node.outputs),
            attrs: node.attrs.iter().map(|attr| shift.attribute(attr)).collect(),
            ..node.clone()
        }
    }

    /// Converts ports, dropping dimension names, which would be mistaken for those of the first model.
    fn ports(&self, ports: &[Port]) -> Vec<Port> {
        let port =
            |port: &Port| Port { value: self.second_value(port.value), info: nameless(port.info.clone()) };
        ports.iter().map(port).collect()
    }

    /// Moves the main graph of the second model into that of the first.
    fn join(&mut self, b: &Model, pairs: &Pairs, shift: &Shift) {
        let inner = shift.graph(b.main);
        let moved = self.model.graphs[inner].clone();
        let is_shared = |value: ValueId| value.index() < self.values;
        let main = &mut self.model.graphs[shift.to];
        for (port, ty) in pairs.inputs.iter().filter_map(|pair| Some((pair.a, pair.ty.clone()?))) {
            if let Some(own) = main.inputs.iter_mut().find(|own| own.value == port) {
                own.info.ty = Some(ty);
            }
        }
        main.inputs.extend(moved.inputs.into_iter().filter(|port| !is_shared(port.value)));
        for (index, port) in (0u32..).zip(&main.inputs) {
            self.model.values[port.value].def = Def::Input(index);
        }
        main.nodes.extend(moved.nodes);
        main.initializers.extend(moved.initializers.into_iter().filter(|&value| !is_shared(value)));
        main.sparse_initializers.extend(moved.sparse_initializers);
        main.outputs.extend(moved.outputs);
        main.outputs.iter_mut().for_each(|port| port.info = ValueInfo::default());
        main.value_info.clear();
        let empty = Graph::new(Owner::Model);
        self.model.graphs[inner] = empty;
    }

    /// Replaces each tensor with the first one of equal content.
    fn unify_tensors(&mut self) {
        let tensors = &self.model.tensors;
        let mut first: FxHashMap<u64, Vec<TensorId>> = FxHashMap::default();
        let mut canonical: Vec<TensorId> = Vec::with_capacity(tensors.len());
        for (id, tensor) in tensors.iter() {
            let content = Content::of(tensor);
            let mut hasher = FxHasher::default();
            content.hash(&mut hasher);
            let alike = first.entry(hasher.finish()).or_default();
            let known =
                alike.iter().find(|&&known| content.is_some() && Content::of(&tensors[known]) == content);
            canonical.push(known.copied().unwrap_or(id));
            if known.is_none() {
                alike.push(id);
            }
        }
        for (_, value) in self.model.values.iter_mut() {
            if let Some(Initial::Dense(tensor)) = &mut value.initial {
                *tensor = canonical[tensor.index()];
            }
        }
        for (_, node) in self.model.nodes.iter_mut() {
            for attr in &mut node.attrs {
                if let AttrValue::Tensor(tensor) = &mut attr.value {
                    *tensor = canonical[tensor.index()];
                }
            }
        }
    }
}

/// Mapping of ids of the second model.
struct Shift {
    tensors: usize,
    graphs: usize,
    /// Main graph of the second model, whose contents move to that of the first.
    from: GraphId,
    to: GraphId,
}

impl Shift {
    fn tensor(&self, tensor: TensorId) -> TensorId {
        TensorId::from_index(self.tensors + tensor.index())
    }

    fn graph(&self, graph: GraphId) -> GraphId {
        GraphId::from_index(self.graphs + graph.index())
    }

    fn scope(&self, graph: GraphId) -> GraphId {
        if graph == self.from { self.to } else { self.graph(graph) }
    }

    fn attribute(&self, attr: &Attribute) -> Attribute {
        let value = match &attr.value {
            AttrValue::Tensor(tensor) => AttrValue::Tensor(self.tensor(*tensor)),
            AttrValue::Tensors(all) => {
                AttrValue::Tensors(all.iter().map(|&tensor| self.tensor(tensor)).collect())
            }
            AttrValue::Graph(body) => AttrValue::Graph(self.graph(*body)),
            AttrValue::Graphs(all) => AttrValue::Graphs(all.iter().map(|&body| self.graph(body)).collect()),
            other => other.clone(),
        };
        Attribute { value, ..attr.clone() }
    }
}

/// Removes the dimension names of a declaration.
fn nameless(mut info: ValueInfo) -> ValueInfo {
    match info.ty.as_mut().map(|ty| &mut ty.kind) {
        Some(
            TypeKind::Tensor { shape: Some(dims), .. } | TypeKind::SparseTensor { shape: Some(dims), .. },
        ) => {
            for dim in dims.iter_mut().filter(|dim| matches!(dim.dim, DeclaredDim::Param(_))) {
                dim.dim = DeclaredDim::Absent;
            }
        }
        Some(TypeKind::Tensor { .. } | TypeKind::SparseTensor { .. }) | None => {}
        // Nested types can have dimension names, too.
        Some(_) => info.ty = None,
    }
    info
}
