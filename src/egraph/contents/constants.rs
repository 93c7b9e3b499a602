//! Constants of an e-graph by their elements.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::egraph::analysis::with_call;
use crate::egraph::enode::{Call, ENode};
use crate::egraph::{EGraph, is_computed};
use crate::infer::eval::{Array, Budget, Val};
use crate::infer::{self, ConstValue, evaluate};

/// Limits of the evaluation of one call.
const BUDGET: Budget = Budget { elements: 1 << 27, work: 1 << 29 };
/// Maximum number of bytes of all evaluated constants.
const MOST_BYTES: usize = 1 << 30;

/// Constants, numbered by element type and elements.
#[derive(Default)]
pub struct Constants {
    /// Number and elements of each distinct constant, by the hash of its elements.
    by_hash: FxHashMap<u64, Vec<(i64, Arc<Array>)>>,
    /// Number of each class, by a class that was merged into it.
    numbers: FxHashMap<Id, i64>,
    /// Elements of evaluated constants.
    arrays: FxHashMap<Id, Arc<Array>>,
    /// Classes that cannot be evaluated.
    refused: FxHashSet<Id>,
    /// Common element of constants whose elements are all equal, and the number of elements.
    fillings: FxHashMap<i64, (Array, i64)>,
    count: i64,
    bytes: usize,
}

impl Constants {
    /// Returns the number of a constant.
    ///
    /// Constants with equal elements have one number, whatever their shapes.
    pub fn number(&self, egraph: &EGraph, class: Id) -> Option<i64> {
        self.numbers.get(&egraph.find(class)).copied()
    }

    /// Numbers all constants of an e-graph, and evaluates those that are computed from weights.
    pub fn evaluate(&mut self, egraph: &EGraph) {
        let mut classes: Vec<Id> =
            egraph.classes().filter(|class| class.data.fact().is_const()).map(|class| class.id).collect();
        classes.sort_unstable();
        for class in classes {
            if !self.numbers.contains_key(&class)
                && let Some(array) = self.array(egraph, class, 0)
                && let Some(number) = self.intern(array)
            {
                self.numbers.insert(class, number);
            }
        }
    }

    /// Returns the common element of a constant as a scalar, and the number of elements.
    pub fn filling(&self, number: i64) -> Option<(Array, i64)> {
        self.fillings.get(&number).cloned()
    }

    /// Returns the number of a constant; `None` for strings.
    pub fn intern(&mut self, array: Arc<Array>) -> Option<i64> {
        let hash = hash(&array)?;
        let alike = self.by_hash.entry(hash).or_default();
        if let Some((number, _)) = alike.iter().find(|(_, other)| has_equal_elements(other, &array)) {
            return Some(*number);
        }
        self.count += 1;
        let number = self.count;
        if let Some(filling) = filling(&array) {
            self.fillings.entry(number).or_insert(filling);
        }
        alike.push((number, array));
        Some(number)
    }

    /// Returns the elements of a constant.
    fn array(&mut self, egraph: &EGraph, class: Id, depth: usize) -> Option<Arc<Array>> {
        const DEEPEST: usize = 16;
        let class = egraph.find(class);
        if let Some(array) = self.arrays.get(&class) {
            return Some(array.clone());
        }
        if depth > DEEPEST || self.refused.contains(&class) {
            return None;
        }
        let array = match &egraph[class].data.fact().as_tensor()?.value {
            ConstValue::Const(array) => Some(array.clone()),
            ConstValue::Weight(id) => infer::array(egraph.analysis.tables.tensor(*id)).map(Arc::new),
            ConstValue::Computed => {
                // Guards against cycles: a class that is being evaluated is not evaluated again.
                self.refused.insert(class);
                let calls = egraph[class].nodes.iter().filter_map(ENode::as_call);
                let mut calls = calls.filter(|call| is_computed(egraph, call));
                let array = calls.find_map(|call| self.result(egraph, call, depth));
                if array.is_some() {
                    self.refused.remove(&class);
                }
                array
            }
            _ => None,
        }?;
        self.bytes += array.to_raw().map_or(0, |raw| raw.len());
        if self.bytes > MOST_BYTES {
            self.refused.insert(class);
            return None;
        }
        self.arrays.insert(class, array.clone());
        Some(array)
    }

    fn result(&mut self, egraph: &EGraph, call: &Call, depth: usize) -> Option<Arc<Array>> {
        let mut inputs = Vec::new();
        for &child in &call.children[..usize::from(call.inputs)] {
            inputs.push(Some(Val::Tensor(self.array(egraph, child, depth + 1)?)));
        }
        let opset = egraph.analysis.tables.opset_of(call);
        match with_call(egraph, call, opset, |call| evaluate(call, &inputs, BUDGET))?.into_iter().next()? {
            Val::Tensor(array) => Some(array),
            _ => None,
        }
    }
}

/// Returns the common element of a constant as a scalar, and the number of elements.
fn filling(array: &Array) -> Option<(Array, i64)> {
    let raw = array.to_raw()?;
    let (first, others) = raw.split_at_checked(raw.len().checked_div(array.len())?)?;
    let is_whole = array.elem().bits()? % 8 == 0 && !first.is_empty();
    let is_full = is_whole && others.chunks(first.len()).all(|other| other == first);
    let scalar = is_full.then(|| Array::from_raw(array.elem(), Vec::new(), first).ok())??;
    Some((scalar, i64::try_from(array.len()).ok()?))
}

/// Returns true if two constants have equal elements of one type, whatever their shapes.
fn has_equal_elements(a: &Array, b: &Array) -> bool {
    a.elem() == b.elem() && a.len() == b.len() && a.to_raw() == b.to_raw()
}

/// Returns a hash of the type and the elements; `None` for strings.
fn hash(array: &Array) -> Option<u64> {
    let mut hasher = FxHasher::default();
    (array.elem() as u8).hash(&mut hasher);
    array.to_raw()?.hash(&mut hasher);
    Some(hasher.finish())
}
