//! Benchmarks of text readers: ONNX models, TorchScript graphs, and exporter logs.

use onnx_lint::export_log;
use onnx_lint::read::{text, torchscript};
use onnx_lint::source::SourceFiles;

use crate::models;

#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 10)]
fn onnx_text(bencher: divan::Bencher, nodes: usize) {
    let model = models::chain_text(nodes);
    bencher.bench(|| text::read(&model));
}

#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 10)]
fn torchscript_graph(bencher: divan::Bencher, nodes: usize) {
    let graph = models::torchscript(nodes);
    bencher.bench(|| torchscript::read(&graph));
}

#[divan::bench(args = [100, 1_000, 10_000], sample_count = 10)]
fn log(bencher: divan::Bencher, warnings: usize) {
    let log = models::export_log(warnings);
    let sources = SourceFiles::default();
    bencher.bench(|| export_log::read(&log, "export.log", &sources));
}
