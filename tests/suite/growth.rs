//! Ten times as much of anything takes about ten times the time and memory. `tests/growth` runs this, optimised.

use std::fmt::Write;
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

/// The most that time and memory may grow when there is ten times as much.
const MOST: f64 = 12.0;

/// Less than this is lost in what everything costs.
const LEAST_SECONDS: f64 = 0.01;
const LEAST_BYTES: f64 = 1e6;

/// So much of something, as text.
type Made = fn(usize) -> String;

/// What is done to a model, and to a text.
type Done = fn(&Model, &RuleSet);
type DoneToText = fn(&str);

/// Shapes by which a model grows, with the smaller of their two sizes.
const MODELS: [(&str, usize, Made); 15] = [
    ("Transposes in a row", 1000, transposes),
    ("elementwise operators in a row", 1000, chain),
    ("forms to choose from in a row", 1000, choices),
    ("inputs of one Concat", 300, concat),
    ("uses of one value", 1000, fan),
    ("initializers", 1000, initializers),
    ("Constants", 1000, constants),
    ("outputs", 300, outputs),
    ("calls of one function", 100, calls),
    ("functions that call the one before", 20, called),
    ("functions that call the one before twice", 2, called_twice),
    ("Ifs in a row", 30, ifs),
    ("Ifs in each other", 3, nested_ifs),
    ("Loops in each other", 3, nested_loops),
    ("Scans in each other", 3, nested_scans),
];

fn model(interface: &str, nodes: &str) -> String {
    format!("<ir_version: 8, opset_import: [\"\" : 17, \"f\" : 1]>\ng {interface} {{\n{nodes}}}\n")
}

fn each(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(", ")
}

fn transposes(count: usize) -> String {
    let nodes = each(count, |at| {
        let perm = if at % 2 == 0 { "[1, 2, 0]" } else { "[0, 2, 1]" };
        format!("v{} = Transpose <perm = {perm}> (v{at})\n", at + 1)
    });
    model(&format!("(float[A,B,C] v0) => (v{count})"), &nodes)
}

fn chain(count: usize) -> String {
    let nodes = each(count, |at| {
        let call = ["Relu (", "Add (b, ", "Softmax (", "Mul (b, "][at % 4];
        format!("v{} = {call}v{at})\n", at + 1)
    });
    model(&format!("(float[n,4] v0, float[4] b) => (v{count})"), &nodes)
}

/// Each sum may be the bias of a Gemm, and nothing else needs what comes before it.
fn choices(count: usize) -> String {
    let nodes = each(count, |at| format!("p{at} = MatMul (v{at}, w)\nv{} = Add (p{at}, b)\n", at + 1));
    let weights = "float[2,2] w = {1, 2, 3, 4}, float[2] b = {1, 2}";
    model(&format!("(float[n,2] v0) => (v{count}) <{weights}>"), &nodes)
}

fn concat(count: usize) -> String {
    let inputs = list(count, |at| format!("float[N{at},4] x{at}"));
    let nodes = format!("y = Concat <axis = 0> ({})\nz = Relu (y)\n", list(count, |at| format!("x{at}")));
    model(&format!("({inputs}) => (z)"), &nodes)
}

fn fan(count: usize) -> String {
    let nodes = each(count, |at| format!("v{at} = Mul (x, b)\nw{at} = Add (v{at}, x)\n"));
    model(
        "(float[n,4] x, float[4] b) => (y)",
        &format!("{nodes}y = Sum ({})\n", list(count, |at| format!("w{at}"))),
    )
}

fn initializers(count: usize) -> String {
    let weights = list(count, |at| format!("float[2] w{at} = {{{at}, 1}}"));
    let nodes = each(count, |at| format!("v{} = Add (v{at}, w{at})\n", at + 1));
    model(&format!("(float[n,2] v0) => (v{count}) <{weights}>"), &nodes)
}

fn constants(count: usize) -> String {
    let nodes = each(count, |at| {
        format!(
            "c{at} = Constant <value = int64[2] {{-1, {}}}> ()\nv{} = Reshape (v{at}, c{at})\n",
            at % 7 + 1,
            at + 1
        )
    });
    model(&format!("(float[n,420] v0) => (v{count})"), &nodes)
}

fn outputs(count: usize) -> String {
    let nodes = each(count, |at| format!("y{at} = LeakyRelu <alpha = {at}.5> (x)\n"));
    model(&format!("(float[n,4] x) => ({})", list(count, |at| format!("y{at}"))), &nodes)
}

fn calls(count: usize) -> String {
    let nodes = each(count, |at| format!("v{} = f.F0 (v{at})\n", at + 1));
    model(&format!("(float[n,4] v0) => (v{count})"), &nodes) + &function(0, "t = Neg (a) b = Relu (t)")
}

fn function(number: usize, body: &str) -> String {
    format!("<domain: \"f\", opset_import: [\"\" : 17, \"f\" : 1]>\nF{number} (a) => (b) {{ {body} }}\n")
}

fn called(count: usize) -> String {
    let functions = each(count, |at| function(at + 1, &format!("t = f.F{at} (a) b = Relu (t)")));
    model("(float[n,4] x) => (y)", &format!("y = f.F{count} (x)\n"))
        + &function(0, "b = Neg (a)")
        + &functions
}

