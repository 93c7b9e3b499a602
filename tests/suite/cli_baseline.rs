//! Baselines hide known findings, in any checkout and run, and no other findings.

use crate::tool::{FAULTY, Sandbox};

const BASELINE: [&str; 2] = ["--baseline", "known.json"];

/// Returns the findings that a baseline does not hide, as `file: CODE`.
fn new(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let ran = sandbox.lint(&[arguments, &BASELINE, &["--output-format", "json"]].concat());
    let findings: Vec<serde_json::Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    let text = |finding: &serde_json::Value, key: &str| finding[key].as_str().unwrap_or("").to_owned();
    findings.iter().map(|finding| format!("{}: {}", text(finding, "file"), text(finding, "code"))).collect()
}

fn write(sandbox: &Sandbox, arguments: &[&str]) {
    let ran = sandbox.lint(&[arguments, &BASELINE, &["--write-baseline"]].concat());
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
}

/// Returns a model that reads the undefined values `names`, each in a separate node.
fn ghosts(names: &[&str]) -> String {
    let nodes: String =
        names.iter().map(|name| format!("  [n_{name}] o_{name} = Add (x, {name})\n")).collect();
    format!(
        "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[N,4] x) => (float[N,4] y) {{\n{nodes}  y = Relu (x)\n}}\n"
    )
}

#[test]
fn written_baseline_hides_its_findings_and_bad_baselines_are_reported() {
    let sandbox = Sandbox::new(&[("a.onnxtxt", FAULTY), ("b.onnxtxt", FAULTY)]);
    write(&sandbox, &[]);
    assert!(new(&sandbox, &[]).is_empty());
    sandbox.write("known.json", "{}");
    assert!(sandbox.lint(&BASELINE).stderr.contains("this is not a baseline file"));
    sandbox.write("known.json", "{\"version\": 1, \"findings\": []}");
    assert!(sandbox.lint(&BASELINE).stderr.contains("write the baseline again with --write-baseline"));
}

#[test]
fn baseline_of_the_configuration_is_used() {
    let sandbox = Sandbox::new(&[("a.onnxtxt", FAULTY), ("onnx-lint.toml", "baseline = \"known.json\"\n")]);
    let missing = sandbox.lint(&[]);
    assert_eq!(missing.status, 2);
    assert!(missing.stderr.contains("--write-baseline creates it"), "{}", missing.stderr);
    assert_eq!(sandbox.lint(&["--write-baseline"]).status, 0);
    assert_eq!(sandbox.lint(&[]).status, 0);
}

#[test]
fn baseline_of_one_model_does_not_hide_findings_of_another() {
    let sandbox = Sandbox::new(&[("a.onnxtxt", FAULTY), ("deep/a.onnxtxt", FAULTY)]);
    write(&sandbox, &["a.onnxtxt"]);
    assert_eq!(new(&sandbox, &["."]), ["deep/a.onnxtxt: SPC012"]);
}

