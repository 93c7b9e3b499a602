//! Suppression comments in Python and ONNX text, and the findings about them.

use crate::tool::Sandbox;

/// Lints the sandbox; returns the lines of the output format `concise`, without the summary.
fn lint(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let ran = sandbox.lint(&[arguments, &["--output-format", "concise", "--quiet"]].concat());
    assert_eq!(ran.stderr, "", "{ran:?}");
    ran.stdout.lines().map(str::to_owned).collect()
}

#[track_caller]
fn check(found: &[String], expected: &[&str]) {
    let agree =
        found.len() == expected.len() && found.iter().zip(expected).all(|(line, part)| line.contains(part));
    assert!(agree, "{found:#?}\nexpected {expected:#?}");
}

/// Returns a module with a finding in line 5. `before` is line 4, and `after` is the end of line 5.
fn python(before: &str, after: &str) -> String {
    format!(
        "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        {before}\n        \
         return x * x.max().item(){after}\n"
    )
}

const IN_PYTHON: &str = "net.py:5:20: warning[EXP002]";

#[test]
fn comments_suppress_findings_in_python() {
    let said = |before: &str, after: &str| {
        let sandbox = Sandbox::new(&[("net.py", &python(before, after))]);
        lint(&sandbox, &["net.py"])
    };
    check(&said("", ""), &[IN_PYTHON]);
    check(&said("", "  # onnx-lint: ignore[EXP002]: one value"), &[]);
    check(&said("", "  # onnx-lint: ignore"), &[]);
    check(&said("", "  # noqa  # onnx-lint: ignore: one value"), &[]);
    check(&said("# onnx-lint: ignore[EXP002]", ""), &[]);
    check(&said("# onnx-lint: ignore", ""), &[]);
    check(&said("# onnx-lint: ignore-file[item-baked]", ""), &[]);
    check(&said("", "  # onnx-lint: ignore[DTY]"), &[IN_PYTHON]);
    check(&said("y = 1  # onnx-lint: ignore", ""), &[IN_PYTHON]);
    check(&said("y = '# onnx-lint: ignore-file'", ""), &[IN_PYTHON]);
}

#[test]
fn a_comment_before_a_statement_applies_to_all_of_its_lines() {
    let source = "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        \
        # onnx-lint: ignore[EXP002]\n        y = torch.full(\n            (2, 3),\n            x.max().item(),\n        )\n        \
        return y * x.min().item()\n";
    let sandbox = Sandbox::new(&[("net.py", source)]);
    check(&lint(&sandbox, &["net.py"]), &["net.py:9:20: warning[EXP002]"]);
}

#[test]
fn comments_in_python_suppress_findings_of_models() {
    let sandbox = Sandbox::checkout(17, true);
    let original = String::from_utf8(sandbox.read("src/pitfalls.py")).expect("UTF-8");
    let code = "        return x.reshape(2, 12)";
    let arguments = ["models/BakedBatch.onnx", "--path-map", "/app=src"];
    let with = |text: String| {
        sandbox.write("src/pitfalls.py", text);
        lint(&sandbox, &arguments)
    };
    let fault = "src/pitfalls.py:60:16: error[EXP001]";
    check(&with(original.clone()), &[fault]);
    check(&with(original.replacen(code, &format!("{code}  # onnx-lint: ignore"), 1)), &[]);
    check(&with(format!("{original}\n# onnx-lint: ignore-file[EXP001]\n")), &[]);
    // Line 59 is the header of the function.
    let lines: Vec<&str> = original.lines().collect();
    let before = [&lines[..58], &["        # onnx-lint: ignore[EXP001]"], &lines[59..]].concat().join("\n");
    check(&with(before), &[]);
}

/// Returns a model in which the nodes in line 3 and in lines 5 to 6 use undefined values.
///
/// `first` follows the first node, `before` is line 4, and `second` follows the second node.
fn text(first: &str, before: &str, second: &str) -> String {
    format!(
        "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[N] x) => (float[N] y) {{\n  \
         a = Add (x, ghost){first}\n  {before}\n  y = Add (\n    a, phantom){second}\n}}\n"
    )
}