fn called_twice(count: usize) -> String {
    let functions = each(count, |at| function(at + 1, &format!("t = f.F{at} (a) b = f.F{at} (t)")));
    model("(float[n,4] x) => (y)", &format!("y = f.F{count} (x)\n"))
        + &function(0, "b = Neg (a)")
        + &functions
}

fn ifs(count: usize) -> String {
    let nodes = each(count, |at| {
        format!(
            "v{} = If (c) <then_branch = t{at} () => (p{at}) {{ p{at} = Relu (v{at}) }}, \
             else_branch = e{at} () => (q{at}) {{ q{at} = Neg (v{at}) }}>\n",
            at + 1
        )
    });
    model(&format!("(float[n,4] v0, bool c) => (v{count})"), &nodes)
}

/// `count` bodies in each other: `wrap` puts what it is given, which makes `k{level - 1}` of `OUTER`, into another.
fn nested(count: usize, wrap: impl Fn(usize, String) -> String) -> String {
    (1..=count).fold("k0 = Abs (OUTER)\n".to_owned(), |inner, level| wrap(level, inner)).replace("OUTER", "x")
}

fn nested_ifs(count: usize) -> String {
    let nodes = nested(count, |level, inner| {
        let inner = inner.replace("OUTER", &format!("a{level}"));
        format!(
            "a{level} = Relu (OUTER)\nk{level} = If (c) <then_branch = t{level} () => (k{}) {{ {inner} }}, \
             else_branch = e{level} () => (n{level}) {{ n{level} = Neg (a{level}) }}>\n",
            level - 1
        )
    });
    model(&format!("(float[n,4] x, bool c) => (k{count})"), &nodes)
}

fn nested_loops(count: usize) -> String {
    let nodes = nested(count, |level, inner| {
        let inner = inner.replace("OUTER", &format!("r{level}"));
        format!(
            "k{level} = Loop (m, , OUTER) <body = b{level} (int64 i{level}, bool g{level}, float[] s{level}) => \
             (h{level}, k{}) {{ h{level} = Identity (g{level}) r{level} = Concat <axis = 0> (s{level}, s{level}) {inner} }}>\n",
            level - 1
        )
    });
    model(&format!("(float[n,4] x, int64 m) => (k{count})"), &nodes)
}

fn nested_scans(count: usize) -> String {
    let nodes = nested(count, |level, inner| {
        let inner = inner.replace("OUTER", &format!("r{level}"));
        format!(
            "k{level}, l{level} = Scan <num_scan_inputs = 1, body = b{level} (float[n,4] s{level}, float[4] p{level}) => \
             (k{}, o{level}) {{ r{level} = Add (s{level}, p{level}) o{level} = Neg (p{level}) {inner} }}> (OUTER, x)\n",
            level - 1
        )
    });
    model(&format!("(float[n,4] x) => (k{count})"), &nodes)
}

fn parsed(text: &str) -> Model {
    let (model, findings) = read::text::read(text);
    assert_eq!(findings, [], "{text}");
    model.expect("a model")
}

/// What is done to a model.
const DONE: [(&str, Done); 4] = [
    ("read", |model, _| drop(read::onnx::read(Encodable::new(model).encode().into()))),
    ("lint", |model, _| drop(lint_model(model, &LintOptions::default()))),
    ("fix", |model, rules| drop(fix(model.clone(), &Options::default(), rules))),
    ("to 13", |model, rules| {
        drop(fix(model.clone(), &Options { opset: Some(13), ..Options::default() }, rules));
    }),
];

/// Evidence that is text, and what users write: with the smaller of two sizes, and what it is made of and for.
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
        std::fs::write(file.path(), text).expect("it can be written");
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

/// Seconds and bytes that something takes.
fn cost(work: impl Fn()) -> (f64, f64) {
    let measure = || {
        let meter = Meter::start();
        work();
        (meter.seconds(), meter.most_bytes() as f64)
    };
    // The best of three: what else runs on the machine makes it slower only.
    let runs: Vec<(f64, f64)> = (0..3).map(|_| measure()).collect();
    let least = |of: fn(&(f64, f64)) -> f64| runs.iter().map(of).fold(f64::INFINITY, f64::min);
    (least(|run| run.0), least(|run| run.1))
}

#[test]
#[ignore = "it takes an optimised build: tests/growth"]
fn growth() {
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
    println!("{}", table.text);
    assert!(table.exceeded.is_empty(), "more than {MOST} times:\n{}", table.exceeded.join("\n"));
}

struct Table {
    text: String,
    exceeded: Vec<String>,
}

impl Table {
    fn new() -> Table {
        let text = format!(
            "{:<42} {:>6} {:>6}  {:>9} {:>9} {:>6}  {:>8} {:>8} {:>6}\n",
            "ten times as many", "from", "", "ms", "ms", "times", "MB", "MB", "times"
        );
        Table { text, exceeded: Vec::new() }
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
        writeln!(self.text, "{line}").expect("a String takes all");
        if time > MOST || memory > MOST {
            self.exceeded.push(line);
        }
    }
}
