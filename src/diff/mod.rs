//! Checks whether two models are equivalent: the library of `onnx-diff`.
//!
//! Both models are added to one e-graph, with shared inputs, and with shared weights where contents are
//! equal. Values that exact rules merge are equal for every input on which both models run. Values that are
//! not merged may still be equal; for these, the first differing nodes are reported.

mod combined;
mod dims;
mod divergence;
mod interface;
mod numbers;
mod pair;
mod places;
mod prepare;
mod proof;
mod rounded;
mod table;

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde::Serialize;

use self::combined::Combined;
pub use self::divergence::{Divergence, NodeDescription};
use self::interface::Pairs;
pub use self::prepare::prepared;
use self::proof::{Proof, prove};
pub use self::rounded::RoundedWeights;
pub use self::table::{Row, Table, Weight};
use crate::diag::Selection;
use crate::fix::{self, Options};
use crate::graph::{Model, ValueId};
use crate::rules::registry::RuleSet;
use crate::rules::rule::{Phase, Rule, Safety};

/// Degree to which two models are known to be equivalent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Equivalence {
    /// Identical, including node order and names.
    Same,
    /// Identical except for names and node order.
    Renamed,
    /// Equivalent by exact rules, or identical except for unused and repeated nodes.
    Exactly,
    /// Equivalent by rules that may round, or that assume properties of the values.
    Rounded,
    /// Not proved equivalent.
    Unknown,
}

/// Result of comparing two models.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    pub computes: Equivalence,
    /// Differences of the interfaces that affect a caller.
    pub interface: Vec<String>,
    /// Differences of the interfaces that do not affect results, and pairs by position.
    /// Also limits of a proof up to rounding.
    pub notes: Vec<String>,
    /// Outputs of the first model that are proved equal to those of the second.
    pub equal: Vec<Arc<str>>,
    /// Paired outputs of the first model that are not proved equal.
    pub unequal: Vec<Arc<str>>,
    /// First differing nodes.
    pub departures: Vec<Divergence>,
    /// Number of differing nodes that are not listed.
    pub more: usize,
    /// Operators assumed to behave equally in both models: random or unknown ones.
    pub assumed: BTreeSet<String>,
    /// Weights that the proof treats as equal although they differ by rounding.
    pub rounded_weights: RoundedWeights,
    /// Reason why nothing could be proved, if the comparison failed.
    pub hindrance: Option<String>,
    #[serde(flatten)]
    pub table: Table,
}

impl Comparison {
    /// Returns true if one model can replace the other.
    pub fn is_equal(&self) -> bool {
        self.computes != Equivalence::Unknown && self.interface.is_empty()
    }
}

/// Note for models in which a rounding error can change more than the last digits.
const PLACES_NOTE: &str =
    "sizes or indices are computed from floating-point inputs: a rounding error can change them";

/// Compares two [`prepared`] models.
pub fn compare(a: &Model, b: &Model, rules: &RuleSet) -> Comparison {
    let pairs = Pairs::of(a, b);
    let mut comparison = Comparison {
        computes: Equivalence::Unknown,
        interface: pairs.differences.clone(),
        notes: pairs.notes.clone(),
        equal: Vec::new(),
        unequal: pairs.outputs.iter().map(|pair| a.values[pair.a].name.clone()).collect(),
        departures: Vec::new(),
        more: 0,
        assumed: BTreeSet::new(),
        rounded_weights: RoundedWeights::default(),
        hindrance: None,
        table: Table::of(a, b),
    };
    if pairs.outputs.is_empty() {
        comparison.hindrance = Some("the models have no outputs in common".to_owned());
        return comparison;
    }
    let rules = Rules { all: rules, exact: LazyCell::new(|| rules.filtered(is_exact)) };
    let aligned = aligned(a, b, &rules);
    let aligned = aligned.map(|(a, b, best)| (Joined::of(&a, &b), a, b, best));
    let at_higher =
        aligned.as_ref().ok().and_then(|(direct, a, b, best)| proved(direct, (a, b), *best, &rules));
    let at_lower = || {
        let (a, b) = lowered(a, b, rules.all)?;
        proved(&Joined::of(&a, &b), (&a, &b), Equivalence::Rounded, &rules)
    };
    match (at_higher.or_else(at_lower), aligned) {
        (Some((computes, proof, rounded)), _) => {
            if computes == Equivalence::Rounded && [a, b].into_iter().any(places::depend_on_floats) {
                comparison.notes.push(PLACES_NOTE.to_owned());
            }
            comparison.computes = computes;
            comparison.rounded_weights = rounded;
            comparison.equal = std::mem::take(&mut comparison.unequal);
            comparison.assumed = proof.assumed;
        }
        (None, Ok((direct, ..))) => compare_outputs(&mut comparison, &direct, rules.all),
        (None, Err(why)) => comparison.hindrance = Some(why),
    }
    comparison
}

