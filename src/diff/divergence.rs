//! First differences of two models: nodes not proved equal although their inputs are.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::combined::Combined;
use super::proof::Proof;
use crate::graph::scopes::captures_of_node;
use crate::graph::syntax::line;
use crate::graph::{Def, Model, NodeId, ValueId, order};
use crate::schema::{AttrView, lookup};

/// Maximum number of differences to report.
const TOLD: usize = 8;

/// First difference: a node of the first model, of the second, or a pair of corresponding nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Divergence {
    pub a: Option<NodeDescription>,
    pub b: Option<NodeDescription>,
    /// Differences between the nodes, if both are present.
    pub because: Vec<String>,
}

/// Description of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeDescription {
    /// Name of the node, or of its first output.
    pub node: String,
    pub op: String,
    /// The node as a line of ONNX text.
    pub text: String,
}

/// Returns the first differences upstream of `outputs`, and the number of those beyond the maximum.
pub fn departures(
    both: &Combined,
    proof: &Proof,
    outputs: &[(ValueId, ValueId)],
) -> (Vec<Divergence>, usize) {
    let sides = Sides::of(both, proof);
    let first = sides.first_nodes(outputs.iter().map(|(a, _)| *a));
    let second = sides.first_nodes(outputs.iter().map(|(_, b)| *b));
    let mut left = second.clone();
    let mut all = Vec::new();
    for &a in &first {
        let partner = left.iter().position(|&b| sides.is_meant(a, b));
        let b = partner.map(|at| left.remove(at));
        let because = b.map_or_else(Vec::new, |b| sides.reasons(a, b));
        all.push(Divergence { a: Some(sides.told(a)), b: b.map(|b| sides.told(b)), because });
    }
    all.extend(left.into_iter().map(|b| Divergence { a: None, b: Some(sides.told(b)), because: Vec::new() }));
    let more = all.len().saturating_sub(TOLD);
    all.truncate(TOLD);
    (all, more)
}

struct Sides<'m> {
    model: &'m Model,
    proof: &'m Proof,
    /// Classes with values of both models.
    common: FxHashSet<usize>,
}

impl<'m> Sides<'m> {
    fn of(both: &'m Combined, proof: &'m Proof) -> Self {
        let model = &both.model;
        let mut seen: FxHashMap<usize, (bool, bool)> = FxHashMap::default();
        for (&value, &class) in &proof.classes {
            let entry = seen.entry(class).or_default();
            // A shared input has an id of the first model, but belongs to both.
            let is_shared = both.is_shared(value);
            entry.0 |= is_shared || !both.is_second_value(value);
            entry.1 |= is_shared || both.is_second_value(value);
        }
        let common = seen.into_iter().filter(|(_, (a, b))| *a && *b).map(|(class, _)| class).collect();
        Sides { model, proof, common }
    }

    fn is_common(&self, value: ValueId) -> bool {
        self.proof.classes.get(&value).is_some_and(|class| self.common.contains(class))
    }

    /// Returns the first nodes whose computed inputs match in both models but whose outputs do not.
    /// They are in graph order.
    fn first_nodes(&self, outputs: impl Iterator<Item = ValueId>) -> Vec<NodeId> {
        let mut open: Vec<ValueId> = outputs.filter(|&value| !self.is_common(value)).collect();
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut first: FxHashSet<NodeId> = FxHashSet::default();
        while let Some(value) = open.pop() {
            let maker = self.model.producer(value).map(|(node, _)| node).filter(|_| self.is_made(value));
            let Some(node) = maker.filter(|node| seen.insert(*node)) else { continue };
            let others: Vec<ValueId> = self.taken(node).filter(|&input| !self.is_common(input)).collect();
            if others.iter().all(|&input| !self.is_made(input)) {
                first.insert(node);
            }
            open.extend(others);
        }
        let order = order::sorted_or_file(self.model, self.model.main);
        order.into_iter().filter(|node| first.contains(node)).collect()
    }

    fn taken(&self, node: NodeId) -> impl Iterator<Item = ValueId> {
        let captured = captures_of_node(self.model, node);
        self.model.nodes[node].inputs.clone().into_iter().flatten().chain(captured)
    }

