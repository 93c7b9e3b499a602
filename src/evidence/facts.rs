//! Facts about a model, shown in tables that compare models.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::graph::{Initial, Model, scopes};

/// Facts about a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Opset of the standard domain.
    pub opset: Option<i64>,
    /// Name and version of the producer, as in `pytorch 2.9.0`.
    pub producer: Option<Arc<str>>,
    /// Distinct operators of all graphs and functions, sorted: `Conv`, `com.microsoft.Gelu`.
    pub operators: Vec<String>,
    /// Number of elements of all initializers.
    pub parameters: u64,
}

impl Facts {
    /// Returns the facts of a model.
    pub fn of(model: &Model) -> Self {
        let name = |domain: &str, op: &str| match domain {
            "" | "ai.onnx" => op.to_owned(),
            domain => format!("{domain}.{op}"),
        };
        let mut known: BTreeSet<(&str, &str)> = BTreeSet::new();
        let mut parameters = 0u64;
        for graph in scopes::live(model) {
            let graph = &model.graphs[graph];
            for &node in &graph.nodes {
                let node = &model.nodes[node];
                known.insert((node.domain.as_deref().unwrap_or(""), &node.op_type));
            }
            for &value in &graph.initializers {
                let dims = match &model.values[value].initial {
                    Some(Initial::Dense(tensor)) => &model.tensors[*tensor].dims,
                    Some(Initial::Sparse(sparse)) => &sparse.dims,
                    None => continue,
                };
                let sizes = dims.iter().map(|&dim| u64::try_from(dim).unwrap_or(0));
                parameters = parameters.saturating_add(sizes.fold(1, u64::saturating_mul));
            }
        }
        let mut operators: Vec<String> = known.into_iter().map(|(domain, op)| name(domain, op)).collect();
        operators.sort();
        operators.dedup();
        Facts { opset: model.opset(model.main, ""), producer: producer(model), operators, parameters }
    }
}

fn producer(model: &Model) -> Option<Arc<str>> {
    let name = model.producer_name.as_ref().filter(|name| !name.is_empty())?;
    match model.producer_version.as_deref().filter(|version| !version.is_empty()) {
        Some(version) => Some(Arc::from(format!("{name} {version}"))),
        None => Some(name.clone()),
    }
}
