//! Inference over a whole model, with the nodes of each graph in topological order.

mod control;
mod declarations;
mod function;
mod iterate;
mod symbols;
#[cfg(test)]
mod tests;
mod update;

use std::collections::BTreeMap;
use std::ops::Index;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::call::{Attrs, OpCall, transfer};
use super::constraints::violations;
use super::declared;
use super::fact::{Fact, TensorFact};
use super::fault::Fault;
use super::load;
use super::meet::Conflict;
use super::shape::Shape;
use crate::graph::dim::{Bounds, Dim, Symbol};
use crate::graph::{
    AttrValue, GraphId, Id, Initial, Model, Node, NodeId, Port, Tensor, TensorId, Type, ValueId, order,
};
use crate::schema;
use declarations::{Declarations, declared_fact};
use function::Frame;
use symbols::{FreshFor, Path, Symbols};
pub use update::{News, update};

/// Maximum nesting depth of subgraphs and local function calls; deeper ones are not inferred.
pub const MAX_NESTING: usize = 48;

/// Maximum number of nodes of local functions that are inferred; every inferred call counts its nodes.
/// In large models, the maximum is `FUNCTION_NODES_PER_NODE` per node of the model. Once the maximum is
/// reached, the outputs of further calls are unknown.
pub const MAX_FUNCTION_NODES: usize = 1 << 17;

/// Number of function nodes that may be inferred per node of the model.
const FUNCTION_NODES_PER_NODE: usize = 16;

/// IR version since which callers can override the initializer of an input.
pub(super) const OVERRIDABLE_SINCE: i64 = 4;

/// Metadata key of the symbol ranges recorded by `torch.export`.
const RANGE_CONSTRAINTS: &str = "pkg.torch.export.ExportedProgram.range_constraints";

/// Inferred facts of a model.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    facts: Vec<Fact>,
    /// Ranges of the symbols in the facts.
    pub bounds: Bounds,
    /// Errors in calls, ordered by node.
    pub faults: Vec<(NodeId, Fault)>,
    /// Declared types that contradict the inferred ones.
    pub contradictions: Vec<Contradiction>,
    /// Whether recursion, [`MAX_NESTING`] or [`MAX_FUNCTION_NODES`] cut inference short.
    pub limited: bool,
    /// Number of node inferences.
    pub looked_at: usize,
    /// Symbols invented for sizes that inference cannot express otherwise.
    symbols: Symbols,
}

impl Facts {
    /// Returns true if inference invented the symbol.
    pub fn has_made(&self, symbol: &Symbol) -> bool {
        self.symbols.has_made(symbol)
    }

    /// Returns true if a symbol is the size of an unnamed axis of a model input.
    pub fn is_free(&self, symbol: &Symbol) -> bool {
        self.symbols.is_free(symbol)
    }

    /// Replaces the facts of some values.
    pub fn replaced(mut self, values: impl IntoIterator<Item = (ValueId, Fact)>) -> Self {
        for (value, fact) in values {
            if let Some(known) = self.facts.get_mut(value.index()) {
                *known = fact;
            }
        }
        self
    }

    /// Returns the declared size that replaces an invented symbol, if any.
    pub fn called(&self, symbol: &Symbol) -> Option<&Dim> {
        self.symbols.called(symbol)
    }
}

/// A declared type that contradicts the inferred one.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// Value with the wrong declaration.
    pub value: ValueId,
    /// The graph whose output or `value_info` declares the value.
    pub graph: GraphId,
    /// Declared fact.
    pub declared: Fact,
    /// Inferred fact.
    pub inferred: Fact,
    /// Conflict between the declared and the inferred fact.
    pub what: Conflict,
}

impl Index<ValueId> for Facts {
    type Output = Fact;

    fn index(&self, value: ValueId) -> &Fact {
        static UNKNOWN: Fact = Fact::Unknown;
        self.facts.get(value.index()).unwrap_or(&UNKNOWN)
    }
}

/// Inference options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether declared types complete inferred ones. The declared types of model inputs are always used.
    pub use_declared: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { use_declared: true }
    }
}

/// Infers the facts of all values.
/// Facts about values of local functions hold in every call that was inferred (see [`Facts::limited`]).
pub fn infer(model: &Model, options: Options) -> Facts {
    let known = Facts { bounds: bounds(model), ..Facts::default() };
    let mut driver = Driver::new(model, options, known);
    driver.main();
    driver.finish()
}

