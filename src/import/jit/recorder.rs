//! Recorder of a program: the trace that the interpreter produces, with types and weights.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::item::Item;
use crate::diag::SourcePlace;
use crate::graph::dim::Dim;
use crate::graph::{ElemType, Tensor};
use crate::torch::{
    Argument, BlockId, Definition, Input, Node, NodeId, Op, Origin, Size, TensorType, Trace, Type, Value,
    ValueId,
};

/// Recorder of the operators that TorchScript code calls.
#[derive(Clone)]
pub struct Recorder {
    pub trace: Trace,
    /// Block to which nodes are added.
    pub block: BlockId,
    /// Number of open subgraphs.
    pub depth: usize,
    /// Location of the code that is interpreted.
    pub place: Option<SourcePlace>,
    /// Whether sizes that are known remain computed numbers, as in a trace.
    pub keeps_sizes: bool,
    /// Path of the module whose code is interpreted.
    pub scope: Arc<str>,
    /// Tensors of the lifted values, by value name.
    pub weights: FxHashMap<String, Tensor>,
    /// Names of the lifted values that are parameters or buffers.
    pub state: FxHashSet<String>,
    /// Lifted values, in order.
    lifted: Vec<ValueId>,
    /// Expressions of computed integers over the dynamic sizes.
    dims: FxHashMap<ValueId, Dim>,
    names: FxHashMap<String, usize>,
    /// Number of the names that [`Recorder::symbol`] has tried.
    symbols: usize,
    /// For a view, the tensors whose elements it may share.
    pub(super) roots: FxHashMap<ValueId, Vec<ValueId>>,
    /// Tensors that enter or leave a subgraph.
    pub(super) shared: FxHashSet<ValueId>,
    /// Tensors that must not be written to, with the reason.
    pub(super) fixed: FxHashMap<ValueId, &'static str>,
    /// Names of the dynamic sizes that the caller has declared.
    pub taken: FxHashSet<String>,
}

impl Recorder {
    /// Returns a recorder of an empty program.
    pub fn new(class: Option<Arc<str>>) -> Self {
        let trace = Trace { class, ..Trace::new(Origin::TorchScript) };
        Recorder {
            block: trace.body,
            trace,
            depth: 0,
            place: None,
            keeps_sizes: false,
            scope: Arc::from(""),
            weights: FxHashMap::default(),
            state: FxHashSet::default(),
            lifted: Vec::new(),
            dims: FxHashMap::default(),
            names: FxHashMap::default(),
            symbols: 0,
            roots: FxHashMap::default(),
            shared: FxHashSet::default(),
            fixed: FxHashMap::default(),
            taken: FxHashSet::default(),
        }
    }

    /// Completes the trace: lifted values follow the inputs of the caller.
    pub fn finish(&mut self, outputs: Vec<Argument>) {
        let block = &mut self.trace.blocks[self.trace.body.index()];
        block.inputs.append(&mut self.lifted);
        block.outputs = outputs;
        self.trace.link_users();
    }

    /// Creates a value under a unique name.
    pub fn value(&mut self, name: &str, ty: Type, definition: Definition) -> ValueId {
        let id = ValueId(self.trace.values.len() as u32);
        let name = match definition {
            // In a trace, values without a Python name have numbers.
            Definition::Node(..) if self.keeps_sizes => id.0.to_string().into(),
            _ => self.fresh(name),
        };
        self.trace.values.push(Value { name, ty, definition, literal: None, users: Vec::new() });
        id
    }

    /// Names a value after the variable that it is assigned to, unless the variable is temporary (`_1`).
    pub fn assigned(&mut self, item: &Item, variable: &str) {
        let (Item::Tensor(value) | Item::Computed(value)) = item else { return };
        let is_temporary =
            variable.strip_prefix('_').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        let is_numbered = self.trace.value(*value).name.starts_with(|first: char| first.is_ascii_digit());
        if self.keeps_sizes && is_numbered && !is_temporary {
            self.trace.values[value.index()].name = self.fresh(variable);
        }
    }

    fn fresh(&mut self, name: &str) -> Arc<str> {
        let mut unique = name.to_owned();
        loop {
            let taken = self.names.entry(unique.clone()).or_insert(0);
            *taken += 1;
            if *taken == 1 {
                return unique.into();
            }
            unique = format!("{name}_{}", *taken - 1);
        }
    }

    /// Adds an input to the current block.
    pub fn input(&mut self, name: &str, ty: Type) -> ValueId {
        let position = self.trace.block(self.block).inputs.len() as u32;
        let value = self.value(name, ty, Definition::Input(self.block, position));
        self.trace.blocks[self.block.index()].inputs.push(value);
        value
    }

    /// Adds a tensor with known elements.
    pub fn lift(&mut self, name: &str, tensor: Tensor) -> ValueId {
        let mut strides = vec![1i64; tensor.dims.len()];
        for axis in (1..strides.len()).rev() {
            strides[axis - 1] = strides[axis].saturating_mul(tensor.dims[axis]);
        }
        self.lift_laid_out(name, tensor, strides)
    }

    /// Adds a tensor with known elements, and the strides that it has in PyTorch.
    pub fn lift_laid_out(&mut self, name: &str, tensor: Tensor, strides: Vec<i64>) -> ValueId {
        let shape = tensor.dims.iter().map(|&dim| Size::Fixed(dim)).collect();
        let ty = TensorType { elem: tensor.elem(), shape: Some(shape), strides: Some(strides) };
        let value = self.value(name, Type::Tensor(ty), Definition::Lifted);
        self.weights.insert(self.trace.value(value).name.to_string(), tensor);
        self.lifted.push(value);
        value
    }

