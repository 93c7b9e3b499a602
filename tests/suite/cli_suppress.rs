//! Suppressions: on a line of Python, in the configuration, and in the model.

use crate::tool::Sandbox;

const OPTIONS: [&str; 4] = ["--path-map", "/app=src", "--output-format", "concise"];

/// Creates a checkout of one model and its source, with `comment` at the end of the faulty line.
fn checkout(comment: &str) -> Sandbox {
    let sandbox = Sandbox::new(&[(".git/HEAD", "")]);
    sandbox.bring("tests/pitfalls/exported/BakedBatch.ts17.onnx", "models/net.onnx");
    sandbox.bring("tests/pitfalls/pitfalls.py", "src/pitfalls.py");
    let text = String::from_utf8(sandbox.read("src/pitfalls.py")).expect("UTF-8");
    sandbox.write(
        "src/pitfalls.py",
        text.replace("x.reshape(2, 12)  # PITFALL: baked-shape", &format!("x.reshape(2, 12){comment}")),
    );
    sandbox
}

/// Returns the findings of the model, and those about suppressions.
fn messages(sandbox: &Sandbox, paths: &[&str]) -> Vec<String> {
    let ran = sandbox.lint(&[paths, &OPTIONS].concat());
    assert_ne!(ran.status, 2, "{ran:?}");
    assert_eq!(ran.stderr, "");
    let is_meant = |line: &&str| line.contains("net.onnx") || line.contains("[SUP");
    ran.stdout.lines().filter(is_meant).map(str::to_owned).collect()
}

#[track_caller]
fn check(sandbox: &Sandbox, paths: &[&str], expected: &[&str]) {
    let messages = messages(sandbox, paths);
    let agree = messages.len() == expected.len()
        && messages.iter().zip(expected).all(|(message, part)| message.contains(part));
    assert!(agree, "{messages:#?}\nexpected {expected:#?}");
}

const FAULT: &str = "src/pitfalls.py:60:16: error[EXP001]";

#[test]
fn comment_suppresses_findings_on_its_line() {
    check(&checkout(""), &["models"], &[FAULT]);
    check(&checkout("  # onnx-lint: ignore[EXP001]: static"), &["models"], &[]);
    check(&checkout("  # noqa  # onnx-lint: ignore[baked-shape, DTY]"), &["models"], &[]);
    check(&checkout("  # onnx-lint: ignore[EXP]"), &["models"], &[]);
    check(&checkout("  # onnx-lint: ignore[DTY]"), &["models"], &[FAULT]);
    check(&checkout("  # onnx-lint: ignore[EPX001]"), &["models"], &[FAULT]);
    assert_eq!(
        checkout("  # onnx-lint: ignore[EXP001]").lint(&["models", "--path-map", "/app=src"]).status,
        0
    );
}

#[test]
fn unused_suppressions_are_reported_in_full_runs_only() {
    let unused = "src/pitfalls.py:60:34: info[SUP001] `ignore[DTY]` suppresses nothing";
    check(&checkout("  # onnx-lint: ignore[DTY]"), &["."], &[FAULT, unused]);
    check(&checkout("  # onnx-lint: ignore[DTY]"), &["src", "models"], &[FAULT]);
    check(&checkout("  # onnx-lint: ignore[EXP001]"), &["."], &[]);
    let unknown = "src/pitfalls.py:60:34: warning[SUP002] the suppression names the unknown rule `EPX001`";
    check(&checkout("  # onnx-lint: ignore[EPX001]"), &["."], &[FAULT, unknown]);
    // A disabled rule has no findings, so its suppression is not reported as unused.
    check(&checkout("  # onnx-lint: ignore[DTY]"), &[".", "--select", "EXP"], &[FAULT]);
}

#[test]
fn configuration_suppresses_by_node_module_and_file() {
    let sandbox = checkout("");
    let with = |entry: &str, expected: &[&str]| {
        sandbox.write(
            "onnx-lint.toml",
            format!("[[suppress]]\nrules = [\"EXP001\"]\n{entry}\nreason = \"static\"\n"),
        );
        check(&sandbox, &["."], expected);
    };
    let unused = "onnx-lint.toml:2:9: info[SUP001] `EXP001` suppresses nothing";
    with("node = \"/Reshape\"", &[]);
    with("node = \"/Re*\"\nfile = \"models/*.onnx\"", &[]);
    with("node = \"/Add\"", &[FAULT, unused]);
    with("file = \"other/*.onnx\"", &[FAULT, unused]);
    with("module = \"/encoder/**\"", &[FAULT, unused]);
    with("module = \"\"", &[]);
    sandbox.write("onnx-lint.toml", "[[suppress]]\nrules = [\"EPX\"]\n");
    assert!(sandbox.lint(&["."]).stderr.contains("there is no rule `EPX`"));
    sandbox.write("onnx-lint.toml", "[[suppress]]\nrule = [\"EXP\"]\n");
    assert!(sandbox.lint(&["."]).stderr.contains("unknown field `rule`"));
}

