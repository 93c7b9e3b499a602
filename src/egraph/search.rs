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

/// Minimum number of roots to group: the signatures of fewer roots would cost more than they save.
const LEAST_GROUPED: usize = 64;

/// Nodes that may match the root of a pattern.
#[derive(Debug, Default)]
struct Roots {
    nodes: Vec<NodeRef>,
    /// Number of the kind of each node: nodes of a kind have equal surroundings.
    kinds: Vec<usize>,
    /// Index of the first node of each kind.
    firsts: Vec<usize>,
}

/// Request for the nodes that may match the root of a pattern.
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
    /// Roots are skipped if the rule fails at a root with equal surroundings.
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
        // Kinds at whose first node the rule has matches, or has looked further.
        let mut open = FxHashMap::default();
        for (kind, &first) in roots.firsts.iter().enumerate() {
            let (here, looked_further) =
                host.watched(|| matcher::find_at(host, direction, roots.nodes[first]));
            if looked_further || !here.is_empty() {
                open.insert(kind, here);
            }
        }
        if open.is_empty() {
            return found;
        }
        for (index, (&root, kind)) in roots.nodes.iter().zip(&roots.kinds).enumerate() {
            let Some(first) = open.get_mut(kind) else { continue };
            let is_first = roots.firsts[*kind] == index;
            found.add(if is_first { std::mem::take(first) } else { matcher::find_at(host, direction, root) });
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
        let is_grouped = roots.nodes.len() >= LEAST_GROUPED;
        let mut kinds = FxHashMap::default();
        for (index, node) in roots.nodes.iter().enumerate() {
            let next = roots.firsts.len();
            let kind = match is_grouped {
                true => {
                    let signature = self.surroundings.signature(node.class, wanted.depth);
                    *kinds.entry((signature, node.index)).or_insert(next)
                }
                false => next,
            };
            if kind == next {
                roots.firsts.push(index);
            }
            roots.kinds.push(kind);
        }
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
    use super::LEAST_GROUPED;
    use crate::fix::{Options, fix};
    use crate::rules::registry::RuleSet;

    #[test]
    fn a_rule_that_reads_weights_is_tried_in_every_layer() {
        let list =
            |item: fn(usize) -> usize| (0..32).map(|at| item(at).to_string()).collect::<Vec<_>>().join(",");
        let (ramp, ones) = (list(|at| at + 2), list(|_| 1));
        let layers: String = (0..2 * LEAST_GROUPED)
            .map(|at| {
                let weights = if at == LEAST_GROUPED { "k" } else { "w" };
                format!("m{at} = Mul (v{at}, {weights})  v{} = Relu (m{at})\n", at + 1)
            })
            .collect();
        let (model, findings) = crate::read::text::read(&format!(
            "<ir_version: 8, opset_import: [\"\" : 17]>
            g (float[N,32] v0) => (v{}) <float[32] w = {{{ramp}}}, float[32] k = {{{ones}}}> {{ {layers} }}",
            2 * LEAST_GROUPED
        ));
        assert_eq!(findings, []);
        let fixed = fix(model.expect("a model"), &Options::default(), &RuleSet::patterns()).model;
        let nodes = &fixed.graphs[fixed.main].nodes;
        let products = nodes.iter().filter(|&&node| fixed.nodes[node].is("Mul")).count();
        assert_eq!(products, 2 * LEAST_GROUPED - 1);
    }
}
