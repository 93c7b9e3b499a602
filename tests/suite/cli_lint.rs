//! Command-line behavior of `onnx-lint`: arguments, configuration, exit status.

use crate::tool::{FAULTY, Ran, SOUND, Sandbox};

/// Creates a sandbox with valid and faulty models, in two directories.
fn sandbox() -> Sandbox {
    Sandbox::new(&[("sound.onnxtxt", SOUND), ("faulty.onnxtxt", FAULTY), ("deep/faulty.onnxtxt", FAULTY)])
}

/// Returns the file and code of each finding, in output order.
fn codes(ran: &Ran) -> Vec<(String, String)> {
    let findings: Vec<serde_json::Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    let text = |finding: &serde_json::Value, key: &str| finding[key].as_str().expect("a string").to_owned();
    findings.iter().map(|finding| (text(finding, "file"), text(finding, "code"))).collect()
}

fn check(sandbox: &Sandbox, arguments: &[&str], status: i32, expected: &[(&str, &str)]) {
    let ran = sandbox.lint(&[arguments, &["--output-format", "json"]].concat());
    assert_eq!(ran.status, status, "{arguments:?}: {ran:?}");
    let found = codes(&ran);
    let found: Vec<(&str, &str)> = found.iter().map(|(file, code)| (file.as_str(), code.as_str())).collect();
    assert_eq!(found, expected, "{arguments:?}");
}

const HERE: (&str, &str) = ("faulty.onnxtxt", "SPC012");
const DEEP: (&str, &str) = ("deep/faulty.onnxtxt", "SPC012");

#[test]
fn files_and_directories_are_linted_in_order() {
    let sandbox = sandbox();
    check(&sandbox, &["sound.onnxtxt"], 0, &[]);
    check(&sandbox, &["faulty.onnxtxt", "sound.onnxtxt"], 1, &[HERE]);
    check(&sandbox, &[], 1, &[DEEP, HERE]);
    check(&sandbox, &["faulty.onnxtxt", "deep"], 1, &[HERE, DEEP]);
    check(&sandbox, &["deep", "deep/faulty.onnxtxt"], 1, &[DEEP]);
    for jobs in ["1", "4"] {
        check(&sandbox, &["--jobs", jobs], 1, &[DEEP, HERE]);
    }
}

#[test]
fn unreadable_file_fails_the_run_but_other_files_are_linted() {
    let sandbox = sandbox();
    check(&sandbox, &["missing.onnx", "faulty.onnxtxt"], 2, &[("missing.onnx", "SPC001"), HERE]);
    check(&sandbox, &["missing.onnx", "--ignore", "SPC", "--exit-zero"], 2, &[("missing.onnx", "SPC001")]);
}

#[test]
fn rules_are_selected_by_code_prefix_and_name() {
    let sandbox = sandbox();
    let faulty = |arguments: &[&str], found| {
        let expected: &[(&str, &str)] = if found { &[HERE] } else { &[] };
        check(&sandbox, &[&["faulty.onnxtxt"], arguments].concat(), i32::from(found), expected);
    };
    faulty(&["--select", "SPC012"], true);
    faulty(&["--select", "EXP,SPC"], true);
    faulty(&["--select", "undefined-value"], true);
    faulty(&["--select", "EXP"], false);
    faulty(&["--select", "EXP", "--extend-select", "SPC012"], true);
    faulty(&["--ignore", "SPC"], false);
    faulty(&["--ignore", "SPC", "--extend-select", "SPC012"], true);
    faulty(&["--severity", "error"], true);
}

#[test]
fn usage_errors_are_reported_with_exit_status_2() {
    let sandbox = sandbox();
    let says = |arguments: &[&str], expected: &str| {
        let ran = sandbox.lint(arguments);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
    };
    says(&["--select", "SPX012"], "--select: there is no rule `SPX012`; did you mean `SPC012`?");
    says(&["--ignore", "undefined-valeu"], "did you mean `undefined-value`?");
    says(&["--explain", "no-rule"], "--explain: there is no rule `no-rule`");
    says(&["--severity", "fatal"], "invalid value 'fatal'");
    says(&["--output-format", "yaml"], "invalid value 'yaml'");
    says(&["--write-baseline"], "--baseline");
    says(&["--baseline", "missing.json"], "missing.json: ");
    says(&["--config", "missing.toml"], "missing.toml: ");
    says(&["--rules", "missing"], "--rules: ");
    says(&["--path-map", "/app"], "write FROM=TO");
    says(&["--no-such-option"], "unexpected argument");
}

