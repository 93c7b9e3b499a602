#!/usr/bin/env python3
"""export.py FOLDER [options]: exports small models with random weights, one for each architecture, with dynamic sizes.

Each program is FOLDER/LIBRARY.NAME.pt2. FOLDER/LIBRARY.NAME.pt has the inputs and PyTorch's results at up to three
sizes; `exports.tsv` has the outcome of each export. An interrupted run resumes.
"""

import argparse
import logging
import sys
import warnings
from pathlib import Path

import torch

from architectures import drawn

sys.path.insert(0, str(Path(__file__).parent.parent / "opinfo"))
from workers import forked  # noqa: E402

SECONDS = 300


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--libraries", default="timm,torchvision,decoders,transformers")
    parser.add_argument("--count", type=int, default=100_000, help="number of architectures; all by default")
    parser.add_argument("--seed", type=int, default=0, help="seed of the drawn architectures")
    parser.add_argument("--without", type=Path, help="file of architectures that are not drawn, one per line")
    parser.add_argument("--shard", default="0/1", help="I/N: every N-th architecture, from the I-th")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    torch.set_num_threads(1)
    options.folder.mkdir(parents=True, exist_ok=True)
    excluded = set(options.without.read_text().split()) if options.without else set()
    shard, shards = map(int, options.shard.split("/"))
    chosen = list(drawn(options.libraries.split(","), options.seed, options.count, excluded).items())[shard::shards]
    done = {line.split("\t")[0] for line in _log(options.folder).read_text().splitlines()}
    forked(
        [item for item in chosen if item[0] not in done],
        lambda item: _export(*item, options.folder),
        SECONDS,
        options.jobs,
        lambda item, reason: _note(options.folder, item[0], "not exported", reason),
    )


def _export(name: str, build, folder: Path):
    try:
        torch.manual_seed(0)
        program = build()
        program.model.eval().requires_grad_(False)
        _fill_zeros(program.model)
        outcome = _saved(program, folder / name)
        _note(folder, name, "exported", outcome)
    except Exception as error:  # noqa: BLE001 – models raise many kinds
        _note(folder, name, "not exported", f"{type(error).__name__}: {error}")


def _fill_zeros(model):
    """Replaces all-zero parameters by random values: with a zero router, all experts have equal scores."""
    for parameter in model.parameters():
        if parameter.dtype.is_floating_point and not parameter.any():
            parameter.normal_(std=0.02)


def _saved(program, stem: Path) -> str:
    """Exports with as many dynamic axes as torch.export accepts; returns the number of sizes with results."""
    traced = program.tensors(program.sizes[0], seed=0)
    every = program.dynamic_shapes(torch.export.Dim.AUTO)
    batch = tuple({axis: dim for axis, dim in axes.items() if axis == 0} for axes in every)
    for shapes in (every, batch):
        try:
            has_list = type(program.model).forward.__code__.co_flags & 0x04
            fixed = type(program.model).forward.__code__.co_argcount - 1
            given = (*shapes[:fixed], tuple(shapes[fixed:])) if has_list else shapes
            exported = torch.export.export(program.model, traced, dynamic_shapes=given, strict=False)
            break
        except Exception as error:  # noqa: BLE001 – torch.export raises many kinds
            last = error
    else:
        raise last
    module, trials = exported.module(), []
    for number, sizes in enumerate(program.sizes):
        tensors = program.tensors(sizes, seed=number)
        try:
            with torch.no_grad():
                results = module(*tensors)
        except Exception:  # noqa: BLE001 – the program does not accept these sizes
            continue
        leaves = torch.utils._pytree.tree_leaves(results)
        trials.append((tensors, tuple(leaf.clone() for leaf in leaves if isinstance(leaf, torch.Tensor))))
    if not trials:
        raise ValueError("no results")
    torch.save(trials, stem.with_name(stem.name + ".pt"))
    # A run that is interrupted leaves no partial archive.
    part = stem.with_name(stem.name + ".part.pt2")
    torch.export.save(exported, part)
    part.rename(stem.with_name(stem.name + ".pt2"))
    return f"{len(trials)} sizes"


def _log(folder: Path) -> Path:
    path = folder / "exports.tsv"
    path.touch()
    return path


def _note(folder: Path, name: str, outcome: str, detail: str):
    with _log(folder).open("a") as file:
        print(name, outcome, " ".join(str(detail).split())[:200], sep="\t", file=file)


if __name__ == "__main__":
    main()
