//! Equality of tensors up to their shapes: equal elements in row-major order.
//!
//! Exporters write one computation with different views: `[B*S, C]` and `[B, S, C]`, a Gather of one index and a
//! Slice, a Split and its slices. A *content* is the sequence of the elements of a tensor in row-major order, without
//! its shape. A view has the content of its input, and the content of many results depends only on the contents of
//! the operands and on a few sizes. Contents with equal definitions are merged, until nothing changes. Two e-classes
//! of equal content, element type and shape are equal.
//!
//! Extraction does not need this, because it adds no alternative; proofs do.

mod arithmetic;
mod blocks;
mod constants;
mod gathers;
mod moves;
mod reading;

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use self::constants::Constants;
use super::EGraph;
use super::enode::{Call, ENode};
use super::rebuild::rebuild;
use super::sizes::is_tuple;
use crate::graph::ElemType;
use crate::graph::dim::Dim;

/// Maximum number of passes over the e-graph.
///
/// Each pass merges the contents that the previous one made equal.
const PASSES: usize = 16;

/// Number of a content.
pub(super) type Content = u32;

/// Definition of a content.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Operator, or the common name of operators that compute the same function.
    op: String,
    operands: Vec<Content>,
    /// Sizes and indices, in an order that depends on the operator.
    sizes: Vec<Dim>,
}

/// Contents of the classes of an e-graph.
#[derive(Default)]
pub struct Contents {
    constants: Constants,
    parents: Vec<Content>,
    of_class: FxHashMap<Id, Content>,
    of_key: FxHashMap<Key, Content>,
    /// Parts that were cut from a content: the content, and the sizes of [`moves::Part`].
    parts: FxHashMap<Content, Vec<moves::Part>>,
    /// Scalar of each content whose elements are all equal to it.
    fills: FxHashMap<Content, Content>,
    /// First index of each output of a Split, by the tuple of the outputs and the axis.
    starts: FxHashMap<(Id, usize), Vec<Option<Dim>>>,
    has_changed: bool,
    /// Whether operators are followed whose results may differ by rounding if they run on another shape.
    rounds: bool,
}

impl Contents {
    /// Creates an analysis; with `rounds`, it also merges results that may differ by rounding.
    pub fn new(rounds: bool) -> Self {
        Contents { rounds, ..Contents::default() }
    }

    /// Merges classes of equal content, element type and shape; returns true if any were merged.
    pub fn unite(&mut self, egraph: &mut EGraph) -> bool {
        self.constants.evaluate(egraph);
        self.parents.clear();
        self.of_class.clear();
        self.starts.clear();
        let order = postorder(egraph);
        for _ in 0..PASSES {
            self.has_changed = false;
            self.of_key.clear();
            self.parts.clear();
            self.fills.clear();
            for &class in &order {
                self.read(egraph, class);
            }
            if !self.has_changed {
                break;
            }
        }
        self.merge_classes(egraph, &order)
    }

    fn merge_classes(&mut self, egraph: &mut EGraph, order: &[Id]) -> bool {
        let mut first: FxHashMap<(Content, ElemType, Vec<Dim>), Id> = FxHashMap::default();
        let mut changed = false;
        for &class in order {
            let Some((elem, dims)) = typed(egraph, class) else { continue };
            let key = (self.of(class), elem, dims);
            let other = *first.entry(key).or_insert(class);
            if egraph.find(other) != egraph.find(class) {
                let met = egraph[other].data.fact().meet(egraph[class].data.fact(), &egraph.analysis.bounds);
                changed |= met.is_ok() && egraph.union(other, class);
            }
        }
        rebuild(egraph);
        changed
    }

    /// Returns the content of a class.
    fn of(&mut self, class: Id) -> Content {
        if let Some(&content) = self.of_class.get(&class) {
            return self.find(content);
        }
        let content = self.fresh();
        self.of_class.insert(class, content);
        content
    }

    fn fresh(&mut self) -> Content {
        let content = self.parents.len() as Content;
        self.parents.push(content);
        content
    }

