//! Side-by-side statistics of two models.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::graph::{GraphId, Initial, Metadata, Model, OpsetImport, Tensor, normal_domain, scopes};
use crate::infer;
use crate::infer::Content;

/// Maximum number of elements of tensors to compare numerically.
const COMPARED: usize = 1 << 24;

/// Differences of two models, and basic statistics.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// Versions and sizes.
    pub sizes: Vec<Row>,
    /// Operators whose number of nodes differs.
    pub operators: Vec<Row>,
    pub weights: Vec<Weight>,
    /// Metadata that differs, including the producer.
    pub metadata: Vec<Row>,
}

/// Property of both models; `None` where it is absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    pub what: String,
    pub a: Option<String>,
    pub b: Option<String>,
}

/// Weight that differs between two models.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weight {
    pub name: Arc<str>,
    /// Type in the first model, as in `float[3,4]`; `None` if it lacks the weight.
    pub a: Option<String>,
    /// Type in the second model.
    pub b: Option<String>,
    /// Maximum absolute difference; `None` if it was not computed.
    pub largest: Option<f64>,
}

impl Table {
    /// Compares two models.
    pub fn of(a: &Model, b: &Model) -> Table {
        Table {
            sizes: sizes(a, b),
            operators: rows(&texts(operators(a)), &texts(operators(b))),
            weights: weights(a, b),
            metadata: metadata(a, b),
        }
    }
}

fn texts(counts: BTreeMap<String, usize>) -> BTreeMap<String, String> {
    counts.into_iter().map(|(name, count)| (name, count.to_string())).collect()
}

/// Returns the rows that differ.
fn rows(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<Row> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let row = |name: &String| Row { what: name.clone(), a: a.get(name).cloned(), b: b.get(name).cloned() };
    names.into_iter().map(row).filter(|row| row.a != row.b).collect()
}

/// Counts the nodes of each operator, in all graphs.
pub fn operators(model: &Model) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for graph in scopes::live(model) {
        for &node in &model.graphs[graph].nodes {
            *counts.entry(model.nodes[node].op_name()).or_default() += 1;
        }
    }
    counts
}

/// Returns the versions of all domains that either model imports.
pub fn imports(a: &Model, b: &Model) -> Vec<(String, Option<i64>, Option<i64>)> {
    let of = |imports: &[OpsetImport]| -> BTreeMap<String, i64> {
        let import = |import: &OpsetImport| {
            Some((normal_domain(import.domain.as_deref()).to_owned(), import.version?))
        };
        imports.iter().filter_map(import).collect()
    };
    let (a, b) = (of(&a.opsets), of(&b.opsets));
    let domains: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    domains
        .into_iter()
        .map(|domain| (domain.clone(), a.get(domain).copied(), b.get(domain).copied()))
        .collect()
}

/// Returns true if a model uses an operator of a domain.
pub fn uses(model: &Model, domain: &str) -> bool {
    let nodes = scopes::live(model).into_iter().flat_map(|graph| &model.graphs[graph].nodes);
    nodes.into_iter().any(|&node| model.nodes[node].domain() == domain)
}

fn sizes(a: &Model, b: &Model) -> Vec<Row> {
    let row =
        |what: &str, of: &dyn Fn(&Model) -> Option<String>| Row { what: what.to_owned(), a: of(a), b: of(b) };
    let mut rows = vec![
        row("nodes", &|model| Some(operators(model).values().sum::<usize>().to_string())),
        row("weights", &|model| Some(initializers(model).len().to_string())),
        row("weight elements", &|model| Some(total(model, Tensor::len))),
        row("weight bytes", &|model| Some(total(model, Tensor::byte_len))),
        row("IR version", &|model| model.ir_version.map(|version| version.to_string())),
    ];
    for (domain, a, b) in imports(a, b) {
        let what = if domain.is_empty() { "opset".to_owned() } else { format!("{domain} opset") };
        let text = |version: Option<i64>| version.map(|version| version.to_string());
        rows.push(Row { what, a: text(a), b: text(b) });
    }
    rows
}

fn total(model: &Model, of: impl Fn(&Tensor) -> Option<usize>) -> String {
    initializers(model).values().filter_map(|tensor| of(tensor)).sum::<usize>().to_string()
}

/// Returns the dense initializers of the main graph, by name.
fn initializers(model: &Model) -> BTreeMap<Arc<str>, &Tensor> {
    let named = model.graphs[model.main].initializers.iter().filter_map(|&value| {
        let value = &model.values[value];
        match &value.initial {
            Some(Initial::Dense(tensor)) => Some((value.name.clone(), &model.tensors[*tensor])),
            _ => None,
        }
    });
    named.collect()
}