    /// Returns true if a node other than `Constant` produces a value.
    fn is_made(&self, value: ValueId) -> bool {
        self.model.producer(value).is_some_and(|(node, _)| &*self.model.nodes[node].op_type != "Constant")
    }

    /// Returns true if two nodes correspond.
    ///
    /// Their first outputs have the same name, or they have the same operator and the same common inputs. An input is
    /// common if its class has values of both models.
    fn is_meant(&self, a: NodeId, b: NodeId) -> bool {
        let name =
            |node: NodeId| self.model.nodes[node].output(0).map(|value| &self.model.values[value].name);
        let common = |node: NodeId| -> Vec<usize> {
            let inputs = self.model.nodes[node].inputs.iter().flatten();
            let inputs = inputs.filter(|&&input| self.is_common(input));
            inputs.filter_map(|input| self.proof.classes.get(input).copied()).collect()
        };
        let is_same_op = self.model.nodes[a].op_name() == self.model.nodes[b].op_name();
        name(a) == name(b) || is_same_op && common(a) == common(b)
    }

    /// Describes the differences of two corresponding nodes.
    fn reasons(&self, a: NodeId, b: NodeId) -> Vec<String> {
        let (first, second) = (&self.model.nodes[a], &self.model.nodes[b]);
        if first.op_name() != second.op_name() {
            return vec![format!("operator differs: `{}` vs `{}`", first.op_name(), second.op_name())];
        }
        let mut reasons = self.attributes(a, b);
        for index in 0..first.inputs.len().max(second.inputs.len()) {
            let reason = match (first.input(index), second.input(index)) {
                (Some(a), Some(b)) if !self.proof.is_same(a, b) => self.other_input(index, a, b),
                (Some(_), None) => Some(format!("input {index} is missing in b")),
                (None, Some(_)) => Some(format!("input {index} is missing in a")),
                _ => None,
            };
            reasons.extend(reason);
        }
        if reasons.is_empty() && first.graphs().next().is_some() {
            reasons.push("subgraphs differ".to_owned());
        }
        reasons
    }

    fn other_input(&self, index: usize, a: ValueId, b: ValueId) -> Option<String> {
        let name = |value: ValueId| &self.model.values[value].name;
        let is_weight =
            |value: ValueId| !self.is_made(value) && !matches!(self.model.values[value].def, Def::Input(_));
        Some(match is_weight(a) && is_weight(b) {
            true if name(a) == name(b) => format!("weight `{}` differs", name(a)),
            true => format!("input {index} is weight `{}` in b, `{}` in a", name(b), name(a)),
            false => format!("input {index} is `{}` in b, `{}` in a", name(b), name(a)),
        })
    }

    fn attributes(&self, a: NodeId, b: NodeId) -> Vec<String> {
        let (first, second) = (&self.model.nodes[a], &self.model.nodes[b]);
        let opset = self.model.opset(first.graph, first.domain()).and_then(|opset| u16::try_from(opset).ok());
        let schema = opset.and_then(|opset| lookup(first.domain(), &first.op_type, opset));
        let mut names: Vec<&str> = first.attrs.iter().chain(&second.attrs).map(|attr| &*attr.name).collect();
        names.sort_unstable();
        names.dedup();
        let spec = |name: &str| schema.and_then(|schema| schema.attr(name));
        let is_other = |name: &&str| match (first.attr(name), second.attr(name)) {
            (Some(a), Some(b)) => a.graphs().is_empty() && a != b,
            (Some(one), None) | (None, Some(one)) => {
                !spec(name).is_some_and(|spec| spec.is_default(AttrView::from(one)))
            }
            (None, None) => false,
        };
        names.into_iter().filter(is_other).map(|name| format!("attribute `{name}` differs")).collect()
    }

    fn told(&self, id: NodeId) -> NodeDescription {
        let node = &self.model.nodes[id];
        let made =
            || node.outputs.iter().flatten().next().map(|&value| self.model.values[value].name.to_string());
        let name = node.name.as_deref().filter(|name| !name.is_empty()).map(str::to_owned);
        NodeDescription {
            node: name.or_else(made).unwrap_or_default(),
            op: node.op_name(),
            text: line(self.model, id).text,
        }
    }
}
