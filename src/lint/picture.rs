//! Pictures of the graph around nodes, for report formats with drawings.

use std::collections::VecDeque;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::analyses::locate::node_name;
use crate::diag::picture::{Edge, Picture, Shape, ShapeKind};
use crate::graph::uses::Uses;
use crate::graph::{Def, GraphId, Initial, Model, NodeId, OpsetImport, ValueId};
use crate::infer::Facts;

/// Maximum number of nodes in a picture, of outputs in a picture, and of drawn inputs per node.
const MOST: usize = 14;

/// Maximum distance from the marked nodes.
const FAR: usize = 2;

/// Maximum number of users to follow per value; a mask, for example, can have many.
const USERS: usize = 4;

/// Maximum number of inputs, and of outputs, in a summary.
const PORTS: usize = 6;

/// Returns facts about a model: opsets, size, inputs and outputs.
pub fn summary(model: &Model, facts: &Facts) -> Vec<(&'static str, String)> {
    let opset = |import: &OpsetImport| {
        let version = import.version.map_or_else(|| "?".to_owned(), |version| version.to_string());
        match import.domain.as_deref() {
            None | Some("" | "ai.onnx") => version,
            Some(domain) => format!("{domain} {version}"),
        }
    };
    let main = &model.graphs[model.main];
    let nodes: usize = model.graphs.iter().map(|(_, graph)| graph.nodes.len()).sum();
    let stored = model.values.iter().filter_map(|(_, value)| match value.initial {
        Some(Initial::Dense(tensor)) => Some(&model.tensors[tensor]),
        _ => None,
    });
    let (mut weights, mut elements, mut bytes) = (0, 0_usize, 0_usize);
    for tensor in stored {
        weights += 1;
        elements = elements.saturating_add(tensor.len().unwrap_or(0));
        bytes = bytes.saturating_add(tensor.byte_len().unwrap_or(0));
    }
    let ports = |values: Vec<ValueId>| {
        let named =
            values.iter().take(PORTS).map(|&value| format!("{}: {}", model.values[value].name, facts[value]));
        let mut shown: Vec<String> = named.collect();
        if values.len() > PORTS {
            shown.push(format!("{} more", values.len() - PORTS));
        }
        shown.join("; ")
    };
    let is_fed = |value: &ValueId| model.values[*value].initial.is_none();
    let inputs = main.inputs.iter().map(|port| port.value).filter(is_fed).collect();
    let outputs = main.outputs.iter().map(|port| port.value).collect();
    vec![
        ("Opset", model.opsets.iter().map(opset).collect::<Vec<_>>().join(", ")),
        ("Nodes", nodes.to_string()),
        (
            "Weights",
            match weights {
                0 => "none".to_owned(),
                _ => format!("{weights} ({elements} elements, {} kB)", bytes.div_ceil(1_000)),
            },
        ),
        ("Inputs", ports(inputs)),
        ("Outputs", ports(outputs)),
    ]
}

/// Painter of the graph around nodes.
pub struct Painter<'a> {
    model: &'a Model,
    facts: &'a Facts,
    uses: &'a Uses,
    positions: FxHashMap<NodeId, usize>,
}

impl<'a> Painter<'a> {
    /// Creates a painter. `facts` and `uses` must be those of `model`.
    pub fn new(model: &'a Model, facts: &'a Facts, uses: &'a Uses) -> Self {
        let nodes = model.graphs.iter().flat_map(|(_, graph)| graph.nodes.iter().copied().enumerate());
        Painter { model, facts, uses, positions: nodes.map(|(at, node)| (node, at)).collect() }
    }

    /// Draws the neighborhood of the nodes `meant`, in the graph of the first one.
    ///
    /// Returns `None` if `meant` is empty.
    pub fn around(&self, meant: &[NodeId]) -> Option<Picture> {
        let graph = self.model.nodes[*meant.first()?].graph;
        let meant: Vec<NodeId> =
            meant.iter().copied().filter(|&node| self.model.nodes[node].graph == graph).take(MOST).collect();
        let mut shown = self.near(&meant, graph);
        shown.sort_by_key(|node| self.positions.get(node));
        Some(self.drawn(&meant, &shown, graph))
    }

