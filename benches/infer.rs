//! Benchmarks of inference.

use onnx_lint::infer::{Options, infer};

use crate::models;

#[divan::bench(args = [1_000, 10_000, 100_000])]
fn chain(bencher: divan::Bencher, nodes: usize) {
    let model = models::chain(nodes);
    bencher.bench(|| infer(&model, Options::default()));
}

#[divan::bench(args = [10, 100, 1_000])]
fn transformer(bencher: divan::Bencher, layers: usize) {
    let model = models::transformer(layers);
    bencher.bench(|| infer(&model, Options::default()));
}

#[divan::bench(args = [1, 4, 16])]
fn nested_branches(bencher: divan::Bencher, depth: usize) {
    let model = models::nested_branches(depth);
    bencher.bench(|| infer(&model, Options::default()));
}

#[divan::bench(args = [1, 2, 4, 8])]
fn nested_loops(bencher: divan::Bencher, depth: usize) {
    let model = models::nested_loops(depth);
    bencher.bench(|| infer(&model, Options::default()));
}
