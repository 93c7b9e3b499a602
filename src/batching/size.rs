//! Dynamic sizes along which a model may combine elements, such as height, width or sequence length.
//!
//! Shape inference propagates a dynamic size through the model, but a Reshape may hard-code the traced size.
//! To find the traced size in the target shape, the input shape and the target shape are split, from the
//! left, into groups of axes with equal products. In a group with the dynamic size, exactly one target axis
//! must have a size other than 1. This axis gets the size of the input axes of the group at run time (0 or
//! -1). If that is not possible, the Reshape is unchanged, and a later check reports it.

use std::sync::Arc;

use crate::diag::rule_ids::DYNAMIC_AXIS;
use crate::edit::{At, Change, Item, Patch, PatchNode, PatchOp, Site};
use crate::graph::dim::{Dim, Symbol};
use crate::graph::{Model, NodeId, scopes};
use crate::infer::{Array, Facts};

/// Sizes that are substituted for all dynamic dimensions except the hard-coded one.
/// The sizes are large primes, which rarely divide a static dimension.
const PRIMES: [i64; 6] = [10_007, 10_009, 10_037, 10_039, 10_061, 10_067];

/// Returns a patch for each Reshape that hard-codes the dimension `symbol` as `traced`, where possible.
pub fn reshapes(model: &Model, facts: &Facts, symbol: &Symbol, traced: i64) -> Vec<Patch> {
    let graphs = scopes::live(model);
    let nodes = graphs.iter().flat_map(|&graph| &model.graphs[graph].nodes);
    nodes.filter_map(|&node| reshape(model, facts, node, symbol, traced)).collect()
}

/// Returns the patch of a Reshape; `None` if the Reshape hard-codes no size, or if no patch is found.
fn reshape(model: &Model, facts: &Facts, id: NodeId, symbol: &Symbol, traced: i64) -> Option<Patch> {
    let node = &model.nodes[id];
    if !node.is("Reshape") || node.attr("allowzero").is_some_and(|zero| zero.as_int() == Some(1)) {
        return None;
    }
    let dims: Vec<Dim> = facts[node.input(0)?].dims()?.iter().cloned().collect::<Option<_>>()?;
    if !dims.iter().any(|dim| dim.contains(symbol)) {
        return None;
    }
    let target = facts[node.input(1)?].as_const()?.as_i64s().ok()?;
    let new = mended(&dims, &target, symbol, traced)?;
    if traced == 1 || new == target {
        return None;
    }
    let mut patch = Patch::new(node.graph);
    patch.keeps_values = false;
    let code: Arc<str> = Arc::from(DYNAMIC_AXIS.code);
    let base = model.values[node.output(0)?].name.clone();
    let item = patch.new_value(base, Some(code.clone()));
    patch.constant(item, &Array::i64s(vec![new.len()], new).ok()?);
    patch.nodes.push(PatchNode {
        form: PatchOp::New { domain: Arc::from(""), op_type: node.op_type.clone(), attrs: Vec::new() },
        inputs: vec![node.input(0).map(Item::Old), Some(item)],
        outputs: node.outputs.iter().map(|output| output.map(Item::Old)).collect(),
        at: At::Origin,
        origin: vec![id],
        rule: Some(code),
    });
    patch.replaced.push(id);
    patch.changes.push(Change::new(
        DYNAMIC_AXIS,
        Site::Node(id),
        "hard-coded size removed from the target shape",
    ));
    Some(patch)
}

