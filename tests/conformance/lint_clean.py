"""Tests for false positives: runs onnx-lint on the valid node tests and on the real models that run."""

import collections
import json
from pathlib import Path

from . import models, node_tests, opset, tools

# Models per process: command lines have a maximum length, and a crash should not hide other results.
BATCH = 100

# Correct findings: these tests are deliberately in training mode.
TRUE = {(f"test_batchnorm_{case}_training_mode.onnx", "training-mode") for case in ("epsilon", "example")}


def run(options) -> bool:
    lint = tools.binary("onnx-lint")
    # An error is not a false positive if onnx.checker rejects the model, too.
    legal = [test.path for test in node_tests.collect()
             if opset.illegality(test.model, opset.opset_of(test.model)) is None]
    real = [model.path for model in models.collect() if model.runs]
    rows, lines, failures = [], [], []
    for name, paths in (("node tests", legal), ("real models", real)):
        findings = _lint(lint, paths, failures)
        severities = collections.Counter(finding["severity"] for finding in findings)
        rows.append((name, len(paths), *(severities[level] for level in ("error", "warning", "info", "hint"))))
        lines += [f"{Path(finding['file']).name}: {finding['severity']}[{finding['code']}] {finding['message']}"
                  for finding in findings if finding["severity"] == "error" or
                  finding["severity"] == "warning" and name == "real models"]
    print(tools.table(("linted", "models", "errors", "warnings", "infos", "hints"), rows))
    if lines:
        print(f"errors, and the real models' warnings:\n{options.listed(lines, first=40)}")
    if failures:
        print(f"FAILED: {len(failures)}\n{options.listed(failures)}")
    return not failures and not any(row[2] for row in rows)


def _lint(lint, paths, failures) -> list[dict]:
    findings = []
    for start in range(0, len(paths), BATCH):
        done = tools.run([lint, "--isolated", "--output-format", "json", *paths[start:start + BATCH]])
        if done.status in (0, 1):
            findings += [finding for finding in json.loads(done.stdout)
                         if (Path(finding["file"]).name, finding["rule"]) not in TRUE]
        else:
            failures.append(done.last_words())
    return findings
