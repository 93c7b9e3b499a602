//! What is known of each class: the facts of its value, and where in the graph it comes from.

use std::sync::Arc;

use egg::{DidMerge, Id};

use super::EGraph;
use super::enode::{Call, ENode};
use super::tables::Tables;
use crate::graph::dim::Bounds;
use crate::graph::{AttrValue, ElemType, GraphId, NodeId, Tensor, TensorId, ValueId};
use crate::infer::{Attrs, Fact, Known, NoSymbols, TensorFact, is_at_hand, is_weight_arithmetic, transfer};

/// What is known of a class.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// The fact of a value; of a call, one for each output.
    pub facts: Vec<Fact>,
    /// The values of the graph that it is, lowest id first.
    pub values: Vec<ValueId>,
    /// The nodes of the graph that it stands for: those that made its values, or that a rewrite matched
    /// to find this form. Sorted.
    pub origin: Vec<NodeId>,
    /// Inputs of nodes and outputs of the graph that take its values, in the graph as it was built.
    pub uses: usize,
    pub is_output: bool,
}

impl Data {
    /// The fact of a value.
    pub fn fact(&self) -> &Fact {
        self.facts.first().unwrap_or(&Fact::Unknown)
    }
}

/// The analysis of an e-graph: the scope that it is of, and its tables.
pub struct Scope<'m> {
    pub tables: Tables<'m>,
    pub graph: GraphId,
    pub bounds: Bounds,
    /// The opset of ai.onnx that the graph was written for.
    pub opset: i64,
    /// Facts of outputs that are true if the graph declares them rightly. Only conversions use them, whose alternative
    /// is to refuse the model.
    pub claims: Vec<(Id, Fact)>,
    /// Facts for the node that is added next, where they are known already.
    pub(super) seed: Option<Vec<Fact>>,
    /// Classes that are new, that were united, or of which more became known, since somebody took them from here.
    pub(super) touched: Vec<Id>,
    /// Facts of a class that contradicted each other: two forms that were taken to be equal are not.
    pub conflicts: Vec<String>,
}

impl<'m> Scope<'m> {
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

    /// The version imported for a domain.
    pub fn opset_of(&self, domain: &str) -> Option<i64> {
        self.tables.model.opset(self.graph, domain)
    }
}

/// The attributes of an e-node, as inference asks for them.
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
    let scope = &egraph.analysis;
    let inputs: Vec<Option<&Fact>> =
        call.children[..usize::from(call.inputs)].iter().map(|&child| input_fact(egraph, child)).collect();
    let key = scope.tables.op(call.op);
    let transferred = transfer(
        &crate::infer::Call {
            domain: &key.domain,
            op: &key.name,
            opset: scope.tables.opset_of(call),
            attrs: &CallAttrs { tables: &scope.tables, call },
            inputs: &inputs,
            outputs: usize::from(call.outputs),
            bounds: &scope.bounds,
        },
        &mut NoSymbols,
    );
    transferred.0
}

/// Whether a form gives a constant by what is known of its inputs.
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

/// Whether a call is weight arithmetic on constants at hand: it will be done beforehand, if it is chosen. Only the main
/// graph holds what was computed.
pub fn is_computed(egraph: &EGraph, call: &Call) -> bool {
    let scope = &egraph.analysis;
    let key = scope.tables.op(call.op);
    let at_hand = |&child: &Id| is_at_hand(scope.tables.model, egraph[child].data.fact());
    scope.graph == scope.tables.model.main
        && !call.children.is_empty()
        && is_weight_arithmetic(&key.domain, &key.name)
        && call.children.iter().all(at_hand)
}

/// Whether elements take more room than those of the first input: somebody made weights narrow by intent.
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
            && matches!(tensor.value, Known::Nothing)
            && tensor.shape.is_static()
            && is_computed(egraph, call)
            && !is_widened(egraph, call, tensor)
        {
            tensor.value = Known::Computed;
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
