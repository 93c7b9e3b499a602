//! Moves tensors of a model to an external data file.

use std::io::{self, Write};
use std::sync::Arc;

use indexmap::IndexSet;

use crate::graph::scopes::nested;
use crate::graph::{AttrValue, Initial, Model, TensorData, TensorId};

/// Minimum size of an external tensor, in bytes, without the option `--size-threshold`.
pub const DEFAULT_THRESHOLD: usize = 1024;

/// Value of `data_location` for a tensor with external data.
const EXTERNAL: i32 = 1;

/// Alignment of tensors in the file, in bytes: a page, so that runtimes can map them.
const PAGE: u64 = 4096;

/// Alignment of tensors of `LARGE` bytes or more: the granularity of file mappings on Windows.
const LARGE_PAGE: u64 = 64 << 10;
const LARGE: usize = 1 << 20;

/// Moves every tensor of `threshold` bytes or more to `out`; returns the number of bytes written.
///
/// `location` is the name of the file that `out` writes. Sparse and external tensors and strings are not moved.
pub fn externalize(
    model: &mut Model,
    threshold: usize,
    location: &str,
    out: &mut dyn Write,
) -> io::Result<u64> {
    let location: Arc<str> = Arc::from(location);
    let mut end = 0u64;
    for id in tensors(model) {
        let tensor = &mut model.tensors[id];
        let packed = tensor.packed().filter(|bytes| bytes.len() >= threshold.max(1));
        let Some(bytes) = packed else { continue };
        let page = if bytes.len() >= LARGE { LARGE_PAGE } else { PAGE };
        let offset = end.next_multiple_of(page);
        io::copy(&mut io::Read::take(io::repeat(0), offset - end), out)?;
        out.write_all(&bytes)?;
        end = offset + bytes.len() as u64;
        let entry = |key: &str, value: String| (Arc::from(key), Arc::from(value));
        tensor.location = Some(EXTERNAL);
        tensor.data = TensorData::External(vec![
            (Arc::from("location"), location.clone()),
            entry("offset", offset.to_string()),
            entry("length", bytes.len().to_string()),
        ]);
    }
    Ok(end)
}

/// Returns the tensors in use: dense initializers and attributes. The arena may contain unused tensors.
fn tensors(model: &Model) -> Vec<TensorId> {
    let mut found = Vec::new();
    let bodies = model.functions.iter().map(|function| function.body);
    for graph in std::iter::once(model.main).chain(bodies).flat_map(|graph| nested(model, graph)) {
        let graph = &model.graphs[graph];
        for &value in &graph.initializers {
            if let Some(Initial::Dense(tensor)) = model.values[value].initial {
                found.push(tensor);
            }
        }
        for attr in graph.nodes.iter().flat_map(|&node| &model.nodes[node].attrs) {
            match &attr.value {
                AttrValue::Tensor(tensor) => found.push(*tensor),
                AttrValue::Tensors(tensors) => found.extend(tensors),
                _ => {}
            }
        }
    }
    found
}

/// Returns the distinct external data locations of `model`, in model order.
pub fn locations(model: &Model) -> Vec<Arc<str>> {
    let mut found = IndexSet::new();
    for tensor in tensors(model) {
        if let TensorData::External(entries) = &model.tensors[tensor].data {
            found
                .extend(entries.iter().filter(|(key, _)| &**key == "location").map(|(_, name)| name.clone()));
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Def, ElemType, Tensor, Value};
    use crate::read::external::{DataFolders, ExternalFiles};

    #[test]
    fn externalized_tensors_are_read_back() {
        let tensors = [
            Tensor::from_raw(ElemType::Uint8, vec![3], vec![1, 2, 3]),
            Tensor::new(ElemType::Float, vec![2], TensorData::Floats(vec![1.0, -2.0])),
            Tensor::new(ElemType::Float16, vec![3], TensorData::Int32s(vec![0x3c00, 0, 1])),
            Tensor::new(ElemType::Uint32, vec![2], TensorData::Uint64s(vec![7, u32::MAX.into()])),
            Tensor::new(ElemType::Int8, vec![6], TensorData::Int32s(vec![-1, 2, 3, 4, 5, 6])),
            Tensor::from_raw(ElemType::Uint8, vec![LARGE as i64], vec![9; LARGE]),
        ];
        let mut model = Model::new();
        for tensor in tensors {
            let tensor = model.tensors.push(tensor);
            let (name, graph) = (Arc::from(""), model.main);
            let initial = Some(Initial::Dense(tensor));
            let value = model.values.push(Value { name, graph, def: Def::Initializer, initial });
            model.graphs[graph].initializers.push(value);
        }
        let mut data = Vec::new();
        externalize(&mut model, 4, "w.data", &mut data).expect("written");

        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("w.data"), &data).expect("a file");
        let mut files = ExternalFiles::new(&DataFolders::at(folder.path()));
        let mut read = |index: usize| {
            let (_, tensor) = model.tensors.iter().nth(index).expect("a tensor");
            files.bytes(tensor).map(|bytes| bytes.expect("in range").to_vec())
        };
        assert_eq!(read(0), None);
        assert_eq!(read(1), Some([1.0f32.to_le_bytes(), (-2.0f32).to_le_bytes()].concat()));
        assert_eq!(read(2), Some(vec![0, 0x3c, 0, 0, 1, 0]));
        assert_eq!(read(3), Some(vec![7, 0, 0, 0, 255, 255, 255, 255]));
        assert_eq!(read(4), Some(vec![255, 2, 3, 4, 5, 6]));
        assert_eq!(read(5), Some(vec![9; LARGE]));
        assert_eq!(data.len() as u64, LARGE_PAGE + LARGE as u64);
        assert_eq!(locations(&model), [Arc::from("w.data")]);
    }
}
