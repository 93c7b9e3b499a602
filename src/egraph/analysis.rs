//! E-class analysis: inferred facts of each class, and its origin in the graph.

use std::sync::Arc;

use egg::{DidMerge, Id};

use super::EGraph;
use super::enode::{Call, ENode};
use super::tables::Tables;
use crate::graph::dim::Bounds;
use crate::graph::{AttrValue, ElemType, GraphId, NodeId, Tensor, TensorId, ValueId};
use crate::infer::{
    Attrs, ConstValue, Fact, Fault, NoSymbols, OpCall, TensorFact, is_at_hand, is_weight_arithmetic,
    transfer, violations,
};

/// Analysis data of an e-class.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// Fact of a value; for a call, one fact per output.
    pub facts: Vec<Fact>,
    /// Values of the graph that are in this class, lowest id first.
    pub values: Vec<ValueId>,
    /// Nodes of the graph that this class derives from, sorted: the producer of a value in the class,
    /// or the nodes that a rewrite matched to create the class. Merged classes keep the lesser list.
    pub origin: Vec<NodeId>,
    /// Number of node inputs and graph outputs in the source model that are values of this class.
    pub uses: usize,
    pub is_output: bool,
}

impl Data {
    /// Returns the fact of a value.
    pub fn fact(&self) -> &Fact {
        self.facts.first().unwrap_or(&Fact::Unknown)
    }
}

/// Analysis of an e-graph: its scope, and the interning tables.
pub struct Scope<'m> {
    pub tables: Tables<'m>,
    pub graph: GraphId,
    pub bounds: Bounds,
    /// Opset of ai.onnx that the graph imports.
    pub opset: i64,
    /// Facts of graph outputs, completed by the declared types.
    ///
    /// Only conversion rules use these facts, because a conversion may be impossible without them.
    pub claims: Vec<(Id, Fact)>,
    /// Facts for the next node to add, if they are already known.
    pub(super) seed: Option<Vec<Fact>>,
    /// Classes that were added, merged or refined since this list was last taken.
    pub(super) touched: Vec<Id>,
    /// Contradictions between facts of a class.
    pub conflicts: Vec<String>,
}

impl<'m> Scope<'m> {
    /// Creates the analysis for the scope `graph`.
    pub fn new(tables: Tables<'m>, graph: GraphId, bounds: Bounds) -> Self {
        let opset = tables.model.opset(graph, "").unwrap_or(1);
        Scope {
            tables,
            graph,
            bounds,
            opset,
            claims: Vec::new(),
            seed: None,
            touched: Vec::new(),
            conflicts: Vec::new(),
        }
    }

    /// Returns the version imported for a domain.
    pub fn opset_of(&self, domain: &str) -> Option<i64> {
        self.tables.model.opset(self.graph, domain)
    }
}

/// Attributes of an e-node, for inference.
struct CallAttrs<'a, 'm> {
    tables: &'a Tables<'m>,
    call: &'a Call,
}

impl Attrs for CallAttrs<'_, '_> {
    fn attr(&self, name: &str) -> Option<&AttrValue> {
        self.tables.attr(self.call.attrs, name)
    }

    fn tensor(&self, id: TensorId) -> &Tensor {
        self.tables.tensor(id)
    }
}

fn call_facts(egraph: &EGraph, call: &Call) -> Vec<Fact> {
    let opset = egraph.analysis.tables.opset_of(call);
    with_call(egraph, call, opset, |call| transfer(call, &mut NoSymbols).0)
}

/// Returns the constraints that a call violates at `opset`, but not at the opset of the call.
pub fn violations_at(egraph: &EGraph, call: &Call, opset: i64) -> Vec<Fault> {
    let at = |opset: i64| with_call(egraph, call, opset, violations);
    let mut found = at(opset);
    if !found.is_empty() {
        let own = at(egraph.analysis.tables.opset_of(call));
        found.retain(|fault| !own.contains(fault));
    }
    found
}

/// Evaluates `question` for a call at an opset.
pub(super) fn with_call<T>(
    egraph: &EGraph,
    call: &Call,
    opset: i64,
    question: impl FnOnce(&OpCall) -> T,
) -> T {
    let scope = &egraph.analysis;
    let inputs: Vec<Option<&Fact>> =
        call.children[..usize::from(call.inputs)].iter().map(|&child| input_fact(egraph, child)).collect();
    let key = scope.tables.op(call.op);
    question(&OpCall {
        domain: &key.domain,
        op: &key.name,
        opset,
        attrs: &CallAttrs { tables: &scope.tables, call },
        inputs: &inputs,
        outputs: usize::from(call.outputs),
        bounds: &scope.bounds,
        runs: false,
    })
}

