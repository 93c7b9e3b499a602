//! Command-line behavior of `onnx-fix`: output, refusals, exit status.

use crate::tool::{CLUMSY, FAULTY, SOUND, Sandbox, check};

fn sandbox() -> Sandbox {
    Sandbox::new(&[("sound.onnxtxt", SOUND), ("clumsy.onnxtxt", CLUMSY), ("faulty.onnxtxt", FAULTY)])
}

#[test]
fn no_file_is_written_without_an_output_option() {
    let sandbox = sandbox();
    let before = sandbox.files();
    check(&sandbox.fix(&["clumsy.onnxtxt"]), 2, "--in-place");
    check(&sandbox.fix(&["clumsy.onnxtxt", "--check"]), 1, "3 → 1 nodes");
    check(&sandbox.fix(&["sound.onnxtxt", "--check"]), 0, "nothing to change");
    check(&sandbox.fix(&["clumsy.onnxtxt", "--in-place", "-o", "x.onnx"]), 2, "cannot be used with");
    check(&sandbox.fix(&["-", "--in-place"]), 2, "standard input cannot be replaced");
    check(&sandbox.fix(&["missing.onnx", "--check"]), 2, "missing.onnx: cannot be read");
    check(&sandbox.fix(&["clumsy.onnxtxt", "--check", "--select", "nope"]), 2, "there is no rule `nope`");
    check(&sandbox.fix(&["clumsy.onnxtxt", "--check", "--dynamic", "x=n"]), 2, "write INPUT:AXIS=NAME");
    check(&sandbox.fix(&["clumsy.onnxtxt", "--check", "--fix-shape", "x=a"]), 2, "`a` is not a size");
    assert_eq!(sandbox.files(), before);
    assert_eq!(sandbox.read("clumsy.onnxtxt"), CLUMSY.as_bytes());
}

/// A conversion may use rules that are not selected, but never ignored ones.
#[test]
fn conversion_that_needs_an_ignored_rule_fails() {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
                main (float[A] x) => (float[A] y) {\n  y = Celu <alpha = 2.0> (x)\n}\n";
    let sandbox = Sandbox::new(&[("celu.onnxtxt", text)]);
    let convert =
        |how: &[&str]| sandbox.fix(&[&["celu.onnxtxt", "--opset", "11", "-o", "out.onnxtxt"], how].concat());
    check(&convert(&["--ignore", "DEC035"]), 1, "rules of this conversion are ignored: DEC035");
    assert!(!sandbox.path("out.onnxtxt").exists());
    check(&convert(&["--select", "none"]), 0, "");
}