struct Driver<'m> {
    model: &'m Model,
    options: Options,
    facts: Vec<Fact>,
    bounds: Bounds,
    symbols: Symbols,
    faults: BTreeMap<NodeId, Vec<Fault>>,
    contradictions: IndexMap<(GraphId, ValueId), Contradiction>,
    orders: FxHashMap<GraphId, Arc<[NodeId]>>,
    functions: function::Index<'m>,
    limited: bool,
    looked_at: usize,
    /// Current depth of subgraphs and function calls.
    nesting: usize,
    /// Current depth of subgraphs that may run more than once.
    loops: usize,
    /// Current depth of code that may never run: subgraphs, and functions without a call.
    guarded: usize,
    path: Path,
    frame: Option<Frame<'m>>,
}

impl<'m> Driver<'m> {
    /// Creates a driver that continues from existing facts.
    fn new(model: &'m Model, options: Options, known: Facts) -> Self {
        let Facts { mut facts, bounds, faults, contradictions, limited, looked_at, mut symbols } = known;
        facts.resize(model.values.len(), Fact::Unknown);
        symbols.forget_log();
        let mut by_node: BTreeMap<NodeId, Vec<Fault>> = BTreeMap::new();
        for (node, fault) in faults {
            by_node.entry(node).or_default().push(fault);
        }
        Driver {
            model,
            options,
            facts,
            bounds,
            symbols,
            faults: by_node,
            contradictions: contradictions.into_iter().map(|one| ((one.graph, one.value), one)).collect(),
            orders: FxHashMap::default(),
            functions: function::Index::of(model),
            limited,
            looked_at,
            nesting: 0,
            loops: 0,
            guarded: 0,
            path: Path::default(),
            frame: None,
        }
    }

    fn finish(self) -> Facts {
        let faults = self.faults.into_iter();
        Facts {
            facts: self.facts,
            bounds: self.bounds,
            faults: faults.flat_map(|(node, faults)| faults.into_iter().map(move |f| (node, f))).collect(),
            contradictions: self.contradictions.into_values().collect(),
            limited: self.limited,
            looked_at: self.looked_at,
            symbols: self.symbols,
        }
    }

    fn main(&mut self) {
        let graph = &self.model.graphs[self.model.main];
        for port in graph.inputs.iter().chain(&graph.outputs).chain(&graph.value_info) {
            if let Some(ty) = &port.info.ty {
                self.reserve_names(ty);
            }
        }
        for port in &graph.inputs {
            let mut declared = port.info.ty.as_ref().map_or(Fact::Unknown, declared_fact);
            self.symbols.name_free_axes(&mut declared, port.value, self.model);
            if self.model.values[port.value].initial.is_none() {
                self.symbols.add_input_axes(&declared);
            }
            self.facts[port.value.index()] = without_elements(declared);
        }
        self.graph(self.model.main);
        for function in 0..self.model.functions.len() {
            self.uncalled(function);
        }
    }

    fn reserve_names(&mut self, ty: &Type) {
        declared::fact(ty, &mut |_, dim| {
            let size = declared::size(dim);
            size.iter().for_each(|dim| self.symbols.reserve(dim));
            size
        });
    }

    /// Sets the fact of a value, with new symbols for unknown sizes.
    fn seed(&mut self, value: ValueId, mut fact: Fact) {
        self.symbols.name_axes(&mut fact, self.path, value, self.model);
        self.facts[value.index()] = fact;
    }

    /// Infers the values of a graph whose inputs and captures are inferred.
    fn graph(&mut self, id: GraphId) {
        let graph = &self.model.graphs[id];
        for &value in &graph.initializers {
            self.initializer(value, &graph.inputs);
        }
        for &value in &graph.sparse_initializers {
            if let Some(Initial::Sparse(sparse)) = &self.model.values[value].initial {
                let elem = sparse.values.as_ref().and_then(Tensor::elem);
                self.facts[value.index()] = Fact::tensor(elem, Shape::known(&sparse.dims));
            }
        }
        let declared = self.declared_types(id);
        let order = self.orders.entry(id).or_insert_with(|| order::sorted_or_file(self.model, id).into());
        let opset = self.model.opset(id, "").unwrap_or(1);
        for &node in order.clone().iter() {
            self.node(node, opset, &declared);
        }
        for port in &graph.outputs {
            self.compare(port, id);
        }
    }

    /// Records an initializer as constant unless callers can override it.
    fn initializer(&mut self, value: ValueId, inputs: &[Port]) {
        let Some(Initial::Dense(id)) = self.model.values[value].initial else { return };
        let is_input = inputs.iter().any(|port| port.value == value);
        let ir_version = self.model.ir_version.unwrap_or(OVERRIDABLE_SINCE);
        if is_input && ir_version >= OVERRIDABLE_SINCE {
            return;
        }
        if let Some(fact) = load::tensor(&self.model.tensors[id], id) {
            self.facts[value.index()] = fact;
        }
    }

