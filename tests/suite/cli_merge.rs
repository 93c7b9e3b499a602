//! Runs over models and their Python sources: each fault is reported once.

use serde_json::Value;

use crate::tool::Sandbox;

const MAPPED: [&str; 2] = ["--path-map", "/app=src"];

/// Returns the file, the code and the Python line of each finding.
fn found(sandbox: &Sandbox, arguments: &[&str]) -> Vec<(String, String, u64)> {
    let ran = sandbox.lint(&[arguments, &MAPPED, &["--output-format", "json"]].concat());
    let findings: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or("").to_owned();
    let line = |finding: &Value| finding["source"]["line"].as_u64().unwrap_or(0);
    findings.iter().map(|one| (text(one, "file"), text(one, "code"), line(one))).collect()
}

#[test]
fn a_finding_of_a_model_and_its_source_is_reported_once() {
    let sandbox = Sandbox::checkout(17, true);
    let (models, source, both) =
        (found(&sandbox, &["models"]), found(&sandbox, &["src"]), found(&sandbox, &["models", "src"]));
    let kept: Vec<_> = both.iter().filter(|(file, ..)| file.ends_with(".py")).cloned().collect();
    let of_models: Vec<_> = both.iter().filter(|(file, ..)| file.ends_with(".onnx")).cloned().collect();
    assert_eq!(of_models, models);
    let is_in_model = |(_, code, line): &(String, String, u64)| {
        models.iter().any(|(_, other, at)| (other, at) == (code, line))
    };
    let expected: Vec<_> = source.iter().filter(|finding| !is_in_model(finding)).cloned().collect();
    assert_eq!(kept, expected, "no finding at another line, or of another code, is lost");
    assert!(kept.len() >= 5 && source.len() >= kept.len() + 5, "{kept:?}");
    let reversed = found(&sandbox, &["src", "models"]);
    assert_eq!(reversed.len(), both.len(), "the order of the arguments does not matter");
}

#[test]
fn finding_of_the_model_has_a_note_about_the_source() {
    let sandbox = Sandbox::checkout(17, true);
    let arguments = ["models/OneHotInferredClasses.onnx", "src", "--select", "EXP013"];
    let ran = sandbox.lint(&[&arguments[..], &MAPPED].concat());
    let note = "= note: also found in the Python source: `F.one_hot(labels)` derives the number of classes from the data";
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
    assert!(ran.stdout.contains("Found 1 error ("), "{}", ran.stdout);
}

const SOURCE: &str = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        \
    return x.max().item() * x.min().item()\n";

/// Returns a model without findings, with `code` in a comment at the end.
fn model(code: &str) -> String {
    format!(
        "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[2] x) => (float[2] y) {{\n  \
         y = Mul (x, x)\n}}\n# {code}\n"
    )
}

#[test]
fn two_findings_of_a_line_are_not_merged_into_one() {
    let sandbox = Sandbox::new(&[("src/net.py", SOURCE), ("net.onnxtxt", &model(""))]);
    let source = found(&sandbox, &["src"]);
    assert_eq!(source.len(), 2, "{source:?}");
    assert_eq!(found(&sandbox, &["."]), source, "the model has no finding at that line");
    let log = "/app/net.py:6: TracerWarning: Converting a tensor to a Python number might cause the trace to be \
        incorrect. We can't record the data flow of Python values, so this value will be treated as a constant in \
        the future.\n  return x.max().item() * x.min().item()\n";
    sandbox.write("export.log", log);
    let both = found(&sandbox, &["."]);
    let in_log = both.iter().filter(|(file, ..)| file == "export.log").count();
    let in_source = both.iter().filter(|(file, ..)| file == "src/net.py").count();
    assert_eq!((in_log, in_source), (1, 1), "{both:?}");
}

#[test]
fn findings_at_different_lines_are_not_merged() {
    let sandbox = Sandbox::checkout(17, true);
    let arguments = ["models/OneHotInferredClasses.onnx", "src", "--select", "EXP013"];
    assert_eq!(found(&sandbox, &arguments).len(), 1);
    let text = String::from_utf8(sandbox.read("src/pitfalls.py")).expect("UTF-8");
    sandbox.write("src/pitfalls.py", format!("# one line more\n{text}"));
    assert_eq!(found(&sandbox, &arguments).len(), 2);
}

#[test]
fn merged_finding_has_the_level_of_the_model_at_any_severity() {
    let sandbox = Sandbox::checkout(17, true);
    let arguments = ["models/UnrolledLoop.onnx", "src", "--select", "EXP007", "--severity"];
    let run = |severity| found(&sandbox, &[&arguments[..], &[severity]].concat());
    assert!(run("info").iter().all(|(file, ..)| file == "models/UnrolledLoop.onnx"));
    assert_eq!(run("warning"), []);
}

#[test]
fn a_baseline_of_both_holds_for_each_alone() {
    let sandbox = Sandbox::checkout(17, true);
    let baseline = ["--baseline", "known.json"];
    let written = sandbox.lint(&[&["models", "src", "--write-baseline"][..], &baseline, &MAPPED].concat());
    assert_eq!(written.status, 0, "{written:?}");
    for paths in [&["models", "src"][..], &["models"], &["src"]] {
        assert_eq!(found(&sandbox, &[paths, &baseline].concat()), [], "{paths:?}");
    }
}

#[test]
fn all_formats_count_merged_findings_once() {
    let sandbox = Sandbox::checkout(17, true);
    let run = |format: &str| {
        let arguments = [&["models", "src"][..], &MAPPED, &["--output-format", format]].concat();
        sandbox.lint(&arguments).stdout
    };
    let json: Vec<Value> = serde_json::from_str(&run("json")).expect("JSON");
    let sarif: Value = serde_json::from_str(&run("sarif")).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(json.len()));
    let gitlab: Vec<Value> = serde_json::from_str(&run("gitlab")).expect("JSON");
    assert_eq!(gitlab.len(), json.len());
    assert_eq!(run("concise").lines().count(), json.len() + 1);
    let junit = run("junit");
    assert_eq!(junit.matches("<failure ").count() + junit.matches("<system-out>").count(), json.len());
}

#[test]
fn error_of_a_source_is_kept_at_any_severity() {
    let script = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        \
        return x[:, :int(x.shape[1] / 2)]\n\n\ntorch.onnx.export(Net(), (torch.randn(2, 8),), \"net.onnx\", \
        input_names=[\"x\"], dynamo=False, dynamic_axes={\"x\": {1: \"T\"}})\n";
    let log = "/app/net.py:6: TracerWarning: Converting a tensor to a Python integer might cause the trace to be \
        incorrect. We can't record the data flow of Python values, so this value will be treated as a constant in \
        the future.\n  return x[:, :int(x.shape[1] / 2)]\n";
    let sandbox = Sandbox::new(&[("src/net.py", script), ("export.log", log)]);
    let own = [("src/net.py".to_owned(), "EXP001".to_owned(), 6)];
    assert_eq!(found(&sandbox, &["src", "--severity", "error"]), own);
    assert_eq!(found(&sandbox, &["src", "export.log", "--severity", "error"]), own, "the log has a warning");
    let ran = sandbox.lint(&["src", "export.log", MAPPED[0], MAPPED[1]]);
    assert!(
        ran.stdout.contains("Found 1 error.") && ran.stdout.contains("also found in the export"),
        "{ran:?}"
    );
}
