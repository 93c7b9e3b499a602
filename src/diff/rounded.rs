//! Weights that differ by rounding only.
//!
//! Exporters fold constants in different orders, such as a BatchNormalization into a Conv. A proof up to rounding may
//! treat such weights as equal, and reports the largest difference.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::graph::{AttrValue, Initial, Model, TensorId, ValueId};
use crate::infer::{self, Array, Buffer, rounding_difference};

/// Operators whose result has another shape if a constant changes slightly.
const SIZED_BY_FLOATS: [&str; 3] = ["Range", "Resize", "Upsample"];

/// Weights that a proof treats as equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RoundedWeights {
    /// Number of weights that were replaced by a weight of nearly equal elements.
    pub count: usize,
    /// Largest difference of two elements, relative to the largest element of the weight.
    pub largest: f64,
}

impl RoundedWeights {
    /// Combines two lists of weights.
    pub fn and(self, other: Self) -> Self {
        RoundedWeights { count: self.count + other.count, largest: self.largest.max(other.largest) }
    }

    /// Replaces each `float` weight of a model by the first one that differs by rounding only.
    pub fn unite(model: &mut Model) -> Self {
        let excluded = sizes(model);
        let tensors = held(model);
        let mut alike: FxHashMap<&[i64], Vec<(TensorId, Array)>> = FxHashMap::default();
        let mut replaced: FxHashMap<TensorId, TensorId> = FxHashMap::default();
        let mut rounded = RoundedWeights::default();
        for id in tensors.into_iter().filter(|id| !excluded.contains(id)) {
            let Some(array) = infer::array(&model.tensors[id]) else { continue };
            let Buffer::F32(elements) = array.data() else { continue };
            let known = alike.entry(&model.tensors[id].dims).or_default();
            let close = known.iter().find_map(|(other, known)| match known.data() {
                Buffer::F32(known) => Some((*other, rounding_difference(known, elements)?)),
                _ => None,
            });
            match close {
                Some((other, difference)) => {
                    replaced.insert(id, other);
                    rounded.count += 1;
                    rounded.largest = rounded.largest.max(difference);
                }
                None => known.push((id, array)),
            }
        }
        for (_, value) in model.values.iter_mut() {
            if let Some(Initial::Dense(tensor)) = &mut value.initial {
                *tensor = replaced.get(tensor).copied().unwrap_or(*tensor);
            }
        }
        for (_, node) in model.nodes.iter_mut().filter(|(_, node)| node.is("Constant")) {
            for attr in &mut node.attrs {
                if let AttrValue::Tensor(tensor) = &mut attr.value {
                    *tensor = replaced.get(tensor).copied().unwrap_or(*tensor);
                }
            }
        }
        rounded
    }
}

/// Returns the tensors of initializers and constants, in order.
fn held(model: &Model) -> Vec<TensorId> {
    let mut tensors: Vec<TensorId> =
        model.values.iter().filter_map(|(value, _)| tensor_of(model, value)).collect();
    tensors.sort_unstable();
    tensors.dedup();
    tensors
}

/// Returns the tensor of an initializer or of a `Constant`.
fn tensor_of(model: &Model, value: ValueId) -> Option<TensorId> {
    if let Some(Initial::Dense(tensor)) = model.values[value].initial {
        return Some(tensor);
    }
    let (node, _) = model.producer(value)?;
    let node = &model.nodes[node];
    node.attr("value").and_then(AttrValue::as_tensor).filter(|_| node.is("Constant"))
}

/// Returns the tensors on which the shape of a result depends.
fn sizes(model: &Model) -> FxHashSet<TensorId> {
    let sized = model.nodes.iter().filter(|(_, node)| SIZED_BY_FLOATS.contains(&&*node.op_type));
    sized
        .flat_map(|(_, node)| node.inputs.iter().flatten())
        .filter_map(|&value| tensor_of(model, value))
        .collect()
}