#[test]
fn comments_suppress_findings_in_onnx_text() {
    let said = |first: &str, before: &str, second: &str| {
        let sandbox = Sandbox::new(&[("net.onnxtxt", &text(first, before, second))]);
        lint(&sandbox, &["net.onnxtxt"])
    };
    let (first, second) = ("net.onnxtxt:3:15: error[SPC012]", "net.onnxtxt:6:8: error[SPC012]");
    check(&said("", "", ""), &[first, second]);
    check(&said("  # onnx-lint: ignore[SPC012]", "", ""), &[second]);
    check(&said("", "", "  # onnx-lint: ignore[undefined-value]: filled in later"), &[first]);
    check(&said("", "# onnx-lint: ignore[SPC012]", ""), &[first]);
    check(&said("", "# onnx-lint: ignore-file[SPC]", ""), &[]);
    check(&said("", "# onnx-lint: ignore-file", ""), &[]);
}

#[test]
fn standard_input_has_comments_too() {
    let sandbox = Sandbox::new(&[]);
    let said = |name: &str, text: &str| {
        let arguments = ["-", "--stdin-filename", name, "--output-format", "concise", "--quiet"];
        sandbox.lint_stdin(&arguments, text).stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    check(&said("net.py", &python("", "")), &[IN_PYTHON]);
    check(&said("net.py", &python("# onnx-lint: ignore", "")), &[]);
    // The content determines the format.
    for name in ["net.onnxtxt", "net.txt", "net"] {
        check(&said(name, &text("  # onnx-lint: ignore", "", "  # onnx-lint: ignore")), &[]);
    }
}

#[test]
fn unused_comments_of_onnx_text_are_reported() {
    let said = |first: &str, arguments: &[&str]| {
        let sandbox = Sandbox::new(&[("net.onnxtxt", &text(first, "# onnx-lint: ignore[SPC012]", ""))]);
        lint(&sandbox, &[&["net.onnxtxt"], arguments].concat())
    };
    let fault = "net.onnxtxt:3:15: error[SPC012]";
    let unused = |what: &str| format!("net.onnxtxt:3:23: info[SUP001] {what} suppresses nothing");
    check(&said("  # onnx-lint: ignore[DTY]", &[]), &[fault, &unused("`ignore[DTY]`")]);
    check(&said("  # onnx-lint: ignore[DTY, SPC012]", &[]), &[&unused("`DTY` in `ignore[DTY, SPC012]`")]);
    check(&said("  # onnx-lint: ignore[DTY, SUP001]", &[]), &[fault]);
    check(&said("  # onnx-lint: ignore[DTY]", &["--ignore", "DTY001"]), &[fault]);
    check(&said("  # onnx-lint: ignore[OPS005]", &[]), &[fault]);
    // Whether OPV001 is reported depends on `--opset`, so its suppression is not reported as unused.
    check(&said("  # onnx-lint: ignore[OPV001]", &[]), &[fault]);
    check(&said("  # onnx-lint: ignore[OPV007]", &[]), &[fault, &unused("`ignore[OPV007]`")]);
    check(&said("  # onnx-lint: ignore[FIX001]", &[]), &[fault]);
    let strict = ["--select", "SPC,SUP,DTY", "--severity", "info"];
    check(&said("  # onnx-lint: ignore[DTY]", &strict), &[fault, &unused("`ignore[DTY]`")]);
    let sandbox = Sandbox::new(&[
        (
            "net.onnxtxt",
            "<ir_version: 8, opset_import: [\"\" : 17]> # onnx-lint: ignore\nmain (float[N] x) => (float[N] y) { y = Relu (x) }\n",
        ),
        ("onnx-lint.toml", "rule-severity = { SUP001 = \"warning\" }\n"),
    ]);
    let ran = sandbox.lint(&["net.onnxtxt", "--output-format", "concise"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("net.onnxtxt:1:42: warning[SUP001] `ignore` suppresses nothing"), "{ran:?}");
    assert_eq!(lint(&sandbox, &["net.onnxtxt", "--ignore", "EXP001"]), [""; 0]);
}

#[test]
fn suppressions_of_hidden_findings_are_not_reported_as_unused() {
    let model = "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[N] x) => (float[N] y)\n\
        <float[1] w = {1}> # onnx-lint: ignore[OPT002]\n{ y = Relu (x) }\n";
    let sandbox = Sandbox::new(&[("net.onnxtxt", model)]);
    assert_eq!(lint(&sandbox, &["net.onnxtxt"]), [""; 0]);
    assert_eq!(lint(&sandbox, &["net.onnxtxt", "--severity", "hint"]), [""; 0]);
}

#[test]
fn unknown_rules_and_malformed_comments_are_reported() {
    let said = |after: &str| {
        let sandbox = Sandbox::new(&[("net.py", &python("", after))]);
        lint(&sandbox, &["net.py"])
    };
    let at = |what: &str| format!("net.py:5:36: warning[{what}");
    check(
        &said("  # onnx-lint: ignore[EXP002, EPX001]"),
        &[&at("SUP002] the suppression names the unknown rule `EPX001`")],
    );
    check(
        &said("  # onnx-lint: ignore EXP002"),
        &[
            IN_PYTHON,
            &at("SUP003] malformed suppression: rules belong in brackets, and a reason after a colon"),
        ],
    );
    check(
        &said("  # onnx-lint: disable[EXP002]"),
        &[IN_PYTHON, &at("SUP003] malformed suppression: `disable` is neither `ignore` nor `ignore-file`")],
    );
    check(&said("  # onnx-lint finds a fault here"), &[IN_PYTHON]);
    let sandbox = Sandbox::new(&[("net.py", &python("", "  # onnx-lint: ignore[EPX002]"))]);
    let full = sandbox.lint(&["net.py", "--select", "SUP"]).stdout;
    assert!(full.contains("= help: did you mean `EXP002`?"), "{full}");
}

#[test]
fn findings_about_suppressions_are_in_every_format() {
    let sandbox = Sandbox::new(&[("net.py", &python("", "  # onnx-lint: ignore(EXP002)"))]);
    for format in
        ["full", "json", "sarif", "github", "gitlab", "junit", "checkstyle", "rdjson", "azure", "html"]
    {
        let ran = sandbox.lint(&["net.py", "--select", "SUP", "--output-format", format]);
        assert!(ran.stdout.contains("SUP003"), "{format}: {}", ran.stdout);
    }
    let json = sandbox.lint(&["net.py", "--select", "SUP", "--output-format", "json"]).stdout;
    let found: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(found[0]["location"]["line"], 5);
    assert_eq!(found[0]["fingerprint"].as_str().map(str::len), Some(16));
}

#[test]
fn unused_entries_of_the_configuration_are_findings_of_its_file() {
    let sandbox = Sandbox::new(&[
        (".git/HEAD", ""),
        ("net.onnxtxt", crate::tool::SOUND),
        (
            "pyproject.toml",
            "[tool.onnx-lint]\n\n[[tool.onnx-lint.suppress]]\nnode = \"a\"\nrules = [\"EXP001\"]\n",
        ),
    ]);
    let found = lint(&sandbox, &["."]);
    assert_eq!(found, ["pyproject.toml:5:9: info[SUP001] `EXP001` suppresses nothing"]);
    let junit = sandbox.lint(&[".", "--output-format", "junit"]).stdout;
    assert!(junit.contains("<testsuite name=\"pyproject.toml\""), "{junit}");
    assert_eq!(lint(&sandbox, &["net.onnxtxt"]), [""; 0]);
}

#[test]
fn help_and_pages_show_how_to_suppress() {
    let sandbox = Sandbox::new(&[]);
    let help = sandbox.lint(&["--help"]).stdout;
    assert!(help.contains("# onnx-lint: ignore[EXP001]: reason"), "{help}");
    let explained = |rule: &str| sandbox.lint(&["--explain", rule]).stdout;
    assert!(explained("EXP001").contains("- `# onnx-lint: ignore[EXP001]` at the end of the line"));
    assert!(explained("OPT101").contains("`# onnx-lint: ignore-file[OPT101]`"));
    assert!(!explained("CVT000").contains("## Suppress a finding"));
    assert!(!explained("FIX001").contains("## Suppress a finding"));
}
