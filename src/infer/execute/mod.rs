//! Executes nodes with constant inputs, including subgraphs, local functions and sequences.
//!
//! Inference tracks only small tensors. The executor also computes large tensors, within [`Limits`], for
//! constant folding, and runs whole graphs if the caller supplies their inputs.

mod control;
mod declared;
mod stack;
mod stored;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::driver::{MAX_NESTING, OVERRIDABLE_SINCE};
use super::eval::{self, Array, Attr, Budget, Refusal, Val};
use super::load;
use crate::graph::{
    AttrValue, Def, GraphId, Initial, Model, Node, NodeId, Tensor, ValueId, order, scopes, trimmed,
};
use crate::schema;
pub use stored::Folded;

type Result<T> = std::result::Result<T, Refusal>;

/// Maximum size in bytes of a cached initializer.
/// Initializers above this size are decoded at each use, to bound memory.
const MAX_KEPT: usize = 1 << 20;
/// Maximum total size in bytes of the cached initializers.
const MAX_KEPT_IN_ALL: usize = 64 << 20;

/// Cost limits of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum size in bytes of an initializer or tensor attribute that is read, and of the accumulated
    /// outputs of a loop. The elements of a computed tensor are limited to this number, and to `work`.
    pub bytes: usize,
    /// Approximate maximum number of arithmetic operations of all nodes together.
    pub work: usize,
}

/// Executor of a model, with the values computed so far.
pub struct Executor<'m> {
    model: &'m Model,
    limits: Limits,
    values: FxHashMap<ValueId, Val>,
    /// Large results of the main graph, if `stores`.
    stored: FxHashMap<ValueId, Tensor>,
    /// The stored result that was decoded last.
    decoded: Option<(ValueId, Val)>,
    /// Whether large results are kept in temporary files, to bound memory.
    stores: bool,
    /// Total size in bytes of the cached initializers.
    kept: usize,
    /// Current nesting depth of subgraphs and functions.
    nesting: usize,
    /// Active calls of local functions, innermost last.
    calls: Vec<NodeId>,
    /// Whether calls with undetermined results are evaluated.
    is_free: bool,
    /// Whether `QuantizeLinear`, `DequantizeLinear` and `DynamicQuantizeLinear` are evaluated.
    folds_quantization: bool,
}

impl<'m> Executor<'m> {
    /// Returns an executor that also evaluates undetermined results and quantization operators.
    pub fn new(model: &'m Model, limits: Limits) -> Self {
        Executor {
            model,
            limits,
            values: FxHashMap::default(),
            stored: FxHashMap::default(),
            decoded: None,
            stores: false,
            kept: 0,
            nesting: 0,
            calls: Vec::new(),
            is_free: true,
            folds_quantization: true,
        }
    }

    /// Returns an executor for constant folding.
    ///
    /// The executor refuses calls with undetermined results, and quantization operators.
    /// A folded value replaces the result of the runtime, so both must agree. Large results are stored in files.
    pub fn strict(model: &'m Model, limits: Limits) -> Self {
        Executor { is_free: false, folds_quantization: false, stores: true, ..Executor::new(model, limits) }
    }

    /// Sets whether quantization operators are evaluated.
    pub fn fold_quantization(&mut self, folds: bool) {
        self.folds_quantization = folds;
    }

    /// Supplies a value that is not constant, such as a graph input.
    pub fn give(&mut self, value: ValueId, given: Val) {
        self.values.insert(value, given);
    }

    /// Sets [`Limits::bytes`].
    pub fn allow(&mut self, bytes: usize) {
        self.limits.bytes = bytes;
    }

    /// Returns a known value: a supplied or computed one, or an initializer that callers cannot override.
    /// Returns `None` if the value is unknown, or if the initializer exceeds [`Limits::bytes`] or cannot be read.
    pub fn value(&mut self, value: ValueId) -> Option<Val> {
        if let Some(known) = self.values.get(&value) {
            return Some(known.clone());
        }
        if let Some(stored) = self.stored.get(&value) {
            if let Some((_, decoded)) = self.decoded.as_ref().filter(|(last, _)| *last == value) {
                return Some(decoded.clone());
            }
            let decoded = Val::from(array(stored, usize::MAX)?);
            self.decoded = Some((value, decoded.clone()));
            return Some(decoded);
        }
        let array = array(self.initializer(value)?, self.limits.bytes)?;
        let bytes = bytes_of(&array);
        let array = Val::from(array);
        if bytes <= MAX_KEPT && self.kept + bytes <= MAX_KEPT_IN_ALL {
            self.kept += bytes;
            self.values.insert(value, array.clone());
        }
        Some(array)
    }