#[test]
fn only_new_findings_are_reported() {
    let sandbox = Sandbox::new(&[("a.onnxtxt", &ghosts(&["p", "q"]))]);
    write(&sandbox, &["a.onnxtxt"]);
    sandbox.write("a.onnxtxt", ghosts(&["r", "p", "q"]));
    let ran = sandbox.lint(&["a.onnxtxt", "--baseline", "known.json", "--output-format", "concise"]);
    assert!(ran.stdout.starts_with("a.onnxtxt:3:23: error[SPC012] input `r` of `n_r`"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Found 1 error"), "{}", ran.stdout);
}

#[test]
fn baseline_applies_in_another_checkout_and_after_reexport() {
    let here = Sandbox::checkout(17, true);
    write(&here, &["models", "--path-map", "/app=src"]);
    assert!(new(&here, &["models", "--path-map", "/app=src"]).is_empty());
    assert!(new(&here, &["models"]).is_empty(), "without the sources");

    let there = Sandbox::checkout(13, false);
    there.write("known.json", here.read("known.json"));
    assert_eq!(new(&there, &["models"]), Vec::<String>::new(), "exported again, at another opset");
    let models = there.path("models");
    assert!(new(&there, &[&*models.to_string_lossy()]).is_empty(), "by an absolute path");

    // A finding in an added model is new, even if models of the baseline have the same fault.
    there.bring("tests/pitfalls/exported/BakedBatch.ts13.onnx", "models/ConstantOutput.onnx");
    assert_eq!(new(&there, &["models"]), ["models/ConstantOutput.onnx: EXP001"]);
}

#[test]
fn baseline_written_without_sources_does_not_hide_findings_in_sources() {
    let here = Sandbox::checkout(17, true);
    write(&here, &["models"]);
    let found = new(&here, &["models", "--path-map", "/app=src"]);
    assert!(!found.is_empty() && !found.contains(&"models/BakedBatch.onnx: EXP001".to_owned()), "{found:?}");
}

#[test]
fn baseline_hides_the_fault_at_another_batch_size() {
    let model = |batch: u32| {
        format!(
            "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[batch,3,4] x) => (float[{batch},12] y) {{\n  \
             [\"/head/Constant\"] s = Constant <value = int64[2] {{{batch}, 12}}> ()\n  \
             [\"/head/Reshape\"] y = Reshape (x, s)\n}}\n"
        )
    };
    let sandbox = Sandbox::new(&[("net.onnxtxt", &model(2))]);
    write(&sandbox, &["net.onnxtxt"]);
    assert_eq!(String::from_utf8_lossy(&sandbox.read("known.json")).matches("EXP001").count(), 1);
    sandbox.write("net.onnxtxt", model(8));
    assert!(new(&sandbox, &["net.onnxtxt"]).is_empty());
}

#[test]
fn fingerprints_are_unique_and_independent_of_file_order() {
    let sandbox = Sandbox::checkout(17, true);
    let prints = |paths: &[&str]| {
        let options = ["--path-map", "/app=src", "--output-format", "gitlab"];
        let ran = sandbox.lint(&[paths, &options].concat());
        let issues: Vec<serde_json::Value> = serde_json::from_str(&ran.stdout).expect("JSON");
        let print = |issue: &serde_json::Value| issue["fingerprint"].as_str().expect("a text").to_owned();
        let mut prints: Vec<String> = issues.iter().map(print).collect();
        prints.sort();
        prints
    };
    let all = prints(&["models", "src"]);
    let mut distinct = all.clone();
    distinct.dedup();
    assert_eq!(all, distinct);
    assert_eq!(all, prints(&["src", "models/UnrolledLoop.onnx", "models"]));
}

/// Creates a checkout with a baseline of an earlier version, from `tests/suite/baselines`.
fn sandbox_of_earlier_baseline() -> Sandbox {
    let sandbox = Sandbox::checkout(17, true);
    for name in ["known.json", "net.onnxtxt"] {
        sandbox.bring(&format!("tests/suite/baselines/{name}"), name);
    }
    sandbox
}

/// The options with which `tests/suite/baselines/known.json` was written.
const EARLIER: [&str; 5] = [".", "--path-map", "/app=src", "--select", "DTY,EXP,IDX,OPS,OPT002,SHP,SPC"];

#[test]
fn a_baseline_of_an_earlier_version_still_holds() {
    let sandbox = sandbox_of_earlier_baseline();
    assert_eq!(new(&sandbox, &EARLIER), Vec::<String>::new());
    let apart = |paths: &[&str]| new(&sandbox, &[paths, &EARLIER[1..]].concat());
    assert_eq!(apart(&["src"]), Vec::<String>::new());
    assert_eq!(apart(&["models", "net.onnxtxt"]), Vec::<String>::new());
}

#[test]
fn fingerprints_equal_those_of_an_earlier_version() {
    let sandbox = sandbox_of_earlier_baseline();
    let fingerprints = |sandbox: &Sandbox| -> Vec<(String, String)> {
        let document: serde_json::Value = serde_json::from_slice(&sandbox.read("known.json")).expect("JSON");
        let findings = document["findings"].as_array().expect("an array").clone();
        let text = |finding: &serde_json::Value, key: &str| finding[key].as_str().expect("a text").to_owned();
        findings.iter().map(|finding| (text(finding, "file"), text(finding, "fingerprint"))).collect()
    };
    let earlier = fingerprints(&sandbox);
    write(&sandbox, &EARLIER);
    assert_eq!(fingerprints(&sandbox), earlier);
    assert_eq!(earlier.len(), 43);
}