/// Returns weights of equal names but different or unknown contents, and those of only one model.
/// A model has a weight if one of its weights has the same name or the same content.
fn weights(a: &Model, b: &Model) -> Vec<Weight> {
    let (a, b) = (initializers(a), initializers(b));
    let mut changed = Vec::new();
    for (name, old) in &a {
        if let Some(new) =
            b.get(name).filter(|new| Content::of(old).is_none() || Content::of(old) != Content::of(new))
        {
            let (name, largest) = (name.clone(), largest(old, new));
            changed.push(Weight { name, a: Some(shape(old)), b: Some(shape(new)), largest });
        }
    }
    let only =
        |own: &BTreeMap<Arc<str>, &Tensor>, other: &BTreeMap<Arc<str>, &Tensor>| -> Vec<(Arc<str>, String)> {
            let mut contents: FxHashMap<Option<Content>, ()> = FxHashMap::default();
            contents.extend(other.values().map(|tensor| (Content::of(tensor), ())));
            let is_new = |(name, tensor): &(&Arc<str>, &&Tensor)| {
                let content = Content::of(tensor);
                !other.contains_key(*name) && (content.is_none() || !contents.contains_key(&content))
            };
            own.iter().filter(is_new).map(|(name, tensor)| (name.clone(), shape(tensor))).collect()
        };
    let gone = only(&a, &b).into_iter();
    changed.extend(gone.map(|(name, shape)| Weight { name, a: Some(shape), b: None, largest: None }));
    let new = only(&b, &a).into_iter();
    changed.extend(new.map(|(name, shape)| Weight { name, a: None, b: Some(shape), largest: None }));
    changed
}

/// Formats a type as `float[3,4]`.
fn shape(tensor: &Tensor) -> String {
    let elem = tensor.elem().map_or_else(|| "?".to_owned(), |elem| elem.to_string());
    let dims: Vec<String> = tensor.dims.iter().map(i64::to_string).collect();
    format!("{elem}[{}]", dims.join(","))
}

fn largest(a: &Tensor, b: &Tensor) -> Option<f64> {
    if a.dims != b.dims || a.data_type != b.data_type || a.len()? > COMPARED {
        return None;
    }
    let (a, b) = (infer::array(a)?.f64s().ok()?, infer::array(b)?.f64s().ok()?);
    Some(a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
}

fn metadata(a: &Model, b: &Model) -> Vec<Row> {
    let of = |model: &Model| -> BTreeMap<String, String> {
        let text =
            |value: &Option<Arc<str>>| value.as_deref().filter(|text| !text.is_empty()).map(str::to_owned);
        let fields = [
            ("producer", text(&model.producer_name)),
            ("producer version", text(&model.producer_version)),
            ("domain", text(&model.domain)),
            (
                "model version",
                model.model_version.filter(|&version| version != 0).map(|version| version.to_string()),
            ),
            ("documentation", text(&model.doc)),
        ];
        let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let props = |metadata: &Metadata, of: &str| -> Vec<(String, String)> {
            metadata.iter().map(|(key, value)| (format!("{of}{key}"), value.to_string())).collect()
        };
        let main = &model.graphs[model.main];
        fields.chain(props(&model.metadata, "")).chain(props(&main.metadata, "graph: ")).collect()
    };
    rows(&of(a), &of(b))
}

/// Returns true if operators, node names and value names are equal, in order.
pub fn is_written_alike(a: &Model, b: &Model) -> bool {
    let names = |model: &Model, graph: GraphId| -> Vec<Arc<str>> {
        let graph = &model.graphs[graph];
        let ports = graph.inputs.iter().chain(&graph.outputs).map(|port| port.value);
        let made = graph.nodes.iter().flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied());
        let values = ports.chain(graph.initializers.iter().copied()).chain(made);
        let values = values.map(|value| model.values[value].name.clone());
        let nodes = graph.nodes.iter().map(|&node| &model.nodes[node]);
        let nodes = nodes.flat_map(|node| [node.op_type.clone(), node.name.clone().unwrap_or_default()]);
        values.chain(nodes).collect()
    };
    let (own, others) = (scopes::nested(a, a.main), scopes::nested(b, b.main));
    own.len() == others.len()
        && own.into_iter().zip(others).all(|(own, other)| names(a, own) == names(b, other))
}
