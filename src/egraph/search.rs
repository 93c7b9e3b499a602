//! Search for the matches of rules in an unchanging e-graph.

use std::rc::Rc;
use std::sync::Arc;

use egg::Id;
use rustc_hash::FxHashMap;

use super::EGraph;
use super::dirty::DirtySet;
use super::enode::ENode;
use super::host::{ClassHost, NodeRef};
use super::surroundings::Surroundings;
use crate::rules::host::Host;
use crate::rules::matcher::{self, Found};
use crate::rules::rule::{Direction, Phase, Rule};

/// Nodes that may match the root of a pattern.
#[derive(Debug, Default)]
struct Roots {
    nodes: Vec<NodeRef>,
    /// Number of the kind of each node: nodes of a kind have equal surroundings.
    kinds: Vec<usize>,
    /// Number of kinds.
    count: usize,
}

/// Which nodes may match the root of a pattern.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Wanted {
    domain: Arc<str>,
    name: Arc<str>,
    /// Depth of the pattern.
    depth: usize,
    /// Whether only nodes near changes are wanted.
    is_near_changes: bool,
    /// Whether nodes with a stored or evaluated result are wanted.
    may_be_stored: bool,
}

/// Search for the matches of several rules.
pub(super) struct Search<'a, 'm> {
    egraph: &'a EGraph<'m>,
    news: &'a DirtySet,
    surroundings: Surroundings<'a, 'm>,
    roots: FxHashMap<Wanted, Rc<Roots>>,
}

impl<'a, 'm> Search<'a, 'm> {
    /// Creates a search; `news` are the changes since the rules were last tried.
    pub(super) fn new(egraph: &'a EGraph<'m>, news: &'a DirtySet) -> Self {
        Search { egraph, news, surroundings: Surroundings::new(egraph), roots: FxHashMap::default() }
    }

    /// Finds the matches of a direction of a rule: all if the rule `is_new`, else those near changes.
    ///
    /// A root is skipped if the rule has failed at a root with equal surroundings.
    pub(super) fn find(
        &mut self,
        host: &ClassHost,
        rule: &Rule,
        direction: &Direction,
        is_new: bool,
    ) -> Found<Id, NodeRef> {
        let mut found = Found::default();
        let Some(root) = direction.pattern.nodes.last() else { return found };
        let wanted = Wanted {
            domain: root.op.domain.clone(),
            name: root.op.name.clone(),
            depth: direction.pattern.depth(),
            is_near_changes: !is_new,
            may_be_stored: rule.phase == Phase::Convert,
        };
        let roots = self.roots(wanted, || host.nodes_of(&root.op));
        let mut has_failed = vec![false; roots.count];
        for (&root, &kind) in roots.nodes.iter().zip(&roots.kinds) {
            if has_failed[kind] {
                continue;
            }
            let (here, looked_further) = host.watched(|| matcher::find_at(host, direction, root));
            has_failed[kind] = here.is_empty() && !looked_further;
            found.add(here);
        }
        found
    }

    /// Selects the wanted nodes among `all` nodes with the operator, unless this was done before.
    fn roots(&mut self, wanted: Wanted, all: impl FnOnce() -> Vec<NodeRef>) -> Rc<Roots> {
        if let Some(known) = self.roots.get(&wanted) {
            return known.clone();
        }
        let mut roots = Roots { nodes: all(), ..Roots::default() };
        roots.nodes.retain(|node| {
            (!wanted.is_near_changes || self.news.reaches(node.class, wanted.depth))
                && (wanted.may_be_stored || !is_stored(self.egraph, node.class))
        });
        let mut kinds = FxHashMap::default();
        for node in &roots.nodes {
            let next = kinds.len();
            let kind = (self.surroundings.signature(node.class, wanted.depth), node.index);
            roots.kinds.push(*kinds.entry(kind).or_insert(next));
        }
        roots.count = kinds.len();
        self.roots.entry(wanted).or_insert(Rc::new(roots)).clone()
    }
}

/// Returns true if a class is a stored or evaluated constant: no alternative is better.
fn is_stored(egraph: &EGraph, class: Id) -> bool {
    let class = &egraph[class];
    class.data.fact().is_const()
        && class.nodes.iter().any(|node| matches!(node, ENode::Const(_) | ENode::Leaf(_)))
}

#[cfg(test)]
mod tests {
    use crate::fix::{Options, fix};
    use crate::rules::registry::RuleSet;

    #[test]
    fn a_rule_that_reads_weights_is_tried_in_every_layer() {
        let (ramp, ones) =
            ((1..=32).map(|n| n.to_string()).collect::<Vec<_>>().join(","), ["1"; 32].join(","));
        let (model, findings) = crate::read::text::read(&format!(
            "<ir_version: 8, opset_import: [\"\" : 17]>
            g (float[N,32] x, float[N,32] y) => (p, q) <float[32] w = {{{ramp}}}, float[32] k = {{{ones}}}> {{
                a = Mul (x, w)  p = Relu (a)
                b = Mul (y, k)  q = Relu (b)
            }}"
        ));
        assert_eq!(findings, []);
        let fixed = fix(model.expect("a model"), &Options::default(), &RuleSet::patterns()).model;
        let ops: Vec<_> =
            fixed.graphs[fixed.main].nodes.iter().map(|&node| fixed.nodes[node].op_name()).collect();
        assert_eq!(ops, ["Mul", "Relu", "Relu"]);
    }
}