    /// Returns true if all inputs and captured values of a node are known.
    pub fn is_ready(&self, node: NodeId) -> bool {
        let inputs = self.model.nodes[node].inputs.iter().flatten().copied();
        let captures = scopes::captures_of_node(self.model, node);
        let computed = |value| self.values.contains_key(&value) || self.stored.contains_key(&value);
        let known = |value| computed(value) || self.initializer(value).is_some();
        inputs.chain(captures).all(known)
    }

    /// Returns the tensor of an initializer that callers cannot override.
    fn initializer(&self, value: ValueId) -> Option<&'m Tensor> {
        let value = &self.model.values[value];
        let Some(Initial::Dense(tensor)) = value.initial else { return None };
        let overridable = self.model.ir_version.is_none_or(|version| version >= OVERRIDABLE_SINCE);
        let is_input = matches!(value.def, Def::Input(_));
        (!is_input || !overridable).then(|| &self.model.tensors[tensor])
    }

    /// Computes the outputs of a node and stores them.
    ///
    /// # Errors
    /// Returns a refusal if the outputs cannot be computed within the limits. A strict executor also refuses
    /// undetermined results and quantization operators (see [`Executor::strict`]).
    pub fn run(&mut self, node: NodeId) -> Result<()> {
        let outputs = self.outputs(node)?;
        for (output, value) in self.model.nodes[node].outputs.iter().zip(outputs) {
            let Some(output) = *output else { continue };
            // Subgraphs and functions may run several times, so their results are short-lived and not stored.
            let is_stored = self.stores && self.nesting == 0 && self.calls.is_empty();
            let tensor = match &value {
                Val::Tensor(array) if is_stored => stored::stored(array),
                _ => None,
            };
            match tensor {
                Some(tensor) => drop(self.stored.insert(output, tensor)),
                None => drop(self.values.insert(output, value)),
            }
        }
        Ok(())
    }

    /// Returns a computed tensor, without reading the elements of a stored one.
    pub fn tensor(&self, value: ValueId) -> Option<Folded> {
        if let Some(stored) = self.stored.get(&value) {
            return Some(Folded::Stored(stored.clone()));
        }
        match self.values.get(&value) {
            Some(Val::Tensor(array)) => Some(Folded::Array(array.clone())),
            _ => None,
        }
    }

    fn outputs(&mut self, id: NodeId) -> Result<Vec<Val>> {
        let node = &self.model.nodes[id];
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            let constant = |value| self.value(value).ok_or(Refusal::BadInput("an input value is unknown"));
            inputs.push(input.map(constant).transpose()?);
        }
        if let Some(function) = self.model.callee(id) {
            return self.call(id, function, inputs);
        }
        if node.graphs().next().is_some() {
            return self.control(node, &inputs);
        }
        self.operator(node, &inputs)
    }

    fn operator(&mut self, node: &'m Node, inputs: &[Option<Val>]) -> Result<Vec<Val>> {
        let opset = self.model.opset(node.graph, node.domain()).and_then(|opset| u16::try_from(opset).ok());
        let opset = opset.ok_or(Refusal::Unsupported)?;
        let schema = schema::lookup(node.domain(), &node.op_type, opset).ok_or(Refusal::Unsupported)?;
        let is_kept = !self.folds_quantization && eval::is_quantization(&node.op_type);
        let is_open = |inputs| !self.is_free && eval::is_undetermined(node.domain(), &node.op_type, inputs);
        if is_kept || is_open(inputs.iter().flatten()) {
            return Err(Refusal::Unsupported);
        }
        let attrs = NodeAttrs { executor: self, node };
        let call = eval::KernelCall {
            domain: node.domain(),
            op: &node.op_type,
            version: schema.since,
            opset,
            attrs: &attrs,
            outputs: trimmed(&node.outputs).len(),
        };
        let budget = Budget { elements: self.limits.bytes.min(self.limits.work), work: self.limits.work };
        let (outputs, cost) = eval::eval_costed(&call, inputs, budget);
        self.spend(cost)?;
        outputs
    }

    /// Runs a subgraph on these inputs.
    fn body(&mut self, graph: GraphId, inputs: Vec<Val>) -> Result<Vec<Val>> {
        let scope = &self.model.graphs[graph];
        if inputs.len() != scope.inputs.len() {
            return Err(Refusal::BadInput("a subgraph is called with the wrong number of inputs"));
        }
        if !scope.inputs.iter().zip(&inputs).all(|(port, val)| declared::admits(port, val)) {
            return Err(Refusal::BadInput("a subgraph input contradicts its declared type"));
        }
        self.values.extend(scope.inputs.iter().map(|port| port.value).zip(inputs));
        self.nodes(graph)
    }

    /// Calls a local function. Calls with absent inputs are not supported.
    fn call(&mut self, id: NodeId, function: usize, inputs: Vec<Option<Val>>) -> Result<Vec<Val>> {
        self.spend(0)?;
        let body = self.model.functions[function].body;
        let scope = &self.model.graphs[body];
        if inputs.len() > scope.inputs.len() {
            return Err(Refusal::BadInput("a function is called with too many inputs"));
        }
        if inputs.len() < scope.inputs.len() || inputs.contains(&None) {
            return Err(Refusal::Unsupported);
        }
        self.values.extend(scope.inputs.iter().map(|port| port.value).zip(inputs.into_iter().flatten()));
        self.calls.push(id);
        let outputs = self.nodes(body);
        self.calls.pop();
        outputs
    }

    /// Runs the nodes of a graph, and returns the outputs of the graph. Its inputs must be known already.
    fn nodes(&mut self, graph: GraphId) -> Result<Vec<Val>> {
        if self.nesting >= MAX_NESTING {
            return Err(Refusal::TooLarge);
        }
        let scope = &self.model.graphs[graph];
        let order =
            order::sorted(self.model, graph).map_err(|_| Refusal::BadInput("a subgraph has a cycle"))?;
        self.nesting += 1;
        let ran = order.into_iter().try_for_each(|node| self.run(node));
        self.nesting -= 1;
        ran?;
        let missing = Refusal::BadInput("a subgraph does not produce its output");
        let made = scope.outputs.iter().map(|port| self.value(port.value).ok_or(missing.clone()));
        let made: Vec<Val> = made.collect::<Result<_>>()?;
        match scope.outputs.iter().zip(&made).all(|(port, val)| declared::admits(port, val)) {
            true => Ok(made),
            false => Err(Refusal::BadInput("a subgraph output contradicts its declared type")),
        }
    }

    /// Resolves an attribute of a node inside of `depth` nested function calls.
    /// In a function body, the attribute may refer to an attribute of the function call.
    fn resolve(&self, value: &'m AttrValue, depth: usize) -> Option<&'m AttrValue> {
        let AttrValue::Ref { name, .. } = value else { return Some(value) };
        let outer = depth.checked_sub(1)?;
        let call = self.calls[outer];
        if let Some(given) = self.model.nodes[call].attr(name) {
            return self.resolve(given, outer);
        }
        let function = &self.model.functions[self.model.callee(call)?];
        function.attribute_defaults.iter().find(|attr| attr.name == *name).map(|attr| &attr.value)
    }

    /// Deducts work from the limit, plus a fixed cost per call; fails if the limit is exceeded.
    fn spend(&mut self, work: usize) -> Result<()> {
        const CALL: usize = 64;
        let left = self.limits.work.checked_sub(work.saturating_add(CALL)).ok_or(Refusal::TooLarge);
        self.limits.work = *left.as_ref().unwrap_or(&0);
        left.map(|_| ())
    }
}