#[test]
fn findings_in_standard_input_use_stdin_filename() {
    let sandbox = Sandbox::new(&[]);
    let ran = sandbox.lint_stdin(&["-", "--output-format", "concise"], FAULTY);
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.starts_with("<stdin>:"), "{}", ran.stdout);
    let arguments = ["-", "--stdin-filename", "net.onnxtxt", "--output-format", "concise"];
    assert!(sandbox.lint_stdin(&arguments, FAULTY).stdout.starts_with("net.onnxtxt:"));
}

#[test]
fn exit_status_follows_the_reported_severities() {
    let sandbox = sandbox();
    let status = |arguments: &[&str]| sandbox.lint(&[&["faulty.onnxtxt"], arguments].concat()).status;
    assert_eq!(status(&[]), 1);
    assert_eq!(status(&["--exit-zero"]), 0);
    assert_eq!(status(&["--max-warnings", "9"]), 1);
    sandbox.write("onnx-lint.toml", "[rule-severity]\nundefined-value = \"warning\"\n");
    assert_eq!(status(&[]), 1);
    assert_eq!(status(&["--max-warnings", "1"]), 0);
    sandbox.write("onnx-lint.toml", "[rule-severity]\nSPC012 = \"hint\"\n");
    assert_eq!(status(&[]), 0);
}

#[test]
fn output_file_and_statistics_are_written() {
    let sandbox = sandbox();
    let ran = sandbox.lint(&["faulty.onnxtxt", "-o", "out.txt", "--output-format", "concise"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""));
    assert!(String::from_utf8_lossy(&sandbox.read("out.txt")).contains("SPC012"));
    let ran = sandbox.lint(&["--statistics"]);
    assert_eq!(ran.stdout, "2  SPC012  [ ] undefined-value\nFound 2 errors.\n");
}