    /// Returns the nodes around `meant`: at most [`MOST`] nodes, at a distance of at most [`FAR`].
    fn near(&self, meant: &[NodeId], graph: GraphId) -> Vec<NodeId> {
        let mut found: IndexMap<NodeId, usize> = meant.iter().map(|&node| (node, 0)).collect();
        let mut open: VecDeque<NodeId> = meant.iter().copied().collect();
        while let Some(node) = open.pop_front() {
            let far = found[&node];
            if far == FAR {
                continue;
            }
            for other in self.makers(node).into_iter().chain(self.takers(node)) {
                let is_new = self.model.nodes[other].graph == graph && !found.contains_key(&other);
                if is_new && found.len() < MOST {
                    found.insert(other, far + 1);
                    open.push_back(other);
                }
            }
        }
        found.into_keys().collect()
    }

    fn makers(&self, node: NodeId) -> Vec<NodeId> {
        let inputs = self.model.nodes[node].inputs.iter().flatten();
        let makers = inputs.filter_map(|&input| self.model.producer(input)).map(|(maker, _)| maker);
        makers.filter(|&maker| !self.is_constant(maker)).collect()
    }

    fn takers(&self, node: NodeId) -> Vec<NodeId> {
        let outputs = self.model.nodes[node].outputs.iter().flatten();
        outputs.flat_map(|&output| self.uses.of(output).iter().take(USERS)).map(|one| one.node).collect()
    }

    /// Returns true for a `Constant`, which pictures omit unless the finding is about it.
    fn is_constant(&self, node: NodeId) -> bool {
        self.model.nodes[node].is("Constant")
    }

    fn drawn(&self, meant: &[NodeId], shown: &[NodeId], graph: GraphId) -> Picture {
        let mut picture = Picture::default();
        let mut makers: FxHashMap<ValueId, usize> = FxHashMap::default();
        for &node in shown {
            for &input in self.model.nodes[node].inputs.iter().flatten().take(MOST) {
                if matches!(self.model.values[input].def, Def::Input(_)) && !makers.contains_key(&input) {
                    makers.insert(input, picture.shapes.len());
                    picture.shapes.push(self.port(input, ShapeKind::Input));
                }
            }
        }
        for &id in shown {
            let node = &self.model.nodes[id];
            let at = picture.shapes.len();
            let kind = if meant.contains(&id) { ShapeKind::Meant } else { ShapeKind::Node };
            let name = node_name(self.model, node).to_string();
            picture.shapes.push(Shape { kind, title: node.op_name(), name });
            for &input in node.inputs.iter().flatten().take(MOST) {
                if let Some(&from) = makers.get(&input) {
                    // The shape of an input already shows its type.
                    let is_input = picture.shapes[from].kind == ShapeKind::Input;
                    let label = if is_input { String::new() } else { self.typed(input) };
                    picture.edges.push(Edge { from, to: at, label });
                }
            }
            makers.extend(node.outputs.iter().flatten().map(|&output| (output, at)));
        }
        let outputs = self.model.graphs[graph].outputs.iter();
        for port in outputs.filter(|port| makers.contains_key(&port.value)).take(MOST) {
            if let Some(&from) = makers.get(&port.value)
                && self.model.producer(port.value).is_some()
            {
                let to = picture.shapes.len();
                picture.shapes.push(self.port(port.value, ShapeKind::Output));
                picture.edges.push(Edge { from, to, label: String::new() });
            }
        }
        picture
    }

    fn port(&self, value: ValueId, kind: ShapeKind) -> Shape {
        Shape { kind, title: self.typed(value), name: self.model.values[value].name.to_string() }
    }

    fn typed(&self, value: ValueId) -> String {
        match &self.facts[value] {
            crate::infer::Fact::Unknown => String::new(),
            fact => fact.to_string(),
        }
    }
}
