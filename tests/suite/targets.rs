//! `--target` of `onnx-lint` and `onnx-fix`: findings for unsupported nodes, and rewrites.

use std::sync::Arc;

use onnx_lint::diag::render::{Format, Look, Run, render};
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::Rule;
use onnx_lint::schema;
use onnx_lint::targets::Targets;

use crate::tool::{Ran, Sandbox};

/// A target that uses many features of the language.
const TOY: &str = r#"# A fictional device.
target toy {
  title "Toy NPU"
  alias tn
  version 1.9 {
    documented "its old manual" on "2024-01-31" { opset ..=13 }
  }
  version 2.1 {
    measured "in the device" on "2026-11-22" {
      opset 7..=18  ir ..=9
      domain com.microsoft
      op Relu, Sigmoid@6
      op HardSigmoid where { dtype(X) == float }
      not op Concat where { @axis != 0  all([dtype(x) for x in inputs], float) }
    }
    documented "its manual" on "2026-11-22" {
      needs static except axis 0
      op Concat, Mul
      op Conv where { rank(X) == 4 and @group == 1 and is_const(W) }
      op Conv where { rank(X) == 3 }
      not op NonZero because "is not supported: its output size depends on data"
      nothing else
    }
  }
}
"#;

/// Returns the rendered findings for a target file.
fn rendered(text: &str) -> String {
    let findings = Targets::default().add_text("my.target", text);
    let files = [Arc::from("my.target")];
    render(Run { files: &files, findings: &findings, pages: &[], models: &[] }, Format::Full, Look::default())
}

fn snapshot(folder: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("{}/snapshots/{folder}", env!("CARGO_MANIFEST_DIR")));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn built_in_targets_have_no_faults() {
    assert_eq!(Targets::faults(), []);
    let targets = Targets::default().list();
    assert!(targets.iter().any(|target| &*target.name == "onnxruntime"));
    for target in &targets {
        for name in target.aliases.iter().chain([&target.name]) {
            let newest = Targets::default().find(name).expect("the target exists");
            assert_eq!(Some(&newest.version), target.versions.last().map(|profile| &profile.version));
        }
    }
}

#[test]
fn faults_of_target_files_are_reported_at_their_positions() {
    assert_eq!(Targets::default().add_text("my.target", TOY), []);
    let check = |name: &str, right: &str, wrong: &str| {
        assert!(TOY.contains(right), "{name}: the target has no {right:?}");
        snapshot("bad_targets", name, &rendered(&TOY.replacen(right, wrong, 1)));
    };
    check("no-target", "target toy", "rule toy");
    check("no-title", "  title \"Toy NPU\"\n", "");
    check("entry-unknown", "alias tn", "allias tn");
    check("version-number", "version 1.9", "version new");
    check("version-twice", "version 1.9", "version 2.1");
    check("known-how", "measured \"in", "mesured \"in");
    check("known-where", "measured \"in the device\"", "measured");
    check("known-when", "on \"2026-11-22\"", "");
    check("known-day", "2024-01-31", "31.1.2024");
    check("fact-unknown", "op Relu", "opp Relu");
    check("not-what", "not op NonZero", "not NonZero");
    check("nothing-what", "nothing else", "nothing more");
    check("domain-what", "domain com.microsoft", "domain 1");
    check("needs-what", "needs static", "needs dynamic");
    check("needs-axis", "except axis 0", "except 0");
    check("range-empty", "7..=18", "18..=7");
    check("range-syntax", "7..=18", "7-18");
    check("op-unknown", "Sigmoid@6", "Sigmoyd@6");
    check("op-epoch", "Sigmoid@6", "Sigmoid@5");
    check("where-value", "rank(X) == 4", "rank(x) == 4");
    check("where-attribute", "@group", "@groups");
    check("where-condition", "rank(X) == 4 and @group == 1", "rank(X)");
    check("where-open", "where { rank(X) == 3 }", "where { rank(X) == 3");
    check("because-what", "because \"is not", "because is not \"");
    check("not-closed", "      nothing else\n    }\n  }\n}\n", "      nothing else\n");
    let two = format!("{TOY}\ntarget other {{ title \"Other\" }}\n");
    snapshot("bad_targets", "two-targets", &rendered(&two));
    snapshot("bad_targets", "says-nothing", &rendered("target other { title \"Other\" }\n"));
}