    fn node(&mut self, id: NodeId, opset: i64, declared: &Declarations<'m>) {
        let node = &self.model.nodes[id];
        self.looked_at += 1;
        self.faults.remove(&id);
        let facts = match self.functions.callee(node) {
            _ if function::is_open(node, self.frame.as_ref()) => vec![Fact::Unknown; node.outputs.len()],
            Some(function) => self.call_function(id, function),
            None if node.graphs().next().is_some() => {
                let facts = self.control(id, node);
                let faults = self.with_call(id, node, opset, |call, _| violations(call));
                self.report(id, faults);
                facts
            }
            None => self.operator(id, node, opset),
        };
        for (output, fact) in node.outputs.iter().zip(facts) {
            let Some(value) = *output else { continue };
            let fact = self.checked(fact, value, node.graph, declared);
            self.seed(value, fact);
        }
    }

    fn operator(&mut self, id: NodeId, node: &'m Node, opset: i64) -> Vec<Fact> {
        let (facts, faults) = self.with_call(id, node, opset, |call, fresh| {
            let (facts, faults) = transfer(call, fresh);
            let faults = if faults.is_empty() { violations(call) } else { faults };
            (facts, faults)
        });
        self.report(id, faults);
        facts
    }

    /// Calls `ask` with the call that a node makes, and a source of new symbols.
    fn with_call<T>(
        &mut self,
        id: NodeId,
        node: &'m Node,
        opset: i64,
        ask: impl FnOnce(&OpCall, &mut FreshFor) -> T,
    ) -> T {
        let domain = node.domain();
        let opset = if domain.is_empty() { opset } else { self.model.opset(node.graph, domain).unwrap_or(1) };
        // A node that is invalid at the opset of the model is inferred at the closest opset where it is valid.
        let opset = schema::opset_as_written(node, opset);
        let inputs: Vec<Option<&Fact>> =
            node.inputs.iter().map(|input| input.map(|value| &self.facts[value.index()])).collect();
        let attrs = NodeAttrs { model: self.model, node, frame: self.frame.as_ref() };
        let outputs = node.outputs.len();
        let call = OpCall {
            domain,
            op: &node.op_type,
            opset,
            attrs: &attrs,
            inputs: &inputs,
            outputs,
            bounds: &self.bounds,
            runs: self.guarded == 0,
        };
        let in_loop = self.loops > 0;
        let (symbols, model) = (&mut self.symbols, self.model);
        let mut fresh = FreshFor { symbols, model, node: id, path: self.path, in_loop };
        let answer = ask(&call, &mut fresh);
        self.symbols.take_ranges(&mut self.bounds);
        answer
    }

    fn report(&mut self, node: NodeId, faults: Vec<Fault>) {
        if !faults.is_empty() {
            self.faults.entry(node).or_default().extend(faults);
        }
    }

    fn fact(&self, value: Option<ValueId>) -> Option<&Fact> {
        value.map(|value| &self.facts[value.index()])
    }
}

/// Returns a fact whose elements are known if the tensor has none.
fn without_elements(fact: Fact) -> Fact {
    let tensor = fact.as_tensor().filter(|tensor| tensor.shape.numel() == Some(Dim::known(0)));
    let known = tensor.and_then(|tensor| {
        let elem = tensor.elem.filter(|elem| elem.is_integer())?;
        Some(TensorFact::ints(elem, &tensor.shape.to_static()?, Vec::new()))
    });
    known.map_or(fact, Fact::Tensor)
}

/// Reads the recorded symbol ranges from the metadata of the main graph or model.
fn bounds(model: &Model) -> Bounds {
    let all = model.graphs[model.main].metadata.iter().chain(&model.metadata);
    let text = all.into_iter().find(|(key, _)| &**key == RANGE_CONSTRAINTS);
    text.map_or_else(Bounds::default, |(_, text)| Bounds::parse(text))
}

/// Attributes of a node, resolved with those of the enclosing function call.
struct NodeAttrs<'a, 'm> {
    model: &'m Model,
    node: &'m Node,
    frame: Option<&'a Frame<'m>>,
}

impl Attrs for NodeAttrs<'_, '_> {
    fn attr(&self, name: &str) -> Option<&AttrValue> {
        function::resolve(self.node.attr(name)?, self.frame)
    }

    fn tensor(&self, id: TensorId) -> &Tensor {
        &self.model.tensors[id]
    }
}

/// Returns the fact of a scalar with unknown value.
fn scalar(elem: crate::graph::ElemType) -> Fact {
    Fact::Tensor(TensorFact::new(Some(elem), Shape::scalar()))
}
