//! Benchmarks of linting with all built-in rules.

use std::sync::LazyLock;

use onnx_lint::lint::{LintOptions, lint_model};

use crate::models;

static OPTIONS: LazyLock<LintOptions> = LazyLock::new(models::lint_options);

#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 10)]
fn chain(bencher: divan::Bencher, nodes: usize) {
    let model = models::chain(nodes);
    bencher.bench(|| lint_model(&model, &OPTIONS));
}

#[divan::bench(args = [10, 100, 1_000], sample_count = 10)]
fn transformer(bencher: divan::Bencher, layers: usize) {
    let model = models::transformer(layers);
    bencher.bench(|| lint_model(&model, &OPTIONS));
}

#[divan::bench(args = [1, 4, 16], sample_count = 10)]
fn nested_branches(bencher: divan::Bencher, depth: usize) {
    let model = models::nested_branches(depth);
    bencher.bench(|| lint_model(&model, &OPTIONS));
}