    fn find(&mut self, content: Content) -> Content {
        let mut root = content;
        while self.parents[root as usize] != root {
            root = self.parents[root as usize];
        }
        let mut at = content;
        while self.parents[at as usize] != root {
            at = std::mem::replace(&mut self.parents[at as usize], root);
        }
        root
    }

    /// Merges two contents.
    fn equate(&mut self, a: Content, b: Content) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.parents[a.max(b) as usize] = a.min(b);
            self.has_changed = true;
        }
    }

    /// Returns the content with this definition.
    fn defined(&mut self, key: Key) -> Content {
        if let Some(&content) = self.of_key.get(&key) {
            return self.find(content);
        }
        let content = self.fresh();
        self.of_key.insert(key, content);
        content
    }

    /// Records that a content has this definition.
    fn define(&mut self, key: Key, content: Content) {
        match self.of_key.get(&key) {
            Some(&other) => self.equate(other, content),
            None => drop(self.of_key.insert(key, content)),
        }
    }

    /// Reads the definitions of a class from its e-nodes.
    fn read(&mut self, egraph: &EGraph, class: Id) {
        if egraph[class].nodes.iter().any(|node| is_tuple(&egraph.analysis.tables, node)) {
            return;
        }
        if let Some(constant) = self.constants.number(egraph, class) {
            let content = self.of(class);
            let key = Key { op: "constant".to_owned(), operands: Vec::new(), sizes: vec![constant.into()] };
            self.define(key, content);
            if let Some((scalar, count)) = self.constants.filling(constant) {
                let filled = self.constant(scalar).map(|scalar| match count {
                    1 => {
                        self.fills.insert(scalar, scalar);
                        scalar
                    }
                    _ => self.filled(scalar, Dim::known(count)),
                });
                filled.into_iter().for_each(|filled| self.equate(filled, content));
            }
        }
        for node in &egraph[class].nodes {
            match node {
                ENode::Call(call) => self.read_call(egraph, class, call, 0),
                ENode::Output { index, call } => {
                    for form in egraph[call[0]].nodes.iter().filter_map(ENode::as_call) {
                        self.read_call(egraph, class, form, usize::from(*index));
                    }
                }
                ENode::Absent | ENode::Leaf(_) | ENode::Const(_) => {}
            }
        }
    }

    fn read_call(&mut self, egraph: &EGraph, class: Id, call: &Call, index: usize) {
        if call.token.is_none()
            && let Some(content) = self.content_of(&reading::Reading { egraph, class, call, index })
        {
            let own = self.of(class);
            self.equate(own, content);
        }
    }

    /// Returns the content of an output of a call, if it is a function of the contents of its operands.
    fn content_of(&mut self, of: &reading::Reading) -> Option<Content> {
        let key = of.egraph.analysis.tables.op(of.call.op);
        if !key.domain.is_empty() {
            return None;
        }
        let name = key.name.clone();
        self.moved(of, &name).or_else(|| self.computed(of, &name))
    }
}

/// Returns the element type and the dimensions of a class, if all are known.
fn typed(egraph: &EGraph, class: Id) -> Option<(ElemType, Vec<Dim>)> {
    let fact = egraph[class].data.fact().as_tensor()?;
    let dims: Option<Vec<Dim>> = fact.shape.dims()?.iter().cloned().collect();
    Some((fact.elem?, dims?))
}

/// Returns the classes of an e-graph, operands before users where there is no cycle.
fn postorder(egraph: &EGraph) -> Vec<Id> {
    let mut roots: Vec<Id> = egraph.classes().map(|class| class.id).collect();
    roots.sort_unstable();
    let mut seen: FxHashSet<Id> = FxHashSet::default();
    let mut order = Vec::with_capacity(roots.len());
    let mut open: Vec<(Id, bool)> = Vec::new();
    for root in roots {
        open.push((root, false));
        while let Some((class, is_left)) = open.pop() {
            if is_left {
                order.push(class);
            } else if seen.insert(class) {
                open.push((class, true));
                let children = egraph[class].nodes.iter().flat_map(egg::Language::children);
                open.extend(children.map(|&child| (egraph.find(child), false)));
            }
        }
    }
    order
}