#[test]
fn diff_shows_exactly_the_changes() {
    let sandbox = sandbox();
    let ran = sandbox.fix(&["clumsy.onnxtxt", "--diff"]);
    assert_eq!(ran.status, 0);
    let changed: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---"))
        .collect();
    let expected = [
        "-  t = Transpose <perm = [1, 0]> (x)",
        "-  u = Transpose <perm = [1, 0]> (t)",
        "-  y = Relu (u)",
        "+  y = Relu (x)",
    ];
    assert_eq!(changed, expected, "{}", ran.stdout);
    assert_eq!(sandbox.fix(&["clumsy.onnxtxt", "--diff", "--check"]).status, 1);
    let ran = sandbox.fix(&["sound.onnxtxt", "--diff", "--check"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
}

#[test]
fn unchanged_model_is_copied_byte_for_byte() {
    let sandbox = sandbox();
    let copy = ["sound.onnxtxt", "--no-optimize", "--select", "none", "-o", "copy.onnxtxt"];
    check(&sandbox.fix(&copy), 0, "");
    assert_eq!(sandbox.read("copy.onnxtxt"), SOUND.as_bytes());
}

#[test]
fn output_format_follows_the_file_name() {
    let sandbox = sandbox();
    for form in ["onnx", "textproto", "json", "onnxtxt"] {
        let name = format!("out.{form}");
        check(&sandbox.fix(&["clumsy.onnxtxt", "-o", &name]), 0, "1 nodes");
        let back = format!("back.{form}.onnx");
        check(&sandbox.fix(&[&name, "-o", &back]), 0, "nothing to change");
        assert_eq!(sandbox.read(&back), sandbox.read("back.onnx.onnx"), "{form}");
        if form == "onnx" {
            assert_eq!(sandbox.read("out.onnx"), sandbox.read(&back));
        }
    }
    let to_stdout = sandbox.fix(&["clumsy.onnxtxt", "-o", "-"]);
    assert!(to_stdout.stdout.contains("Relu (x)"), "{}", to_stdout.stdout);
}

#[test]
fn in_place_replaces_the_file_and_writes_a_report() {
    let sandbox = sandbox();
    let ran = sandbox.fix(&["clumsy.onnxtxt", "--in-place", "--report", "report.json"]);
    check(&ran, 0, "clumsy.onnxtxt: ");
    assert!(String::from_utf8_lossy(&sandbox.read("clumsy.onnxtxt")).contains("y = Relu (x)"));
    let report: serde_json::Value = serde_json::from_slice(&sandbox.read("report.json")).expect("JSON");
    assert_eq!(report["opset"], serde_json::json!({ "from": 17, "to": 17 }));
    assert_eq!(report["nodes"], serde_json::json!({ "before": 3, "after": 1 }));
    // The cost of two Transposes, according to `rules/COSTS.md`.
    let saved = report["changes"].as_array().into_iter().flatten().filter_map(|one| one["saved"].as_i64());
    assert_eq!(saved.sum::<i64>(), 2 * (100 + 20));
    assert_eq!(sandbox.files(), ["clumsy.onnxtxt", "faulty.onnxtxt", "report.json", "sound.onnxtxt"]);
}

#[test]
fn external_data_is_written_beside_the_model_and_copied_with_it() {
    let numbers = vec!["1"; 600].join(",");
    let model = format!(
        "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[600] x) => (float[600] y)\n\
         <float[600] w = {{{numbers}}}> {{\n  y = Add (x, w)\n}}\n"
    );
    let sandbox = Sandbox::new(&[("net.onnxtxt", &model)]);
    check(&sandbox.fix(&["net.onnxtxt", "-o", "net.onnx", "--save-as-external-data"]), 0, "");
    assert_eq!(sandbox.files(), ["net.onnx", "net.onnx.data", "net.onnxtxt"]);
    assert_eq!(sandbox.read("net.onnx.data"), [1.0f32.to_le_bytes(); 600].concat());

    std::fs::create_dir(sandbox.path("out")).expect("a folder");
    check(&sandbox.fix(&["net.onnx", "-o", "out/other.onnx"]), 0, "");
    assert_eq!(sandbox.read("out/net.onnx.data"), sandbox.read("net.onnx.data"));
    assert_eq!(sandbox.read("out/other.onnx"), sandbox.read("net.onnx"));

    sandbox.write("out/net.onnx.data", "something else");
    check(&sandbox.fix(&["net.onnx", "-o", "out/other.onnx"]), 2, "exists already");
    let threshold =
        ["net.onnxtxt", "-o", "small.onnx", "--save-as-external-data", "--size-threshold", "4096"];
    check(&sandbox.fix(&threshold), 0, "");
    assert!(!sandbox.path("small.onnx.data").exists());
}

#[test]
fn quiet_run_prints_only_errors() {
    let sandbox = sandbox();
    let ran = sandbox.fix(&["clumsy.onnxtxt", "-q", "-o", "x.onnxtxt"]);
    assert_eq!((ran.status, &*ran.stderr, &*ran.stdout), (0, "", ""), "{ran:?}");
    assert!(sandbox.path("x.onnxtxt").exists());
    check(&sandbox.fix(&["clumsy.onnxtxt", "-q", "--check"]), 1, "");
    check(&sandbox.fix(&["missing.onnx", "-q", "--check"]), 2, "missing.onnx: cannot be read");
}

#[test]
fn summary_counts_nodes_and_changes() {
    let sandbox = sandbox();
    check(&sandbox.fix(&["clumsy.onnxtxt", "--check"]), 1, "  fewer: 2 Transpose\n");
    check(&sandbox.fix(&["clumsy.onnxtxt", "--check"]), 1, "3 → 1 nodes");
    let pinned = ["sound.onnxtxt", "--check", "--fix-shape", "x=2,4"];
    check(&sandbox.fix(&pinned), 1, "sound.onnxtxt: declared types and shapes changed\n");
}

#[test]
fn explain_rewrite_prints_the_chain_of_rules() {
    let sandbox = Sandbox::new(&[("norm.onnxtxt", NORM)]);
    let before = sandbox.files();
    let ran = sandbox.fix(&["norm.onnxtxt", "--explain-rewrite", "y", "--explain-rewrite", "moved"]);
    check(&ran, 0, "`Add` replaced with `LayerNormalization`");
    crate::tool::snapshot("rewrites", "norm", &ran.stdout);
    let ran = sandbox.fix(&["norm.onnxtxt", "--opset", "9", "--explain-rewrite", "x"]);
    assert_eq!(ran.stdout, "`x` is unchanged\n");
    let unknown = sandbox.fix(&["norm.onnxtxt", "--explain-rewrite", "moves", "--report", "r.json"]);
    check(&unknown, 2, "did you mean `moved`?");
    assert_eq!(sandbox.files(), before);
}

const NORM: &str = "<ir_version: 8, opset_import: [\"\" : 17]>
main (float[A,B,8] x, float[8] scale, float[8] bias) => (float[A,B,8] y) {
  two = Constant <value = float {2}> ()
  zero = Constant <value = float {0}> ()
  tiny = Constant <value = float {0.001}> ()
  moved = Add (x, zero)
  mean = ReduceMean <axes = [-1]> (moved)
  d = Sub (moved, mean)
  dd = Pow (d, two)
  variance = ReduceMean <axes = [-1]> (dd)
  above = Add (variance, tiny)
  deviation = Sqrt (above)
  n = Div (d, deviation)
  s = Mul (n, scale)
  y = Add (s, bias)
}
";

/// A file that cannot be read is not reported as correct.
#[test]
fn missing_external_data_is_reported() {
    let sandbox = sandbox();
    let numbers = vec!["1"; 600].join(",");
    let model = format!(
        "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[600] x) => (float[600] y)\n\
         <float[600] w = {{{numbers}}}> {{\n  y = Add (x, w)\n}}\n"
    );
    sandbox.write("net.onnxtxt", model);
    check(&sandbox.fix(&["net.onnxtxt", "-o", "net.onnx", "--save-as-external-data"]), 0, "");
    std::fs::remove_file(sandbox.path("net.onnx.data")).expect("the file exists");
    let before = sandbox.read("net.onnx");
    check(&sandbox.fix(&["net.onnx", "--in-place"]), 2, "net.onnx.data");
    assert_eq!(sandbox.read("net.onnx"), before);
}

#[test]
fn several_models_are_written_to_the_output_directory() {
    let sandbox = sandbox();
    let ran = sandbox.fix(&["clumsy.onnxtxt", "sound.onnxtxt", "--output-dir", "out", "--jobs", "2"]);
    check(&ran, 0, "3 → 1 nodes");
    let (first, second) =
        (ran.stderr.find("clumsy.onnxtxt:"), ran.stderr.find("sound.onnxtxt: nothing to change"));
    assert!(second.is_some() && first < second, "not in order: {}", ran.stderr);
    assert!(String::from_utf8_lossy(&sandbox.read("out/clumsy.onnxtxt")).contains("Relu (x)"));
    assert_eq!(sandbox.fix(&["out/clumsy.onnxtxt", "out/sound.onnxtxt", "--check"]).status, 0);
    check(
        &sandbox.fix(&["clumsy.onnxtxt", "missing.onnx", "--output-dir", "more"]),
        2,
        "missing.onnx: cannot be read",
    );
    assert_eq!(sandbox.read("more/clumsy.onnxtxt"), sandbox.read("out/clumsy.onnxtxt"));
    let before = sandbox.files();
    check(&sandbox.fix(&["clumsy.onnxtxt", "sound.onnxtxt", "-o", "x.onnx"]), 2, "--output-dir");
    check(
        &sandbox.fix(&["clumsy.onnxtxt", "sound.onnxtxt", "--check", "--report", "x"]),
        2,
        "--report takes one model",
    );
    check(
        &sandbox.fix(&["clumsy.onnxtxt", "out/clumsy.onnxtxt", "--output-dir", "x"]),
        2,
        "several results would be written to this file",
    );
    check(&sandbox.fix(&["-", "--output-dir", "x"]), 2, "standard input has no name");
    check(
        &sandbox.fix(&["clumsy.onnxtxt", "--check", "--guess", "batch"]),
        2,
        "write NAME=SIZE, as in batch=8",
    );
    assert_eq!(sandbox.files(), before);
}

#[test]
fn report_is_written_to_standard_output() {
    let sandbox = sandbox();
    let before = sandbox.files();
    let ran = sandbox.fix(&["clumsy.onnxtxt", "--report", "-"]);
    check(&ran, 0, "3 → 1 nodes");
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a report is JSON");
    assert_eq!(report["nodes"]["after"], 1);
    check(&sandbox.fix(&["clumsy.onnxtxt", "-o", "-", "--report", "-"]), 2, "both write to standard output");
    assert_eq!(sandbox.files(), before, "a file named `-` was written");
}

/// The rule scales an operand of MatMul instead of its result.
#[test]
fn latency_is_estimated_with_guessed_dimensions() {
    let rules = "language 3\n## An operand of a product is scaled instead of its result.\nrule ZZZ001 scaled-later {\n  severity hint  phase explore  safety rounding\n  \
                 message \"`{y}`\"\n  match { y = Mul (MatMul (x, w), s) }\n  where { numel(s) == 1 }\n  \
                 rewrite { y = MatMul (Mul (x, s), w) }\n  \
                 example \"fires\" { g (float[M,2] x, float[2,3] w, float[1] s) => (float[M,3] y) { t = MatMul (x, w)  y = Mul (t, s) } } equivalent\n  \
                 but \"many scales\" with \"float[1] s\" as \"float[3] s\" no_match\n}\n";
    let model = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
                 g (float[8,N] x, float[N,4096] w, float[1] s) => (float[8,4096] y) { t = MatMul (x, w)  y = Mul (t, s) }\n";
    let sandbox = Sandbox::new(&[("rules/zzz.rule", rules), ("model.onnxtxt", model)]);
    let written = |more: &[&str]| {
        let arguments = [&["model.onnxtxt", "--rules", "rules", "-o", "out.onnxtxt"], more].concat();
        check(&sandbox.fix(&arguments), 0, "");
        String::from_utf8_lossy(&sandbox.read("out.onnxtxt")).into_owned()
    };
    let is_first = |text: &str, op: &str| {
        let at = |op: &str| text.find(&format!("= {op} (")).expect("the node exists");
        at(op) == at("Mul").min(at("MatMul"))
    };
    assert!(is_first(&written(&[]), "MatMul"), "the original is kept for equal node counts");
    assert!(is_first(&written(&["--optimize-for", "size"]), "MatMul"));
    assert!(
        is_first(&written(&["--optimize-for", "latency"]), "Mul"),
        "scaling 16 columns is cheaper than 4,096"
    );
    assert!(is_first(&written(&["--optimize-for", "latency", "--guess", "N=100000"]), "MatMul"));
}

/// Declared types speed up loading, but must not make the file larger.
#[test]
fn latency_declares_inferred_types_unless_the_file_grows() {
    let text = |nodes: &str| {
        format!(
            "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[N,4] x) => (float[N,4] y) {{ {nodes} }}\n"
        )
    };
    let longer = "a_long_name = Identity (x)  r = Relu (a_long_name)  s = Exp (r)  another_long_name = Identity (s)  \
                  y = Tanh (another_long_name)";
    let files = [("longer.onnxtxt", text(longer)), ("least.onnxtxt", text("r = Relu (x)  y = Exp (r)"))];
    let sandbox = Sandbox::new(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
    let declares = |name: &str, more: &[&str]| {
        let arguments = [&[name, "-o", "out.onnxtxt"], more].concat();
        check(&sandbox.fix(&arguments), 0, "");
        String::from_utf8_lossy(&sandbox.read("out.onnxtxt")).contains("float[N,4] r")
    };
    let latency = ["--optimize-for", "latency"];
    assert!(declares("longer.onnxtxt", &latency));
    assert!(!declares("longer.onnxtxt", &[]));
    assert!(!declares("longer.onnxtxt", &["--optimize-for", "latency", "--no-optimize"]));
    assert!(!declares("least.onnxtxt", &latency));
}

/// Rules of a user that introduce a custom operator, an operator of ONNX Runtime, and a decomposition.
const DEVICE: &str = r#"language 3
defaults { severity hint  phase explore  safety rounding }

## A Swish of the device.
rule ZZZ001 unfused-swish {
  message "`{y}`"
  match { y = Mul (x, Sigmoid (x)) }
  rewrite { y = com.acme.AcmeSwish <mode = "fast", axes = [1, 2]> (x) }
  example "swish" { g (float[A] x) => (float[A] y) { s = Sigmoid (x)  y = Mul (x, s) } } rewrites_to { y = com.acme.AcmeSwish <mode = "fast", axes = [1, 2]> (x) }
  but "another product" with "(x, s)" as "(s, s)" no_match
}

## A QuickGelu.
rule ZZZ002 unfused-quick-gelu {
  message "`{y}`"
  match { y = Mul (x, Sigmoid (Mul (x, 1.702))) }
  rewrite { y = com.microsoft.QuickGelu <alpha = 1.702> (x) }
  example "quick" { g (float[A] x) => (float[A] y) <float a = {1.702}> { m = Mul (x, a)  s = Sigmoid (m)  y = Mul (x, s) } } rewrites_to { y = com.microsoft.QuickGelu <alpha = 1.702> (x) }
  but "another product" with "(x, s)" as "(s, s)" no_match
}

## A HardSwish that the device lacks.
rule ZZZ003 hardswish-on-device {
  phase simplify
  message "`{y}`"
  match { y = HardSwish (x) }
  rewrite { y = Mul (x, HardSigmoid <alpha = 0.16666667, beta = 0.5> (x)) }
  example "it is decomposed" { g (float[A] x) => (float[A] y) { y = HardSwish (x) } } equivalent
  but "another operator" with "HardSwish" as "Relu" no_match
}
"#;

#[test]
fn rules_for_a_device_take_precedence_and_import_their_domains() {
    let model = |nodes: &str| {
        format!("<ir_version: 10, opset_import: [\"\" : 21]>\ng (float[N] x) => (float[N] y) {{ {nodes} }}\n")
    };
    let by_cost = DEVICE.replace("  phase simplify\n", "").replace("rounding }", "unsafe }");
    let sandbox = Sandbox::new(&[
        ("rules/device.rule", DEVICE),
        ("other/device.rule", &DEVICE.replace("  phase simplify\n", "")),
        ("unsafe/device.rule", &by_cost),
        ("swish.onnxtxt", &model("s = Sigmoid (x)  y = Mul (x, s)")),
        ("hard.onnxtxt", &model("y = HardSwish (x)")),
    ]);
    let fixed = |model: &str, rules: &str| {
        let ran = sandbox.fix(&[model, "--rules", rules, "-o", "out.onnxtxt"]);
        check(&ran, 0, "");
        (String::from_utf8_lossy(&sandbox.read("out.onnxtxt")).into_owned(), ran.stderr)
    };
    let (swish, _) = fixed("swish.onnxtxt", "rules");
    assert!(swish.contains("\"com.acme\" : 1") && swish.contains("com.acme.AcmeSwish <"), "{swish}");
    let (hard, _) = fixed("hard.onnxtxt", "rules");
    assert!(hard.contains("HardSigmoid") && !hard.contains("HardSwish"), "{hard}");
    let (_, said) = fixed("hard.onnxtxt", "other");
    assert!(
        said.contains("note: rule ZZZ003 hardswish-on-device matches, but was not applied: an equivalent"),
        "{said}"
    );
    let (_, said) = fixed("hard.onnxtxt", "unsafe");
    assert!(said.contains("note: rule ZZZ003 hardswish-on-device matches, but is unsafe"), "{said}");
    let tested = sandbox.lint(&["--test-rules", "rules"]);
    assert!(tested.status == 0 && tested.stdout.starts_with("6 of 6 examples"), "{tested:?}");
}

#[cfg(unix)]
#[test]
fn closed_standard_error_is_no_panic() {
    let sandbox = Sandbox::new(&[("net.onnxtxt", CLUMSY)]);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_onnx-fix"))
        .args(["net.onnxtxt", "-o", "out.onnx"])
        .current_dir(sandbox.path("."))
        .stderr(writer)
        .status()
        .expect("a process");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn model_without_ai_onnx_has_no_opset_to_convert() {
    let model = "<ir_version: 8, opset_import: [\"ai.onnx.ml\" : 2]>\n\
        g (float[N,2] x) => (float[N,2] y) { y = ai.onnx.ml.Scaler <offset = [0.0], scale = [2.0]> (x) }\n";
    let sandbox = Sandbox::new(&[("a.onnxtxt", model)]);
    let ran = sandbox.fix(&["a.onnxtxt", "--opset", "13", "-o", "b.onnx"]);
    let note = "note: the model does not import ai.onnx: there is no opset to convert\n";
    assert!(ran.status == 0 && format!("{}{}", ran.stdout, ran.stderr).contains(note), "{ran:?}");
    assert_eq!(sandbox.files(), ["a.onnxtxt", "b.onnx"]);
}
