//! Calls of local functions, inferred with the facts of each call.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Driver, FUNCTION_NODES_PER_NODE, MAX_FUNCTION_NODES, MAX_NESTING};
use crate::graph::{AttrValue, Attribute, Id, Model, Node, NodeId, ValueId, scopes};
use crate::infer::fact::Fact;

/// Attributes that a call passes to a function, including defaults.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame<'m> {
    attrs: Vec<(&'m str, &'m AttrValue)>,
    /// Whether the function is called; otherwise, the attributes are unknown.
    is_called: bool,
}

/// Returns true if an attribute of a node refers to an attribute of a function without a call.
pub(super) fn is_open(node: &Node, frame: Option<&Frame>) -> bool {
    let is_reference = |attr: &Attribute| matches!(attr.value, AttrValue::Ref { .. });
    frame.is_some_and(|frame| !frame.is_called) && node.attrs.iter().any(is_reference)
}

/// Resolves an attribute in a call; `None` for a reference to a function attribute without a value.
pub(super) fn resolve<'m>(value: &'m AttrValue, frame: Option<&Frame<'m>>) -> Option<&'m AttrValue> {
    match value {
        AttrValue::Ref { name, .. } => {
            frame?.attrs.iter().find(|(attr, _)| *attr == &**name).map(|(_, value)| *value)
        }
        value => Some(value),
    }
}

/// Inference state of a function.
#[derive(Default)]
struct State<'m> {
    /// The first calls whose inference requested no symbols; equal calls reuse their results.
    memo: Vec<Memo<'m>>,
    called: bool,
    running: bool,
}

struct Memo<'m> {
    frame: Frame<'m>,
    inputs: Vec<Option<Fact>>,
    outputs: Vec<Fact>,
}

/// Maximum number of calls remembered per function.
const REMEMBERED: usize = 8;

/// Local functions by qualified name, and their state.
pub(super) struct Index<'m> {
    by_name: FxHashMap<(&'m str, &'m str, &'m str), usize>,
    states: Vec<State<'m>>,
    /// Number of function nodes inferred so far.
    nodes: usize,
    /// Once `nodes` reaches this number, no further call is inferred.
    most: usize,
}

impl<'m> Index<'m> {
    /// Indexes the local functions by domain, name and overload; of duplicates, the first is used.
    pub fn of(model: &'m Model) -> Self {
        let mut by_name = FxHashMap::default();
        for (index, function) in model.functions.iter().enumerate() {
            let domain = crate::graph::normal_domain(function.domain.as_deref());
            let name = function.name.as_deref().unwrap_or("");
            by_name.entry((domain, name, function.overload.as_deref().unwrap_or(""))).or_insert(index);
        }
        let most = MAX_FUNCTION_NODES.max(model.nodes.len().saturating_mul(FUNCTION_NODES_PER_NODE));
        let states = model.functions.iter().map(|_| State::default()).collect();
        Index { by_name, states, nodes: 0, most }
    }

    /// Marks every function as called, so that facts from calls that are not inferred again are kept.
    pub fn resume(&mut self) {
        self.states.iter_mut().for_each(|state| state.called = true);
    }

    /// Returns the index of the local function that a node calls; `None` if the node calls an operator.
    pub fn callee(&self, node: &Node) -> Option<usize> {
        if self.by_name.is_empty() {
            return None;
        }
        let key = (node.domain(), &*node.op_type, node.overload.as_deref().unwrap_or(""));
        self.by_name.get(&key).copied()
    }
}

impl<'m> Driver<'m> {
    /// Infers the outputs of a function call.
    pub(super) fn call_function(&mut self, id: NodeId, function: usize) -> Vec<Fact> {
        let node = &self.model.nodes[id];
        let unknown = vec![Fact::Unknown; node.outputs.len()];
        let state = &self.functions.states[function];
        if state.running || self.nesting >= MAX_NESTING || self.functions.nodes >= self.functions.most {
            self.limited = true;
            return unknown;
        }
        let frame = self.frame_of(node, function);
        let inputs: Vec<Option<Fact>> = node.inputs.iter().map(|&input| self.fact(input).cloned()).collect();
        if let Some(memo) = state.memo.iter().find(|memo| memo.inputs == inputs && memo.frame == frame) {
            return memo.outputs.clone();
        }
        let mark = self.symbols.mark();
        let path = self.symbols.enter(self.path, id);
        let outer = (self.path, self.frame.clone());
        (self.path, self.frame) = (path, Some(frame.clone()));
        let outputs = self.run_function(function, &inputs);
        (self.path, self.frame) = outer;
        let state = &mut self.functions.states[function];
        if self.symbols.mark() == mark && state.memo.len() < REMEMBERED {
            state.memo.push(Memo { frame, inputs, outputs: outputs.clone() });
        }
        outputs
    }

    fn frame_of(&self, node: &'m Node, function: usize) -> Frame<'m> {
        let function = &self.model.functions[function];
        let given = |name: &Arc<str>| resolve(node.attr(name)?, self.frame.as_ref());
        let required = function.attributes.iter().filter_map(|name| Some((&**name, given(name)?)));
        let defaults = function.attribute_defaults.iter();
        let optional = defaults.map(|attr| (&*attr.name, given(&attr.name).unwrap_or(&attr.value)));
        Frame { attrs: required.chain(optional).collect(), is_called: true }
    }

    /// Infers a call, and keeps only those facts of the function that hold in this and all earlier calls.
    fn run_function(&mut self, function: usize, inputs: &[Option<Fact>]) -> Vec<Fact> {
        let body = self.model.functions[function].body;
        let graph = &self.model.graphs[body];
        let called_before = std::mem::replace(&mut self.functions.states[function].called, true);
        let values = if called_before { self.values_of(body) } else { Vec::new() };
        let before: Vec<Fact> = values.iter().map(|value| self.facts[value.index()].clone()).collect();
        for (index, port) in graph.inputs.iter().enumerate() {
            // No fact expresses that an input is absent, so an omitted input counts as unknown.
            let fact = inputs.get(index).cloned().flatten().unwrap_or_default();
            self.seed(port.value, fact);
        }
        self.functions.nodes += graph.nodes.len();
        self.functions.states[function].running = true;
        self.nesting += 1;
        self.graph(body);
        self.nesting -= 1;
        self.functions.states[function].running = false;
        let outputs = graph.outputs.iter().map(|port| self.facts[port.value.index()].clone()).collect();
        for (value, before) in values.into_iter().zip(before) {
            let fact = &mut self.facts[value.index()];
            *fact = fact.join(&before, &self.bounds);
        }
        outputs
    }

    /// Returns the inputs and the node outputs in a function and its subgraphs.
    fn values_of(&self, body: crate::graph::GraphId) -> Vec<ValueId> {
        let graphs = scopes::nested(self.model, body);
        let graphs = graphs.into_iter().map(|graph| &self.model.graphs[graph]);
        let made = |node: &NodeId| self.model.nodes[*node].outputs.iter().flatten().copied();
        graphs
            .flat_map(|graph| {
                let inputs = graph.inputs.iter().map(|port| port.value);
                inputs.chain(graph.nodes.iter().flat_map(made))
            })
            .collect()
    }

    /// Infers a function that is never called, without facts about its inputs and attributes.
    pub(super) fn uncalled(&mut self, function: usize) {
        if !self.functions.states[function].called {
            self.frame = Some(Frame { attrs: Vec::new(), is_called: false });
            self.guarded += 1;
            self.run_function(function, &[]);
            self.guarded -= 1;
            self.frame = None;
        }
    }
}
