//! Runs rules on an e-graph until they have nothing more to say, or a limit is hit.

use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use super::EGraph;
use super::enode::ENode;
use super::host::{ClassHost, NodeRef};
use super::news::News;
use super::rebuild::rebuild;
use super::rewrite::{ClassPlan, Unapplied, apply};
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

/// Values that a rule said to be others that were there already, or constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equated {
    /// The nodes that were matched, the last of which made the value.
    pub nodes: Vec<NodeId>,
    /// The code of the rule.
    pub code: String,
}

/// What saturation did.
#[derive(Debug, Default)]
pub struct Report {
    /// The calls that rules added, with the code of the first rule that did.
    pub added: Vec<(ENode, String)>,
    /// What rules said to be equal to what was there, or to be a constant.
    pub equated: Vec<Equated>,
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
            let plans = self.search(egraph, rules, useless, &news);
            let mut changed = self.apply(egraph, rules, &plans);
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

    fn apply(&mut self, egraph: &mut EGraph, rules: &[&Rule], plans: &[(usize, ClassPlan)]) -> bool {
        let mut changed = false;
        for (rule, plan) in plans {
            match apply(egraph, plan) {
                Ok(applied) => {
                    let code = rules[*rule].code.to_string();
                    changed |= applied.changed;
                    if !applied.equated.is_empty() {
                        self.report.equated.push(Equated { nodes: applied.equated, code: code.clone() });
                    }
                    self.report.added.extend(applied.added.into_iter().map(|enode| (enode, code.clone())));
                }
                Err(Unapplied::Contradiction(why) | Unapplied::Malformed(why)) => {
                    self.report.refuse(rules[*rule], why);
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
    ) -> Vec<(usize, ClassPlan)> {
        let host = ClassHost::new(egraph);
        let mut plans = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            let next = self.numbers.len();
            let number = *self.numbers.entry(&rule.code).or_insert(next);
            for (direction, forms) in rule.directions().enumerate() {
                if forms.rewrite.is_none() {
                    continue;
                }
                let depth = forms.pattern.depth();
                let is_wanted = |root: NodeRef| {
                    (number == next || news.reaches(root.class, depth))
                        && (rule.phase == Phase::Convert || !is_stored(egraph, root.class))
                };
                let found = matcher::find_among(&host, forms, is_wanted);
                if found.cut > 0 {
                    self.report.limit("matches");
                }
                for found in found.matches {
                    if useless(egraph, rule, &found.nodes)
                        || matcher::is_denied(&host, &rule.given, &forms.pattern, &found)
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
                    match plan(&host, forms, found) {
                        Ok(plan) => plans.push((index, plan)),
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
