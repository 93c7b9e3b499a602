//! Configuration files of `onnx-lint`: discovery and precedence.

use crate::tool::{FAULTY, Sandbox};

fn sandbox(files: &[(&str, &str)]) -> Sandbox {
    Sandbox::new(&[&[("net.onnxtxt", FAULTY), ("deep/net.onnxtxt", FAULTY)][..], files].concat())
}

/// Asserts that exactly these files have findings, in this order.
fn check(sandbox: &Sandbox, arguments: &[&str], expected: &[&str]) {
    let ran = sandbox.lint(&[arguments, &["--output-format", "concise"]].concat());
    let files: Vec<&str> = ran.stdout.lines().filter_map(|line| Some(line.split_once(": ")?.0)).collect();
    let files: Vec<&str> = files.iter().map(|place| place.split(':').next().unwrap_or("")).collect();
    assert_eq!(files, expected, "{arguments:?}: {ran:?}");
}

const IGNORES: &str = "ignore = [\"SPC\"]\n";

#[test]
fn nearest_configuration_file_applies() {
    let sandbox = sandbox(&[("onnx-lint.toml", IGNORES), ("deep/.onnx-lint.toml", "")]);
    check(&sandbox, &[], &["deep/net.onnxtxt"]);
    check(&sandbox, &["--isolated"], &["deep/net.onnxtxt", "net.onnxtxt"]);
    check(&sandbox, &["--config", "onnx-lint.toml"], &[]);
}

#[test]
fn pyproject_applies_only_with_an_onnx_lint_table() {
    let ours =
        sandbox(&[("pyproject.toml", "[project]\nname = \"x\"\n[tool.onnx-lint]\nignore = [\"SPC\"]\n")]);
    check(&ours, &[], &[]);
    let others = sandbox(&[("onnx-lint.toml", IGNORES), ("deep/pyproject.toml", "[tool.ruff]\n")]);
    check(&others, &[], &[]);
    let ran = others.lint(&["--config", "deep/pyproject.toml"]);
    assert!(ran.stderr.contains("the file has no table [tool.onnx-lint]"), "{}", ran.stderr);
}

#[test]
fn command_line_overrides_configuration() {
    let sandbox = sandbox(&[("onnx-lint.toml", "select = [\"EXP\"]\nseverity = \"error\"\n")]);
    check(&sandbox, &["net.onnxtxt"], &[]);
    check(&sandbox, &["net.onnxtxt", "--select", "ALL"], &["net.onnxtxt"]);
    check(&sandbox, &["net.onnxtxt", "--extend-select", "SPC"], &["net.onnxtxt"]);
}

#[test]
fn globs_exclude_files_and_ignore_rules_in_files() {
    let ignores = sandbox(&[("onnx-lint.toml", "[per-file-ignores]\n\"deep/**\" = [\"undefined-value\"]\n")]);
    check(&ignores, &[], &["net.onnxtxt"]);
    let excludes = sandbox(&[("onnx-lint.toml", "exclude = [\"deep\"]\n")]);
    check(&excludes, &[], &["net.onnxtxt"]);
    check(&excludes, &["deep/net.onnxtxt"], &["deep/net.onnxtxt"]);
}

#[test]
fn configuration_faults_are_reported() {
    let says = |config: &str, expected: &str| {
        let ran = sandbox(&[("onnx-lint.toml", config)]).lint(&[]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{config}");
        assert!(ran.stderr.contains(expected), "{config}: {}", ran.stderr);
    };
    says("selct = []\n", "unknown field `selct`");
    says("select = 3\n", "onnx-lint.toml: TOML parse error at line 1, column 10");
    says("select = [\"SPX\"]\n", "there is no rule `SPX`");
    says("severity = \"fatal\"\n", "unknown level `fatal`; use hint, info, warning or error");
    says("[rule-severity]\nnope = \"error\"\n", "there is no rule `nope`");
    says("exclude = [\"[\"]\n", "error parsing glob");
}

/// Both tools share the selection, ignored rules, and custom rules.
#[test]
fn onnx_fix_reads_the_configuration() {
    let sandbox = sandbox(&[("clumsy.onnxtxt", crate::tool::CLUMSY)]);
    let fixes = |arguments: &[&str]| {
        let ran = sandbox.fix(&[&["clumsy.onnxtxt", "--check"], arguments].concat());
        assert!(ran.status < 2, "{ran:?}");
        ran.status == 1
    };
    assert!(fixes(&[]));
    sandbox.write("onnx-lint.toml", "ignore = [\"OPT\"]\n");
    assert!(!fixes(&[]));
    assert!(fixes(&["--isolated"]));
    sandbox.write("onnx-lint.toml", "select = [\"EXP\"]\n");
    assert!(!fixes(&[]));
    assert!(fixes(&["--select", "OPT"]));
    sandbox.write("onnx-lint.toml", "rules = [\"deep\"]\n");
    let ran = sandbox.fix(&["clumsy.onnxtxt", "--check"]);
    assert!(ran.stderr.contains("--rules: the folder has no .rule file"), "{}", ran.stderr);
}
