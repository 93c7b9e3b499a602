#!/usr/bin/env python3
"""extremes.py FOLDER OUT [options]: gives the cases of `export.py` inputs with extreme values, for `judge.py OUT`.

A part of the elements is replaced by the largest and smallest integers of the dtype, by the largest floats of float16 and
small floats, by integers that float64 cannot represent, and by NaN, infinities and zeros. Inputs that PyTorch rejects are left
out.
"""

import argparse
import random
import shutil
from pathlib import Path

import torch

from export import OPERATOR_SECONDS, _quiet, _trial
from workers import Limit, forked

CASE_SECONDS = 20
# Share of the elements that are replaced.
SHARE = 0.4
NOT_FINITE = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtypes", default="", help="comma-separated; all by default")
    parser.add_argument("--only", default="", help="operators whose name contains this text")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    _quiet()
    folders = [folder for folder in sorted(options.folder.iterdir()) if folder.is_dir() and options.only in folder.name]
    forked(folders, lambda folder: _operator(folder, options), OPERATOR_SECONDS, options.jobs)


def _operator(folder: Path, options):
    """Writes the inputs and results of all cases of an operator."""
    out = options.out / folder.name
    out.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "exports.tsv", out)
    for case in sorted(folder.glob("*.pt2")):
        if options.dtypes and case.stem.split(".")[-3] not in options.dtypes.split(","):
            continue
        try:
            with Limit(CASE_SECONDS):
                trials = list(_trials(case, options.seed))
        except TimeoutError:
            continue
        if trials:
            torch.save(trials, out / (case.stem + ".pt"))
            (out / case.name).unlink(missing_ok=True)
            (out / case.name).symlink_to(case.resolve())


def _trials(case: Path, seed: int):
    """Yields inputs with extreme values, at all sizes of the case, and PyTorch's results."""
    module = torch.export.load(case).module()
    for number, (tensors, _) in enumerate(torch.load(case.with_suffix(".pt"))):
        for choices in (_largest, _not_finite):
            dice = torch.Generator().manual_seed(random.Random(f"{seed} {case.stem} {number}").randrange(1 << 30))
            replaced = tuple(_replaced(tensor, choices(tensor.dtype), dice) for tensor in tensors)
            if all(one is other for one, other in zip(replaced, tensors)):
                continue
            try:
                yield _trial(module, replaced, seed=0)
            except TimeoutError:
                raise
            except Exception:  # noqa: BLE001 – PyTorch rejects these values
                continue


def _largest(dtype) -> list:
    """Returns finite values at the limits of a dtype; for int64, also numbers beside 2³¹ and ±2⁵³.

    The largest floats are those of float16: sums of the largest float32 numbers would overflow or not, depending on the
    order of the terms.
    """
    if dtype == torch.bool or dtype.is_complex:
        return []
    if dtype.is_floating_point:
        return [65504.0, -65504.0, 256.0, torch.finfo(dtype).tiny, torch.finfo(dtype).eps]
    limits = torch.iinfo(dtype)
    beyond = [1 << 53, -1 << 53, 1 << 31] if dtype == torch.int64 else []
    return [limits.max, limits.min, limits.max // 2, 1, 0, *(value + 1 for value in beyond)]


def _not_finite(dtype) -> list:
    return list(NOT_FINITE) if dtype.is_floating_point else []


def _replaced(tensor, values: list, dice):
    """Replaces some elements by elements drawn from `values`; returns the tensor itself if `values` is empty."""
    if not values or tensor.numel() == 0:
        return tensor
    chosen = torch.tensor(values, dtype=tensor.dtype)[torch.randint(len(values), tensor.shape, generator=dice)]
    return torch.where(torch.rand(tensor.shape, generator=dice) < SHARE, chosen, tensor)


if __name__ == "__main__":
    main()
