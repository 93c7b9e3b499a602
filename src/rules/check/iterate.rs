//! `fold` and comprehensions in a rewrite.

use super::expr;
use super::rewrite::Checker;
use crate::rules::expr::Each;
use crate::rules::rule::{Count, EachTerm, FoldTerm, Term};
use crate::rules::syntax::ast::{EachAst, FoldAst, ValueAst};

impl Checker<'_, '_, '_, '_> {
    /// Checks a fold, such as `fold sum = x for @i in list: Add (sum, @i)`.
    pub(super) fn fold(&mut self, fold: &FoldAst) -> Option<(Term, Count)> {
        let (initial, count) = self.value(&fold.initial)?;
        let names = self.scope.names();
        let var = self.scope.add(&fold.name.text, count, None, fold.name.span);
        let each = self.each_term(&fold.each);
        self.scope.restore(names);
        Some((Term::Fold(Box::new(FoldTerm { initial, var, each: each? })), count))
    }

    /// Checks a comprehension, such as `[Relu (x) for @i, x in xs]`.
    pub(super) fn each(&mut self, each: &EachAst<ValueAst>) -> Option<(Term, Count)> {
        Some((Term::Each(Box::new(self.each_term(each)?)), Count::Many))
    }

    /// Checks a value that is evaluated for each item.
    fn each_term(&mut self, each: &EachAst<ValueAst>) -> Option<EachTerm> {
        let names = self.scope.names();
        let over: Each = expr::each(each, self.scope, self.faults)?;
        let start = (self.nodes.len(), self.scope.values().len() - self.bound, self.lets.len());
        let body = self.value(&each.body);
        let end = (self.nodes.len(), self.scope.values().len() - self.bound, self.lets.len());
        self.scope.restore(names);
        let (term, _) = body?;
        let (nodes, fresh, lets) = (start.0..end.0, start.1..end.1, start.2..end.2);
        Some(EachTerm { term, each: over, nodes, fresh, lets })
    }
}
