//! Advice about refused nodes: changes of their arguments after which a rule lowers them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::dim::Symbol;
use crate::graph::uses::Uses;
use crate::graph::{ElemType, GraphId, Model, NodeId, ValueId};
use crate::infer::{Fact, Facts, Shape};
use crate::rules::matcher;
use crate::rules::plain::PlainHost;
use crate::rules::plan::patch;
use crate::rules::rule::{Direction, Rule};

/// Advice to cast the operands.
const CAST: &str = "cast the operands to another dtype, such as `x.float()`, before the call";

/// Advice to make sizes static.
const STATIC: &str =
    "export the program with static sizes for these axes, or supply a lowering rule with `--rules`";

/// A refused node, with the rules for its operator.
pub struct Refused<'m> {
    pub model: &'m Model,
    pub graph: GraphId,
    pub facts: &'m Facts,
    pub uses: &'m Uses,
    pub rules: &'m [(&'m Rule, &'m Direction)],
    pub node: NodeId,
    /// Sizes during the trace, by the name of the symbol.
    pub traced: &'m FxHashMap<Arc<str>, i64>,
}

impl Refused<'_> {
    /// Returns advice after which a rule lowers the node; `None` if no advice is known to help.
    pub fn advice(&self) -> Option<&'static str> {
        let is_lowered_as_float = |elem: ElemType| self.is_lowered(|fact| with_elem(fact, elem));
        if self.elems().into_iter().any(is_lowered_as_float) {
            return Some(CAST);
        }
        let sizes = self.sizes();
        (!sizes.is_empty() && self.is_lowered(|fact| with_sizes(fact, &sizes))).then_some(STATIC)
    }

    /// Returns the operands and results of the node.
    fn values(&self) -> impl Iterator<Item = ValueId> {
        let node = &self.model.nodes[self.node];
        node.inputs.iter().chain(&node.outputs).flatten().copied()
    }

    /// Returns the numeric dtypes of the operands, except float32.
    fn elems(&self) -> Vec<ElemType> {
        let inputs = self.model.nodes[self.node].inputs.iter().flatten();
        let elems = inputs.filter_map(|&input| self.facts[input].elem());
        let mut elems: Vec<ElemType> =
            elems.filter(|elem| *elem != ElemType::Float && (elem.is_float() || elem.is_integer())).collect();
        elems.sort_by_key(|elem| elem.number());
        elems.dedup();
        elems
    }

    /// Returns a size for each symbol of the operands and results.
    ///
    /// This is the size during the trace, if recorded, or a distinct size in the range of the symbol.
    fn sizes(&self) -> BTreeMap<Symbol, i64> {
        let facts = self.values().map(|value| &self.facts[value]);
        let sizes = facts.filter_map(Fact::dims).flatten().flatten();
        let mut found: BTreeMap<Symbol, i64> =
            sizes.flat_map(|size| size.symbols()).map(|symbol| (symbol.clone(), 0)).collect();
        for (index, (symbol, size)) in (0..).zip(&mut found) {
            let range = self.facts.bounds.of(symbol);
            let guess = || [5 + 2 * index, 4, 3, 2].into_iter().find(|&n| range.contains(n)).unwrap_or(1);
            *size = self.traced.get(symbol.name()).copied().unwrap_or_else(guess);
        }
        found
    }

    /// Returns true if a rule lowers the node once its operands and results have other facts.
    fn is_lowered(&self, change: impl Fn(&Fact) -> Option<Fact>) -> bool {
        let changed = self.values().filter_map(|value| Some((value, change(&self.facts[value])?)));
        let facts = self.facts.clone().replaced(changed);
        let mut host = PlainHost::new(self.model, self.graph, &facts, self.uses);
        host.lowers = true;
        self.rules.iter().any(|&(rule, direction)| {
            let matches = matcher::find_at(&host, direction, self.node);
            matches.into_iter().any(|one| patch(&host, rule, direction, one).is_some())
        })
    }
}

/// Returns the fact of a tensor after a cast to float32 if the tensor has the given dtype.
fn with_elem(fact: &Fact, elem: ElemType) -> Option<Fact> {
    (fact.elem() == Some(elem))
        .then(|| Fact::tensor(Some(ElemType::Float), fact.shape().cloned().unwrap_or_default()))
}

/// Returns the fact of a tensor whose symbols have the given sizes; `None` if it has no symbols.
fn with_sizes(fact: &Fact, sizes: &BTreeMap<Symbol, i64>) -> Option<Fact> {
    let dims = fact.dims()?;
    dims.iter().flatten().find(|dim| dim.as_const().is_none())?;
    let number = |symbol: &Symbol| sizes.get(symbol).copied();
    let dims: Option<Vec<i64>> = dims.iter().map(|dim| dim.as_ref()?.eval(&number)).collect();
    Some(Fact::tensor(fact.elem(), Shape::known(&dims?)))
}
