//! Small files that once took unbounded time or memory.
//! The tests check that time and memory are limited.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use cpu_time::ThreadTime;
use onnx_lint::export_log;
use onnx_lint::fix::{Options, Outcome, fix};
use onnx_lint::lint::{LintOptions, lint_model};
use onnx_lint::python;
use onnx_lint::read;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::source::SourceFiles;

use crate::tool::{SOUND, Sandbox};

/// Limit of the CPU time of a test.
/// The faults that these tests guard against took minutes, or did not end.
const LONG: Duration = Duration::from_secs(30);

#[track_caller]
fn fixed(text: &str, opset: Option<i64>) -> Outcome {
    let start = ThreadTime::now();
    let (model, findings) = read::text::read(text);
    assert_eq!(findings, [], "the model of the test is invalid");
    let model = model.expect("a model");
    lint_model(&model, &LintOptions { rules: Arc::default(), ..LintOptions::default() });
    let outcome = fix(model, &Options { opset, ..Options::default() }, &RuleSet::patterns());
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
    outcome
}

fn nodes(outcome: &Outcome) -> usize {
    outcome.report.nodes.after
}

/// Returns a model with a chain of functions, each of which calls the previous one `calls` times.
/// `first` is the body of the first function.
fn chain(depth: usize, calls: usize, first: &str) -> String {
    let mut text = format!(
        "<ir_version: 8, opset_import: [\"\" : 17, \"f\" : 1]> g (float[N] x) => (y) {{ y = f.F{depth} (x) }}\n\
         <domain: \"f\", opset_import: [\"\" : 17]> F0 (a) => (b) {{ {first} }}\n"
    );
    for at in 1..=depth {
        let below = at - 1;
        let calls: String = (1..=calls)
            .map(|call| {
                let (from, to) = (if call == 1 { "a" } else { "t" }, if call == calls { "b" } else { "t" });
                format!("{to} = f.F{below} ({from}) ")
            })
            .collect();
        writeln!(text, "<domain: \"f\", opset_import: [\"\" : 17, \"f\" : 1]> F{at} (a) => (b) {{ {calls}}}")
            .expect("a String accepts all text");
    }
    text
}

#[test]
fn nested_function_calls_are_bounded() {
    let twice = chain(40, 2, "b = Neg (a)");
    assert!(fixed(&twice, None).findings.is_empty());
    let refused = fixed(&twice, Some(13));
    assert!(
        refused.findings[0].message.ends_with("inlining them would produce more than 65536 nodes"),
        "{:?}",
        refused.findings
    );
    let sizes = "n = NonZero (a) c = Cast <to = 1> (n) b = ReduceSum <keepdims = 0> (c)";
    let limits = fixed(&chain(40, 2, sizes), None).report.limits;
    assert_eq!(limits, ["shape inference stopped before it reached all calls and subgraphs"]);
    assert_eq!(nodes(&fixed(&chain(1_000, 1, "b = Neg (a)"), Some(13))), 1);
}

#[test]
fn long_scan_is_not_folded_beyond_the_budget() {
    let scan = |columns: usize| {
        format!(
            "<ir_version: 8, opset_import: [\"\" : 17]> g () => (float[?,?] y)
            <int64[2] d = {{60000, 1}}, float[1] i = {{0}}, int64[1] w = {{{columns}}}> {{
                z = ConstantOfShape (d)
                s, y = Scan <num_scan_inputs = 1, body = b (float[1] p, float[1] r) => (float[1] q, float[k] t) {{
                    q = Identity (p) t = Expand (r, w)
                }}> (i, z)
            }}"
        )
    };
    let kept = fixed(&scan(2_000), None);
    assert!(onnx_lint::write::text::write(&kept.model).contains("Scan"), "a result of 480 MB was folded");
    assert!(!onnx_lint::write::text::write(&fixed(&scan(1), None).model).contains("Scan"));
}

/// Inference of a Scan gets the shape of its state from its subgraph.
/// If the subgraph were inferred twice at every nesting level, the cost would be exponential.
#[test]
fn nested_scans_are_inferred_in_linear_time() {
    let nested = (1..=30).fold("k0 = Abs (OUTER)".to_owned(), |inner, level| {
        let inner = inner.replace("OUTER", &format!("r{level}"));
        format!(
            "k{level}, l{level} = Scan <num_scan_inputs = 1, body = b{level} (float[n,4] s{level}, float[4] p{level}) =>
            (k{}, o{level}) {{ r{level} = Add (s{level}, p{level}) o{level} = Neg (p{level}) {inner} }}> (OUTER, x)",
            level - 1
        )
    });
    let graph = format!("g (float[n,4] x) => (k30) {{ {} }}", nested.replace("OUTER", "x"));
    let outcome = fixed(&format!("<ir_version: 8, opset_import: [\"\" : 17]> {graph}"), None);
    assert!(outcome.looked_at < 2_000, "{} nodes were looked at", outcome.looked_at);
}