/// Rules for proofs.
struct Rules<'r, F: FnOnce() -> RuleSet> {
    all: &'r RuleSet,
    /// Exact rules; lazy, because selecting them parses all rules, and identical models need none.
    exact: LazyCell<RuleSet, F>,
}

impl<F: FnOnce() -> RuleSet> Rules<'_, F> {
    /// Returns the rules that can prove this degree of equivalence.
    fn that_show(&self, computes: Equivalence) -> &RuleSet {
        if computes == Equivalence::Rounded { self.all } else { &self.exact }
    }
}

/// Proves the strongest possible equivalence of two models at one opset; `best` is an upper bound.
fn proved<F: FnOnce() -> RuleSet>(
    direct: &Joined,
    (a, b): (&Model, &Model),
    best: Equivalence,
    rules: &Rules<F>,
) -> Option<(Equivalence, Proof, RoundedWeights)> {
    if let Some(proof) = direct.proof(&RuleSet::default(), false).filter(|proof| direct.proves(proof)) {
        let is_alike = table::operators(a) == table::operators(b) && direct.covers(&proof);
        let computes = match is_alike {
            true if table::is_written_alike(a, b) => Equivalence::Same,
            true => Equivalence::Renamed,
            false => Equivalence::Exactly,
        };
        return Some((computes.max(best), proof, RoundedWeights::default()));
    }
    let degrees = [Equivalence::Exactly, Equivalence::Rounded].into_iter();
    degrees.filter(|computes| *computes >= best).find_map(|computes| {
        let rules = rules.that_show(computes);
        let rounds = computes == Equivalence::Rounded;
        let proof = |joined: &Joined| {
            let proof = joined.proof(rules, rounds).filter(|proof| joined.proves(proof))?;
            Some((computes, proof, joined.rounded))
        };
        let rounded = |joined: Joined| if rounds { joined.rounded() } else { joined };
        let as_given = if rounds { proof(&Joined::of(a, b).rounded()) } else { proof(direct) };
        as_given.or_else(|| proof(&rounded(Joined::of(&simplified(a, rules), &simplified(b, rules)))))
    })
}

/// Compares the outputs of two models at one opset that are not proved equivalent.
fn compare_outputs(comparison: &mut Comparison, direct: &Joined, rules: &RuleSet) {
    // Facts can contradict each other only after a rounding, such as a size that is computed from a scale.
    let Some(proof) = direct.proof(rules, true).or_else(|| direct.proof(rules, false)) else {
        comparison.hindrance =
            Some("a graph has a cycle, or inferred facts contradict each other".to_owned());
        return;
    };
    let (equal, unequal): (Vec<_>, Vec<_>) =
        direct.outputs.iter().copied().partition(|&(a, b)| proof.is_same(a, b));
    let names = |all: &[(ValueId, ValueId)]| {
        all.iter().map(|(a, _)| direct.both.model.values[*a].name.clone()).collect()
    };
    (comparison.equal, comparison.unequal) = (names(&equal), names(&unequal));
    (comparison.departures, comparison.more) = divergence::departures(&direct.both, &proof, &unequal);
    comparison.assumed = proof.assumed;
}

/// Combined model, with its pairs of outputs.
struct Joined {
    both: Combined,
    outputs: Vec<(ValueId, ValueId)>,
    rounded: RoundedWeights,
}

impl Joined {
    fn of(a: &Model, b: &Model) -> Self {
        let pairs = Pairs::of(a, b);
        let both = Combined::new(a, b, &pairs);
        let outputs = pairs.outputs.iter().map(|pair| (pair.a, both.second_value(pair.b))).collect();
        Joined { both, outputs, rounded: RoundedWeights::default() }
    }

    /// Treats weights that differ by rounding as equal.
    fn rounded(mut self) -> Self {
        self.rounded = RoundedWeights::unite(&mut self.both);
        self
    }

