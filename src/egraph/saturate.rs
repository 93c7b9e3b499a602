//! Applies rules to an e-graph until saturation, or until a limit is reached.

use std::sync::Arc;

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use super::EGraph;
use super::dirty::DirtySet;
use super::enode::ENode;
use super::host::{ClassHost, NodeRef};
use super::rebuild::rebuild;
use super::rewrite::{Applied, ClassPlan, Unapplied, apply};
use super::search::Search;
use super::sizes;
use crate::graph::NodeId;
use crate::rules::matcher::{self, Match};
use crate::rules::plan::{Unplanned, plan};
use crate::rules::rule::{Phase, Rule};

/// Limits of saturation. Time is not limited, because results would differ from run to run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of rounds.
    pub rounds: usize,
    /// A run ends after the round in which the number of e-nodes exceeds this multiple of the number at the
    /// start of the run, plus [`Limits::slack`].
    pub growth: usize,
    pub slack: usize,
    /// Number of calls in a class from which only conversion rules match in this class.
    /// Without a limit, repeated pairwise fusion of a chain would add a call for every subchain.
    pub forms: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { rounds: 24, growth: 8, slack: 4096, forms: 16 }
    }
}

/// Rewrite that was rejected, or match that has no effect, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub code: String,
    /// Name of the rule; empty for a fault that has no rule.
    pub name: String,
    pub why: String,
}

/// Record of one applied rewrite.
#[derive(Clone, Debug)]
pub struct Step {
    /// Code of the rule.
    pub code: Arc<str>,
    /// Matched calls, in pattern order; the last one is the root.
    pub matched: Vec<ENode>,
    /// Calls of the replacement, including those that the e-graph already had.
    /// Empty if the replacement is a matched value or a constant.
    pub added: Vec<ENode>,
    /// Nodes of the graph that the matched calls derive from, if `added` is empty.
    pub equated: Vec<NodeId>,
    /// Matched outputs that were merged with a value of the graph or, if `added` is empty, with any value
    /// or constant.
    pub joined: Vec<Id>,
}

/// Result of saturation.
#[derive(Debug, Default)]
pub struct Report {
    /// Applied rewrites that have calls or merged classes, in order.
    pub steps: Vec<Step>,
    pub refused: Vec<Refused>,
    /// Matches of a user's rule that were not applied, or whose result was not selected.
    pub vetoed: Vec<Refused>,
    /// Names of the limits that were reached.
    pub limits: Vec<&'static str>,
}

impl Report {
    fn limit(&mut self, name: &'static str) {
        if !self.limits.contains(&name) {
            self.limits.push(name);
        }
    }

    fn refuse(&mut self, rule: &Rule, why: String) {
        let refused = Refused { code: rule.code.to_string(), name: rule.name.to_string(), why };
        if !self.refused.contains(&refused) {
            self.refused.push(refused);
        }
    }
}

impl Report {
    /// Records that a match of a user's rule has no effect.
    pub fn veto(&mut self, rule: &Rule, why: String) {
        let vetoed = Refused { code: rule.code.to_string(), name: rule.name.to_string(), why };
        if !rule.is_built_in && !self.vetoed.contains(&vetoed) {
            self.vetoed.push(vetoed);
        }
    }
}

/// Predicate that rejects matches whose rewrite would be of no use.
pub type Useless<'a> = &'a dyn Fn(&EGraph, &Rule, &[NodeRef]) -> bool;

/// Saturation of one e-graph, in several runs; matches tried in one run are skipped in later ones.
#[derive(Debug)]
pub struct Saturation<'r> {
    folds_constants: bool,
    merges_equal: bool,
    limits: Limits,
    done: Seen,
    /// Sequence number of each rule that was tried, by code of the rule.
    numbers: FxHashMap<&'r str, usize>,
    pub report: Report,
}

/// Planned rewrite of a match.
struct Planned<'r> {
    rule: &'r Rule,
    matched: Vec<ENode>,
    plan: ClassPlan,
}

/// Identity of tried matches: the rule, the direction, and the `key` of the match.
type Seen = FxHashSet<(usize, usize, Vec<u32>)>;

impl<'r> Saturation<'r> {
    /// Creates an empty saturation.
    ///
    /// The flags turn on constant folding, and merging of equal constants and sizes.
    pub fn new(folds_constants: bool, merges_equal: bool) -> Self {
        let (limits, done, numbers, report) = Default::default();
        Saturation { folds_constants, merges_equal, limits, done, numbers, report }
    }

    /// Adds the facts that need no rule: constants, and equal sizes. Returns true if the e-graph changed.
    fn evaluate(&self, egraph: &mut EGraph) -> bool {
        let is_folded = self.folds_constants && fold(egraph, self.merges_equal);
        self.merges_equal && sizes::unite(egraph) || is_folded
    }