/// Returns the elements of a tensor; `None` if unreadable or larger than `bytes`.
fn array(tensor: &Tensor, bytes: usize) -> Option<Array> {
    let fits = tensor.byte_len().is_none_or(|len| len <= bytes);
    fits.then(|| load::array(tensor)).flatten().filter(|array| bytes_of(array) <= bytes)
}

/// Returns the size in bytes of the elements of a tensor, packed as in a file.
pub fn bytes_of(array: &Array) -> usize {
    match (array.elem().bits(), array.as_strings()) {
        (Some(bits), _) => array.len().saturating_mul(bits).div_ceil(8),
        (None, Ok(strings)) => strings.iter().map(Vec::len).sum(),
        (None, Err(_)) => 0,
    }
}

/// Attributes of a node, with references to function attributes resolved.
struct NodeAttrs<'a, 'm> {
    executor: &'a Executor<'m>,
    node: &'m Node,
}

impl eval::Attrs for NodeAttrs<'_, '_> {
    fn get(&self, name: &str) -> Option<Attr<'_>> {
        let Executor { model, limits, calls, .. } = self.executor;
        let value = self.executor.resolve(self.node.attr(name)?, calls.len())?;
        Some(match value.as_tensor() {
            Some(tensor) => Attr::Tensor(Arc::new(array(&model.tensors[tensor], limits.bytes)?)),
            None => load::attr(value)?,
        })
    }
}
