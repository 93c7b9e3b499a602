//! Benchmarks of `fix`: fixes, e-graph and extraction, and conversion to an older opset.

use std::sync::LazyLock;

use onnx_lint::fix::{Options, fix};
use onnx_lint::graph::Model;
use onnx_lint::rules::registry::RuleSet;

use crate::models;

static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::patterns);

fn run(bencher: divan::Bencher, model: &Model, opset: Option<i64>) {
    let options = Options { opset, ..Options::default() };
    // Count node inferences per run, which measures incremental inference.
    let looked_at = fix(model.clone(), &options, &RULES).looked_at;
    let counter = divan::counter::ItemsCount::new(looked_at);
    bencher.counter(counter).bench(|| fix(model.clone(), &options, &RULES));
}

#[divan::bench(args = [1_000, 10_000], sample_count = 5)]
fn chain(bencher: divan::Bencher, nodes: usize) {
    run(bencher, &models::chain(nodes), None);
}

#[divan::bench(args = [1, 10, 100], sample_count = 5)]
fn transformer(bencher: divan::Bencher, layers: usize) {
    run(bencher, &models::transformer(layers), None);
}

#[divan::bench(args = [1, 10, 100], sample_count = 5)]
fn transformer_to_opset_13(bencher: divan::Bencher, layers: usize) {
    run(bencher, &models::transformer(layers), Some(13));
}

#[divan::bench(args = [1, 4, 16], sample_count = 5)]
fn nested_branches(bencher: divan::Bencher, depth: usize) {
    run(bencher, &models::nested_branches(depth), None);
}

#[divan::bench(args = [10, 100, 1_000], sample_count = 5)]
fn branches_in_a_row(bencher: divan::Bencher, count: usize) {
    run(bencher, &models::branches_in_a_row(count), None);
}