/// Returns the target shape with the size copied (0) or inferred (-1) instead of hard-coded.
/// Returns `None` if the axis with that size is not found in the target shape or cannot be 0 or -1.
fn mended(dims: &[Dim], target: &[i64], symbol: &Symbol, traced: i64) -> Option<Vec<i64>> {
    let mut others: Vec<Symbol> = Vec::new();
    let mut numbers = Vec::new();
    for dim in dims {
        for other in dim.symbols().filter(|other| *other != symbol) {
            if !others.contains(other) {
                others.push(other.clone());
            }
        }
    }
    let value = |one: &Symbol| match one == symbol {
        true => Some(traced),
        false => others.iter().position(|other| other == one).and_then(|at| PRIMES.get(at)).copied(),
    };
    for dim in dims {
        numbers.push(dim.eval(&value).filter(|&number| number > 0)?);
    }
    let total = numbers.iter().try_fold(1i64, |all, &number| all.checked_mul(number))?;
    let mut resolved: Vec<i64> = Vec::new();
    for (at, &number) in target.iter().enumerate() {
        resolved.push(if number == 0 { *numbers.get(at)? } else { number });
    }
    let rest =
        resolved.iter().filter(|&&number| number != -1).try_fold(1i64, |all, &n| all.checked_mul(n))?;
    let free = resolved.iter().position(|&number| number == -1);
    match free {
        Some(at) => resolved[at] = (rest > 0 && total % rest == 0).then(|| total / rest)?,
        None if rest != total => return None,
        None => {}
    }
    let mut new = target.to_vec();
    let (mut from, mut to) = (0, 0);
    let mut is_free_taken = false;
    let mut pending = Vec::new();
    while from < dims.len() || to < resolved.len() {
        let (start, begin) = (from, to);
        let (mut a, mut b) = (1i64, 1i64);
        if from < dims.len() {
            a = numbers[from];
            from += 1;
        }
        if to < resolved.len() {
            b = resolved[to];
            to += 1;
        }
        while a != b {
            if a < b && from < dims.len() {
                a = a.checked_mul(numbers[from])?;
                from += 1;
            } else if b < a && to < resolved.len() {
                b = b.checked_mul(resolved[to])?;
                to += 1;
            } else {
                return None;
            }
        }
        let is_sized = dims[start..from].iter().any(|dim| dim.contains(symbol));
        let has_free = free.is_some_and(|at| (begin..to).contains(&at));
        if !is_sized {
            continue;
        }
        // Only one axis of the group may have a size other than 1.
        let mut large = (begin..to).filter(|&at| resolved[at] != 1);
        let (Some(at), None) = (large.next(), large.next()) else { return None };
        if from - start == 1 && start == at {
            new[at] = 0;
        } else if has_free && free == Some(at) {
            is_free_taken = true;
        } else if has_free {
            return None;
        } else {
            pending.push(at);
        }
    }
    match (pending.as_slice(), free) {
        ([], _) => Some(new),
        ([at], None) => {
            new[*at] = -1;
            Some(new)
        }
        // Only one axis can be -1: replace the existing -1 by its static size, or by 0 to copy the input axis.
        ([at], Some(free)) if !is_free_taken => {
            let same = numbers.get(free) == Some(&resolved[free]) && new[free] == -1;
            let is_number = !PRIMES.iter().any(|prime| resolved[free] % prime == 0);
            match (is_number, same) {
                (true, _) => new[free] = resolved[free],
                (false, true) => new[free] = 0,
                (false, false) => return None,
            }
            new[*at] = -1;
            Some(new)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dims: &[&str], target: &[i64], traced: i64) -> Option<Vec<i64>> {
        let dims: Vec<Dim> = dims.iter().map(|dim| Dim::parse(dim)).collect();
        mended(&dims, target, &Symbol::size("S"), traced)
    }

    #[test]
    fn an_axis_at_the_same_position_is_copied_from_the_input() {
        assert_eq!(check(&["1", "S", "64"], &[1, 7, 4, 16], 7), Some(vec![1, 0, 4, 16]));
        assert_eq!(check(&["N", "S", "64"], &[-1, 7, 4, 16], 7), Some(vec![-1, 0, 4, 16]));
        assert_eq!(check(&["S", "7"], &[7, 7], 7), Some(vec![0, 7]));
    }

    #[test]
    fn a_merged_axis_is_inferred() {
        assert_eq!(check(&["2", "3", "S", "5"], &[2, 3, 35], 7), Some(vec![2, 3, -1]));
        assert_eq!(check(&["2", "S", "16"], &[14, 16], 7), Some(vec![-1, 16]));
    }

    #[test]
    fn a_split_axis_is_not_rewritten() {
        assert_eq!(check(&["1", "S", "4"], &[1, 2, 4, 4], 8), None);
        assert_eq!(check(&["S", "4"], &[4, 8], 8), None);
    }
}
