//! Data sets and their loaders, as far as examples are taken from them.

use tree_sitter::Node;

use super::super::calls::Args;
use super::super::machine::Machine;
use super::super::tensor::{DType, Tensor};
use super::super::value::Value;

/// Class of the loaders of batches.
const LOADER: &str = "torch.utils.data.DataLoader";

/// Class of the data sets of tensors.
const TENSORS: &str = "torch.utils.data.TensorDataset";

/// Maximum nesting of samples.
const MAX_DEPTH: u32 = 6;

impl<'t> Machine<'t> {
    /// Creates a data set or a loader, or returns `None` if `path` names neither.
    pub fn data_call(&mut self, path: &str, args: &Args<'t>) -> Option<Value<'t>> {
        let attributes = match path {
            LOADER => {
                let [dataset, size] =
                    [(0, "dataset"), (1, "batch_size")].map(|(at, name)| args.get(at, name).cloned());
                let is_own = ["collate_fn", "batch_sampler", "sampler"]
                    .iter()
                    .any(|name| args.keyword(name).is_some());
                if args.open || is_own {
                    return Some(Value::Unknown);
                }
                vec![("dataset", dataset.unwrap_or_default()), ("batch_size", size.unwrap_or(Value::Int(1)))]
            }
            TENSORS => vec![("tensors", Value::tuple(args.values()))],
            _ => return None,
        };
        let made = self.instance(path, attributes, true);
        self.set_origin(&made, args.node);
        Some(made)
    }

    /// Returns true for a loader of batches.
    pub fn is_loader(&self, value: &Value<'t>) -> bool {
        let instance = value.object().and_then(|object| self.heap.instance(object));
        instance.is_some_and(|instance| instance.class.path() == Some(LOADER))
    }

    /// Returns true for a loader that certainly has a batch.
    pub fn has_batch(&mut self, loader: &Value<'t>) -> bool {
        let dataset = self.attribute_of(loader, "dataset").filter(|_| self.is_loader(loader));
        let tensors = dataset.and_then(|dataset| self.attribute_of(&dataset, "tensors"));
        let tensors = tensors.and_then(|tensors| self.items(&tensors)).unwrap_or_default();
        let count = tensors.first().and_then(Value::tensor).and_then(|first| first.dim(0));
        let size = self.attribute_of(loader, "batch_size").and_then(|size| size.int());
        // With `drop_last`, a short batch is dropped.
        count.zip(size).is_some_and(|(count, size)| count >= size && size > 0)
    }

    /// Returns a batch of a loader, or `Unknown` if `loader` is not a loader.
    pub fn batch_of(&mut self, loader: &Value<'t>) -> Value<'t> {
        let known = loader.object().filter(|_| self.is_loader(loader));
        let Some(instance) = known.and_then(|object| self.heap.instance(object)) else {
            return Value::Unknown;
        };
        let part = |name| instance.get(name).cloned().unwrap_or_default();
        let (dataset, size, origin) = (part("dataset"), part("batch_size"), instance.origin);
        let Some((_, node)) = origin else { return Value::Unknown };
        let (sample, count) = match self.attribute_of(&dataset, "tensors") {
            Some(tensors) => {
                let tensors = self.items(&tensors).unwrap_or_default();
                let count = tensors.first().and_then(Value::tensor).and_then(|first| first.dim(0));
                let rows = tensors
                    .iter()
                    .map(|one| one.tensor().cloned().map_or(Value::Unknown, |one| self.row(&one)));
                (Value::tuple(rows.collect()), count)
            }
            None => {
                self.quiet += 1;
                let sample = self.item(&dataset, &Value::Int(0), node);
                let count = self.length_by_method(&dataset, node);
                self.quiet -= 1;
                (sample.unwrap_or_default(), count)
            }
        };
        // Without a batch size, the loader yields single samples.
        if size == Value::None {
            return sample;
        }
        // The first batch is smaller if the data set has fewer samples.
        let rows = size.int().map(|size| count.map_or(size, |count| size.min(count)));
        self.collated(&sample, rows, node, 0)
    }

    /// Returns a batch of samples like `sample`.
    fn collated(&mut self, sample: &Value<'t>, size: Option<i64>, node: Node<'t>, depth: u32) -> Value<'t> {
        match sample {
            Value::Object(_) if let Some(array) = self.array_tensor(sample) => {
                self.collated(&Value::Tensor(array), size, node, depth)
            }
            Value::Tensor(tensor) => {
                let shape = tensor
                    .shape
                    .as_ref()
                    .map(|shape| std::iter::once(size).chain(shape.iter().copied()).collect());
                let batch = self.tensor(shape, tensor.dtype, tensor.device.clone());
                Value::Tensor(Tensor { origin: tensor.origin, ..batch }.into())
            }
            Value::Int(_) | Value::Bool(_) | Value::Float(_) => {
                let dtype = match sample {
                    Value::Float(_) => DType::Float64,
                    Value::Bool(_) => DType::Bool,
                    _ => DType::Int64,
                };
                let batch = self.tensor(Some(vec![size]), Some(dtype), Some("cpu".into()));
                Value::Tensor(Tensor { origin: Some((self.file(), node)), ..batch }.into())
            }
            Value::Tuple(_) | Value::Object(_) if depth < MAX_DEPTH => match self.entries(sample) {
                Some(entries) => {
                    let entries = entries.into_iter();
                    let entries =
                        entries.map(|(key, value)| (key, self.collated(&value, size, node, depth + 1)));
                    let entries = entries.collect();
                    self.dict(entries, false)
                }
                None => match self.items(sample) {
                    Some(items) => {
                        let items =
                            items.iter().map(|item| self.collated(item, size, node, depth + 1)).collect();
                        self.list(items)
                    }
                    None => Value::Unknown,
                },
            },
            _ => Value::Unknown,
        }
    }
}
