//! Size of a model, for the report.

use crate::graph::{Initial, Model, Tensor, TensorData, scopes};
use crate::write::onnx::Encodable;

/// Returns the number of nodes in all reachable graphs.
pub fn nodes(model: &Model) -> usize {
    scopes::live(model).into_iter().map(|graph| model.graphs[graph].nodes.len()).sum()
}

/// Returns the number of initializers in all reachable graphs.
pub fn initializers(model: &Model) -> usize {
    scopes::live(model).into_iter().map(|graph| model.graphs[graph].initializers.len()).sum()
}

/// Returns the size in bytes of the binary ONNX file, plus the external data of initializers.
pub fn bytes(model: &Model) -> usize {
    let listed = scopes::live(model).into_iter().flat_map(|graph| &model.graphs[graph].initializers);
    let external = listed.filter_map(|&value| match model.values[value].initial {
        Some(Initial::Dense(tensor)) => external_bytes(&model.tensors[tensor]),
        _ => None,
    });
    Encodable::new(model).len() + external.sum::<usize>()
}

/// Returns the size in bytes of a tensor with external data, if it is known.
fn external_bytes(tensor: &Tensor) -> Option<usize> {
    matches!(tensor.data, TensorData::External(_)).then_some(())?;
    Some(tensor.len()?.checked_mul(tensor.elem()?.bits()?)?.div_ceil(8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ElemType;

    #[test]
    fn external_data_counts_as_bytes() {
        let tensor = |data| Tensor::new(ElemType::Float, vec![2, 3], data);
        assert_eq!(external_bytes(&tensor(TensorData::External(Default::default()))), Some(24));
        assert_eq!(external_bytes(&tensor(TensorData::Absent)), None);
    }
}
