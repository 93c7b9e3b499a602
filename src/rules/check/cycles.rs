//! Checks that a rewrite does not compute a value from itself, directly or through other terms.

use rustc_hash::FxHashSet;

use super::Faults;
use crate::diag::Finding;
use crate::graph::syntax::ast::Name;
use crate::rules::expr::Over;
use crate::rules::rule::{EachTerm, Pattern, Rewrite, Term, VarId};
use crate::rules::syntax::ast::Statement;

fn made_from_itself(faults: &Faults, name: &Name) -> Finding {
    faults.at(name.span, format!("the rewrite computes `{}` from itself", name.text))
}

/// Reports every pattern value that the rewrite computes from itself.
pub fn check(rewrite: &Rewrite, pattern: &Pattern, statements: &[Statement], faults: &mut Faults) {
    for (output, term) in &rewrite.outputs {
        let mut reached = FxHashSet::default();
        reach(rewrite, pattern, term, &mut reached);
        let name = &pattern.values[usize::from(output.0)].name;
        let mut made = statements.iter().flat_map(Statement::targets).map(|target| &target.name);
        if reached.contains(output)
            && let Some(place) = made.find(|made| made.text == *name)
        {
            faults.push(made_from_itself(faults, place));
        }
    }
}

/// Collects the values that a term depends on.
fn reach(rewrite: &Rewrite, pattern: &Pattern, term: &Term, reached: &mut FxHashSet<VarId>) {
    match term {
        Term::Absent | Term::Literal(_) => {}
        Term::Var(var) => {
            if !reached.insert(*var) {
                return;
            }
            let at = usize::from(var.0);
            let made = match at.checked_sub(pattern.values.len()) {
                Some(fresh) => rewrite.fresh.get(fresh).and_then(|fresh| fresh.term.as_ref()),
                None => rewrite.outputs.iter().find(|(output, _)| output == var).map(|(_, term)| term),
            };
            made.into_iter().for_each(|term| reach(rewrite, pattern, term, reached));
        }
        Term::Output { node, .. } | Term::Outputs { node, .. } => {
            let inputs = rewrite.nodes.get(usize::from(*node)).into_iter().flat_map(|node| &node.inputs);
            inputs.for_each(|input| reach(rewrite, pattern, input, reached));
        }
        Term::Case(arms) => arms.iter().for_each(|arm| reach(rewrite, pattern, &arm.term, reached)),
        Term::Each(each) => reach_each(rewrite, pattern, each, reached),
        Term::Fold(fold) => {
            reach(rewrite, pattern, &fold.initial, reached);
            reach_each(rewrite, pattern, &fold.each, reached);
        }
    }
}

fn reach_each(rewrite: &Rewrite, pattern: &Pattern, each: &EachTerm, reached: &mut FxHashSet<VarId>) {
    reach(rewrite, pattern, &each.term, reached);
    // A comprehension that inspects only facts of its items does not depend on their values.
    if let Over::Values { item, values } = each.each.over
        && reached.contains(&item)
    {
        reach(rewrite, pattern, &Term::Var(values), reached);
    }
}
