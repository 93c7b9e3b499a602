"""Tests the conformance tests: with each broken tool, they must fail for the expected reason."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from . import tools
from .__main__ import CHECKS

SABOTEUR = Path(__file__).with_name("saboteur.py")

# Entries (check, tool, fault of the tool, expected output of the check). Every check in CHECKS has at least one entry.
SABOTAGES = (
    ("convert", "onnx-fix", "refuses_conversions", "UNDER ITS FLOOR: convert, right at 13"),
    ("convert", "onnx-fix", "only_relabels", "ILLEGAL: "),
    ("eval", "onnx-fix", "changes_nothing", "UNDER ITS FLOOR: eval, equal"),
    ("pitfalls", "onnx-lint", "finds_nothing", "UNDER ITS FLOOR: pitfalls, expectations met"),
    ("lint", "onnx-lint", "calls_everything_an_error", ": error["),
    ("fixes", "onnx-fix", "fixes_nothing", "was not applied"),
    ("fixes", "onnx-fix", "drops_the_last_node", "failures:"),
    ("fixes", "onnx-fix", "writes_nothing", "failures:"),
    ("roundtrip", "onnx-fix", "changes_a_weight", "the message differs in the graph"),
    ("roundtrip", "onnx-fix", "is_never_the_same", "output differs between"),
    ("lint-speed", "onnx-lint", "is_slow", "UNDER ITS FLOOR: lint-speed, faster than onnx.checker"),
    ("convert-free", "onnx-fix", "drops_the_last_node", "ILLEGAL: "),
    ("realmodels", "onnx-fix", "changes_a_weight", "values, by up to"),
    ("realmodels", "onnx-fix", "refuses_conversions", "UNDER ITS FLOOR: realmodels, not refused"),
    ("infer", "onnx-fix", "infers_nothing", "UNDER ITS FLOOR: infer, complete"),
    ("infer-models", "onnx-fix", "infers_nothing", "UNDER ITS FLOOR: infer-models, shaped"),
    ("invalid", "onnx-lint", "finds_nothing", "UNDER ITS FLOOR: invalid, reported"),
    ("invalid", "onnx-lint", "calls_everything_an_error", "UNDER ITS FLOOR: invalid, no error on models that run"),
    ("invalid", "onnx-fix", "drops_the_last_node", "LOST: the mutant runs, but not the output of onnx-fix"),
    ("aten", "onnx-fix", "drops_the_last_node", "WRONG:"),
    # A linter without findings reports every node as supported.
    ("targets", "onnx-lint", "finds_nothing", "UNDER ITS FLOOR: targets, onnxruntime 1.31: yes that runs"),
    ("targets", "onnx-fix", "drops_the_last_node", "LOST: onnxruntime 1.31"),
    ("fusion", "onnx-fix", "changes_nothing", "UNDER ITS FLOOR: fusion, fused for"),
    ("fusion", "onnx-fix", "changes_a_weight", "failures: "),
)
# Number of sabotages that `--quick` runs: the cheapest.
QUICK = 8

# Number of output lines to show if a check did not detect the broken tool.
LAST_WORDS = 20


def main(only: list[str]) -> int:
    whole = tools.Stopwatch()
    chosen = [sabotage for sabotage in SABOTAGES if sabotage[0] in only] if only else SABOTAGES
    if only == ["--quick"]:
        chosen = SABOTAGES[:QUICK]
    failures = []
    for check, tool, way, expected in chosen:
        watch = tools.Stopwatch()
        reason, output = _unnoticed(check, tool, way, expected)
        print(f"{tool} {way.replace('_', ' ')}: {'NOT ' if reason else ''}noticed by {check} ({watch})", flush=True)
        failures += [f"{tool} {way}: {reason}", *output.splitlines()[-LAST_WORDS:]] if reason else []
    failures += [f"{check}: no sabotage tests this check"
                 for check in set(CHECKS) - {sabotage[0] for sabotage in SABOTAGES}]
    print(*failures, sep="\n")
    print(f"sabotage: {'FAILED' if failures else 'all noticed'} ({whole})")
    return bool(failures)


def _unnoticed(check, tool, way, expected) -> tuple[str | None, str]:
    """Returns the reason why CI would not notice a broken tool, or None, and the output of the check."""
    with tempfile.TemporaryDirectory(dir=tools.WORK) as folder:
        for name in ("onnx-fix", "onnx-lint"):
            real = tools.binary(name)
            script = Path(folder) / name
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{SABOTEUR}" {way} "{real}" "$@"\n'
                              if name == tool else f'#!/bin/sh\nexec "{real}" "$@"\n', encoding="utf-8")
            script.chmod(0o755)
        done = subprocess.run([tools.ROOT / "tests/conformance/run", "--sample", "--verbose", check], text=True,
                              env={**os.environ, "ONNX_LINT_TOOLS": folder}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
    if done.returncode == 0:
        return "the check passes", done.stdout
    if f"--- {check}: FAILED" not in done.stdout:
        return "the check itself crashed", done.stdout
    return None if expected in done.stdout else f"the check failed, but did not print “{expected}”", done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