    fn proof(&self, rules: &RuleSet, rounds: bool) -> Option<Proof> {
        let operators = self.both.model.nodes.iter().map(|(_, node)| node.op_type.clone());
        let present: FxHashSet<Arc<str>> = operators.chain([Arc::from("Cast")]).collect();
        let rules = rules.within_reach(present, &[Phase::Simplify, Phase::Explore, Phase::Prove], None);
        let rules: Vec<&Rule> =
            rules.into_iter().filter(|rule| rule.safety != Safety::Unsafe && !rule.is_lint_only()).collect();
        prove(&self.both, &rules, rounds)
    }

    /// Returns true if the nodes of both models compute the same set of values, including unused nodes.
    fn covers(&self, proof: &Proof) -> bool {
        let model = &self.both.model;
        let made = |is_second: bool| -> FxHashSet<usize> {
            let nodes = model.graphs[model.main].nodes.iter();
            let nodes = nodes.filter(|&&node| self.both.is_second(node) == is_second);
            let outputs = nodes.flat_map(|&node| model.nodes[node].outputs.iter().flatten());
            outputs.filter_map(|output| proof.classes.get(output).copied()).collect()
        };
        made(false) == made(true)
    }

    fn proves(&self, proof: &Proof) -> bool {
        self.outputs.iter().all(|&(a, b)| proof.is_same(a, b))
    }
}

/// Returns true if a rule is exact without assumptions.
fn is_exact(rule: &Rule) -> bool {
    rule.safety == Safety::Exact && rule.assumptions.is_empty()
}

/// Simplifies a model by the given rules.
fn simplified(model: &Model, rules: &RuleSet) -> Model {
    fix::fix(model.clone(), &Options::default(), rules).model
}

/// Converts both models to the higher of their opsets, if possible by exact rules.
/// Returns the models, and the best equivalence that can still be proved.
///
/// # Errors
/// The reason why this is not possible.
fn aligned<F: FnOnce() -> RuleSet>(
    a: &Model,
    b: &Model,
    rules: &Rules<F>,
) -> Result<(Model, Model, Equivalence), String> {
    for (domain, own, other) in table::imports(a, b) {
        if let (Some(own), Some(other)) = (own, other)
            && own != other
            && !domain.is_empty()
            && table::uses(a, &domain)
            && table::uses(b, &domain)
        {
            return Err(format!("operators of `{domain}` have version {own} in a and {other} in b"));
        }
    }
    let (from, to) = (a.opset(a.main, ""), b.opset(b.main, ""));
    if from == to || from.is_none() || to.is_none() {
        return Ok((a.clone(), b.clone(), Equivalence::Same));
    }
    let highest = from.max(to);
    let mut refusal = Err(String::new());
    for computes in [Equivalence::Exactly, Equivalence::Rounded] {
        let rules = rules.that_show(computes);
        match (raised(a, highest, rules), raised(b, highest, rules)) {
            (Ok(a), Ok(b)) => return Ok((a, b, computes)),
            (Err(why), _) | (_, Err(why)) => {
                refusal = Err(format!("the models cannot be converted to one opset: {why}"));
            }
        }
    }
    refusal
}

/// Converts a model to its own or a higher opset.
fn raised(model: &Model, opset: Option<i64>, rules: &RuleSet) -> Result<Model, String> {
    if model.opset(model.main, "") == opset {
        return Ok(model.clone());
    }
    let options = Options { opset, optimize: false, selection: Selection::none(), ..Options::default() };
    let outcome = fix::fix(model.clone(), &options, rules);
    match outcome.findings.into_iter().next() {
        Some(finding) => Err(finding.message),
        None => Ok(outcome.model),
    }
}

/// Converts both models to the lower of their opsets, and optimizes them.
///
/// A decomposition often has a single form, where the fusion of the same operator has conditions. Returns `None` if the
/// opsets are equal, or if a conversion fails.
fn lowered(a: &Model, b: &Model, rules: &RuleSet) -> Option<(Model, Model)> {
    let (from, to) = (a.opset(a.main, "")?, b.opset(b.main, "")?);
    let options = Options { opset: Some(from.min(to)), ..Options::default() };
    let convert = |model: &Model| {
        let outcome = fix::fix(model.clone(), &options, rules);
        outcome.findings.is_empty().then_some(outcome.model)
    };
    if from == to { None } else { Some((convert(a)?, convert(b)?)) }
}
