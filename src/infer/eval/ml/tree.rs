//! Ensembles of decision trees.

use super::tree_table::{Forest, Next, Test};
use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Aggregation of the leaves of all trees into one number per target.
#[derive(Clone, Copy, PartialEq)]
enum Aggregate {
    Average,
    Sum,
    Min,
    Max,
}

impl Aggregate {
    fn add(self, total: &mut Option<f64>, weight: f64) {
        *total = Some(match (*total, self) {
            (None, _) => weight,
            (Some(total), Aggregate::Min) => total.min(weight),
            (Some(total), Aggregate::Max) => total.max(weight),
            (Some(total), _) => total + weight,
        });
    }
}

/// Computes `TreeEnsemble` (version 5); `post_transform` is not supported.
pub(super) fn tree_ensemble(cx: &Cx) -> Result<Array> {
    let aggregate = match cx.int("aggregate_function", 1) {
        0 => Aggregate::Average,
        1 => Aggregate::Sum,
        2 => Aggregate::Min,
        3 => Aggregate::Max,
        _ => return bad("unknown aggregate function"),
    };
    // Corner cases of softmax, logistic and similar transforms are unspecified.
    if cx.int("post_transform", 0) != 0 {
        return Err(Refusal::Unsupported);
    }
    predict(cx, &Forest::of_version_5(cx)?, aggregate, &[], cx.tensor(0)?.elem())
}

/// Computes `TreeEnsembleRegressor`; `post_transform` is not supported.
pub(super) fn tree_ensemble_regressor(cx: &Cx) -> Result<Array> {
    let aggregate = match cx.text("aggregate_function", "SUM").as_str() {
        "AVERAGE" => Aggregate::Average,
        "SUM" => Aggregate::Sum,
        "MIN" => Aggregate::Min,
        "MAX" => Aggregate::Max,
        _ => return bad("unknown aggregate function"),
    };
    if cx.text("post_transform", "NONE") != "NONE" {
        return Err(Refusal::Unsupported);
    }
    let base = match cx.array_attr("base_values_as_tensor") {
        Some(base) => base.f64s()?,
        None => cx.floats("base_values").unwrap_or_default(),
    };
    predict(cx, &Forest::of_version_3(cx)?, aggregate, &base, ElemType::Float)
}

fn predict(cx: &Cx, forest: &Forest, aggregate: Aggregate, base: &[f64], elem: ElemType) -> Result<Array> {
    let x = cx.tensor(0)?;
    let &[rows, features] = x.shape() else { return bad("the input must be a matrix") };
    let targets = forest.targets;
    if !base.is_empty() && base.len() != targets || !forest.reads_only(features) {
        return bad("the base values or the features of the input do not match the trees");
    }
    cx.room(&[rows, targets])?;
    cx.work(&[rows, forest.roots.len(), forest.nodes.len().max(1)])?;
    let values = x.f64s()?;
    let mut y = Vec::with_capacity(rows * targets);
    for row in 0..rows {
        let row = &values[row * features..(row + 1) * features];
        let mut totals = vec![None; targets];
        for &root in &forest.roots {
            for &(target, weight) in walk(forest, root, row)? {
                aggregate.add(&mut totals[target], weight);
            }
        }
        y.extend(totals.iter().enumerate().map(|(target, total)| {
            let total = total.unwrap_or(0.0);
            let shared = if aggregate == Aggregate::Average { forest.roots.len() as f64 } else { 1.0 };
            total / shared + base.get(target).copied().unwrap_or(0.0)
        }));
    }
    Array::from_f64s(elem, vec![rows, targets], y)
}

/// Returns the targets and weights of the leaf that a row reaches.
fn walk<'a>(forest: &'a Forest, root: Next, row: &[f64]) -> Result<&'a [(usize, f64)]> {
    let mut next = root;
    // A path with more steps than there are nodes contains a cycle.
    for _ in 0..=forest.nodes.len() {
        let at = match next {
            Next::Leaf(leaf) => return Ok(&forest.leaves[leaf]),
            Next::Node(at) => at,
        };
        let node = &forest.nodes[at];
        let x = row[node.feature];
        let goes = match &node.test {
            _ if x.is_nan() => node.missing_is_true,
            Test::LessOrEqual(split) => x <= *split,
            Test::Less(split) => x < *split,
            Test::GreaterOrEqual(split) => x >= *split,
            Test::Greater(split) => x > *split,
            Test::Equal(split) => x == *split,
            Test::NotEqual(split) => x != *split,
            Test::Member(members) => members.contains(&x),
        };
        next = if goes { node.on_true } else { node.on_false };
    }
    bad("a tree contains a cycle")
}
