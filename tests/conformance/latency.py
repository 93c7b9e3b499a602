"""Measures the latency of models after our optimizer and after its peers, relative to the original.

There are four modes: inference in ONNX Runtime with default settings, session creation, inference without optimizations,
and inference in OpenVINO. Each time is the minimum CPU time on one thread; all variants of a model run in turns. The
original runs a second time under another name: the deviation of its ratio from 1 measures noise. If the result of a peer
is not equal or does not run, its users keep the original, so the ratio is 1.
"""

import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import models, peer_tools, peers, tools
from .latency_worker import MODES

ORIGINAL, AGAIN, OURS = "original", "again", peers.OURS
COLUMNS = (AGAIN, OURS, *peer_tools.COMMANDS)
WORKER = Path(__file__).with_name("latency_worker.py")

SECONDS = 6
# Ratio to the original above which a model counts as slower.
SLOWER = 1.03


@dataclass(frozen=True)
class Timed:
    """Times of one model in one mode: the original in nanoseconds, and each variant relative to it."""

    name: str
    nanoseconds: float
    ratios: dict
    failures: dict


def run(options) -> bool:
    fix = tools.binary("onnx-fix")
    python = peer_tools.python()
    chosen = models.chosen(options)
    arguments = ["--optimize-for", "latency", *options.fix_arguments]
    timed = {mode: [] for mode in MODES}
    wrong = []
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        for model in chosen:
            forms, faults = _forms(fix, arguments, model, Path(scratch))
            if OURS in faults:
                wrong.append(f"{model.name}: {faults[OURS]}")
            feed = Path(scratch) / "feed.npz"
            np.savez(feed, **model.feeds()[0])
            for mode, rows in timed.items():
                rows.append(_time(python, mode, model.name, forms, feed))
                print(f"{mode:12} {_shown(rows[-1])}", flush=True)
    for mode, rows in timed.items():
        print(f"\n{mode}:")
        print(tools.table(("ratio to the original", "ms", *COLUMNS), [_line(row) for row in rows if row.nanoseconds]))
        _print_failures(rows, options)
    return _verdict(timed, wrong, options)


def _forms(fix, arguments, model, scratch: Path) -> tuple[dict, dict]:
    """Returns the files to time (original, ours, equal results of peers), and the faults of other results."""
    again = scratch / "again.onnx"
    shutil.copyfile(model.path, again)
    forms, faults = {ORIGINAL: model.path, AGAIN: again}, {}
    results = {OURS: peer_tools.ours(fix, arguments, model.path, scratch / "ours.onnx")}
    results |= {peer: peer_tools.optimize(peer, model.path) for peer in peer_tools.COMMANDS}
    original = model.load()
    for tool, result in results.items():
        fault = result.failure or peers.fault(model, original, result.path, is_kept=tool != OURS)
        if fault:
            faults[tool] = fault
        else:
            forms[tool] = result.path
    return forms, faults


def _time(python, mode, name, forms, feed) -> Timed:
    request = {"mode": mode, "models": {tool: str(path) for tool, path in forms.items()}, "feed": str(feed),
               "seconds": SECONDS}
    worker = subprocess.run([python, "-I", WORKER], input=json.dumps(request), capture_output=True, text=True, check=False)
    if worker.returncode:
        return Timed(name, 0, {}, {ORIGINAL: " ".join(worker.stderr.split())[-200:] or f"exit {worker.returncode}"})
    response = json.loads(worker.stdout.splitlines()[-1])
    took, failures = response["nanoseconds"], response["failures"]
    if ORIGINAL not in took:
        return Timed(name, 0, {}, failures)
    ratios = {tool: took[tool] / took[ORIGINAL] for tool in COLUMNS if tool in took}
    return Timed(name, took[ORIGINAL], ratios, failures)


def _line(row: Timed):
    mark = " *" if row.ratios.get(OURS, 1) > SLOWER else ""
    cells = (f"{row.ratios[tool]:.3f}" if tool in row.ratios else "–" for tool in COLUMNS)
    return (row.name + mark, f"{row.nanoseconds / 1e6:.3f}", *cells)


def _shown(row: Timed) -> str:
    return " ".join(_line(row)) if row.nanoseconds else f"{row.name}: {row.failures}"


def _print_failures(rows, options):
    lines = [f"{row.name}: {tool}: {why}" for row in rows for tool, why in row.failures.items()]
    if lines:
        print(f"Not run:\n{options.listed(lines)}")


def _verdict(timed, wrong, options) -> bool:
    """Prints the means of all tools, and the models that are slower than the original."""
    held, lines, slower = [], [], []
    for mode, rows in timed.items():
        rows = [row for row in rows if row.nanoseconds]
        means = {tool: peers.mean(row.ratios.get(tool, 1) for row in rows) for tool in COLUMNS}
        best = min(peer_tools.COMMANDS, key=means.get)
        lines.append((mode, len(rows), *(f"{means[tool]:.3f}" for tool in COLUMNS), best))
        held.append(options.floors.factor(f"{mode}: beside the best peer", means[best] / means[OURS]))
        over = [row for row in rows if row.ratios.get(OURS, 1) > SLOWER]
        slower += [f"{row.name}, {mode}: {row.ratios[OURS]:.3f}, the original again {row.ratios[AGAIN]:.3f}" for row in over]
        held.append(options.floors.share(f"{mode}: models not slower than they came", len(rows) - len(over), len(rows)))
    print("\nGeometric means of the ratios:")
    print(tools.table(("", "models", *COLUMNS, "best peer"), lines))
    if slower:
        print(f"\nSlower than the original: {len(slower)}\n{options.listed(slower, first=40)}")
    if wrong:
        print(f"WRONG: {len(wrong)}\n{options.listed(wrong, first=40)}")
    return all(held) and not wrong
