"""How fast the models run that optimisers make, ours and those of others, as ratios to the original.

Four things are timed, each in CPU time of one thread, all forms of a model in turns, of which the least counts: one
inference in ONNX Runtime as it comes, making the session, one inference with its optimisations off, and one inference in
OpenVINO. The original runs a second time under another name: how far its ratio is from 1 is the noise. Where a peer's result
is not equal, or its form does not run, the original is what its users are left with, so that it counts as 1.
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
# What a model may be slower than the original.
SLOWER = 1.03


@dataclass(frozen=True)
class Timed:
    """One model in one mode: the original's nanoseconds, and the ratios to it by form."""

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
    """The files to time: the original, ours, and those of the peers that are equal to it; and why others are not."""
    again = scratch / "again.onnx"
    shutil.copyfile(model.path, again)
    forms, faults = {ORIGINAL: model.path, AGAIN: again}, {}
    results = {OURS: peer_tools.ours(fix, arguments, model.path, scratch / "ours.onnx")}
    results |= {peer: peer_tools.optimise(peer, model.path) for peer in peer_tools.COMMANDS}
    original = model.load()
    for tool, result in results.items():
        fault = result.failure or peers.fault(model, original, result.path, is_kept=tool != OURS)
        if fault:
            faults[tool] = fault
        else:
            forms[tool] = result.path
    return forms, faults


def _time(python, mode, name, forms, feed) -> Timed:
    asked = {"mode": mode, "models": {tool: str(path) for tool, path in forms.items()}, "feed": str(feed),
             "seconds": SECONDS}
    worker = subprocess.run([python, "-I", WORKER], input=json.dumps(asked), capture_output=True, text=True, check=False)
    if worker.returncode:
        return Timed(name, 0, {}, {ORIGINAL: " ".join(worker.stderr.split())[-200:] or f"exit {worker.returncode}"})
    told = json.loads(worker.stdout.splitlines()[-1])
    took, failures = told["nanoseconds"], told["failures"]
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
    """The means, ours beside the best peer's, and which models are slower than they came."""
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
