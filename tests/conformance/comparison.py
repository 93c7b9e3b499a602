"""Compares the tools with their peers on real models and pitfalls; prints the tables of README.md as Markdown.

An optimized model counts as equal if ONNX Runtime computes the same results, with optimizations on and off, at all sizes of
`models.py`, and no operator of another domain was added. A converted model must also pass `onnx.checker`.
"""

import json
import statistics
import sys
import tempfile
from pathlib import Path

import onnx

from . import convert_models, lint_speed, models, opset, parallel, peer_tools, peers, runner, tools

# Target of the conversions: reached by all tools, and older than most of the models.
TARGET = 13
# The folder of PyTorch modules with known pitfalls, and of their exports.
PITFALLS = tools.ROOT / "tests/pitfalls"
NAMES = {peers.OURS: "**onnx-fix**", "onnxslim": "OnnxSlim"}


def run(options) -> bool:
    chosen = models.chosen(options)
    print(f"{len(chosen)} models. CPU and memory: medians over the models, whole processes.\n")
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        return all([_optimize(chosen, Path(scratch), options), _convert(chosen, Path(scratch)), _check(chosen)])


def _optimize(chosen, scratch: Path, options) -> bool:
    fix = tools.binary("onnx-fix")
    peer_tools.python()
    measured = [peers.measure(fix, options.fix_arguments, model, scratch / f"{at}.onnx")
                for at, model in enumerate(chosen)]
    rows = [row for row in parallel.map_isolated(peers.judge, list(zip(chosen, measured)), options.jobs) if row]
    lines = []
    for tool in (peers.OURS, "onnxsim", "onnxslim", "onnxoptimizer"):
        equal = [row for row in rows if tool in row.left]
        left = peers.mean(row.left[tool].total() / max(1, row.original.total()) for row in equal)
        lines.append((NAMES.get(tool, tool), f"{len(equal)} of {len(rows)}", f"{left:.0%}",
                      *_cost(row.costs[tool] for row in rows)))
    _print("Optimize", ("equal results", "nodes left", "CPU", "memory"), lines)
    return all(peers.OURS in row.left for row in rows)


def _convert(chosen, scratch: Path) -> bool:
    fix, written = tools.binary("onnx-fix"), scratch / "converted.onnx"
    commands = {
        "**onnx-fix**": lambda model: [fix, "--isolated", "--opset", TARGET, model.path, "-o", written],
        "onnx.version_converter": lambda model: [sys.executable, "-c", convert_models.CONVERTER, model.path, TARGET, written],
    }
    lines, wrong = [], {}
    for tool, command in commands.items():
        costs, equal, refused, wrong[tool] = [], 0, 0, 0
        for model in chosen:
            written.unlink(missing_ok=True)
            done = tools.measure(command(model))
            costs.append((done.cpu_seconds, done.peak_bytes))
            if done.status != 0 or not written.exists():
                refused += 1
            elif _is_converted(model, written):
                equal += 1
            else:
                wrong[tool] += 1
        lines.append((tool, f"{equal} of {len(chosen)}", refused, wrong[tool], *_cost(costs)))
    _print(f"Convert to opset {TARGET}", ("equal results", "refused", "wrong", "CPU", "memory"), lines)
    return not wrong["**onnx-fix**"]


def _is_converted(model, written: Path) -> bool:
    converted = onnx.load(written)
    if opset.illegality(converted, TARGET):
        return False
    try:
        return not runner.models_differ(str(model.path), converted.SerializeToString(), model.feeds())
    except Exception:  # noqa: BLE001 - ONNX Runtime raises a dozen kinds if it cannot load a model
        return False


def _check(chosen) -> bool:
    lint, faulty = tools.binary("onnx-lint"), sorted((PITFALLS / "exported").glob("*.onnx"))
    ours = lambda path: [lint, "--isolated", "--output-format", "json", "--path-map", f"/app={PITFALLS}", path]
    theirs = lambda path: [sys.executable, "-c", lint_speed.CHECKER, path]
    lines, alarms = [], {}
    for tool, command, reports in (("**onnx-lint**", ours, _has_findings), ("onnx.checker", theirs, _fails)):
        found = sum(reports(tools.measure(command(path)), {"warning", "error"}) for path in faulty)
        runs = [tools.measure(command(model.path)) for model in chosen]
        alarms[tool] = sum(reports(done, {"error"}) for done in runs)
        lines.append((tool, f"{found} of {len(faulty)}", f"{alarms[tool]} of {len(chosen)}",
                      *_cost((done.cpu_seconds, done.peak_bytes) for done in runs)))
    _print("Check", ("pitfalls reported", "errors on models that run", "CPU", "memory"), lines)
    return not alarms["**onnx-lint**"]


def _has_findings(done, levels) -> bool:
    """Returns True if a run of onnx-lint has findings at these levels."""
    return any(finding["severity"] in levels for finding in json.loads(done.stdout))


def _fails(done, _levels) -> bool:
    """Returns True if onnx.checker rejected the model; findings of the checker have no levels."""
    return done.status != 0


def _cost(costs) -> tuple[str, str]:
    seconds, peaks = zip(*costs)
    return f"{statistics.median(seconds):.2f} s", f"{statistics.median(peaks) / 1e6:.0f} MB"


def _print(title: str, header, lines):
    rows = [(title, *header), ("---",) * (len(header) + 1), *lines]
    print("\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows), flush=True)
    print()
