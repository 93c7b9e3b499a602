//! Runs rules on an e-graph until they have nothing more to say, or a limit is hit.

use std::sync::Arc;

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use super::EGraph;
use super::enode::ENode;
use super::host::{ClassHost, NodeRef};
use super::news::News;
use super::rebuild::rebuild;
use super::rewrite::{Applied, ClassPlan, Unapplied, apply};
use super::sizes;
use crate::graph::NodeId;
use crate::rules::matcher::{self, Match};
use crate::rules::plan::{Unplanned, plan};
use crate::rules::rule::{Phase, Rule};

/// How far saturation may go. Time is no limit: it would make results differ from run to run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub rounds: usize,
    /// E-nodes, as a multiple of those the graph started with, plus [`Limits::slack`].
    pub growth: usize,
    pub slack: usize,
    /// A class with so many forms gets no more of them, but for what a conversion needs: of a chain of nodes of which
    /// any two in a row make one, every part would be a form.
    pub forms: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { rounds: 24, growth: 8, slack: 4096, forms: 16 }
    }
}

/// A rewrite that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub code: String,
    pub why: String,
}

/// What one application of a rule said.
#[derive(Clone, Debug)]
pub struct Step {
    /// The code of the rule.
    pub code: Arc<str>,
    /// The calls that were matched, in the order of the pattern: what is said is said of the last.
    pub matched: Vec<ENode>,
    /// The calls that it is made of now; none where it is something that was there already, or a constant.
    pub added: Vec<ENode>,
    /// The nodes of the graph that were matched, where no calls were added.
    pub equated: Vec<NodeId>,
    /// The classes that it said to be others of the graph, or constants.
    pub joined: Vec<Id>,
}

/// What saturation did.
#[derive(Debug, Default)]
pub struct Report {
    /// What taught the e-graph something, in the order in which it did.
    pub steps: Vec<Step>,
    pub refused: Vec<Refused>,
    /// Names of the limits that were hit.
    pub limits: Vec<&'static str>,
}

impl Report {
    fn limit(&mut self, name: &'static str) {
        if !self.limits.contains(&name) {
            self.limits.push(name);
        }
    }

    fn refuse(&mut self, rule: &Rule, why: String) {
        let refused = Refused { code: rule.code.to_string(), why };
        if !self.refused.contains(&refused) {
            self.refused.push(refused);
        }
    }
}

/// Whether there is no use for what a rule would make of these nodes.
pub type Useless<'a> = &'a dyn Fn(&EGraph, &Rule, &[NodeRef]) -> bool;

/// Saturates one e-graph, with few rules first and with more later: what was tried once is not tried again.
#[derive(Debug, Default)]
pub struct Saturation<'r> {
    limits: Limits,
    done: Seen,
    /// A number for each rule that was tried, by its code.
    numbers: FxHashMap<&'r str, usize>,
    pub report: Report,
}

/// What is to be made of a match.
struct Planned<'r> {
    rule: &'r Rule,
    matched: Vec<ENode>,
    plan: ClassPlan,
}

/// What tells a match of a rule apart: the rule, the direction, and the classes and values it binds.
type Seen = FxHashSet<(usize, usize, Vec<u32>)>;

