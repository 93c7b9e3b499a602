//! Tests that time and memory grow linearly with the size of the input.
//! `tests/growth` runs this test with an optimized build.

use std::path::Path;

use onnx_lint::cli::lint::baseline::Baseline;
use onnx_lint::diag::Selection;
use onnx_lint::fix::{Options, fix};
use onnx_lint::graph::Model;
use onnx_lint::lint::{LintOptions, lint_model};
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::source::SourceFiles;
use onnx_lint::write::onnx::Encodable;
use onnx_lint::{export_log, python, read};

use crate::bytes::meter::Meter;

mod shapes;

use shapes::{MODELS, each, list};

/// Maximum growth of time and memory when the input is ten times as large.
const MOST: f64 = 12.0;

/// Minimum costs to assume for the smaller input, because lower measured costs are mostly overhead.
const LEAST_SECONDS: f64 = 0.01;
const LEAST_BYTES: f64 = 1e6;

/// Generator of a text of a given size.
pub type Made = fn(usize) -> String;

/// Operation on a model.
type Done = fn(&Model, &RuleSet);
type DoneToText = fn(&str);

fn parsed(text: &str) -> Model {
    let (model, findings) = read::text::read(text);
    assert_eq!(findings, [], "{text}");
    model.expect("a model")
}

/// Operations on models.
const DONE: [(&str, Done); 4] = [
    ("read", |model, _| drop(read::onnx::read(Encodable::new(model).encode().into()))),
    ("lint", |model, _| drop(lint_model(model, &LintOptions::default()))),
    ("fix", |model, rules| drop(fix(model.clone(), &Options::default(), rules))),
    ("to 13", |model, rules| {
        drop(fix(model.clone(), &Options { opset: Some(13), ..Options::default() }, rules));
    }),
];

/// Text files, each with the smaller of two sizes, its generator, and the operation on it.
const TEXTS: [(&str, usize, Made, DoneToText); 5] = [
    ("lines of a log", 300, log, |text| drop(export_log::read(text, "export.log", &SourceFiles::default()))),
    ("nodes of TorchScript", 1000, torchscript, |text| drop(read::torchscript::read(text))),
    ("methods of Python", 100, python, |text| drop(python::lint(text, "net.py", &SourceFiles::default()))),
    ("selected codes", 1000, selected, |text| {
        let words: Vec<String> = text.lines().map(str::to_owned).collect();
        let selection = Selection::new(words, Vec::new());
        assert!((0..1000).all(|code| selection.contains(&format!("EXP{code}"))));
    }),
    ("entries of a baseline", 3000, baseline, |text| {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("the file is writable");
        Baseline::read(file.path() as &Path).expect("a baseline").remove_known(&mut Vec::new());
    }),
];

fn log(count: usize) -> String {
    each(count, |at| {
        format!(
            "/app/net.py:{}: TracerWarning: Converting a tensor to a Python boolean might cause the trace to be incorrect. \
             We can't record the data flow of Python values, so this value will be treated as a constant in the future. \
             This means that the trace might not generalize to other inputs!\n  if x.sum() > {at}:\n",
            at + 1
        )
    })
}

fn torchscript(count: usize) -> String {
    let nodes = each(count, |at| {
        let scope = format!("scope: net.Net::/net.Layer::layer{} # /app/net.py:{}:0", at / 10, at % 500 + 1);
        format!("  %{} : Float(2, 8, strides=[8, 1]) = aten::relu(%{at}), {scope}\n", at + 1)
    });
    format!("graph(%0 : Float(2, 8, strides=[8, 1])):\n{nodes}  return (%{count})\n")
}

fn python(count: usize) -> String {
    let methods = each(count, |at| {
        format!(
            "    def step{at}(self, x):\n        n = x.shape[0]\n        if x.sum() > {at}:\n            x = x.view(n, -1)\n        return x\n\n"
        )
    });
    let calls = each(count, |at| format!("        x = self.step{at}(x)\n"));
    format!(
        "import torch\n\n\nclass Net(torch.nn.Module):\n{methods}    def forward(self, x):\n{calls}        return x\n"
    )
}

fn selected(count: usize) -> String {
    each(count, |at| format!("EXP{at}\n"))
}

fn baseline(count: usize) -> String {
    let entry = |at: usize| {
        format!(
            "{{\"file\": \"net.onnx\", \"code\": \"EXP001\", \"fingerprint\": \"{at:016x}\", \"message\": \"\"}}"
        )
    };
    format!("{{\"version\": 2, \"findings\": [{}]}}", list(count, entry))
}

/// Returns the CPU seconds and peak bytes of an operation.
fn cost(work: impl Fn()) -> (f64, f64) {
    let measure = || {
        let meter = Meter::start();
        work();
        (meter.seconds(), meter.most_bytes() as f64)
    };
    // The minimum of three runs: other load of the machine only adds time.
    let runs: Vec<(f64, f64)> = (0..3).map(|_| measure()).collect();
    let least = |of: fn(&(f64, f64)) -> f64| runs.iter().map(of).fold(f64::INFINITY, f64::min);
    (least(|run| run.0), least(|run| run.1))
}

#[test]
#[ignore = "needs an optimized build: run tests/growth"]
fn time_and_memory_grow_linearly() {
    let rules = RuleSet::patterns();
    let mut table = Table::new();
    for (shape, size, text) in MODELS {
        let (small, large) = (parsed(&text(size)), parsed(&text(10 * size)));
        for (what, work) in DONE {
            table.add(shape, size, what, cost(|| work(&small, &rules)), cost(|| work(&large, &rules)));
        }
    }
    for (shape, size, text, work) in TEXTS {
        let (small, large) = (text(size), text(10 * size));
        table.add(shape, size, "read", cost(|| work(&small)), cost(|| work(&large)));
    }
    assert!(table.exceeded.is_empty(), "growth above {MOST} times:\n{}", table.exceeded.join("\n"));
}

struct Table {
    exceeded: Vec<String>,
}

impl Table {
    fn new() -> Table {
        println!(
            "{:<42} {:>6} {:>6}  {:>9} {:>9} {:>6}  {:>8} {:>8} {:>6}",
            "input", "size", "", "ms", "ms", "times", "MB", "MB", "times"
        );
        Table { exceeded: Vec::new() }
    }

    fn add(&mut self, shape: &str, size: usize, what: &str, small: (f64, f64), large: (f64, f64)) {
        let time = large.0 / small.0.max(LEAST_SECONDS);
        let memory = large.1 / small.1.max(LEAST_BYTES);
        let line = format!(
            "{shape:<42} {size:>6} {what:>6}  {:>9.1} {:>9.1} {time:>6.1}  {:>8.1} {:>8.1} {memory:>6.1}",
            small.0 * 1e3,
            large.0 * 1e3,
            small.1 / 1e6,
            large.1 / 1e6
        );
        println!("{line}");
        if time > MOST || memory > MOST {
            self.exceeded.push(line);
        }
    }
}