/// Returns true if a call, or an output of one, evaluates to a constant, given the facts of its inputs.
pub fn gives_constant(egraph: &EGraph, form: &ENode) -> bool {
    let gives = |call: &Call, output: usize| {
        call_facts(egraph, call).get(output).is_some_and(|fact| fact.as_const().is_some())
    };
    match form {
        ENode::Call(call) => gives(call, 0),
        ENode::Output { index, call } => {
            let mut calls = egraph[call[0]].nodes.iter().filter_map(ENode::as_call);
            calls.any(|call| gives(call, usize::from(*index)))
        }
        _ => false,
    }
}

/// Returns true if a call computes a constant from constants that are not in external files.
/// The result counts as a constant if its shape is static and it is not wider than the first input.
/// Returns false in subgraphs and functions: only the main graph can store the folded constant.
pub fn is_computed(egraph: &EGraph, call: &Call) -> bool {
    let scope = &egraph.analysis;
    let key = scope.tables.op(call.op);
    let at_hand = |&child: &Id| is_at_hand(scope.tables.model, egraph[child].data.fact());
    scope.graph == scope.tables.model.main
        && !call.children.is_empty()
        && is_weight_arithmetic(&key.domain, &key.name)
        && call.children.iter().all(at_hand)
}

/// Returns true if the elements of the result have more bits than those of the first input.
/// A widened result is not folded, because weights are stored in narrow types on purpose.
fn is_widened(egraph: &EGraph, call: &Call, made: &TensorFact) -> bool {
    let taken = egraph[call.children[0]].data.fact().elem();
    made.elem.and_then(ElemType::bits) > taken.and_then(ElemType::bits)
}

fn input_fact<'a>(egraph: &'a EGraph, child: Id) -> Option<&'a Fact> {
    let class = &egraph[child];
    let is_absent = class.nodes.first() == Some(&ENode::Absent);
    (!is_absent).then(|| class.data.fact())
}

impl<'m> egg::Analysis<ENode> for Scope<'m> {
    type Data = Data;

    fn make(egraph: &mut EGraph<'m>, enode: &ENode, _id: Id) -> Data {
        let seed = egraph.analysis.seed.take();
        let mut facts = seed.unwrap_or_else(|| match enode {
            ENode::Absent | ENode::Leaf(_) => vec![Fact::Unknown],
            ENode::Const(id) => {
                vec![Fact::Tensor(TensorFact::constant(Arc::clone(egraph.analysis.tables.constant(*id))))]
            }
            ENode::Call(call) => call_facts(egraph, call),
            ENode::Output { index, call } => {
                vec![egraph[call[0]].data.facts.get(usize::from(*index)).cloned().unwrap_or_default()]
            }
        });
        if let ([Fact::Tensor(tensor)], ENode::Call(call)) = (facts.as_mut_slice(), enode)
            && matches!(tensor.value, ConstValue::Nothing)
            && tensor.shape.is_static()
            && is_computed(egraph, call)
            && !is_widened(egraph, call, tensor)
        {
            tensor.value = ConstValue::Computed;
        }
        Data { facts, ..Data::default() }
    }

    fn modify(egraph: &mut EGraph<'m>, id: Id) {
        egraph.analysis.touched.push(id);
    }

    fn merge(&mut self, a: &mut Data, b: Data) -> DidMerge {
        let mut merged = DidMerge(a.facts.len() < b.facts.len(), b.facts.len() < a.facts.len());
        let count = a.facts.len().max(b.facts.len());
        let (mut ours, mut theirs) = (std::mem::take(&mut a.facts), b.facts);
        ours.resize(count, Fact::Unknown);
        theirs.resize(count, Fact::Unknown);
        for (ours, theirs) in ours.iter_mut().zip(&theirs) {
            match ours.meet(theirs, &self.bounds) {
                Ok(both) => {
                    merged.0 |= both != *ours;
                    merged.1 |= both != *theirs;
                    *ours = both;
                }
                Err(conflict) => self.conflicts.push(conflict.to_string()),
            }
        }
        a.facts = ours;
        a.values.extend(b.values);
        a.values.sort_unstable();
        a.values.dedup();
        if a.origin.is_empty() || (!b.origin.is_empty() && b.origin < a.origin) {
            a.origin = b.origin;
        }
        a.uses += b.uses;
        a.is_output |= b.is_output;
        merged
    }
}
