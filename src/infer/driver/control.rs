//! Inference of operators with subgraphs.

use super::symbols::without;
use super::{Driver, MAX_NESTING};
use crate::graph::{AttrValue, GraphId, Id, Node, NodeId};
use crate::infer::declared;
use crate::infer::fact::Fact;
use crate::infer::fault::Fault;
use crate::infer::meet::Conflict;
use crate::infer::shape::number;

impl<'m> Driver<'m> {
    /// Infers the outputs of a node with subgraphs.
    pub(super) fn control(&mut self, id: NodeId, node: &'m Node) -> Vec<Fact> {
        let unknown = vec![Fact::Unknown; node.outputs.len()];
        if self.nesting >= MAX_NESTING {
            self.limited = true;
            return unknown;
        }
        self.nesting += 1;
        self.guarded += 1;
        let facts = match (node.domain(), &*node.op_type) {
            ("", "If") => self.branches(id, node),
            ("", "Loop") => self.iterate(id, node),
            ("", "Scan") => self.scan(id, node),
            ("", "SequenceMap") => self.map_sequence(node),
            _ => self.opaque_bodies(id, node),
        };
        self.nesting -= 1;
        self.guarded -= 1;
        facts.unwrap_or(unknown)
    }

    /// Returns the subgraph in an attribute; `None` if the attribute is absent or not a graph.
    pub(super) fn body(&self, node: &Node, attr: &str) -> Option<GraphId> {
        match node.attr(attr)? {
            AttrValue::Graph(graph) => Some(*graph),
            _ => None,
        }
    }

    fn outputs_of(&self, graph: GraphId) -> Vec<Fact> {
        let outputs = self.model.graphs[graph].outputs.iter();
        outputs.map(|port| self.facts[port.value.index()].clone()).collect()
    }

    /// Infers a subgraph from the facts of its inputs, completed by their declared types.
    pub(super) fn run_body(&mut self, graph: GraphId, inputs: &[Fact]) -> Vec<Fact> {
        for (index, port) in self.model.graphs[graph].inputs.iter().enumerate() {
            let fact = inputs.get(index).cloned().unwrap_or_default();
            let declared = port.info.ty.as_ref().filter(|_| self.options.use_declared);
            let declared = declared.map_or(Fact::Unknown, declared::numbers);
            self.seed(port.value, declared::fill(fact, &declared));
        }
        self.graph(graph);
        self.outputs_of(graph)
    }

    /// Infers both branches of an `If`, and then its outputs.
    fn branches(&mut self, id: NodeId, node: &'m Node) -> Option<Vec<Fact>> {
        let (yes, no) = (self.body(node, "then_branch")?, self.body(node, "else_branch")?);
        self.run_body(yes, &[]);
        self.run_body(no, &[]);
        self.joined(id, node)
    }

    /// Infers the outputs of an `If`: those of the taken branch, or the facts common to both branches.
    pub(super) fn joined(&mut self, id: NodeId, node: &'m Node) -> Option<Vec<Fact>> {
        let condition = self.fact(node.input(0)).and_then(Fact::as_ints);
        let taken = condition.and_then(|elements| number(elements.first()?));
        let (yes, no) = (self.body(node, "then_branch")?, self.body(node, "else_branch")?);
        let (yes, no) = (self.outputs_of(yes), self.outputs_of(no));
        match taken {
            Some(0) => return Some(no),
            Some(_) => return Some(yes),
            None => {}
        }
        let mut facts = Vec::new();
        for (output, (yes, no)) in yes.iter().zip(&no).enumerate() {
            if let Some(what) = kinds_conflict(yes, no).or_else(|| ranks_conflict(yes, no)) {
                self.report(id, vec![Fault::Branches { output, what }]);
            }
            facts.push(yes.join(no, &self.bounds));
        }
        Some(facts)
    }

    /// Infers `SequenceMap`: the subgraph receives one element of each sequence, and tensors unchanged.
    fn map_sequence(&mut self, node: &'m Node) -> Option<Vec<Fact>> {
        let body = self.body(node, "body")?;
        let inputs = node.inputs.iter().map(|&input| match self.fact(input) {
            Some(Fact::Sequence(of)) => (**of).clone(),
            Some(other) => other.clone(),
            None => Fact::Unknown,
        });
        let inputs: Vec<Fact> = inputs.collect();
        let mark = self.symbols.mark();
        self.loops += 1;
        let outputs = self.run_body(body, &inputs);
        self.loops -= 1;
        let inner = self.symbols.since(mark);
        Some(outputs.into_iter().map(|fact| Fact::sequence(without(fact.without_values(), &inner))).collect())
    }

    /// Infers the subgraphs of an operator that is not control flow, such as a custom operator.
    /// The operator's inference rule infers its outputs, without facts of the subgraphs.
    fn opaque_bodies(&mut self, id: NodeId, node: &'m Node) -> Option<Vec<Fact>> {
        self.loops += 1;
        for body in node.graphs() {
            self.run_body(body, &[]);
        }
        self.loops -= 1;
        let opset = self.model.opset(node.graph, "").unwrap_or(1);
        Some(self.operator(id, node, opset))
    }
}

/// Returns the conflict if two values differ in kind or element type; shapes may differ.
pub(super) fn kinds_conflict(a: &Fact, b: &Fact) -> Option<Conflict> {
    let (a, b) = match (a, b) {
        // A value that is not optional may be used where an optional is expected.
        (Fact::Optional(a), b) | (b, Fact::Optional(a)) if !matches!(b, Fact::Optional(_)) => (&**a, b),
        pair => pair,
    };
    let (a, b) = (a.without_shapes(), b.without_shapes());
    a.meet(&b, &Default::default()).err()
}

/// Returns the conflict if two tensors differ in rank.
/// Branches of an `If` may differ in rank, but most users of its output accept a single rank.
fn ranks_conflict(a: &Fact, b: &Fact) -> Option<Conflict> {
    let (a, b) = (a.rank()?, b.rank()?);
    (a != b).then_some(Conflict::Rank(a, b))
}
