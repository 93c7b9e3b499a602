#!/usr/bin/env python3
"""judge.py FOLDER [options]: converts the programs of `export.py` by `onnx-fix` and compares them with PyTorch in ONNX Runtime.

With --peer, torch.onnx converts each program, too. The nodes of the model of torch.onnx are counted after `onnx-fix`
has optimized the model. Writes FOLDER/verdicts.tsv and prints the totals.
"""

import argparse
import collections
import logging
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import onnx
import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "opinfo"))
from judge import compare  # noqa: E402
from workers import forked  # noqa: E402

SECONDS = 600
CONVERSION_SECONDS = 200


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tool", type=Path, required=True, help="onnx-fix")
    parser.add_argument("--opset", type=int, default=18)
    parser.add_argument("--only", default="", help="programs whose name contains this text")
    parser.add_argument("--peer", action="store_true", help="compare with torch.onnx")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    torch.set_num_threads(1)
    log = options.folder / "verdicts.tsv"
    log.write_text("")
    cases = [case for case in sorted(options.folder.glob("*.pt2")) if options.only in case.name and ".part." not in case.name]
    forked(
        cases,
        lambda case: _judge(case, options, log),
        SECONDS,
        options.jobs,
        lambda case, reason: _note(log, case.stem, "failed", reason),
    )
    _totals(log)


def _judge(case: Path, options, log: Path):
    """Writes the verdict on a program, and on its conversion by torch.onnx."""
    trials = torch.load(case.with_suffix(".pt"))
    with tempfile.TemporaryDirectory() as scratch:
        ours = Path(scratch) / "ours.onnx"
        reason = _run(options.tool, case, "--opset", options.opset, "-o", ours)
        verdict, reason = compare(ours, trials) if ours.exists() else ("refused", reason)
        columns = [verdict, len(trials), _nodes(ours)]
        if options.peer:
            columns += _peer(case, trials, options, Path(scratch))
    _note(log, case.stem, *columns, reason)


def _peer(case: Path, trials, options, scratch: Path) -> list:
    """Returns the verdict on the model of torch.onnx, and its nodes after `onnx-fix`."""
    import torchvision  # noqa: F401 – registers custom operators, without which archives do not load
    import transformers.integrations.moe  # noqa: F401 – registers others

    theirs, after = scratch / "theirs.onnx", scratch / "after.onnx"
    try:
        program = torch.onnx.export(torch.export.load(case), (), dynamo=True, opset_version=options.opset, verbose=False)
        program.save(str(theirs))
    except Exception:  # noqa: BLE001 – torch.onnx raises many kinds
        return ["refused", 0]
    _run(options.tool, theirs, "-o", after)
    return [compare(theirs, trials)[0], _nodes(after)]


def _run(tool: Path, *arguments) -> str:
    """Runs `onnx-fix` and returns its first error."""
    try:
        done = subprocess.run([tool, *map(str, arguments), "-q"], capture_output=True, text=True, timeout=CONVERSION_SECONDS)
    except subprocess.TimeoutExpired:
        return f"more than {CONVERSION_SECONDS} s"
    return next((line for line in done.stderr.splitlines() if line.startswith("error")), done.stderr[-200:])


def _nodes(path: Path) -> int:
    """Returns the number of nodes of a model with its subgraphs; 0 if there is no model."""
    def count(graph):
        return sum(1 + sum(count(attr.g) for attr in node.attribute if attr.HasField("g")) for node in graph.node)

    return count(onnx.load(path, load_external_data=False).graph) if path.exists() else 0


def _note(log: Path, *columns):
    with log.open("a") as file:
        print(*(" ".join(str(column).split())[:300] for column in columns), sep="\t", file=file)


def _totals(log: Path):
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    print("onnx-fix:", dict(collections.Counter(row[1] for row in rows)))
    both = [row for row in rows if len(row) == 7]
    if both:
        print("torch.onnx:", dict(collections.Counter(row[4] for row in both)))
        shared = [row for row in both if row[1] == row[4] == "right" and int(row[5])]
        print(f"no more nodes than torch.onnx: {sum(int(row[3]) <= int(row[5]) for row in shared)} of {len(shared)}")
    for row in rows:
        if row[1] != "right":
            print(*row, sep="\t")


if __name__ == "__main__":
    main()