impl<'r> Saturation<'r> {
    /// Applies `rules` over and over until nothing changes, but for what is `useless`. Rules that were there in the call
    /// before must be among them.
    pub fn run(&mut self, egraph: &mut EGraph, rules: &[&'r Rule], useless: Useless) {
        let most = egraph.total_number_of_nodes() * self.limits.growth + self.limits.slack;
        let directions = rules.iter().flat_map(|rule| rule.directions());
        let reach = directions.map(|direction| direction.pattern.depth()).max().unwrap_or(0);
        fold(egraph);
        sizes::unite(egraph);
        for round in 0.. {
            if round == self.limits.rounds {
                self.report.limit("rounds");
                return;
            }
            let news = News::take(egraph, reach);
            let planned = self.search(egraph, rules, useless, &news);
            let mut changed = self.apply(egraph, planned);
            rebuild(egraph);
            changed |= fold(egraph);
            changed |= sizes::unite(egraph);
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

    /// What the rules make of matches that are new: those of a rule that was tried before are near the news.
    fn search(
        &mut self,
        egraph: &EGraph,
        rules: &[&'r Rule],
        useless: Useless,
        news: &News,
    ) -> Vec<Planned<'r>> {
        let proved = ClassHost::new(egraph);
        let converts = rules.iter().any(|rule| rule.phase == Phase::Convert);
        let claimed = (converts && !egraph.analysis.claims.is_empty()).then(|| proved.trusting_outputs());
        let mut plans = Vec::new();
        for &rule in rules {
            let next = self.numbers.len();
            let number = *self.numbers.entry(&rule.code).or_insert(next);
            let host = claimed.as_ref().filter(|_| rule.phase == Phase::Convert).unwrap_or(&proved);
            for (direction, forms) in rule.directions().enumerate() {
                if forms.rewrite.is_none() {
                    continue;
                }
                let depth = forms.pattern.depth();
                let is_wanted = |root: NodeRef| {
                    (number == next || news.reaches(root.class, depth))
                        && (rule.phase == Phase::Convert || !is_stored(egraph, root.class))
                };
                let found = matcher::find_among(host, forms, is_wanted);
                if found.cut > 0 {
                    self.report.limit("matches");
                }
                for found in found.matches {
                    if useless(egraph, rule, &found.nodes)
                        || matcher::is_denied(host, &rule.given, &forms.pattern, &found)
                        || matcher::is_quantized_product(host, rule.phase, &found)
                    {
                        continue;
                    }
                    if rule.phase != Phase::Convert && is_full(egraph, &found, self.limits) {
                        self.report.limit("forms");
                        continue;
                    }
                    if !self.done.insert((number, direction, key(egraph, &found))) {
                        continue;
                    }
                    let matched = found.nodes.iter().filter_map(|node| host.enode(*node).cloned()).collect();
                    match plan(host, forms, found) {
                        Ok(plan) => plans.push(Planned { rule, matched, plan }),
                        Err(Unplanned::Undefined) => {}
                        Err(Unplanned::Malformed(why)) => self.report.refuse(rule, why),
                    }
                }
            }
        }
        plans
    }
}

/// Whether a class is a constant that the model holds, or that was computed: no other form of it is any better.
fn is_stored(egraph: &EGraph, class: Id) -> bool {
    let class = &egraph[class];
    class.data.fact().is_const()
        && class.nodes.iter().any(|node| matches!(node, ENode::Const(_) | ENode::Leaf(_)))
}

/// Whether the class that a match is about has as many forms as it may.
fn is_full(egraph: &EGraph, found: &Match<Id, NodeRef>, limits: Limits) -> bool {
    let forms =
        |node: &NodeRef| egraph[node.class].nodes.iter().filter(|form| form.as_call().is_some()).count();
    found.nodes.last().is_some_and(|root| forms(root) >= limits.forms)
}

/// A class that grew may hold another node at the same place, so that its size counts too. A match may
/// be taken twice, which does no harm.
fn key(egraph: &EGraph, found: &Match<Id, NodeRef>) -> Vec<u32> {
    let number = |id: Id| usize::from(egraph.find(id)) as u32;
    let nodes = found.nodes.iter();
    let mut key: Vec<u32> = nodes
        .flat_map(|node| [number(node.class), node.index, egraph[node.class].nodes.len() as u32])
        .collect();
    key.extend(found.bound_values().map(number));
    key
}

/// Gives every class whose elements are known the constant as one more form.
fn fold(egraph: &mut EGraph) -> bool {
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
        if let Some(id) = egraph.analysis.tables.intern_const(&array) {
            let constant = egraph.add(ENode::Const(id));
            changed |= egraph.union(class, constant);
        }
    }
    rebuild(egraph);
    changed
}
