#!/usr/bin/env python3
"""sample.py FOLDER OUT [--seed S] [--count N]: copies some right cases with dynamic sizes, for tests that need no PyTorch.

OUT/dynamic_OPERATOR.pt2 is the archive; the .npz beside it has inputs of other sizes than the traced ones, and their results.
Stack traces in the archives lose the folder of this repository.
"""

import argparse
import random
import zipfile
from pathlib import Path

import numpy as np
import torch

from judge import _array

LARGEST = 30_000
ROOT = Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=24)
    options = parser.parse_args()
    rows = [line.split("\t") for line in (options.folder / "verdicts.tsv").read_text().splitlines()]
    right = sorted({case for case, _, _, verdict, _ in rows if verdict == "right" and case.endswith(".dynamic")})
    random.Random(options.seed).shuffle(right)
    written = 0
    for case in right:
        operator = case.split(".")[0]
        archive = options.folder / operator / f"{case}.pt2"
        trials = torch.load(archive.with_suffix(".pt"))
        if len(trials) < 2 or written == options.count:
            continue
        inputs, results = trials[-1]
        arrays = {f"in{at}": _array(tensor) for at, tensor in enumerate(inputs)}
        arrays |= {f"out{at}": _array(tensor) for at, tensor in enumerate(results)}
        target = options.out / f"dynamic_{operator}.npz"
        np.savez_compressed(target, **arrays)
        copy_archive(archive, target.with_suffix(".pt2"))
        if max(target.stat().st_size, target.with_suffix(".pt2").stat().st_size) > LARGEST:
            target.unlink()
            target.with_suffix(".pt2").unlink()
            continue
        written += 1


def copy_archive(source: Path, target: Path):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith(".json"):
                data = data.replace(f"{ROOT}/".encode(), b"")
            new.writestr(entry.filename, data)


if __name__ == "__main__":
    main()
