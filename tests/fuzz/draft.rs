//! A model under construction, with its values in one run.

use std::sync::Arc;

use onnx_lint::graph::{
    AttrValue, Attribute, DeclaredDim, Def, Dimension, ElemType, GraphId, Initial, Model, Node, NodeId,
    OpsetImport, Port, Type, TypeKind, Value, ValueId, ValueInfo,
};
use onnx_lint::infer;
use onnx_lint::infer::eval::{Array, Val};
use onnx_lint::schema;
use rustc_hash::FxHashMap;

use crate::case::{Case, SIZES, SYMBOLS};
use crate::fill::Fill;
use crate::random::Random;

/// A model under construction, and the values of its run.
pub struct Draft {
    pub case: Case,
    pub random: Random,
    pub opset: u16,
    /// Contents of the values in a run with the first row of [`SIZES`].
    pub values: FxHashMap<ValueId, Val>,
    /// The enclosing graphs, innermost last, with the values that each defines.
    pub scopes: Vec<(GraphId, Vec<ValueId>)>,
}

impl Draft {
    /// Creates an empty model.
    pub fn new(opset: u16, random: Random) -> Self {
        let mut model = Model::new();
        model.opsets.push(OpsetImport { domain: None, version: Some(opset.into()) });
        let release = schema::release(opset);
        model.ir_version = release.map(|release| release.ir_version);
        if let Some(release) = release {
            let ml = OpsetImport { domain: Some("ai.onnx.ml".into()), version: Some(release.ml.into()) };
            model.opsets.push(ml);
        }
        model.graphs[model.main].name = Some("g".into());
        let scopes = vec![(model.main, Vec::new())];
        let case = Case { model, fills: FxHashMap::default(), is_traced: true };
        Draft { case, random, opset, values: FxHashMap::default(), scopes }
    }

    /// Returns the current graph, the innermost one.
    pub fn graph(&self) -> GraphId {
        self.scopes.last().map_or(self.case.model.main, |(graph, _)| *graph)
    }

    /// Returns all values that are visible in the current graph.
    pub fn visible(&self) -> Vec<ValueId> {
        self.scopes.iter().flat_map(|(_, values)| values.iter().copied()).collect()
    }

    /// Returns the visible tensors.
    pub fn tensors(&self) -> Vec<(ValueId, Arc<Array>)> {
        let tensor = |value: ValueId| match self.values.get(&value) {
            Some(Val::Tensor(array)) => Some((value, array.clone())),
            _ => None,
        };
        self.visible().into_iter().filter_map(tensor).collect()
    }

    /// Adds a value with this definition to a graph.
    pub fn value(&mut self, graph: GraphId, def: Def, val: Option<Val>) -> ValueId {
        let name: Arc<str> = format!("v{}", self.case.model.values.len()).into();
        let id = self.case.model.values.push(Value { name, graph, def, initial: None });
        if let Some(val) = val {
            self.values.insert(id, val);
        }
        let scope = self.scopes.iter_mut().find(|(scope, _)| *scope == graph);
        if let Some((_, values)) = scope {
            values.push(id);
        }
        id
    }

    /// Adds an input of the main graph, whose dimensions may be dynamic.
    pub fn input(&mut self, array: Array, fill: Fill) -> ValueId {
        let main = self.case.model.main;
        let index = self.case.model.graphs[main].inputs.len() as u32;
        let dims: Vec<DeclaredDim> = array.shape().iter().map(|&size| self.declared(size)).collect();
        let ty = tensor_type(array.elem(), Some(dims));
        let id = self.value(main, Def::Input(index), Some(array.into()));
        if fill != Fill::Any {
            self.case.fills.insert(self.case.model.values[id].name.clone(), fill);
        }
        let info = ValueInfo { ty: Some(ty), ..ValueInfo::default() };
        self.case.model.graphs[main].inputs.push(Port { value: id, info });
        id
    }

    /// Draws the declaration of a dimension of an input: static, symbolic, or unknown.
    fn declared(&mut self, size: usize) -> DeclaredDim {
        let names: Vec<&str> =
            SYMBOLS.iter().zip(SIZES[0]).filter(|(_, known)| *known == size).map(|(name, _)| *name).collect();
        match self.random.pick(&names).copied() {
            Some(name) if self.random.once_in(2) => DeclaredDim::Param(name.into()),
            _ if size == SIZES[0][0] && self.random.once_in(8) => DeclaredDim::Absent,
            _ => DeclaredDim::Value(size as i64),
        }
    }

    /// Adds a constant: an initializer or a `Constant` node.
    /// Always adds a node in a function, and in a model whose initializers must also be graph inputs.
    pub fn constant(&mut self, array: Array) -> ValueId {
        let graph = self.graph();
        let has_initializers = self.case.model.ir_version.is_some_and(|version| version >= 4);
        let in_node = !has_initializers || self.random.once_in(4) || self.in_function();
        let tensor = self.case.model.tensors.push(infer::tensor_of(&array));
        if in_node {
            let value = Attribute::new("value", AttrValue::Tensor(tensor));
            let made = self.node("", "Constant", Vec::new(), vec![value], vec![Some(array.into())]);
            return made[0];
        }
        let id = self.value(graph, Def::Initializer, Some(array.into()));
        self.case.model.values[id].initial = Some(Initial::Dense(tensor));
        self.case.model.graphs[graph].initializers.push(id);
        id
    }

    fn in_function(&self) -> bool {
        self.case.model.function_of(self.graph()).is_some()
    }

    /// Adds a node with these outputs, where `None` omits an output.
    /// Returns the values of the present outputs.
    pub fn node(
        &mut self,
        domain: &str,
        op: &str,
        inputs: Vec<Option<ValueId>>,
        attrs: Vec<Attribute>,
        outputs: Vec<Option<Val>>,
    ) -> Vec<ValueId> {
        let graph = self.graph();
        let node = Node {
            graph,
            domain: (!domain.is_empty()).then(|| domain.into()),
            op_type: op.into(),
            overload: None,
            name: None,
            inputs,
            outputs: Vec::new(),
            attrs,
            doc: None,
            metadata: Vec::new(),
            device_configurations: Vec::new(),
        };
        let id: NodeId = self.case.model.nodes.push(node);
        self.case.model.graphs[graph].nodes.push(id);
        let mut made = Vec::new();
        for (at, val) in outputs.into_iter().enumerate() {
            let def = Def::Node { node: id, output: at as u32 };
            let value = val.map(|val| self.value(graph, def, Some(val)));
            self.case.model.nodes[id].outputs.push(value);
            made.extend(value);
        }
        made
    }

    /// Adds a graph input or, in a function, a constant: a function has a fixed number of inputs.
    pub fn given(&mut self, array: Array, fill: Fill) -> ValueId {
        if self.in_function() { self.constant(array) } else { self.input(array, fill) }
    }
}

/// Returns the type of a tensor; `dims` is `None` for an unknown rank.
pub fn tensor_type(elem: ElemType, dims: Option<Vec<DeclaredDim>>) -> Type {
    let dimension = |dim| Dimension { dim, denotation: None };
    let shape = dims.map(|dims| dims.into_iter().map(dimension).collect());
    TypeKind::Tensor { elem: Some(elem.number()), shape }.into()
}
