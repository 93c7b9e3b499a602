"""Checks on real models: copies are unchanged, fixes preserve outputs, linting finds no errors, runs are repeatable."""

import json
import tempfile
from pathlib import Path

import onnx

from . import models, runner, tools

HEADER = ("model", "MB", "nodes", "same message", "same results", "nodes fixed", "fixed results", "lint errors", "stable")


def run(options) -> bool:
    fix, lint = tools.binary("onnx-fix"), tools.binary("onnx-lint")
    repeats = 3 if options.sample else 10
    rows, failures, nodes = [], [], {"before": 0, "after": 0}
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        for model in models.collect():
            check = _broken if not model.runs else _sound
            row, found = check(model, fix, lint, Path(scratch))
            stable = _is_stable(model, fix, lint, Path(scratch), repeats)
            found += [] if stable else [f"output differs between {repeats} runs"]
            size, before = model.path.stat().st_size / 1e6, len(model.load().graph.node)
            rows.append((model.name, f"{size:.1f}", before, *row, "yes" if stable else "NO"))
            nodes["before"] += before
            nodes["after"] += row[2] if row[2] != "-" else before
            failures += [f"{model.name}: {reason}" for reason in found]
    print(tools.table(HEADER, rows))
    if failures:
        print(f"{len(failures)} failures:\n{options.listed(failures, first=40)}")
    simpler = options.floors.share("nodes removed", nodes["before"] - nodes["after"], nodes["before"])
    return simpler and not failures


def _sound(model, fix, lint, scratch) -> tuple[tuple, list[str]]:
    """Returns the table row and the failures of a model that runs."""
    failures = []
    copied, fixed = scratch / f"{model.name}.copied.onnx", scratch / f"{model.name}.fixed.onnx"
    copying = tools.run([fix, "--no-optimize", "--select", "none", model.path, "-o", copied])
    same = _verdict(failures, "read → write", copying, copied, lambda: _message_difference(model.path, copied))
    results = _verdict(failures, "read → write", copying, copied,
                       lambda: runner.models_differ(str(model.path), str(copied), model.feeds(), exactly=True))
    fixing = tools.run([fix, model.path, "-o", fixed])
    equal = _verdict(failures, "onnx-fix", fixing, fixed,
                     lambda: runner.models_differ(str(model.path), str(fixed), model.feeds()))
    nodes = len(onnx.load(fixed).graph.node) if fixed.exists() else "-"
    errors = _errors(lint, model.path, failures)
    failures += [f"onnx-lint: {error['code']} at {error.get('node')}: {error['message']}" for error in errors]
    return (same, results, nodes, equal, len(errors)), failures


def _broken(model, fix, lint, scratch) -> tuple[tuple, list[str]]:
    """Returns the table row and the failures of the model that does not load: its fault must be found and fixed."""
    failures = []
    fixed = scratch / f"{model.name}.fixed.onnx"
    errors = _errors(lint, model.path, failures)
    if not any(error["rule"] == "dtype-mismatch" for error in errors):
        failures.append("onnx-lint does not report dtype-mismatch")
    fixing = tools.run([fix, model.path, "-o", fixed])
    loads = _verdict(failures, "onnx-fix", fixing, fixed, lambda: _loading_failure(fixed, model.feeds()))
    nodes = len(onnx.load(fixed).graph.node) if fixed.exists() else "-"
    return ("-", "-", nodes, f"loads: {loads}", f"{len(errors)} expected"), failures


def _verdict(failures, step, process, written, reason_against) -> str:
    """Returns "yes", or "NO" after adding the reason to the failures."""
    reason = process.last_words() if process.status != 0 or not written.exists() else None
    if reason is None:
        try:
            reason = reason_against()
        except Exception as error:  # noqa: BLE001 – a written model that does not load is a failure
            reason = " ".join(str(error).split())[:300]
    if reason is None:
        return "yes"
    failures.append(f"{step}: {reason}")
    return "NO"


def _message_difference(original: Path, copied: Path) -> str | None:
    """Returns a message with the first field in which two models differ, or None.

    Compares the serialized models, because NaNs in decoded messages do not compare equal.
    """
    first, second = onnx.load(original), onnx.load(copied)
    if first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True):
        return None
    for descriptor in first.DESCRIPTOR.fields:
        if descriptor.name != "graph" and getattr(first, descriptor.name) != getattr(second, descriptor.name):
            return f"the message differs in {descriptor.name}"
    return "the message differs in the graph"


def _loading_failure(path: Path, feeds) -> str | None:
    for given in feeds:
        runner.in_runtime(str(path), given)
        runner.in_runtime(str(path), given, optimize=True)


def _errors(lint, path, failures) -> list[dict]:
    done = tools.run([lint, "--isolated", "--output-format", "json", path])
    if done.status not in (0, 1):
        failures.append(f"onnx-lint: {done.last_words()}")
        return []
    return [finding for finding in json.loads(done.stdout) if finding["severity"] == "error"]


def _is_stable(model, fix, lint, scratch, repeats) -> bool:
    """Returns True if the output of both tools is byte-equal in all runs, with up to 4 threads."""
    seen = set()
    for turn in range(repeats):
        threads = str(1 + turn % 4)
        environment = {"RAYON_NUM_THREADS": threads}
        written = scratch / f"{model.name}.{turn}.onnx"
        tools.run([fix, model.path, "-o", written], environment=environment)
        linted = tools.run([lint, "--isolated", "--jobs", threads, "--output-format", "json", model.path],
                           environment=environment)
        seen.add((written.read_bytes() if written.exists() else None, linted.stdout))
        written.unlink(missing_ok=True)
    return len(seen) == 1
