//! Weights that differ by rounding only.
//!
//! Exporters fold constants in different orders, such as a BatchNormalization into a Conv. A proof up to rounding may
//! treat such weights as equal, and reports the largest difference. A small difference stays small only if a weight is
//! multiplied with data or added to it, so that weights with any other use must be equal. So must weights on which a size
//! or an index depends.
//!
//! Two elements are near if they differ by a few units in the last place of the larger one. A larger error, relative to
//! the largest element of the tensor, is not accepted, not even for a bias that is added to a product. Folding a
//! BatchNormalization computes `beta - mean * scale`, which cancels: the error is relative to `beta`, but only the small
//! difference is left in the file. The sum of such a bias with the product of its channel has an error of the same size
//! only if the product is as large as `beta`, and an input of zeros makes every product zero. Elements of other channels
//! bound nothing, because they never meet in one sum.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::combined::Combined;
use super::places::places;
use crate::graph::scopes::captures_of_node;
use crate::graph::uses::{Use, Uses};
use crate::graph::{AttrValue, Def, Initial, Model, Node, TensorId, ValueId, order};
use crate::infer::{self, Array, Buffer, rounding_difference};

/// Weights that a proof treats as equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RoundedWeights {
    /// Number of weights that were replaced by a weight of nearly equal elements.
    pub count: usize,
    /// Largest difference of two elements, relative to the largest element of the weight.
    pub largest: f64,
}

impl RoundedWeights {
    /// Replaces `float` weights of the second model by weights of the first that differ by rounding only.
    ///
    /// Each weight of the first replaces one of the second, so that no two weights of one model become equal.
    pub fn unite(both: &mut Combined) -> Self {
        let [first, second] = linear(both);
        let model = &both.model;
        let mut alike: FxHashMap<&[i64], Vec<(TensorId, Array)>> = FxHashMap::default();
        for id in first {
            if let Some(array) = infer::array(&model.tensors[id]) {
                alike.entry(&model.tensors[id].dims).or_default().push((id, array));
            }
        }
        let mut replaced: FxHashMap<TensorId, TensorId> = FxHashMap::default();
        let mut rounded = RoundedWeights::default();
        for id in second {
            let Some(known) = alike.get_mut(&*model.tensors[id].dims) else { continue };
            let Some(array) = infer::array(&model.tensors[id]) else { continue };
            let close =
                known.iter().enumerate().find_map(|(at, (_, known))| match (known.data(), array.data()) {
                    (Buffer::F32(known), Buffer::F32(elements)) => {
                        Some((at, rounding_difference(known, elements)?))
                    }
                    _ => None,
                });
            if let Some((at, difference)) = close {
                replaced.insert(id, known.remove(at).0);
                rounded.count += 1;
                rounded.largest = rounded.largest.max(difference);
            }
        }
        let model = &mut both.model;
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

/// Returns the tensors of the first and of the second model of which all uses are linear.
fn linear(both: &Combined) -> [Vec<TensorId>; 2] {
    let model = &both.model;
    let uses = Uses::new(model);
    let (data, places) = (data(model), places(model));
    let mut holders: FxHashMap<TensorId, Vec<ValueId>> = FxHashMap::default();
    let mut excluded: FxHashSet<TensorId> = FxHashSet::default();
    for (id, value) in model.values.iter() {
        if let Some(Initial::Dense(tensor)) = value.initial {
            holders.entry(tensor).or_default().push(id);
        }
    }
    for (_, node) in model.nodes.iter() {
        for attr in &node.attrs {
            match (&attr.value, node.output(0)) {
                (AttrValue::Tensor(tensor), Some(output)) if node.is("Constant") => {
                    holders.entry(*tensor).or_default().push(output);
                }
                (AttrValue::Tensor(tensor), _) => drop(excluded.insert(*tensor)),
                (AttrValue::Tensors(all), _) => excluded.extend(all),
                _ => {}
            }
        }
    }
    let mut found = [Vec::new(), Vec::new()];
    for (tensor, holders) in holders {
        let of_second = holders.iter().filter(|&&value| both.is_second_value(value)).count();
        let is_of_one = of_second == 0 || of_second == holders.len();
        let is_constant = |&value: &ValueId| !matches!(model.values[value].def, Def::Input(_));
        if is_of_one
            && !excluded.contains(&tensor)
            && holders.iter().all(is_constant)
            && is_linear(model, &uses, (&data, &places), &holders)
        {
            found[usize::from(of_second > 0)].push(tensor);
        }
    }
    found.iter_mut().for_each(|tensors| tensors.sort_unstable());
    found
}

/// Returns true if these values and their views are only weights that are combined with data.
/// No size and no index may depend on the results.
fn is_linear(
    model: &Model,
    uses: &Uses,
    (data, places): (&FxHashSet<ValueId>, &FxHashSet<ValueId>),
    values: &[ValueId],
) -> bool {
    let mut open = values.to_vec();
    let mut seen: FxHashSet<ValueId> = values.iter().copied().collect();
    while let Some(value) = open.pop() {
        if uses.is_output(value) || places.contains(&value) || model.values[value].graph != model.main {
            return false;
        }
        for &Use { node, input } in uses.of(value) {
            let node = &model.nodes[node];
            if node.graph != model.main {
                return false;
            }
            if is_view(node) && input == 0 {
                open.extend(node.outputs.iter().flatten().filter(|&&output| seen.insert(output)));
            } else if !is_weight(node, input as usize, data) {
                return false;
            }
        }
    }
    true
}

fn is_view(node: &Node) -> bool {
    ["Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"].iter().any(|op| node.is(op))
}

/// Returns true if a linear operator combines this input with data.
fn is_weight(node: &Node, input: usize, data: &FxHashSet<ValueId>) -> bool {
    let is_data =
        |at: usize| node.inputs.get(at).copied().flatten().is_some_and(|value| data.contains(&value));
    match &*node.op_type {
        _ if !node.domain().is_empty() => false,
        "BatchNormalization" | "Conv" | "ConvTranspose" | "Gemm" | "LayerNormalization" => {
            matches!(input, 1 | 2) && is_data(0)
        }
        "Add" | "MatMul" | "Mul" => is_data(1 - input.min(1)),
        _ => false,
    }
}

/// Returns the values of the main graph that depend on elements of an input rather than on its shape.
fn data(model: &Model) -> FxHashSet<ValueId> {
    let mut data: FxHashSet<ValueId> =
        model.graphs[model.main].inputs.iter().map(|port| port.value).collect();
    for id in order::sorted_or_file(model, model.main) {
        let node = &model.nodes[id];
        let captured = captures_of_node(model, id);
        let is_size = node.is("Shape") || node.is("Size");
        if !is_size && node.inputs.iter().flatten().chain(&captured).any(|value| data.contains(value)) {
            data.extend(node.outputs.iter().flatten());
        }
    }
    data
}
