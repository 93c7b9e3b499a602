//! Signatures of what a pattern can reach from a class.
//!
//! Two classes with equal signatures differ only in the elements of constants and in names. If a rule has
//! no match at one of them and has not read elements, it has no match at the other. So a rule that has no
//! match in a layer is tried once for all layers that are equal up to their weights.

use std::hash::{DefaultHasher, Hash, Hasher};

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::EGraph;
use super::enode::ENode;
use super::sizes::is_tuple;
use crate::graph::ValueId;
use crate::infer::{ConstValue, Fact, TensorFact};

/// Maximum number of elements of a constant that is part of a signature.
const MAX_ELEMENTS: usize = 16;

/// Maximum number of classes in a signature. A class with larger surroundings resembles no other class.
const MAX_CLASSES: u32 = 512;

/// Signatures of the classes of an unchanging e-graph, computed on demand.
pub(super) struct Surroundings<'a, 'm> {
    egraph: &'a EGraph<'m>,
    /// Inputs of the graph without a default.
    inputs: FxHashSet<ValueId>,
    /// Classes with declared types, which only some rules use: each resembles no other class.
    claimed: FxHashSet<Id>,
    /// Hash of each class alone.
    labels: FxHashMap<Id, u64>,
    /// Signatures of each class, by depth.
    signatures: FxHashMap<Id, Vec<u64>>,
    numbers: Numbers,
}

/// Numbers of the classes of a traversal, in the order of the traversal.
#[derive(Default)]
struct Numbers {
    /// For each class, its last traversal, and its number in this traversal.
    of: Vec<(u32, u32)>,
    traversal: u32,
    next: u32,
}

impl Numbers {
    /// Forgets the numbers.
    fn restart(&mut self) {
        self.traversal += 1;
        self.next = 0;
    }

    /// Returns the number of a class, and whether the class is new.
    fn number(&mut self, class: Id) -> (u32, bool) {
        let at = usize::from(class);
        if at >= self.of.len() {
            self.of.resize(at + 1, (0, 0));
        }
        let (traversal, number) = &mut self.of[at];
        if *traversal == self.traversal {
            return (*number, false);
        }
        (*traversal, *number) = (self.traversal, self.next);
        self.next += 1;
        (*number, true)
    }
}

impl<'a, 'm> Surroundings<'a, 'm> {
    /// Creates an empty table of signatures.
    pub(super) fn new(egraph: &'a EGraph<'m>) -> Self {
        let scope = &egraph.analysis;
        let model = scope.tables.model;
        let inputs = model.graphs[scope.graph].inputs.iter().map(|port| port.value);
        Surroundings {
            egraph,
            inputs: inputs.filter(|&value| model.values[value].initial.is_none()).collect(),
            claimed: scope.claims.iter().map(|(class, _)| egraph.find(*class)).collect(),
            labels: FxHashMap::default(),
            signatures: FxHashMap::default(),
            numbers: Numbers::default(),
        }
    }

    /// Returns the signature of what a pattern with paths of `depth` nodes, rooted at `class`, can reach.
    pub(super) fn signature(&mut self, class: Id, depth: usize) -> u64 {
        if let Some(&known) = self.signatures.get(&class).and_then(|known| known.get(depth)) {
            return known;
        }
        // Rules of several depths have their roots at the same class.
        let all = self.traverse(class, depth.next_multiple_of(4));
        let signature = all[depth];
        self.signatures.insert(class, all);
        signature
    }

    /// Returns the signatures of `root` for all depths up to `deepest`.
    ///
    /// The traversal is breadth-first and numbers the classes, so that shared operands are part of the signature.
    fn traverse(&mut self, root: Id, deepest: usize) -> Vec<u64> {
        let egraph = self.egraph;
        let mut hasher = FxHasher::default();
        self.numbers.restart();
        self.numbers.number(root);
        let mut level = vec![root];
        let mut signatures = Vec::with_capacity(deepest + 1);
        while signatures.len() <= deepest {
            if self.numbers.next > MAX_CLASSES {
                root.hash(&mut hasher);
                signatures.resize(deepest + 1, hasher.finish());
                break;
            }
            let mut at = 0;
            while let Some(&class) = level.get(at) {
                self.label(class).hash(&mut hasher);
                // An output and its call count as one node.
                for node in &egraph[class].nodes {
                    if let ENode::Output { call: [call], .. } = node {
                        self.visit(*call, &mut level, &mut hasher);
                    }
                }
                at += 1;
            }
            signatures.push(hasher.finish());
            let mut below = Vec::new();
            for class in level {
                let calls = egraph[class].nodes.iter().filter_map(ENode::as_call);
                calls
                    .flat_map(|call| &call.children)
                    .for_each(|operand| self.visit(*operand, &mut below, &mut hasher));
            }
            level = below;
        }
        signatures
    }

    /// Hashes the number of a class, and adds the class to `level` if it is new.
    fn visit(&mut self, class: Id, level: &mut Vec<Id>, hasher: &mut FxHasher) {
        let class = self.egraph.find(class);
        let (number, is_new) = self.numbers.number(class);
        number.hash(hasher);
        if is_new {
            level.push(class);
        }
    }