#[test]
fn model_metadata_suppresses_findings() {
    let model = |metadata: &str| {
        format!(
            "<ir_version: 8, opset_import: [\"\" : 17], metadata_props: [{metadata}]>\n\
             main (float[N,4] x) => (float[N,4] y) {{\n  y = Add (x, ghost)\n}}\n"
        )
    };
    let printed = |metadata: &str| {
        let sandbox = Sandbox::new(&[("net.onnxtxt", &model(metadata))]);
        let ran = sandbox.lint(&["net.onnxtxt", "--output-format", "concise"]);
        ran.stdout + &ran.stderr
    };
    assert!(printed("").contains("error[SPC012]"));
    assert_eq!(printed("\"onnx-lint.ignore\": \"SPC012: filled in later\""), "All checks passed.\n");
    let unused = printed("\"onnx-lint.ignore\": \"DTY\"");
    assert!(unused.contains("error[SPC012]"), "{unused}");
    assert!(
        unused.contains("net.onnxtxt:1:1: info[SUP001] `DTY` in the metadata suppresses nothing"),
        "{unused}"
    );
}

#[test]
fn rule_severity_is_set_by_prefix() {
    let sandbox = checkout("");
    let with = |config: &str| {
        sandbox.write("onnx-lint.toml", format!("[rule-severity]\n{config}\n"));
        messages(&sandbox, &["models"]).join("\n")
    };
    assert!(with("EXP = \"warning\"").contains("warning[EXP001]"));
    assert!(with("EXP = \"off\"").is_empty());
    assert!(with("EXP = \"off\"\nEXP001 = \"info\"").contains("info[EXP001]"));
    assert!(with("ALL = \"off\"\nbaked-shape = \"error\"").contains("error[EXP001]"));
    sandbox.write("onnx-lint.toml", "[rule-severity]\nEXP = \"loud\"\n");
    assert!(sandbox.lint(&["models"]).stderr.contains("unknown level `loud`"));
}

#[test]
fn list_rules_as_json_has_the_pages() {
    let sandbox = Sandbox::new(&[]);
    sandbox.bring("docs/recipes/rknn.rule", "own/rknn.rule");
    let ran = sandbox.lint(&["--list-rules", "--all", "--output-format", "json", "--rules", "own"]);
    let rules: Vec<serde_json::Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    for code in ["EXP001", "ATN206", "RKN001"] {
        let rule = rules.iter().find(|rule| rule["code"] == code).expect("the rule is listed");
        let explained = sandbox.lint(&["--explain", code, "--rules", "own"]).stdout;
        assert_eq!(rule["page"], explained.as_str(), "{code}");
    }
}

#[test]
fn list_rules_follows_the_selection() {
    let sandbox = Sandbox::new(&[]);
    let listed = |arguments: &[&str]| sandbox.lint(&[&["--list-rules"], arguments].concat()).stdout;
    let some = listed(&["--select", "EXP", "--ignore", "EXP002"]);
    assert!(
        some.contains("EXP001  baked-shape") && !some.contains("EXP002") && !some.contains("SPC001"),
        "{some}"
    );
    let met = listed(&[]);
    assert!(met.contains("\nOPT101  ") && !met.contains("\nCVT") && !met.contains("\nATN"), "{met}");
    assert!(listed(&["--all"]).contains("\nCVT") && listed(&["--select", "ATN"]).contains("\nATN"));
    let json = listed(&["--select", "EXP001", "--output-format", "json"]);
    let rules: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&rules[0]["code"], rules.as_array().map(Vec::len)), (&"EXP001".into(), Some(1)));
    assert_eq!(rules[0]["fix"], "safe");
    sandbox.write("onnx-lint.toml", "[rule-severity]\nEXP001 = \"info\"\nEXP003 = \"off\"\n");
    let given = listed(&["--select", "EXP"]);
    assert!(!given.contains("EXP003"), "{given}");
    assert!(given.lines().next().is_some_and(|line| line.contains(" info ")), "{given}");
    let family = sandbox.lint(&["--explain", "exp"]).stdout;
    assert!(family.starts_with("# EXP: ") && family.contains("\nEXP014  "), "{family}");
}