#[test]
fn chains_of_transposes_are_bounded() {
    // Adjacent swaps cancel; apart from these, no two tensors of the chain have the same order of axes.
    let orders = ["[1, 0, 2, 3, 4, 5, 6, 7]", "[1, 2, 3, 4, 5, 6, 7, 0]"];
    let mut text = "<ir_version: 8, opset_import: [\"\" : 17]>
        g (float[A,B,C,D,E,F,G,H] t0) => (float[?,?,?,?,?,?,?,?] t100) {\n"
        .to_owned();
    for at in 0..100 {
        let perm = orders[usize::from(at % 3 == 0 || at % 7 == 0)];
        writeln!(text, "t{} = Transpose <perm = {perm}> (t{at})", at + 1).expect("a String accepts all text");
    }
    assert!(nodes(&fixed(&(text + "}"), None)) <= 1);
}

#[test]
fn many_branches_are_bounded() {
    let mut text =
        "<ir_version: 8, opset_import: [\"\" : 17]> g (bool c, float[N] t0) => (float[?] t500) {\n"
            .to_owned();
    for at in 0..500 {
        let next = at + 1;
        writeln!(
            text,
            "t{next} = If (c) <then_branch = a () => (p{at}) {{ p{at} = Neg (t{at}) }},
                else_branch = b () => (q{at}) {{ q{at} = Abs (t{at}) }}>"
        )
        .expect("a String accepts all text");
    }
    assert_eq!(nodes(&fixed(&(text + "}"), None)), 1_500);
}

#[test]
fn empty_logs_and_long_words_are_bounded() {
    let start = ThreadTime::now();
    assert_eq!(export_log::read(&"\n".repeat(2_000_000), "x.log", &SourceFiles::default()), []);
    let settings = format!("select = [\"{}\"]", "A".repeat(3_000_000));
    let sandbox = Sandbox::new(&[("onnx-lint.toml", &settings), ("net.onnxtxt", SOUND)]);
    let ran = sandbox.lint(&["net.onnxtxt"]);
    assert_eq!(ran.status, 2);
    assert!(
        ran.stderr.contains("there is no rule `AAAA") && ran.stderr.len() < 1_000,
        "{}",
        ran.stderr.len()
    );
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

#[test]
fn empty_python_file_has_no_findings() {
    let sandbox = Sandbox::new(&[("__init__.py", ""), ("empty.onnx", "")]);
    assert_eq!(sandbox.lint(&["__init__.py"]).status, 0);
    assert!(sandbox.lint(&["empty.onnx"]).stdout.contains("SPC001"));
}

#[test]
fn deeply_nested_expressions_are_bounded() {
    let head = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return ";
    for (open, close) in
        [("not ", ""), ("-", ""), ("(", ")"), ("[", "]"), ("f(", ")"), ("x and (", ")"), ("x if x else ", "")]
    {
        let text = format!("{head}{}x{}\n", open.repeat(5_000), close.repeat(5_000));
        python::lint(&text, "net.py", &SourceFiles::default());
    }
}

/// A model is inferred once, and a change only infers the affected nodes again.
#[test]
fn inference_is_incremental() {
    let header = "<ir_version: 10, opset_import: [\"\" : 21]>";
    let branches = |count: usize| -> String {
        let branch = |at: usize| {
            format!(
                "v{} = If (c) <then_branch = y{at} () => (p{at}) {{ a{at} = Identity (v{at}) p{at} = Relu (a{at}) }}, \
                 else_branch = n{at} () => (q{at}) {{ b{at} = Identity (v{at}) q{at} = Neg (b{at}) }}>\n",
                at + 1
            )
        };
        (0..count).map(branch).collect()
    };
    let row = format!("{header} g (float[N] v0, bool c) => (v1000) {{ {} }}", branches(1_000));
    let outcome = fixed(&row, None);
    assert_eq!((nodes(&outcome), outcome.report.nodes.before), (3_000, 5_000));
    // Each node is inferred once; afterwards, only the rewritten branches and their `If` are inferred again.
    assert!(outcome.looked_at < 10_000, "{} nodes were looked at", outcome.looked_at);

    let nested = (0..12).fold("k0 = Identity (x)".to_owned(), |inner, at| {
        let chain: String =
            (0..50).map(|node| format!("a{at}_{} = Relu (a{at}_{node}) ", node + 1)).collect();
        format!(
            "a{at}_0 = Identity (x) {chain} k{} = If (c) <then_branch = y{at} () => (k{at}) {{ {inner} }}, \
             else_branch = n{at} () => (n{at}) {{ i{at} = Identity (a{at}_50) n{at} = Neg (i{at}) }}>",
            at + 1
        )
    });
    let outcome = fixed(&format!("{header} g (float[N] x, bool c) => (k12) {{ {nested} }}"), None);
    let before = outcome.report.nodes.before;
    assert!(outcome.looked_at < 3 * before, "{} of {before} nodes were looked at", outcome.looked_at);
}