#[test]
fn warnings_of_the_export_log_are_attributed_to_nodes_by_line() {
    let sandbox = Sandbox::new(&[]);
    let exported = format!("{}/tests/pitfalls/exported", env!("CARGO_MANIFEST_DIR"));
    let at = |model: &str| {
        let (model, log) =
            (format!("{exported}/{model}.ts17.onnx"), format!("{exported}/ItemInReshape.ts17.log"));
        let arguments = [&*model, "--export-log", &log, "--select", "item-baked", "--output-format", "json"];
        let found = codes(&sandbox.lint(&arguments));
        found
            .into_iter()
            .map(|(file, _)| file.rsplit('/').next().unwrap_or("").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(at("ItemInReshape"), ["ItemInReshape.ts17.onnx"]);
    assert_eq!(at("BakedBatch"), ["ItemInReshape.ts17.log"]);
}

#[test]
fn unsupported_operators_of_a_target_are_reported() {
    let sandbox = sandbox();
    // Support in an old release is unknown, which is reported at level info.
    check(&sandbox, &["sound.onnxtxt", "--target", "ort=1.17"], 0, &[("sound.onnxtxt", "OPS005")]);
    let found = [("sound.onnxtxt", "OPS005"); 3];
    check(&sandbox, &["sound.onnxtxt", "--target", "ort=1.7"], 1, &found);
    assert!(sandbox.lint(&["--target", "qnn=2.1"]).stderr.contains("unknown target `qnn`"));
    sandbox.write("onnx-lint.toml", "target = [\"ort=1.7\"]\n");
    check(&sandbox, &["sound.onnxtxt"], 1, &found);
}

#[test]
fn rules_are_listed_and_explained_and_why_not_traces_a_match() {
    let sandbox = sandbox();
    let prints = |arguments: &[&str], expected: &str| {
        let ran = sandbox.lint(arguments);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(ran.stdout.contains(expected), "{expected}: {}", ran.stdout);
    };
    prints(&["--list-rules"], "SPC001  unreadable-model");
    prints(&["--explain", "double-transpose"], "# OPT101 double-transpose");
    prints(&["--explain", "spc001"], "# SPC001 unreadable-model");
    prints(&["--explain", "EXP001"], "## Examples");
    prints(&["--explain", "EXP001"], "- FIX020 baked-leading-axis: ");
    let why = |node| sandbox.lint(&["sound.onnxtxt", "--why-not", "double-transpose", node]);
    assert!(why("y").stdout.contains("double-transpose does not match: the node has another operator"));
    assert_eq!(why("z").stderr, "error: --why-not: sound.onnxtxt has no node `z`\n");
    let older = "<ir_version: 8, opset_import: [\"\" : 9]> g (float[N] x) => (y) { y = Slice <starts = [0], ends = [1]> (x) }";
    sandbox.write("older.onnxtxt", older);
    let ran = sandbox.lint(&["older.onnxtxt", "--why-not", "OPT014", "y"]);
    assert!(ran.stdout.contains("the pattern has another version of `Slice`"), "{ran:?}");
    // The last node of the pattern matches, but the producers of its inputs do not.
    let shapes =
        "<ir_version: 10, opset_import: [\"\" : 21]> g (float[N] x, float[N] z) => (y) { y = Add (x, z) }";
    sandbox.write("sum.onnxtxt", shapes);
    let ran = sandbox.lint(&["sum.onnxtxt", "--why-not", "OPT242", "y"]);
    assert!(ran.stdout.contains("no producer of the value matches this node"), "{ran:?}");
}

/// If a pattern has alternatives, `--why-not` explains the one that matches the most nodes.
#[test]
fn why_not_explains_the_closest_alternative() {
    let sandbox = sandbox();
    let model = |product: &str, c: &str| {
        format!(
            "<ir_version: 10, opset_import: [\"\" : 20]> g (float[N] x) => (float[N] y)
             <float c = {{{c}}}, float one = {{1.0}}, float half = {{0.5}}> {{
                u = {product}  e = Erf (u)  s = Add (e, one)  p = Mul (x, s)  y = Mul (p, half) }}"
        )
    };
    let why = |rule: &str, product: &str, c: &str| {
        sandbox.write("gelu.onnxtxt", model(product, c));
        sandbox.lint(&["gelu.onnxtxt", "--why-not", rule, "y"]).stdout
    };
    let matches = "OPT212 written-out-gelu-by-division matches at this node";
    assert!(why("OPT212", "Div (x, c)", "1.4142135623730951").contains(matches));
    // For each code, the reason is about the alternatives with this code.
    let condition = why("OPT212", "Div (x, c)", "1.5");
    assert!(
        condition.contains("written-out-gelu-by-division does not match: this does not hold"),
        "{condition}"
    );
    assert!(why("OPT211", "Div (x, c)", "1.5").contains("no producer of the value matches this node"));
    let producer = why("OPT212", "Mul (x, c)", "1.5");
    assert!(producer.contains("no producer of the value matches this node"), "{producer}");
}

#[test]
fn custom_rules_are_applied_and_their_faults_reported() {
    let sandbox = sandbox();
    sandbox.write("rules/bad.rule", "rule OWN001 my-rule {\n  severity fatal\n}\n");
    let ran = sandbox.lint(&["sound.onnxtxt", "--rules", "rules"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("rules/bad.rule:2:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: the rules have "), "{}", ran.stderr);
}

/// A rule may apply only to some modules.
#[test]
fn custom_rules_match_the_module_path_of_a_node() {
    let rule = r#"language 3
## The decoder computes an Exp.
##
## **Why**  Our device does not support Exp there.
rule OWN001 exp-in-decoder {
  severity warning
  message "`{y}` is computed by {node_name(y)}, in {module_path(y)}"
  match { y = Exp (x) }
  where { is_like(module_path(y), "/decoder/**")  not is_like(node_name(y), "**/*_allowed") }
  example "in a layer of it" {
    g (float[A] x) => (float[A] y) { ["/decoder/layers.0/exp"] y = Exp (x) }
  } reports "`y` is computed by /decoder/layers.0/exp, in /decoder/layers.0"
  but "in another module" with "/decoder" as "/encoder" reports nothing
}
"#;
    let nodes = ["/decoder/block/exp", "/encoder/block/exp", "/decoder/block/exp/exp_allowed", "exp"];
    let nodes: String =
        nodes.iter().enumerate().map(|(at, name)| format!("[\"{name}\"] y{at} = Exp (x)\n")).collect();
    let model = format!(
        "<ir_version: 10, opset_import: [\"\" : 21]> g (float[N] x) => (y0, y1, y2, y3) {{ {nodes} }}"
    );
    let sandbox = Sandbox::new(&[("rules/own.rule", rule), ("net.onnxtxt", &model)]);
    let ran = sandbox.lint(&[
        "net.onnxtxt",
        "--rules",
        "rules",
        "--select",
        "OWN001",
        "--output-format",
        "concise",
    ]);
    assert_eq!(ran.stderr, "");
    assert_eq!(ran.stdout.matches("OWN001").count(), 1, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("`y0` is computed by /decoder/block/exp, in /decoder/block"),
        "{}",
        ran.stdout
    );
}

/// If a run without files succeeded, an empty directory or a mistyped path would always pass.
#[test]
fn run_without_files_fails() {
    let sandbox = Sandbox::new(&[("empty/readme.md", "# nothing"), ("net.onnxtxt", SOUND)]);
    let says = |arguments: &[&str], status: i32, expected: &str| {
        let ran = sandbox.lint(arguments);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, ""), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
    };
    says(&["empty"], 2, "there is nothing to lint in `empty`");
    says(
        &["net.onnxtxt", "--source-root", "empty"],
        2,
        "empty: --source-root: the folder has no Python files",
    );
    says(&["net.onnxtxt", "--rules", "empty"], 2, "empty: --rules: the folder has no .rule file");
    says(&["net.onnxtxt", "--path-map", "/app=src"], 2, "`src` does not exist");
    says(&["net.onnxtxt", "--opset", "99"], 2, "there is no opset 99: opsets go from 1 to ");
    sandbox.write("onnx-lint.toml", "exclude = [\"*.onnxtxt\"]\n");
    says(&["."], 2, "there is nothing to lint in `.`");
    sandbox.write("onnx-lint.toml", "opset = 99\n");
    says(&["net.onnxtxt"], 2, "there is no opset 99");
}

/// A repository contains files that are not models, including output of our own tools.
#[test]
fn files_that_are_not_models_are_skipped_in_directories() {
    let sandbox = Sandbox::new(&[
        ("package.json", "{\"name\": \"x\", \"graph\": {\"title\": \"sales\"}}"),
        ("cluster.textproto", "name: \"cluster\"\nsize: 3\n"),
        ("clumsy.onnxtxt", crate::tool::CLUMSY),
    ]);
    let fixed = sandbox.fix(&["clumsy.onnxtxt", "-o", "net.onnx", "--report", "report.json"]);
    assert_eq!(fixed.status, 0, "{fixed:?}");
    std::fs::remove_file(sandbox.path("clumsy.onnxtxt")).expect("the file exists");
    sandbox.lint(&[".", "-o", "found.sarif.json", "--output-format", "sarif"]);
    sandbox.lint(&[".", "--write-baseline", "--baseline", "known.json"]);
    let ran = sandbox.lint(&["."]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "All checks passed.\n"), "{ran:?}");
    assert_eq!(sandbox.lint(&["package.json"]).status, 2, "a named file must be a model");
}

#[test]
fn force_exclude_skips_named_files() {
    let sandbox = sandbox();
    sandbox.write("onnx-lint.toml", "exclude = [\"deep\"]\n");
    check(&sandbox, &["deep/faulty.onnxtxt"], 1, &[DEEP]);
    check(&sandbox, &["deep/faulty.onnxtxt", "faulty.onnxtxt", "--force-exclude"], 1, &[HERE]);
    let ran = sandbox.lint(&["deep/faulty.onnxtxt", "--force-exclude"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    assert!(
        ran.stderr.contains("the configuration excludes all files named on the command line"),
        "{}",
        ran.stderr
    );
}

#[test]
fn color_follows_option_and_environment() {
    let sandbox = sandbox();
    let coloured = |arguments: &[&str], environment: &[(&str, &str)]| {
        let environment: Vec<_> =
            environment.iter().map(|(name, value)| (*name, std::ffi::OsStr::new(value))).collect();
        let ran = sandbox.lint_with(&[&["faulty.onnxtxt"], arguments].concat(), &environment);
        ran.stdout.contains('\u{1b}')
    };
    assert!(!coloured(&[], &[]));
    assert!(coloured(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(coloured(&[], &[("FORCE_COLOR", "1")]));
    assert!(!coloured(&["--color", "never"], &[("FORCE_COLOR", "1")]));
    let quiet = sandbox.lint(&["faulty.onnxtxt", "-q", "--output-format", "concise"]);
    assert_eq!(quiet.stdout.lines().count(), 1, "{}", quiet.stdout);
    assert_eq!(sandbox.lint(&["sound.onnxtxt", "-q"]).stdout, "");
}

/// Messages do not contain raw errors of the operating system or of libraries.
#[test]
fn failure_messages_have_no_operating_system_codes() {
    let sandbox = sandbox();
    let says = |ran: Ran, status: i32, expected: &str| {
        assert_eq!(ran.status, status, "{ran:?}");
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(text.contains(expected), "{expected}: {text}");
        assert!(!text.contains("os error") && !text.contains(".onnx-fix-"), "{text}");
        assert!(!text.contains("``") && !text.contains("operation on"), "{text}");
    };
    says(sandbox.lint(&["missing.onnx"]), 2, "cannot be read: no such file or directory");
    says(sandbox.lint(&["--baseline", "deep"]), 2, "deep: cannot be read: it is a directory");
    says(sandbox.lint(&["--config", "deep"]), 2, "deep: cannot be read: it is a directory");
    says(sandbox.lint(&["-o", "deep"]), 2, "deep: cannot be written: it is a directory");
    says(sandbox.lint(&["--rules", "missing"]), 2, "missing: --rules: ");
    says(sandbox.lint(&["--select", "EPX"]), 2, "there is no rule `EPX`; did you mean `EXP`?");
    says(sandbox.fix(&["sound.onnxtxt", "-o", "deep"]), 2, "deep: cannot be written: it is a directory");
    says(
        sandbox.fix(&["sound.onnxtxt", "-o", "no/x.onnx"]),
        2,
        "no/x.onnx: cannot be written: no such directory `no`",
    );
    says(sandbox.fix(&["sound.onnxtxt", "-o", "sound.onnxtxt/x.onnx"]), 2, "cannot be written: ");
    says(sandbox.fix(&["sound.onnxtxt", "--check", "--report", "no/x.json"]), 2, "no such directory `no`");
    says(
        sandbox.fix(&["sound.onnxtxt", "--check", "--opset", "99"]),
        2,
        "there is no opset 99: opsets go from 1 to ",
    );
}

/// A full disk is reported for standard output as it is for an output file.
#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_reported_for_standard_output() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has /dev/full");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_onnx-lint"));
    let ran = command.arg("--list-rules").stdout(full).output().expect("the tool runs");
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(
        (ran.status.code(), &*stderr),
        (Some(2), "error: standard output: cannot be written: the disk is full\n")
    );
}

#[cfg(unix)]
#[test]
fn unreadable_folder_fails_the_run_but_other_files_are_linted() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path("secret")).expect("a folder");
    let permit = |mode: u32| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(sandbox.path("secret"), permissions).expect("a mode");
    };
    permit(0);
    // The superuser can read any folder.
    if std::fs::read_dir(sandbox.path("secret")).is_err() {
        check(&sandbox, &["."], 2, &[DEEP, HERE, ("secret", "SPC001")]);
    }
    permit(0o700);
    check(&sandbox, &["."], 1, &[DEEP, HERE]);
}