    /// Adds a node to the current block; returns one value for each type.
    pub fn node(&mut self, op: Op, inputs: Vec<Input>, types: Vec<Type>) -> Vec<ValueId> {
        let id = NodeId(self.trace.nodes.len() as u32);
        self.trace.nodes.push(Node {
            op: op.clone(),
            inputs,
            outputs: Vec::new(),
            attributes: Vec::new(),
            blocks: Vec::new(),
            block: self.block,
            source: self.place.clone(),
            scope: self.scope.clone(),
            span: (0, 0),
            line: 0,
        });
        self.trace.blocks[self.block.index()].nodes.push(id);
        let define = |(place, ty)| self.value(&op.name, ty, Definition::Node(id, place));
        let outputs: Vec<ValueId> = (0u32..).zip(types).map(define).collect();
        self.trace.nodes[id.index()].outputs = outputs.clone();
        self.link(id);
        outputs
    }

    /// Returns a new name for a size that is not known.
    pub fn symbol(&mut self) -> Dim {
        loop {
            self.symbols += 1;
            let name = format!("u{}", self.symbols - 1);
            if !self.taken.contains(&name) {
                return Dim::symbol(&name);
            }
        }
    }

    /// Returns the type of a value.
    pub fn ty(&self, value: ValueId) -> &Type {
        &self.trace.value(value).ty
    }

    /// Returns the element type of a tensor, if it is known.
    pub fn elem(&self, item: &Item) -> Option<ElemType> {
        match item {
            Item::Tensor(value) => self.ty(*value).elem(),
            Item::Scalar(elem, _) => Some(*elem),
            _ => None,
        }
    }

    /// Returns the sizes of a tensor if its rank is known; unknown sizes are `None`.
    pub fn sizes(&self, item: &Item) -> Option<Vec<Option<Dim>>> {
        match item {
            Item::Tensor(value) => Some(self.ty(*value).shape()?.iter().map(dim_of).collect()),
            Item::Scalar(..) => Some(Vec::new()),
            _ => None,
        }
    }

    /// Returns the expression of an integer, if it is known.
    pub fn dim(&self, item: &Item) -> Option<Dim> {
        match item {
            Item::Computed(value) => self.dims.get(value).cloned(),
            other => other.int().map(Dim::known),
        }
    }

    /// Returns the expression of an integer argument, if it is known.
    pub fn dim_of_argument(&self, argument: &Argument) -> Option<Dim> {
        match argument {
            Argument::Value(value) => self.dims.get(value).cloned(),
            Argument::Int(int) => Some(Dim::known(*int)),
            _ => None,
        }
    }

    /// Adds a node that computes a number. An integer whose expression is constant needs none.
    pub fn number(&mut self, op: Op, inputs: Vec<Input>, ty: Type, dim: Option<Dim>) -> Item {
        if let Some(int) = dim.as_ref().and_then(Dim::as_const).filter(|_| !self.keeps_sizes) {
            return Item::Int(int);
        }
        let value = self.node(op, inputs, vec![ty])[0];
        self.dims.extend(dim.map(|dim| (value, dim)));
        Item::Computed(value)
    }

    /// Returns the size of an axis: a constant, or a computed number.
    pub fn size(&mut self, tensor: &Item, axis: i64) -> Result<Item, String> {
        let sizes = self.sizes(tensor).ok_or("it reads a size of a tensor whose rank is not known")?;
        let at = if axis < 0 { axis + sizes.len() as i64 } else { axis };
        let found = usize::try_from(at).ok().and_then(|at| sizes.get(at)).cloned();
        let dim =
            found.ok_or_else(|| format!("axis {axis} does not exist in a tensor of rank {}", sizes.len()))?;
        let Item::Tensor(value) = tensor else { return Err("a 0-d tensor has no axes".to_owned()) };
        let inputs = vec![named("self", Argument::Value(*value)), named("dim", Argument::Int(at))];
        Ok(self.number(Op::parse("aten::sym_size.int"), inputs, Type::Int, dim))
    }
}

/// Returns the expression of a size; `None` if the size is unknown.
pub fn dim_of(size: &Size) -> Option<Dim> {
    match size {
        Size::Fixed(size) => Some(Dim::known(*size)),
        Size::Symbol { name, .. } => Some(Dim::parse(name)),
        Size::Unknown => None,
    }
}

/// Returns the size with this expression.
pub fn size_of(dim: Option<&Dim>) -> Size {
    match dim.map(|dim| (dim, dim.as_const())) {
        Some((_, Some(size))) => Size::Fixed(size),
        Some((dim, None)) => Size::Symbol { name: dim.to_string().into(), traced: None },
        None => Size::Unknown,
    }
}

/// Returns a tensor type; an unknown rank is `None`.
pub fn tensor(elem: Option<ElemType>, sizes: Option<&[Option<Dim>]>) -> Type {
    let shape = sizes.map(|sizes| sizes.iter().map(|size| size_of(size.as_ref())).collect());
    Type::Tensor(TensorType { elem, shape, strides: None })
}

/// Returns an argument with its parameter name.
pub fn named(name: &str, argument: Argument) -> Input {
    Input { name: Some(name.into()), argument }
}
