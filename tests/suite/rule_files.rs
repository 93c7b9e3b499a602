//! The code of a built-in analysis is found by the name of its rule.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::files;

/// Files that contain several analyses, or are named after a pass or reader instead of an analysis.
const SHARED: &[(&str, &[&str])] = &[
    (
        "src/analyses/detectors/numbers.rs",
        &[
            "nan-in-weights",
            "division-by-constant-zero",
            "log-or-sqrt-of-negative-constant",
            "epsilon-underflow",
        ],
    ),
    (
        "src/analyses/detectors/quantised.rs",
        &["scale-not-positive", "per-channel-size", "double-quantization"],
    ),
    ("src/analyses/detectors/shapes/declared_shape_wrong.rs", &["lost-symbol"]),
    ("src/analyses/detectors/shapes/shape_mismatch.rs", &["branch-rank-differs", "bad-value"]),
    (
        "src/analyses/detectors/spec/external.rs",
        &["external-data-missing", "external-data-out-of-range", "external-data-escapes-folder"],
    ),
    (
        "src/analyses/detectors/spec/functions.rs",
        &["unbound-attribute-reference", "recursive-function", "duplicate-function"],
    ),
    (
        "src/analyses/detectors/spec/imports.rs",
        &["missing-opset-import", "duplicate-opset-import", "missing-ir-version"],
    ),
    (
        "src/analyses/detectors/spec/initializers.rs",
        &["input-named-weights", "initializer-not-input", "default-of-another-type"],
    ),
    ("src/analyses/detectors/spec/names.rs", &["bad-name", "duplicate-node-name"]),
    ("src/analyses/detectors/spec/order.rs", &["cycle", "unsorted-nodes"]),
    ("src/analyses/detectors/spec/subgraphs.rs", &["body-signature"]),
    ("src/analyses/detectors/spec/tensors.rs", &["bad-tensor-data"]),
    ("src/analyses/detectors/spec/types.rs", &["bad-type"]),
    (
        "src/analyses/detectors/spec/values.rs",
        &[
            "undefined-value",
            "duplicate-value",
            "undefined-output",
            "shadowed-value",
            "duplicate-initializer",
        ],
    ),
    ("src/analyses/detectors/unused.rs", &["dead-node", "unused-initializer", "equal-initializers"]),
    ("src/analyses/detectors/versions/domains.rs", &["unknown-domain", "python-op", "aten-fallback"]),
    (
        "src/analyses/detectors/versions/obstacle.rs",
        &[
            "unsupported-op",
            "op-newer-than-opset",
            "op-removed",
            "attribute-not-in-version",
            "type-not-in-version",
            "negative-index-in-version",
            "missing-input",
            "wrong-arity",
            "missing-attribute",
            "bad-attribute",
            "duplicate-attribute",
        ],
    ),
    ("src/analyses/detectors/versions/releases.rs", &["ir-version-mismatch", "resize-semantics-changed"]),
    ("src/analyses/repairs/convert.rs", &["converted-node"]),
    ("src/analyses/repairs/patches.rs", &["inserted-cast"]),
    ("src/analyses/dynamic.rs", &["static-axis", "bad-request"]),
    ("src/cli/fix/verify/mod.rs", &["results-differ", "results-compared"]),
    ("src/cli/lint/mod.rs", &["internal-error"]),
    (
        "src/cli/lint/suppress/report.rs",
        &["unused-suppression", "unknown-suppressed-rule", "malformed-suppression"],
    ),
    ("src/export_log/failures.rs", &["export-failed"]),
    ("src/extract/change_report.rs", &["adapted-form", "constant-result", "repeated-node", "unused-output"]),
    ("src/fix/declarations.rs", &["declared-type"]),
    ("src/fix/errors.rs", &["not-convertible"]),
    ("src/fix/passes/constants_to_initializers.rs", &["lifted-constant"]),
    ("src/fix/passes/dedup_initializers.rs", &["repeated-weight"]),
    ("src/fix/passes/dynamic.rs", &["dynamic-axis"]),
    ("src/fix/passes/inline_functions.rs", &["inlined-function"]),
    ("src/fix/passes/input_shapes.rs", &["requested-shape"]),
    ("src/fix/passes/lift_constants.rs", &["moved-constant"]),
    ("src/fix/passes/precision.rs", &["narrowed-numbers"]),
    ("src/fix/passes/relabel_opset.rs", &["relabelled-version"]),
    ("src/fix/passes/unused_functions.rs", &["unused-function"]),
    ("src/fix/postconditions/mod.rs", &["internal-fault"]),
    ("src/graph/syntax/text.rs", &["bad-onnx-text"]),
    ("src/import/blocked.rs", &["input-written"]),
    ("src/lint/targets/mod.rs", &["target-unsupported"]),
    (
        "src/python/script/export_call/arguments.rs",
        &["removed-argument", "argument-of-other-exporter", "argument-type"],
    ),
    ("src/python/script/export_call/axes.rs", &["unknown-axis-name", "axis-out-of-range", "axis-order"]),
    ("src/python/script/export_call/inputs.rs", &["example-type", "constant-input"]),
    (
        "src/python/script/export_call/model.rs",
        &["not-a-module", "unsupported-wrapper", "autocast-export", "float64-model", "weights-left-out"],
    ),
    ("src/python/script/export_call/names.rs", &["name-count"]),
    ("src/python/script/export_call/opset.rs", &["unsupported-opset"]),
    ("src/python/script/export_call/outputs.rs", &["unused-input", "output-order", "input-order"]),
    ("src/python/script/export_call/shapes.rs", &["example-size-one", "dim-range", "static-export"]),
    ("src/python/script/export_call/written_path.rs", &["overwritten-file"]),
    ("src/python/report/control.rs", &["traced-branch"]),
    ("src/python/report/indices.rs", &["index-put-rank", "index-put-non-consecutive"]),
    ("src/python/report/values.rs", &["numpy-constant", "tensor-data"]),
    ("src/python/script/faults.rs", &["device-mismatch", "forward-arguments", "unknown-attribute"]),
    ("src/python/script/unsupported.rs", &["unsupported-operator"]),
    ("src/read/onnx/mod.rs", &["unreadable-model", "unknown-fields"]),
    ("src/read/torchscript.rs", &["unreadable-part"]),
    ("src/rules/syntax/mod.rs", &["bad-rule"]),
    ("src/targets/syntax.rs", &["bad-target"]),
];

