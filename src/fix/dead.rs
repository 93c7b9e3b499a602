//! Takes out the nodes that no output needs, in every graph.
//!
//! Extraction leaves them out as well; but what they read would keep others from being computed beforehand.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::{GraphId, Model, NodeId, ValueId, scopes};

/// Whether there were any. A node without outputs stays: nobody knows what it is for.
pub fn sweep(model: &mut Model) -> bool {
    let mut counts = Counts::of(model);
    let mut open: Vec<NodeId> = Vec::new();
    for graph in scopes::live(model) {
        open.extend(model.graphs[graph].nodes.iter().copied().filter(|&node| counts.is_unused(model, node)));
    }
    let mut dead: FxHashSet<NodeId> = FxHashSet::default();
    while let Some(node) = open.pop() {
        for value in released(model, node, &mut dead) {
            counts.release(value);
            let maker = model.producer(value).map(|(maker, _)| maker);
            open.extend(maker.filter(|&maker| counts.is_unused(model, maker)));
        }
    }
    for (_, graph) in model.graphs.iter_mut() {
        graph.nodes.retain(|node| !dead.contains(node));
    }
    !dead.is_empty()
}

/// How often each value is read, or is an output.
struct Counts(FxHashMap<ValueId, usize>);

impl Counts {
    fn of(model: &Model) -> Self {
        let mut counts: FxHashMap<ValueId, usize> = FxHashMap::default();
        for graph in scopes::live(model) {
            for value in read(model, graph) {
                *counts.entry(value).or_default() += 1;
            }
        }
        Counts(counts)
    }

    fn is_unused(&self, model: &Model, node: NodeId) -> bool {
        let mut outputs = model.nodes[node].outputs.iter().flatten().peekable();
        outputs.peek().is_some() && outputs.all(|output| self.0.get(output).is_none_or(|&count| count == 0))
    }

    fn release(&mut self, value: ValueId) {
        self.0.entry(value).and_modify(|count| *count = count.saturating_sub(1));
    }
}

/// What the nodes of a graph read, and what it gives.
fn read(model: &Model, graph: GraphId) -> impl Iterator<Item = ValueId> {
    let scope = &model.graphs[graph];
    let nodes = scope.nodes.iter().flat_map(|&node| model.nodes[node].inputs.iter().flatten().copied());
    nodes.chain(scope.outputs.iter().map(|port| port.value))
}

/// What a node, with the nodes in it, no longer reads when it is gone. Those that are gone already read nothing.
fn released(model: &Model, node: NodeId, dead: &mut FxHashSet<NodeId>) -> Vec<ValueId> {
    let (mut values, mut gone) = (Vec::new(), vec![node]);
    while let Some(node) = gone.pop() {
        if !dead.insert(node) {
            continue;
        }
        values.extend(model.nodes[node].inputs.iter().flatten());
        for body in model.nodes[node].graphs() {
            let body = &model.graphs[body];
            values.extend(body.outputs.iter().map(|port| port.value));
            gone.extend(&body.nodes);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    #[test]
    fn what_no_output_needs_goes_with_what_it_reads() {
        let text = "<ir_version: 8, opset_import: [\"\" : 17]> g (bool c, float[n] x) => (float[n] y) {
            u = Abs (x)
            v = If (c) <then_branch = t () => (a) { a = Neg (u) }, else_branch = e () => (b) { b = Exp (u) }>
            w = Add (v, v)
            y = If (c) <then_branch = s () => (p) { p = Neg (x) d = Cast <to = 7> (x) },
                        else_branch = f () => (q) { q = Identity (x) }>
        }";
        let (model, findings) = read::text::read(text);
        assert!(findings.is_empty(), "{findings:?}");
        let mut model = model.expect("a model");
        assert!(sweep(&mut model));
        let left = scopes::live(&model).into_iter().flat_map(|graph| model.graphs[graph].nodes.clone());
        let mut left: Vec<&str> = left.map(|node| &*model.nodes[node].op_type).collect();
        left.sort_unstable();
        assert_eq!(left, ["Identity", "If", "Neg"]);
        assert!(!sweep(&mut model));
    }

    #[test]
    fn what_is_dead_twice_is_released_once() {
        let text = "<ir_version: 8, opset_import: [\"\" : 17]> g (bool c, float[n] x) => (float[n] y) {
            t = Abs (x)
            d = If (c) <then_branch = s () => (p) { u = Neg (t) p = Exp (x) }, else_branch = f () => (q) { q = Identity (x) }>
            y = Neg (t)
        }";
        let (model, findings) = read::text::read(text);
        assert!(findings.is_empty(), "{findings:?}");
        let mut model = model.expect("a model");
        assert!(sweep(&mut model));
        let left = &model.graphs[model.main].nodes;
        let left: Vec<&str> = left.iter().map(|&node| &*model.nodes[node].op_type).collect();
        assert_eq!(left, ["Abs", "Neg"]);
    }
}