    /// Applies `rules` until nothing changes or a limit is reached. Skips matches that are `useless`.
    /// `rules` must include the rules of previous runs.
    pub fn run(&mut self, egraph: &mut EGraph, rules: &[&'r Rule], useless: Useless) {
        let most = egraph.total_number_of_nodes() * self.limits.growth + self.limits.slack;
        let directions = rules.iter().flat_map(|rule| rule.directions());
        let reach = directions.map(|direction| direction.pattern.depth()).max().unwrap_or(0);
        self.evaluate(egraph);
        for round in 0.. {
            if round == self.limits.rounds {
                self.report.limit("rounds");
                return;
            }
            let news = DirtySet::take(egraph, reach);
            let planned = self.search(egraph, rules, useless, &news);
            let mut changed = self.apply(egraph, planned);
            rebuild(egraph);
            changed |= self.evaluate(egraph);
            if !changed {
                return;
            }
            if egraph.total_number_of_nodes() > most {
                self.report.limit("e-nodes");
                return;
            }
        }
    }

    fn apply(&mut self, egraph: &mut EGraph, planned: Vec<Planned>) -> bool {
        let mut changed = false;
        for Planned { rule, matched, plan } in planned {
            match apply(egraph, &plan) {
                Ok(Applied { changed: learned, added, equated, joined }) => {
                    changed |= learned;
                    if learned || !added.is_empty() {
                        let code = rule.code.clone();
                        self.report.steps.push(Step { code, matched, added, equated, joined });
                    }
                }
                Err(Unapplied::Contradiction(why) | Unapplied::Malformed(why)) => {
                    self.report.refuse(rule, why);
                }
            }
        }
        changed
    }

    /// Plans the rewrites of new matches; rules that were tried before are matched near changes only.
    fn search(
        &mut self,
        egraph: &EGraph,
        rules: &[&'r Rule],
        useless: Useless,
        news: &DirtySet,
    ) -> Vec<Planned<'r>> {
        let proved = ClassHost::new(egraph);
        let converts = rules.iter().any(|rule| rule.phase == Phase::Convert);
        let claimed = (converts && !egraph.analysis.claims.is_empty()).then(|| proved.trusting_outputs());
        let mut search = Search::new(egraph, news);
        let mut plans = Vec::new();
        for &rule in rules {
            let next = self.numbers.len();
            let number = *self.numbers.entry(&rule.code).or_insert(next);
            let host = claimed.as_ref().filter(|_| rule.phase == Phase::Convert).unwrap_or(&proved);
            for (direction, forms) in rule.directions().enumerate() {
                if forms.rewrite.is_none() {
                    continue;
                }
                let is_new = number == next;
                let found = search.find(host, rule, forms, is_new);
                if found.cut > 0 {
                    self.report.limit("matches");
                }
                for found in found.matches {
                    if useless(egraph, rule, &found.nodes) {
                        continue;
                    }
                    if matcher::is_denied(host, &rule.assumptions, &forms.pattern, &found) {
                        self.report.veto(rule, "an assumption of the rule does not hold".to_owned());
                        continue;
                    }
                    if matcher::is_quantized_product(host, rule.phase, &found) {
                        self.report.veto(rule, "runtimes fuse the match into an integer kernel".to_owned());
                        continue;
                    }
                    if rule.phase != Phase::Convert && is_full(egraph, &found, self.limits) {
                        self.report.limit("calls per e-class");
                        self.report.veto(rule, "the search reached its limit".to_owned());
                        continue;
                    }
                    if !self.done.insert((number, direction, key(egraph, &found))) {
                        continue;
                    }
                    let matched = found.nodes.iter().filter_map(|node| host.enode(*node).cloned()).collect();
                    match plan(host, forms, found) {
                        Ok(plan) => plans.push(Planned { rule, matched, plan }),
                        Err(Unplanned::Undefined) => {
                            let why = "an expression in the rewrite cannot be evaluated for this match";
                            self.report.veto(rule, why.to_owned());
                        }
                        Err(Unplanned::Malformed(why)) => self.report.refuse(rule, why),
                    }
                }
            }
        }
        plans
    }
}

/// Returns true if the class of the matched root has reached the limit of calls.
fn is_full(egraph: &EGraph, found: &Match<Id, NodeRef>, limits: Limits) -> bool {
    let calls = |node: &NodeRef| egraph[node.class].nodes.iter().filter(|form| form.as_call().is_some());
    found.nodes.last().is_some_and(|root| calls(root).nth(limits.forms - 1).is_some())
}

/// Returns a key for a match.
/// The size of each class is included, because the index of a node in the class can refer to another
/// node when the class grows. Applying a match twice is harmless.
fn key(egraph: &EGraph, found: &Match<Id, NodeRef>) -> Vec<u32> {
    let number = |id: Id| usize::from(egraph.find(id)) as u32;
    let nodes = found.nodes.iter();
    let mut key: Vec<u32> = nodes
        .flat_map(|node| [number(node.class), node.index, egraph[node.class].nodes.len() as u32])
        .collect();
    key.extend(found.bound_values().map(number));
    key
}

/// Adds a constant e-node to every class whose elements are all known, unless they are strings.
/// If `merges` is not set, each constant is added to only one class, so that equal constants stay separate.
fn fold(egraph: &mut EGraph, merges: bool) -> bool {
    let mut constant: Vec<_> = egraph
        .classes()
        .filter(|class| !class.nodes.iter().any(|node| matches!(node, ENode::Const(_))))
        .filter_map(|class| Some((class.id, class.data.facts.first()?.as_const()?.clone())))
        .filter(|(id, _)| {
            !egraph[*id].nodes.iter().any(|node| sizes::is_tuple(&egraph.analysis.tables, node))
        })
        .collect();
    constant.sort_unstable_by_key(|(id, _)| *id);
    let mut changed = false;
    for (class, array) in constant {
        if let Some(id) = egraph.analysis.tables.intern_const(&array)
            && (merges || egraph.lookup(ENode::Const(id)).is_none())
        {
            let constant = egraph.add(ENode::Const(id));
            changed |= egraph.union(class, constant);
        }
    }
    rebuild(egraph);
    changed
}