    /// Returns the hash of a class without its operands.
    fn label(&mut self, class: Id) -> u64 {
        if let Some(&label) = self.labels.get(&class) {
            return label;
        }
        let mut hasher = DefaultHasher::new();
        self.hash_data(class, &mut hasher);
        for node in &self.egraph[class].nodes {
            std::mem::discriminant(node).hash(&mut hasher);
            match node {
                ENode::Call(call) => {
                    (call.op, call.attrs, call.outputs, call.inputs).hash(&mut hasher);
                    (call.token.is_some(), call.children.len()).hash(&mut hasher);
                    if is_tuple(&self.egraph.analysis.tables, node) {
                        self.hash_outputs(class, call.outputs, &mut hasher);
                    }
                }
                ENode::Output { index, .. } => index.hash(&mut hasher),
                ENode::Absent | ENode::Leaf(_) | ENode::Const(_) => {}
            }
        }
        let label = hasher.finish();
        self.labels.insert(class, label);
        label
    }

    fn hash_data(&self, class: Id, hasher: &mut DefaultHasher) {
        let data = &self.egraph[class].data;
        let is_input = data.values.iter().any(|value| self.inputs.contains(value));
        (data.uses, data.is_output, is_input).hash(hasher);
        self.claimed.get(&class).hash(hasher);
        data.facts.iter().for_each(|fact| hash_fact(fact, hasher));
    }

    fn hash_outputs(&self, class: Id, outputs: u16, hasher: &mut DefaultHasher) {
        for index in 0..outputs {
            let output = self.egraph.lookup(ENode::Output { index, call: [class] });
            output.is_some().hash(hasher);
            output.into_iter().for_each(|output| self.hash_data(self.egraph.find(output), hasher));
        }
    }
}

/// Returns true for a constant whose elements are not part of signatures.
pub(super) fn is_large(fact: &Fact) -> bool {
    fact.as_const().is_some_and(|array| array.len() > MAX_ELEMENTS)
}

/// Hashes a fact, without the elements of large constants.
fn hash_fact(fact: &Fact, hasher: &mut DefaultHasher) {
    std::mem::discriminant(fact).hash(hasher);
    match fact {
        Fact::Tensor(tensor) | Fact::SparseTensor(tensor) => hash_tensor(tensor, hasher),
        Fact::Sequence(elements) => {
            hash_fact(elements, hasher);
            elements.facts().into_iter().flatten().for_each(|fact| hash_fact(fact, hasher));
        }
        Fact::Optional(element) => hash_fact(element, hasher),
        Fact::Map { key, value } => {
            key.hash(hasher);
            hash_fact(value, hasher);
        }
        Fact::Unknown | Fact::Opaque => {}
    }
}

fn hash_tensor(tensor: &TensorFact, hasher: &mut DefaultHasher) {
    (tensor.elem, &tensor.shape).hash(hasher);
    std::mem::discriminant(&tensor.value).hash(hasher);
    match &tensor.value {
        ConstValue::Const(array) if array.len() <= MAX_ELEMENTS => {
            array.to_raw().hash(hasher);
            array.as_strings().ok().hash(hasher);
        }
        ConstValue::Ints(elements) => elements.hash(hasher),
        ConstValue::Nothing | ConstValue::Const(_) | ConstValue::Weight(_) | ConstValue::Computed => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egraph::build;
    use crate::graph::uses::Uses;
    use crate::infer::{Options, infer};

    /// Returns true if two values have equal signatures for patterns of this depth.
    fn are_alike(a: &str, b: &str, depth: usize) -> bool {
        let weights = |start: usize| (start..start + 32).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        let (model, findings) = crate::read::text::read(&format!(
            "<ir_version: 8, opset_import: [\"\" : 17]>
            g (float[N,32] x, float[N,32] y) => (p, q, r, s, t, u, v, o) <float[32] w = {{{}}}, float[32] k = {{{}}},
               float two = {{2}}, float three = {{3}}> {{
                p0 = Mul (x, w)  p = Relu (p0)
                q0 = Mul (y, k)  q = Relu (q0)
                r0 = Mul (x, two)  r = Relu (r0)
                s0 = Mul (y, three)  s = Relu (s0)
                c = Neg (x)  h = Neg (y)  d = Abs (p)  e = Abs (q)  f = Abs (r)  i = Abs (s)
                t = Sub (d, d)  u = Sub (e, f)  v = Sub (f, e)  o = Sum (c, h, i, i)
            }}",
            weights(0),
            weights(1)
        ));
        assert_eq!(findings, []);
        let model = model.expect("a model");
        let facts = infer(&model, Options::default());
        let built = build(&model, model.main, &facts, &Uses::new(&model), true).expect("no cycle");
        let mut surroundings = Surroundings::new(&built.egraph);
        let mut signature = |name: &str| {
            let value = model.values.iter().find(|(_, value)| *value.name == *name);
            surroundings.signature(built.class_of[&value.expect("a value").0], depth)
        };
        signature(a) == signature(b)
    }

    #[test]
    fn large_weights_are_no_part_of_a_signature() {
        assert!(are_alike("p", "q", 2));
        assert!(!are_alike("p", "r", 2));
    }

    #[test]
    fn small_constants_are_part_of_a_signature() {
        assert!(are_alike("r", "s", 1));
        assert!(!are_alike("r", "s", 2));
    }

    #[test]
    fn shared_operands_are_part_of_a_signature() {
        assert!(!are_alike("t", "u", 1));
    }

    #[test]
    fn operators_are_part_of_a_signature() {
        assert!(are_alike("d", "f", 0));
        assert!(!are_alike("c", "d", 0));
    }
}
