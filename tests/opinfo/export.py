#!/usr/bin/env python3
"""export.py FOLDER [options]: exports samples of PyTorch's operator tests, with static and with dynamic sizes.

Each case is FOLDER/OPERATOR/OPERATOR.DTYPE.SAMPLE.MODE.pt2. A .pt file of the same name has the inputs and the results
of PyTorch: at the traced sizes and, if the program has dynamic sizes, at up to two other choices of sizes.
FOLDER/OPERATOR/exports.tsv has the outcome of each export.
"""

import argparse
import logging
import warnings
from pathlib import Path

import torch

from population import DTYPES, cases, family, operators
from sizes import dynamic_shapes, other_sizes
from workers import Limit, forked

EXPORT_SECONDS = 40
OPERATOR_SECONDS = 600


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0, help="seed of the drawn samples")
    parser.add_argument("--per-op", type=int, default=1, help="samples per operator and dtype")
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--modes", default="static,dynamic")
    parser.add_argument("--only", default="", help="operators whose name contains this text")
    parser.add_argument("--shard", default="0/1", help="I/N: every N-th operator, from the I-th")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    _quiet()
    shard, shards = map(int, options.shard.split("/"))
    chosen = list(operators(options.only).items())[shard::shards]
    forked(
        [item for item in chosen if not (options.folder / item[0] / "done").exists()],
        lambda item: _operator(*item, options),
        OPERATOR_SECONDS,
        options.jobs,
        lambda item, reason: _log(options.folder / item[0], f"{item[0]}.all.0.static", "core", "failed", reason),
    )


def _quiet():
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    torch.set_num_threads(1)


def _operator(name: str, op, options):
    """Exports all samples of an operator."""
    folder = options.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "exports.tsv").write_text("")
    for dtype in options.dtypes.split(","):
        try:
            with Limit(EXPORT_SECONDS):
                drawn = cases(name, op, dtype, options.seed, options.per_op)
        except Exception as error:  # noqa: BLE001 – samples of some operators need packages or devices
            _log(folder, f"{name}.{dtype}.0.static", "core", "no samples", error)
            continue
        for case, mode in ((case, mode) for case in drawn for mode in options.modes.split(",")):
            label = f"{case.name}.{mode}"
            kind = family(name, case.tensors)
            try:
                with Limit(EXPORT_SECONDS):
                    expected = case.call([tensor.clone() for tensor in case.tensors])
                    kind = family(name, [*case.tensors, *expected])
                    outcome = _case(case, mode, folder / label)
                _log(folder, label, kind, outcome, "")
            except Exception as error:  # noqa: BLE001 – torch.export raises many kinds
                _log(folder, label, kind, "not exported", error)
    (folder / "done").touch()


def _case(case, mode: str, stem: Path) -> str:
    """Exports a case and writes its archive and results; returns the outcome."""
    program = _exported(case, mode)
    shapes = dynamic_shapes(program) if mode == "dynamic" else None
    if mode == "dynamic" and shapes is None:
        return "specialized"
    module = program.module()
    trials = [_trial(module, case.tensors, seed=0)]
    if not trials[0][1]:
        return "no tensor results"
    if not all(map(_same, trials[0][1], _trial(module, case.tensors, seed=1)[1])):
        return "random"
    for tensors in other_sizes(program, shapes, case.tensors, case.name) if shapes else ():
        try:
            trials.append(_trial(module, tensors, seed=0))
        except Exception:  # noqa: BLE001 – the program does not accept these sizes
            continue
        if len(trials) == 3:
            break
    torch.export.save(program, stem.with_name(stem.name + ".pt2"))
    torch.save(trials, stem.with_name(stem.name + ".pt"))
    return f"exported, {len(trials)} sizes"


def _exported(case, mode: str):
    """Exports with as many dynamic axes as torch.export accepts."""
    if mode == "static":
        return torch.export.export(case.module(), case.tensors)
    auto = torch.export.Dim.AUTO
    every = [{axis: auto for axis in range(tensor.dim())} for tensor in case.tensors]
    first = [{axis: auto for axis in axes if axis == 0} for axes in every]
    for axes in (every, first, [first[0], *({} for _ in first[1:])]):
        try:
            return torch.export.export(case.module(), case.tensors, dynamic_shapes=(tuple(axes),))
        except TimeoutError:
            raise
        except Exception as error:  # noqa: BLE001 – torch.export raises many kinds
            last = error
    raise last


def _trial(module, tensors, seed: int) -> tuple:
    """Returns the inputs and the results of the exported program."""
    torch.manual_seed(seed)
    with torch.no_grad():
        results = module(*(tensor.clone() for tensor in tensors))
    return tuple(tensors), tuple(result.detach().clone() for result in results)


def _same(one, other) -> bool:
    return one.shape == other.shape and torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))


def _log(folder: Path, label: str, kind: str, outcome: str, detail):
    folder.mkdir(parents=True, exist_ok=True)
    detail = " ".join(f"{type(detail).__name__}: {detail}".split())[:160] if isinstance(detail, Exception) else detail
    with (folder / "exports.tsv").open("a") as file:
        print(label, kind, outcome, detail, sep="\t", file=file)


if __name__ == "__main__":
    main()