/// Returns the name of each built-in analysis, with its constant, from the rows of `rule_ids`.
fn rows(text: &str) -> BTreeMap<&str, &str> {
    let words = text.lines().map(|line| line.split_whitespace().collect::<Vec<&str>>());
    let is_row =
        |words: &Vec<&str>| words.len() == 4 && words[1].starts_with('"') && words[2].starts_with('"');
    words.filter(is_row).map(|words| (words[2].trim_matches('"'), words[0])).collect()
}

#[test]
fn built_in_analyses_have_files_of_their_names() {
    let files = files(&["src"], "rs");
    let ids = files.iter().find(|file| file.path == "src/diag/rule_ids.rs").expect("the table has a file");
    let rows = rows(&ids.text);
    assert!(rows.len() > 90, "only {} rows were found", rows.len());
    let stems: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| file.path.trim_end_matches("/mod.rs").trim_end_matches(".rs").rsplit('/').next())
        .collect();
    let mut faults = Vec::new();
    for (name, constant) in &rows {
        let shared = SHARED.iter().find(|(_, names)| names.contains(name)).map(|(path, _)| *path);
        let has_own = stems.contains(&*name.replace('-', "_"));
        match (has_own, shared) {
            (true, None) => {}
            (true, Some(path)) => {
                faults.push(format!("{name} has a file of its own, and is listed for {path}"))
            }
            (false, None) => {
                let file = name.replace('-', "_");
                faults.push(format!("{name} has no file {file}.rs, and SHARED lists no other file for it"));
            }
            (false, Some(path)) => {
                if !files.iter().any(|file| file.path == path && file.text.contains(*constant)) {
                    faults.push(format!("{path} does not exist or does not report {name}"));
                }
            }
        }
    }
    for name in SHARED.iter().flat_map(|(_, names)| *names).filter(|name| !rows.contains_key(*name)) {
        faults.push(format!("{name} is not a built-in analysis"));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