/// A model with supported and unsupported nodes of the toy target, and nodes of unknown support.
const MIXED: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,3,8,M] x, float[4,3,1,1] w, double[2] d) => (float[N,8,8,M] y, double[2] e) {\n  \
    a = Relu (x)\n  b = Conv (a, w)\n  c = Relu (b)\n  y = Concat <axis = 1> (c, c)\n  e = HardSigmoid (d)\n}\n";

fn sandbox(model: &str) -> Sandbox {
    Sandbox::new(&[("targets/toy.target", TOY), ("model.onnxtxt", model)])
}

fn lint(sandbox: &Sandbox, target: &str) -> Ran {
    sandbox.lint(&[
        "model.onnxtxt",
        "--targets",
        "targets",
        "--target",
        target,
        "--select",
        "OPS005",
        "--severity",
        "info",
    ])
}

#[test]
fn unsupported_nodes_of_a_target_are_reported() {
    let ran = lint(&sandbox(MIXED), "toy");
    assert_eq!(ran.status, 1);
    snapshot("targets", "mixed", &ran.stdout);
    let ran = lint(&sandbox(MIXED), "tn=1.9");
    assert_eq!(ran.status, 1);
    snapshot("targets", "versions-only", &ran.stdout);
}

#[test]
fn unsupported_node_pattern_is_rewritten() {
    let line =
        "not match { y = Mul@7 (x, Mul@7 (Sigmoid@6 (a), c)) } where { is_const(c) } because \"is too deep\"";
    let target = TOY.replace("op Relu, Sigmoid@6", &format!("op Relu, Sigmoid@6\n{line}"));
    let model = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
        main (float[2] x, float[2] a) => (float[2] y, float[2] z) <float c = {0.5}> {\n  s = Sigmoid (a)\n  \
        h = Mul (s, c)\n  y = Mul (h, x)\n  z = Mul (s, x)\n}\n";
    let sandbox = Sandbox::new(&[("targets/toy.target", &target), ("model.onnxtxt", model)]);
    let ran = lint(&sandbox, "toy");
    assert_eq!(
        ran.stdout.matches("does not support this `Mul`: it is too deep").count(),
        1,
        "{}",
        ran.stdout
    );
    let ran = fix(&sandbox, &["--target", "toy"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    sandbox.write("model.onnxtxt", sandbox.read("out.onnxtxt"));
    assert_eq!(lint(&sandbox, "toy").status, 0);
    // Without a reason, the message shows the pattern.
    sandbox.write("targets/toy.target", target.replace(" because \"is too deep\"", ""));
    sandbox.write("model.onnxtxt", model);
    let message = "it is not supported as the last node of { y = Mul@7 (x, Mul@7 (Sigmoid@6 (a), c)) }";
    assert!(lint(&sandbox, "toy").stdout.contains(message));
}

#[test]
fn faults_of_patterns_are_reported_at_their_positions() {
    let line = "not match { y = Mul@7 (x, Erf@9 (x)) } where { rank(x) == 2 }";
    let check = |name: &str, right: &str, wrong: &str| {
        let text = TOY.replace("op Relu, Sigmoid@6", &line.replacen(right, wrong, 1));
        snapshot("bad_targets", name, &rendered(&text));
    };
    check("pattern-operator", "Erf@9", "Erv");
    check("pattern-condition", "rank(x)", "rank(X)");
    check("pattern-empty", "y = Mul@7 (x, Erf@9 (x))", "");
}

#[test]
fn undecided_conditions_mean_unknown_support() {
    let model = MIXED.replace("float[N,3,8,M] x", "float x").replace("[N,8,8,M] y", " y");
    let ran = lint(&sandbox(&model), "toy");
    snapshot("targets", "undecided", &ran.stdout);
}

#[test]
fn subgraphs_are_checked_with_their_node() {
    let model = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
        main (bool c, float[2] x) => (float[2] y) {\n  r = Relu (x)\n  y = If (c) <\n    \
        then_branch = yes () => (t) { t = Softplus (r) },\n    else_branch = no () => (s) { s = Relu (r) }\n  >\n}\n";
    let target = TOY.replace("op Concat, Mul", "op Concat, Mul, If");
    let sandbox = Sandbox::new(&[("targets/toy.target", &target), ("model.onnxtxt", model)]);
    snapshot("targets", "body", &lint(&sandbox, "toy").stdout);
}

#[test]
fn calls_of_unsupported_nodes_split_the_graph() {
    // The calls nest: the main graph calls `outer` in a branch, and `outer` calls `inner`.
    let model = "<ir_version: 9, opset_import: [\"\" : 17, \"l\" : 1]>\n\
        main (bool c, float[2] x) => (float[2] y) {\n  r = Relu (x)\n  i = If (c) <\n    \
        then_branch = yes () => (t) { t = l.outer (r) },\n    else_branch = no () => (s) { s = Relu (r) }\n  >\n  \
        y = Relu (i)\n}\n\
        <domain: \"l\", opset_import: [\"\" : 17, \"l\" : 1]>\nouter (a) => (b) { b = l.inner (a) }\n\
        <domain: \"l\", opset_import: [\"\" : 17]>\ninner (a) => (b) { b = Softplus (a) }\n";
    let target = TOY.replace("op Concat, Mul", "op Concat, Mul, If");
    let sandbox = Sandbox::new(&[("targets/toy.target", &target), ("model.onnxtxt", model)]);
    let ran = lint(&sandbox, "toy");
    assert!(ran.stdout.contains("Toy NPU 2.1 runs this graph in 2 partitions"), "{ran:?}");
}

#[test]
fn targets_are_found_by_name_and_version() {
    let sandbox = sandbox(MIXED);
    for (target, expected) in [
        ("toyy", "unknown target `toyy`; did you mean `toy`?"),
        ("xyz", "unknown target `xyz`; --list-targets lists the known ones"),
        ("toy=new", "`new` is not a version of Toy NPU; expected a number such as 2.1"),
        ("coreml=abc", "target `coreml` has no versions: use it without `=abc`"),
        ("coreml=1.2", "target `coreml` has no versions: use it without `=1.2`"),
    ] {
        let ran = lint(&sandbox, target);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    let listed = sandbox.lint(&["--targets", "targets", "--list-targets"]);
    assert!(
        listed.stdout.contains("toy          2.1     nodes          measured, documented  Toy NPU\n"),
        "{}",
        listed.stdout
    );
    assert!(
        sandbox
            .lint(&["--targets", "nowhere", "--target", "toy"])
            .stderr
            .contains("the folder has no .target file")
    );
    sandbox.write("targets/bad.target", "target bad {");
    let ran = sandbox.lint(&["--targets", "targets", "--target", "toy"]);
    assert!(ran.status == 2 && ran.stderr.contains("the targets have 1 fault"), "{ran:?}");
}

fn fix(sandbox: &Sandbox, further: &[&str]) -> Ran {
    sandbox.fix(&[&["model.onnxtxt", "--targets", "targets", "-o", "out.onnxtxt"], further].concat())
}

#[test]
fn model_written_for_a_target_is_supported_by_it() {
    // The target does not support HardSwish, which equals `x * HardSigmoid <alpha = 1/6> (x)`.
    let model = "<ir_version: 10, opset_import: [\"\" : 21]>\n\
        main (float[2,4] x) => (float[2,4] y) {\n  y = HardSwish (x)\n}\n";
    let sandbox = sandbox(model);
    let ran = fix(&sandbox, &["--target", "toy"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let out = String::from_utf8(sandbox.read("out.onnxtxt")).expect("text");
    assert!(
        out.contains("\"\" : 18") && out.contains("ir_version: 8") && out.contains("HardSigmoid"),
        "{out}"
    );
    let again =
        sandbox.lint(&["out.onnxtxt", "--targets", "targets", "--target", "toy", "--select", "OPS005"]);
    assert_eq!((again.status, again.stdout.as_str()), (0, "All checks passed.\n"), "{again:?}");
}

/// The target `standard` supports no contrib operators.
/// Refusals name the contrib operators that have no decomposition.
#[test]
fn contrib_operators_are_decomposed_into_standard_ones() {
    let model = "<ir_version: 10, opset_import: [\"\" : 21, \"com.microsoft\" : 1]>\n\
        main (float[N,4] x, float[4] b) => (float[N,4] y, uint32[N,4] z) {\n  \
        y = com.microsoft.BiasGelu (x, b)\n  z = com.microsoft.MurmurHash3 (x)\n}\n";
    let sandbox = sandbox(model);
    snapshot("targets", "standard", &lint(&sandbox, "standard").stdout);
    snapshot("targets", "no-standard-form", &fix(&sandbox, &["--target", "standard"]).stderr);
    sandbox.write("model.onnxtxt", model.replace("MurmurHash3", "Gelu").replace("uint32", "float"));
    let ran = fix(&sandbox, &["--target", "standard"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let out = String::from_utf8(sandbox.read("out.onnxtxt")).expect("text");
    assert!(!out.contains("com.microsoft") && out.contains("z = Gelu (x)"), "{out}");
    // Without a target, contrib operators are kept.
    let plain = fix(&sandbox, &[]);
    assert!(plain.stderr.contains("nothing to change"), "{plain:?}");
}

#[test]
fn model_that_a_target_cannot_support_is_refused() {
    let sandbox = sandbox(MIXED);
    let ran = fix(&sandbox, &["--target", "toy"]);
    assert_eq!(ran.status, 1);
    snapshot("targets", "refused", &ran.stderr);
    let ran = fix(&sandbox, &["--target", "toy", "--opset", "19"]);
    assert!(ran.status == 1 && ran.stderr.contains("Toy NPU 2.1 does not support opset 19"), "{ran:?}");
    let narrow =
        TOY.replace("target toy", "target new").replace("7..=18", "19..").replace("alias tn", "alias nn");
    sandbox.write("targets/new.target", narrow);
    let ran = fix(&sandbox, &["--target", "toy,new"]);
    assert!(ran.stderr.contains("no opset is supported by all of Toy NPU 2.1, Toy NPU 2.1"), "{ran:?}");
    assert!(!sandbox.files().contains(&"out.onnxtxt".to_owned()));
}

/// Measured restrictions of runtimes are reported, and the nodes are rewritten to supported ones.
#[test]
fn measured_restrictions_of_targets_are_respected() {
    let check = |target: &str, model: &str, refused: &str, taken: &[&str]| {
        let sandbox = sandbox(model);
        let output = lint(&sandbox, target).stdout;
        assert!(output.contains(refused), "{target}: {output}");
        // The help names the supported replacement.
        assert!(output.contains("= help: `onnx-fix --target "), "{target}: {output}");
        assert!(output.contains("` replaces this node with "), "{target}: {output}");
        let ran = fix(&sandbox, &["--target", target]);
        let out = String::from_utf8(sandbox.read("out.onnxtxt")).expect("text");
        assert!(taken.iter().all(|taken| out.contains(taken)), "{target}: {ran:?} {out}");
        let again = sandbox.lint(&["out.onnxtxt", "--target", target, "--select", "OPS005"]);
        assert_eq!(again.status, 0, "{again:?}");
    };
    let recurrent = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
        main (float[2,3,5] x, float[1,12,5] w, float[1,12,4] r) => (float[2,3,1,4] y) {\n  \
        y = GRU <hidden_size = 4, layout = 1> (x, w, r)\n}\n";
    for version in ["1.15", "1.20", "1.31"] {
        let refused = "does not support this `GRU`: it is only supported with `layout = 0`";
        check(&format!("ort={version}"), recurrent, refused, &["Transpose"]);
    }
    let truth = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
        main (bool[4,8] x, int64[3,2] i) => (bool[3] y) {\n  y = GatherND (x, i)\n}\n";
    check("opencv", truth, "does not support this `GatherND`: it is not supported for bool", &["Gather"]);
    let sizes = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
        main (float[N,M] x) => (int64[1] y) {\n  y = Shape <start = 1> (x)\n}\n";
    for target in ["opencv", "onnxmlir"] {
        check(target, sizes, "does not support this `Shape`: it is only supported without", &["Shape (x)"]);
    }
}

/// A condition on `default(@attribute, value)` also holds for versions that lack the attribute.
#[test]
fn default_attributes_of_later_versions_are_supported() {
    let check = |target: &str, opset: u32, node: &str| {
        let text = format!(
            "<ir_version: 5, opset_import: [\"\" : {opset}]>\n\
             main (float[S,N,4] x, float[N,8,2,M] z, float[1,12,4] w, float[1,12,3] r) => (y) {{\n  {node}\n}}\n"
        );
        let ran = lint(&sandbox(&text), target);
        assert!(!ran.stdout.contains("does not support"), "{target}: {ran:?}");
    };
    check("tensorrt", 13, "y = LSTM <hidden_size = 3> (x, w, r)");
    check("coreml", 9, "y = DepthToSpace <blocksize = 2> (z)");
}

/// `is_stored` is false for a shape that a node computes, even if `onnx-fix` can fold it.
#[test]
fn computed_shapes_are_not_stored_constants() {
    let target = "target toy {\n  title \"Toy\"\n  measured \"in the device\" on \"2026-11-23\" {\n    \
        op Shape, Concat, Constant\n    op Reshape where { is_stored(shape) }\n    \
        not op Reshape where { not is_stored(shape) }\n  }\n}\n";
    let check = |reshape: &str, is_taken: bool| {
        let model = format!(
            "<ir_version: 8, opset_import: [\"\" : 17]>\n\
            main (float[2,3] x, float[3,2] z) => (float[3,2] y) {{\n  {reshape}\n  y = Reshape (x, s)\n}}\n"
        );
        let sandbox = Sandbox::new(&[("targets/toy.target", target), ("model.onnxtxt", &model)]);
        let ran = lint(&sandbox, "toy");
        assert_eq!(ran.status == 0, is_taken, "{reshape}: {ran:?}");
        let ran = fix(&sandbox, &["--target", "toy"]);
        assert_eq!(ran.status, 0, "{ran:?}");
    };
    check("s = Constant <value = int64[2] {3, 2}> ()", true);
    check("s = Shape (z)", false);
}

/// Each contrib operator is matched by exactly one rule, or listed in the README with a reason.
#[test]
fn contrib_operators_have_a_rule_or_a_documented_reason() {
    let (rules, _) = RuleSet::embedded();
    let matched = rules.iter().flat_map(Rule::directions).flat_map(|direction| &direction.pattern.nodes);
    let written = matched.filter(|node| &*node.op.domain == "com.microsoft").map(|node| &*node.op.name);
    let page = include_str!("../../rules/contrib/README.md");
    let (_, table) = page.split_once("## Operators without a rule").expect("the table");
    let excused = table.split('`').skip(1).step_by(2);
    let listed: Vec<&str> = written.chain(excused).collect();
    for op in schema::ops("com.microsoft") {
        let times = listed.iter().filter(|other| **other == op).count();
        assert!(
            times == 1,
            "{op} needs one rule in rules/contrib, or one reason in its README (it has {times})"
        );
    }
}
